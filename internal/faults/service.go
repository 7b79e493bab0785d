package faults

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/vimbank/vimbank/memtypes"
)

var errRefused = errors.New("refused by the test")

// store is a service of either kind: D is its doc, I the index that searches.
type store[D, I any] struct {
	Switches
	kind kind[D, I]

	mu   sync.Mutex // guards all below; held by whoever writes
	gens map[string]*generation[D, I]
	live string
}

// kind is what the two kinds of service do differently.
type kind[D, I any] struct {
	name   string
	fresh  func() (I, error)
	label  func(*D) label
	upsert func(ctx context.Context, ix I, docs []D) error
	remove func(ctx context.Context, ix I, gone []memtypes.Gone) error
}

// label is what the rules of versions look at.
type label struct {
	id     memtypes.ID
	rev    uint64
	tenant string
	newest uint64 // the higher of revision and cause
}

// generation is one index with what it has been told.
type generation[D, I any] struct {
	index  I
	docs   map[memtypes.ID]D
	graves map[memtypes.ID]uint64
}

func (k *kind[D, I]) make() (*generation[D, I], error) {
	ix, err := k.fresh()
	return &generation[D, I]{index: ix, docs: map[memtypes.ID]D{}, graves: map[memtypes.ID]uint64{}}, err
}

// newest is how new what g knows of id is.
func (k *kind[D, I]) newest(g *generation[D, I], id memtypes.ID) uint64 {
	n := g.graves[id]
	if d, ok := g.docs[id]; ok {
		n = max(n, k.label(&d).newest)
	}
	return n
}

// of is the generation of that name; empty: the live one.
func (s *store[D, I]) of(op, name string) (*generation[D, I], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == "" {
		name = s.live
	}
	g := s.gens[name]
	if g == nil {
		return nil, memtypes.Errorf(op, memtypes.Unavailable, "the %s service has no generation %q", s.kind.name, name)
	}
	return g, nil
}

// write is a write as it comes over the wire: it may not arrive, be refused in
// part, or lose its answer.
func (s *store[D, I]) write(ctx context.Context, op string, h *handle, ids []memtypes.ID, do func(g *generation[D, I], refused map[memtypes.ID]*memtypes.Error) error) error {
	if err := h.enter(ctx, op, &s.Switches); err != nil {
		return err
	}
	g, err := s.of(op, h.name)
	if err != nil {
		return err
	}
	refused := s.refused(op, ids)
	apply := func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		return do(g, refused.Items)
	}
	s.keep(apply)
	if err := apply(); err != nil {
		return err
	}
	if s.lost() {
		return memtypes.Errorf(op, memtypes.Unavailable, "the answer was lost")
	}
	if len(refused.Items) > 0 {
		return &memtypes.Error{Op: op, Code: memtypes.Unavailable, Err: refused}
	}
	return nil
}

// upsert stores the docs that are as new as what is held, or newer.
func (s *store[D, I]) upsert(ctx context.Context, op string, h *handle, docs []D) error {
	ids := make([]memtypes.ID, len(docs))
	for i := range docs {
		ids[i] = s.kind.label(&docs[i]).id
	}
	return s.write(ctx, op, h, ids, func(g *generation[D, I], refused map[memtypes.ID]*memtypes.Error) error {
		var take []D
		for i := range docs {
			if l := s.kind.label(&docs[i]); refused[l.id] == nil && l.newest >= s.kind.newest(g, l.id) {
				take = append(take, docs[i])
			}
		}
		if err := s.kind.upsert(context.Background(), g.index, take); err != nil {
			return err
		}
		for i := range take {
			id := s.kind.label(&take[i]).id
			g.docs[id] = take[i]
			delete(g.graves, id)
		}
		return nil
	})
}

// remove leaves a grave for each that is not newer.
func (s *store[D, I]) remove(ctx context.Context, op string, h *handle, gone []memtypes.Gone) error {
	ids := make([]memtypes.ID, len(gone))
	for i := range gone {
		ids[i] = gone[i].ID
	}
	return s.write(ctx, op, h, ids, func(g *generation[D, I], refused map[memtypes.ID]*memtypes.Error) error {
		for _, d := range gone {
			if refused[d.ID] != nil || s.kind.newest(g, d.ID) > d.Rev {
				continue
			}
			if err := s.kind.remove(context.Background(), g.index, []memtypes.Gone{d}); err != nil {
				return err
			}
			delete(g.docs, d.ID)
			g.graves[d.ID] = d.Rev
		}
		return nil
	})
}

// held lists the labels of a generation.
func (s *store[D, I]) held(ctx context.Context, op string, h *handle) ([]label, error) {
	if err := h.enter(ctx, op, &s.Switches); err != nil {
		return nil, err
	}
	g, err := s.of(op, h.name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]label, 0, len(g.docs))
	for _, d := range g.docs {
		out = append(out, s.kind.label(&d))
	}
	return out, nil
}

// Snapshot is the state of a service.
type Snapshot[D any] struct {
	live string
	gens map[string]map[memtypes.ID]D
	dead map[string]map[memtypes.ID]uint64
}

// Snapshot keeps what the service holds now.
func (s *store[D, I]) Snapshot() Snapshot[D] {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Snapshot[D]{live: s.live, gens: map[string]map[memtypes.ID]D{}, dead: map[string]map[memtypes.ID]uint64{}}
	for name, g := range s.gens {
		out.gens[name], out.dead[name] = maps.Clone(g.docs), maps.Clone(g.graves)
	}
	return out
}

// Restore brings the service back to what it held then.
func (s *store[D, I]) Restore(then Snapshot[D]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gens, s.live = map[string]*generation[D, I]{}, then.live
	for name, docs := range then.gens {
		g, err := s.kind.make()
		if err != nil {
			return err
		}
		g.docs, g.graves = maps.Clone(docs), maps.Clone(then.dead[name])
		if err := s.kind.upsert(context.Background(), g.index, slices.Collect(maps.Values(docs))); err != nil {
			return err
		}
		s.gens[name] = g
	}
	return nil
}

// Docs are those of the live generation, as they were written.
func (s *store[D, I]) Docs() map[memtypes.ID]D {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.gens[s.live]; g != nil {
		return maps.Clone(g.docs)
	}
	return nil
}

// Wipe removes every generation, as somebody does who deletes an index.
func (s *store[D, I]) Wipe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.gens)
	s.live = ""
}

// Live names the generation that serves.
func (s *store[D, I]) Live(ctx context.Context) (string, error) {
	if err := s.pass(ctx, "faults.Live"); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live, nil
}

// Switch makes a generation the live one.
func (s *store[D, I]) Switch(ctx context.Context, name string) error {
	const op = "faults.Switch"
	if err := s.pass(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gens[name] == nil {
		return memtypes.Errorf(op, memtypes.NotFound, "no generation %q", name)
	}
	s.live = name
	return nil
}

// Drop removes a generation.
func (s *store[D, I]) Drop(ctx context.Context, name string) error {
	const op = "faults.Drop"
	if err := s.pass(ctx, op); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == s.live {
		return memtypes.Errorf(op, memtypes.Conflict, "generation %q is live", name)
	}
	delete(s.gens, name)
	return nil
}

// List names all generations.
func (s *store[D, I]) List(ctx context.Context) ([]string, error) {
	if err := s.pass(ctx, "faults.List"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.gens)), nil
}

// Close does nothing: the service outlives those who use it.
func (s *store[D, I]) Close() error { return nil }

// generate makes sure that there is a generation of that name.
func (s *store[D, I]) generate(ctx context.Context, name string) error {
	if err := s.pass(ctx, "faults.Open"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gens[name] != nil {
		return nil
	}
	g, err := s.kind.make()
	if err != nil {
		return err
	}
	s.gens[name] = g
	return nil
}
