package engine

import (
	"context"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Bounds of reading what stands beside what changed.
const (
	fewChanges = 4  // up to here each is asked for by itself, and no list before
	maxSharing = 64 // turns of one session that share one reading
)

// spread works out which projections a change touches.
type spread struct {
	engine  *Engine
	changed map[memtypes.ID]bool    // what is still to be looked at
	session map[memtypes.ID]sitting // of those that were listed
	sharing map[sitting]int         // how many of them changed at once
	done    map[memtypes.ID]bool    // what has its projection
	reach   reach
}

// reach is what a change of memories touches in an index.
type reach struct {
	ps   []projection
	dead []memtypes.ID // those that are not active any more
	// causes are, for what is projected because a neighbour changed, those
	// neighbours. It may leave out one that another stands for.
	causes map[memtypes.ID][]memtypes.ID
}

// sitting is a session of one scope.
type sitting struct {
	scope   memtypes.Scope
	session string
}

// affected makes the projections that a change of ids touches, each once: the
// memories themselves and their neighbours within contextReach.
func (e *Engine) affected(ctx context.Context, ids []memtypes.ID) (reach, error) {
	s := &spread{engine: e, changed: map[memtypes.ID]bool{}, session: map[memtypes.ID]sitting{}, sharing: map[sitting]int{},
		done: map[memtypes.ID]bool{}, reach: reach{causes: map[memtypes.ID][]memtypes.ID{}}}
	for _, id := range ids {
		s.changed[id] = true
	}
	if len(ids) > fewChanges {
		if err := s.list(ctx, ids); err != nil {
			return reach{}, err
		}
	}
	for _, id := range ids {
		if !s.changed[id] {
			continue
		}
		if err := s.around(ctx, id); err != nil {
			return reach{}, err
		}
	}
	return s.reach, nil
}

// list reads all ids at once: those without a session stand alone, and of the
// others it is known how many share one.
func (s *spread) list(ctx context.Context, ids []memtypes.ID) error {
	page, err := s.engine.parts.Ledger.List(ctx, ledger.ListQuery{All: true, Filter: memtypes.Filter{IDs: ids}, Limit: len(ids)})
	if err != nil {
		return err
	}
	for i := range page.Memories {
		m := &page.Memories[i]
		if m.Talk.Session == "" {
			s.project(page.Memories[i:i+1], 0, m.ID)
			delete(s.changed, m.ID)
			continue
		}
		at := sitting{m.Scope, m.Talk.Session}
		s.session[m.ID] = at
		s.sharing[at]++
	}
	return nil
}

// around projects id, its neighbours, and what else of its session changed as
// far as its context was read, too.
func (s *spread) around(ctx context.Context, id memtypes.ID) error {
	// Twice the reach: the neighbours' own neighbours are needed, too.
	reach := 2 * contextReach
	if n := s.sharing[s.session[id]]; n > 1 {
		reach += min(n, maxSharing)
	}
	near, err := s.engine.parts.Ledger.Around(ctx, id, reach)
	if err != nil {
		return err
	}
	at := place(near, id)
	if at < 0 {
		return s.beside(ctx, id, near)
	}
	if near[at].Layer != memtypes.Raw { // it sees the talk, which does not see it
		s.project(near, at, id)
		delete(s.changed, id)
		return nil
	}
	first, last := at < reach, len(near)-1-at < reach // the list ends where the session does
	for j := range near {
		left, right := first || j >= 2*contextReach, last || j+2*contextReach < len(near)
		if !s.changed[near[j].ID] || !left || !right {
			continue
		}
		delete(s.changed, near[j].ID)
		for i := max(0, j-contextReach); i <= min(j+contextReach, len(near)-1); i++ {
			s.project(near, i, near[j].ID)
		}
	}
	return nil
}

// beside projects those that stood beside id, which is gone; near does not say
// where.
func (s *spread) beside(ctx context.Context, id memtypes.ID, near []memtypes.Memory) error {
	s.reach.dead = append(s.reach.dead, id)
	delete(s.changed, id)
	if len(near) == 0 {
		return nil
	}
	whole, err := s.engine.parts.Ledger.Around(ctx, near[len(near)/2].ID, len(near)+contextReach)
	if err != nil {
		return err
	}
	for i := range near {
		if at := place(whole, near[i].ID); at >= 0 {
			s.project(whole, at, id)
		}
	}
	return nil
}

// project adds mems[at], which the change of cause touches.
func (s *spread) project(mems []memtypes.Memory, at int, cause memtypes.ID) {
	id := mems[at].ID
	if id != cause {
		s.reach.causes[id] = append(s.reach.causes[id], cause)
	}
	if !s.done[id] {
		s.done[id] = true
		s.reach.ps = append(s.reach.ps, projection{mems: mems, at: at})
	}
}

// place is where id stands in mems, or -1.
func place(mems []memtypes.Memory, id memtypes.ID) int {
	for i := range mems {
		if mems[i].ID == id {
			return i
		}
	}
	return -1
}
