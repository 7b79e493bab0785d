package elastic

import (
	"context"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// Mutate leaves conditions out of every query from now on.
func (s *Store) Mutate(noTenant, noScope bool) { s.mutants = mutants{noTenant, noScope} }

// Wipe removes everything of the prefix.
func (s *Store) Wipe(ctx context.Context) error {
	all, err := s.names(ctx, "elastic.Wipe", s.list("*"))
	if err != nil {
		return err
	}
	for some := range slices.Chunk(all, 16) {
		if err := s.Do(ctx, esapi.IndicesDeleteRequest{Index: some, IgnoreUnavailable: &yes}, nil); err != nil {
			return err
		}
	}
	if err := s.Do(ctx, esapi.IndicesDeleteIndexTemplateRequest{Name: s.opt.Prefix}, nil); !isStatus(err, 404) {
		return err
	}
	return nil
}

// Do sends what a test wants to be sent; a body is read once.
func (s *Store) Do(ctx context.Context, r esapi.Request, into any) error {
	return s.call(ctx, ask{op: "elastic.Do", slow: true, make: func() esapi.Request { return r }}, into)
}

// IndexOf names the index of a tenant, and List that of the tenants.
func (x *Index) IndexOf(tenant string) string { return x.of(tenant) }

// List names the list of tenants.
func (x *Index) List() string { return x.all()[0] }

// Store is whose index it is.
func (x *Index) Store() *Store { return x.store }

// Prefix begins all names of s.
func (s *Store) Prefix() string { return s.opt.Prefix }

// Generation is one that nobody has looked at.
func (s *Store) Generation(name string) *Index { return s.index(name) }
