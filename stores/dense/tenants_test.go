package dense_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/densetest"
)

func flat(t testing.TB) dense.Index {
	f, err := dense.Open(densetest.Dim, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestTenants: nothing of one tenant is seen by another.
func TestTenants(t *testing.T) {
	seed, ops := live.Operations(t, 100_000)
	densetest.Tenants(t, flat, seed, ops)
}

// TestTenantsLeak: what looks for leaks sees them.
func TestTenantsLeak(t *testing.T) {
	for _, tt := range []struct {
		name string
		leak leaky
		want string
	}{
		{"one shard", leaky{mixed: true}, "is not its own"},
		{"counts", leaky{more: 1}, "of both tenants"},
		{"scores", leaky{louder: true}, "does not find what it would alone"},
	} {
		tt.leak.Index = flat(t)
		err := densetest.CheckTenants(t.Context(), &tt.leak, 1, 3000)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error = %v, want one that says %q", tt.name, err, tt.want)
		}
		if err := tt.leak.Close(); err != nil {
			t.Error(err)
		}
	}
}

// leaky is an index with a fault.
type leaky struct {
	dense.Index
	mixed  bool // all tenants are one
	louder bool // scores grow with what all tenants store
	more   int  // memories counted too many
}

func one(s memtypes.Scope) memtypes.Scope {
	s, _ = memtypes.NewScope("one", s.User(), s.Agent(), s.Run())
	return s
}

func (x *leaky) Upsert(ctx context.Context, docs []dense.Doc) error {
	if x.mixed {
		docs = slices.Clone(docs)
		for i := range docs {
			docs[i].Facets.Scope = one(docs[i].Facets.Scope)
		}
	}
	return x.Index.Upsert(ctx, docs)
}

func (x *leaky) Search(ctx context.Context, q dense.Query) ([]memtypes.Scored, error) {
	if x.mixed {
		q.Filter.Scope = one(q.Filter.Scope)
	}
	hits, err := x.Index.Search(ctx, q)
	if n, _ := x.Len(ctx); x.louder && n > 500 {
		for i := range hits {
			hits[i].Score += float64(n) * 1e-7
		}
	}
	return hits, err
}

func (x *leaky) Len(ctx context.Context) (int, error) {
	n, err := x.Index.Len(ctx)
	return n + x.more, err
}
