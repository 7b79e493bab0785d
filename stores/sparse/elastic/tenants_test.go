package elastic_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
	"github.com/vimbank/vimbank/stores/sparse/sparsetest"
)

// inTenancy opens a generation.
func inTenancy(tb testing.TB, tenancy elastic.Tenancy) *elastic.Index {
	o := options(tb)
	o.Tenancy, o.Timeout = tenancy, 2*time.Minute
	return generation(tb, store(tb, o), "g")
}

// TestTenants: nothing of one tenant is seen by another. Lucene counts what was
// replaced until segments merge, so scores are compared before that begins.
func TestTenants(t *testing.T) {
	for _, tt := range []struct {
		tenancy  elastic.Tenancy
		ops      int
		promises sparsetest.TenantOptions
	}{
		{elastic.Apart, 3000, sparsetest.TenantOptions{Drift: true}},
		{elastic.Shared, 1000, sparsetest.TenantOptions{Drift: true, Common: true}},
	} {
		t.Run(string(tt.tenancy), func(t *testing.T) {
			seed, ops := live.Operations(t, tt.ops)
			sparsetest.Tenants(t, func(tb testing.TB) sparse.Index { return inTenancy(tb, tt.tenancy) }, seed, ops, &tt.promises)
		})
	}
}

// TestTenantsWithoutTheFilter: without the condition on the tenant in the query,
// the same operations show a leak; with it, a common index still shows one in
// its scores to whoever looks at them.
func TestTenantsWithoutTheFilter(t *testing.T) {
	bare := func(ix *elastic.Index) sparse.Index { return struct{ sparse.Index }{ix} } // counts nothing
	for _, tt := range []struct {
		name     string
		noTenant bool
		asked    func(*elastic.Index) sparse.Index
		promises *sparsetest.TenantOptions
		want     string
	}{
		{"memories", true, bare, &sparsetest.TenantOptions{Drift: true, Common: true}, "is not its own"},
		{"many at once", true, func(ix *elastic.Index) sparse.Index { return many{ix} }, &sparsetest.TenantOptions{Drift: true, Common: true}, "is not its own"},
		{"scores", false, bare, &sparsetest.TenantOptions{Drift: true}, "want its score"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ix := inTenancy(t, elastic.Shared)
			ix.Store().Mutate(tt.noTenant, false)
			err := sparsetest.CheckTenants(t.Context(), tt.asked(ix), 1, 1000, tt.promises)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one that says %q", err, tt.want)
			}
		})
	}
}

// many is an index of which every search is one of several.
type many struct{ *elastic.Index }

func (m many) Search(ctx context.Context, q sparse.Query) ([]memtypes.Scored, error) {
	found, err := m.SearchMany(ctx, []sparse.Query{q})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}
