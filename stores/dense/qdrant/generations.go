package qdrant

import (
	"context"
	"regexp"
	"slices"
	"strings"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

// The names: the alias is the prefix, a generation's collection is
// PREFIX.GENERATION, and with tenancy "collection" that one is empty and each
// tenant has PREFIX.GENERATION.HASH. No prefix and no generation has a dot.
const separator = "."

var generations = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

func (s *Store) collection(generation string) string {
	return s.opt.Prefix + separator + generation
}

// generation is the name behind a collection's, unless it is a tenant's or none of ours.
func (s *Store) generation(collection string) (string, bool) {
	name, ours := strings.CutPrefix(collection, s.opt.Prefix+separator)
	return name, ours && generations.MatchString(name)
}

func checkName(op, name string) error {
	if !generations.MatchString(name) {
		return memtypes.BadField(op, "generation", name, "1 to 64 of a-z, 0-9 and -")
	}
	return nil
}

// Live implements dense.Generations.
func (s *Store) Live(ctx context.Context) (string, error) {
	const op = "qdrant.Live"
	if err := s.usable(ctx, op); err != nil {
		return "", err
	}
	collection, err := s.live(ctx, op)
	if err != nil || collection == "" {
		return "", err
	}
	name, ours := s.generation(collection)
	if !ours {
		return "", memtypes.Errorf(op, memtypes.Incompatible, "qdrant at %s: alias %s leads to %s, wanted a collection %s: %s",
			s.opt.Addr, s.opt.Prefix, collection, s.collection("GENERATION"), rebuild)
	}
	return name, nil
}

// live is the collection that the alias leads to, or empty.
func (s *Store) live(ctx context.Context, op string) (string, error) {
	var reply *qc.ListAliasesResponse
	err := s.call(ctx, op, "", s.opt.Timeout, func(ctx context.Context) (err error) {
		reply, err = s.client.GetCollectionsClient().ListAliases(ctx, &qc.ListAliasesRequest{})
		return err
	})
	if err != nil {
		return "", err
	}
	for _, a := range reply.GetAliases() {
		if a.GetAliasName() == s.opt.Prefix {
			return a.GetCollectionName(), nil
		}
	}
	return "", nil
}

// Open implements dense.Generations.
func (s *Store) Open(ctx context.Context, name string) (dense.Index, error) {
	const op = "qdrant.Open"
	if err := checkName(op, name); err != nil {
		return nil, err
	}
	if err := s.usable(ctx, op); err != nil {
		return nil, err
	}
	if err := s.ensure(ctx, op, s.collection(name)); err != nil {
		return nil, err
	}
	return &Index{s: s, generation: name}, nil
}

// Serving implements dense.Generations. Each call first asks which generation
// is live, and whether that one's vectors are of this Store's embedder.
func (s *Store) Serving() dense.Index { return &Index{s: s} }

// Switch implements dense.Generations.
func (s *Store) Switch(ctx context.Context, name string) error {
	const op = "qdrant.Switch"
	if err := checkName(op, name); err != nil {
		return err
	}
	if err := s.usable(ctx, op); err != nil {
		return err
	}
	// Both in one request, which the server makes under one lock.
	to := s.collection(name)
	err := s.call(ctx, op, to, s.slow(), func(ctx context.Context) error {
		_, err := s.client.GetCollectionsClient().UpdateAliases(ctx, &qc.ChangeAliases{Actions: []*qc.AliasOperations{
			qc.NewAliasCreate(s.opt.Prefix, to),
		}})
		return err
	})
	if answered(err, codes.NotFound) {
		return memtypes.Errorf(op, memtypes.NotFound, "qdrant at %s: no generation %s", s.opt.Addr, name)
	}
	return err
}

// Drop implements dense.Generations.
func (s *Store) Drop(ctx context.Context, name string) error {
	const op = "qdrant.Drop"
	if err := checkName(op, name); err != nil {
		return err
	}
	if err := s.usable(ctx, op); err != nil {
		return err
	}
	live, err := s.live(ctx, op)
	if err != nil {
		return err
	}
	base := s.collection(name)
	if live == base {
		return memtypes.Errorf(op, memtypes.Conflict, "generation %s is the live one", name)
	}
	all, err := s.parts(ctx, op, base)
	if err != nil {
		return err
	}
	for _, c := range append(all, base) { // the generation's own last, so that a drop that broke off is seen and repeated
		if err := s.remove(ctx, op, c); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) remove(ctx context.Context, op, collection string) error {
	s.know(collection, false)
	err := s.call(ctx, op, collection, s.slow(), func(ctx context.Context) error {
		_, err := s.client.GetCollectionsClient().Delete(ctx, &qc.DeleteCollection{CollectionName: collection})
		return err
	})
	if answered(err, codes.NotFound) {
		return nil
	}
	return err
}

// List implements dense.Generations.
func (s *Store) List(ctx context.Context) ([]string, error) {
	const op = "qdrant.List"
	if err := s.usable(ctx, op); err != nil {
		return nil, err
	}
	all, err := s.collections(ctx, op)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range all {
		if name, ours := s.generation(c); ours {
			out = append(out, name)
		}
	}
	return out, nil
}

// collections is the names of all collections of the server, sorted.
func (s *Store) collections(ctx context.Context, op string) ([]string, error) {
	var reply *qc.ListCollectionsResponse
	err := s.call(ctx, op, "", s.opt.Timeout, func(ctx context.Context) (err error) {
		reply, err = s.client.GetCollectionsClient().List(ctx, &qc.ListCollectionsRequest{})
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, c := range reply.GetCollections() {
		out = append(out, c.GetName())
	}
	slices.Sort(out)
	return out, nil
}

// parts is the tenants' collections of the generation that base is of.
func (s *Store) parts(ctx context.Context, op, base string) ([]string, error) {
	if s.opt.Tenancy != Apart {
		return nil, nil
	}
	all, err := s.collections(ctx, op)
	return slices.DeleteFunc(all, func(c string) bool { return !strings.HasPrefix(c, base+separator) }), err
}
