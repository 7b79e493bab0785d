package qdrant_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	qc "github.com/qdrant/go-client/qdrant"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/densetest"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
)

// TestTenants: nothing of one tenant is seen by another, in one collection and
// in two.
func TestTenants(t *testing.T) {
	for _, tenancy := range []qdrant.Tenancy{qdrant.Shared, qdrant.Apart} {
		t.Run(string(tenancy), func(t *testing.T) {
			everywhere(t, func(t *testing.T, addr string) {
				seed, ops := live.Operations(t, 3000)
				densetest.Tenants(t, func(t testing.TB) dense.Index {
					return made(t, open(t, addr, qdrant.Options{Tenancy: tenancy, Exact: true, Timeout: 2 * time.Minute}), "one")
				}, seed, ops)
			})
		})
	}
}

// TestTenantsWithoutTheFilter: without the condition on the tenant in what is
// sent, the same operations show a leak.
func TestTenantsWithoutTheFilter(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		o := qdrant.Options{Exact: true}
		var dropped atomic.Int64
		o.Intercept(func(req any) {
			batch, _ := req.(*qc.QueryBatchPoints)
			for _, q := range batch.GetQueryPoints() {
				must := slices.DeleteFunc(slices.Clone(q.GetFilter().GetMust()), func(c *qc.Condition) bool { return c.GetField().GetKey() == "tenant" })
				dropped.Add(int64(len(q.GetFilter().GetMust()) - len(must)))
				q.Filter = &qc.Filter{Must: must, MustNot: q.GetFilter().GetMustNot(), Should: q.GetFilter().GetShould()}
			}
		})
		err := densetest.CheckTenants(t.Context(), made(t, open(t, addr, o), "one"), 1, 1000)
		if err == nil || !strings.Contains(err.Error(), "is not its own") || dropped.Load() == 0 {
			t.Errorf("error = %v after %d conditions were dropped, want one that says a memory is not its own", err, dropped.Load())
		}
	})
}
