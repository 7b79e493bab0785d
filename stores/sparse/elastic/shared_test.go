package elastic_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// TestSharedTenancy: one index for all, in which tenants are apart all the same,
// even where their memories have the same IDs; its statistics are shared.
func TestSharedTenancy(t *testing.T) {
	o := options(t)
	o.Tenancy, o.Shards = elastic.Shared, 3
	ix := generation(t, store(t, o), "g")
	tenants := []string{"acme", "beta", "gamma", "delta"}
	for i, tenant := range tenants {
		upsert(t, ix, doc(t, tenant, 1, 1, "cat", tenant), doc(t, tenant, 2, 1, "dog"), doc(t, tenant, 10+i, 1, "cat", "cat"))
	}
	remove(t, ix, "beta", 5, 1)
	for i, tenant := range tenants {
		want, df := []int{10 + i, 1}, 2
		if tenant == "beta" {
			want, df = []int{10 + i}, 1
		}
		finds(t, ix, query(t, tenant, "cat"), want...)
		got, err := ix.DocFreq(t.Context(), tenant, sparse.Text, []string{"cat", "acme"})
		if err != nil || got[0] != df || (got[1] == 1) != (tenant == "acme") {
			t.Errorf("DocFreq of %s = %v, %v, want %d of cat, and its own names only", tenant, got, err, df)
		}
		stats, err := ix.Statistics(t.Context(), tenant, sparse.Text, []string{"cat"})
		if err != nil || stats.Docs != 11 || stats.DocFreq["cat"] != 7 {
			t.Errorf("Statistics of %s = %v, %v, want those of all: 11 memories, 7 with cat", tenant, stats, err)
		}
	}
	if n, err := ix.Len(t.Context()); err != nil || n != 11 {
		t.Errorf("Len = %d, %v, want 11", n, err)
	}
	seen := map[string]int{}
	for h, err := range ix.Revs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		seen[h.Tenant]++
	}
	if want := fmt.Sprint(map[string]int{"acme": 3, "beta": 2, "gamma": 3, "delta": 3}); fmt.Sprint(seen) != want {
		t.Errorf("Revs gives %v, want %s", seen, want)
	}
	if n, err := ix.Sweep(t.Context(), 100); err != nil || n != 1 {
		t.Errorf("Sweep = %d, %v, want 1", n, err)
	}
	finds(t, ix, query(t, "nobody", "cat"))
}

// TestSharedScores: with one tenant, a shared index of several shards scores as
// the index in process, because a search gathers the statistics of all shards.
func TestSharedScores(t *testing.T) {
	o := options(t)
	o.Tenancy, o.Shards = elastic.Shared, 2
	ix := generation(t, store(t, o), "g")
	mine, _ := sparse.Open(nil)
	r := rand.New(rand.NewPCG(5, 6))
	var docs []sparse.Doc
	for n := range 120 {
		docs = append(docs, randomDoc(t, r, 2*n)) // of one tenant
	}
	upsert(t, ix, docs...)
	upsert(t, mine, docs...)
	for range 60 {
		alike(t, mine, ix, randomQuery(t, r))
	}
}

// TestWithoutTheFilter shows that tests notice if a condition on the tenant or
// the scope is missing from a query: it leaves them out, and others' memories
// are found.
func TestWithoutTheFilter(t *testing.T) {
	o := options(t)
	o.Tenancy = elastic.Shared
	s := store(t, o)
	ix := generation(t, s, "g")
	bob := doc(t, "acme", 2, 1, "cat")
	bob.Facets.Scope = scope(t, "acme", "bob")
	upsert(t, ix, doc(t, "acme", 1, 1, "cat"), bob, doc(t, "beta", 3, 1, "cat"))
	q := query(t, "acme", "cat")
	for _, tt := range []struct {
		noTenant, noScope bool
		want              int
	}{{false, false, 1}, {true, false, 2}, {false, true, 2}, {true, true, 3}} {
		s.Mutate(tt.noTenant, tt.noScope)
		got := found(t, ix, q)
		if len(got) != tt.want {
			t.Errorf("without tenant %v, without scope %v: found %v, want %d memories", tt.noTenant, tt.noScope, got, tt.want)
		}
		light, err := ix.Highlight(t.Context(), q, []memtypes.ID{id(1), id(2), id(3)})
		if err != nil || len(light) != tt.want {
			t.Errorf("without tenant %v, without scope %v: Highlight = %v, %v, want %d memories", tt.noTenant, tt.noScope, light, err, tt.want)
		}
	}
}
