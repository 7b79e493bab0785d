package elastic_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// options are for a prefix of the test's own, at the running server.
func options(tb testing.TB) *elastic.Options {
	tb.Helper()
	return &elastic.Options{
		URLs: live.Elasticsearch(tb), Prefix: fmt.Sprintf("vimbank-test-%x", rand.Uint64()),
		Refresh: elastic.Now, Timeout: 30 * time.Second,
	}
}

// store opens a Store whose indices go with the test.
func store(tb testing.TB, o *elastic.Options) *elastic.Store {
	tb.Helper()
	s, err := elastic.Open(context.Background(), o)
	if err != nil {
		tb.Fatalf("Open: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.Wipe(context.Background()); err != nil {
			tb.Errorf("removing the test's indices: %v", err)
		}
		s.Close()
	})
	return s
}

// generation opens one of s.
func generation(tb testing.TB, s *elastic.Store, name string) *elastic.Index {
	tb.Helper()
	ix, err := s.Open(context.Background(), name)
	if err != nil {
		tb.Fatalf("Open %s: %v", name, err)
	}
	return ix.(*elastic.Index)
}

func scope(tb testing.TB, tenant, user string) memtypes.Scope {
	tb.Helper()
	s, err := memtypes.NewScope(tenant, user, "", "")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func id(n int) memtypes.ID { return memtypes.ID(fmt.Sprintf("%08d-0000-8000-8000-000000000000", n)) }

// doc is a memory of ann of tenant.
func doc(tb testing.TB, tenant string, n int, rev uint64, tokens ...string) sparse.Doc {
	tb.Helper()
	return sparse.Doc{ID: id(n), Rev: rev, Facets: memtypes.Facets{Scope: scope(tb, tenant, "ann"), Kind: memtypes.Dialogue, Layer: memtypes.Raw},
		Fields: map[sparse.Field][]string{sparse.Text: tokens}}
}

func query(tb testing.TB, tenant string, tokens ...string) sparse.Query {
	tb.Helper()
	q := sparse.Query{Field: sparse.Text, K: 100, Filter: memtypes.Filter{Scope: scope(tb, tenant, "ann")}}
	for _, t := range tokens {
		q.Terms = append(q.Terms, sparse.Term{Token: t})
	}
	return q
}

func upsert(tb testing.TB, ix sparse.Index, docs ...sparse.Doc) {
	tb.Helper()
	if err := ix.Upsert(context.Background(), docs); err != nil {
		tb.Fatalf("Upsert: %v", err)
	}
}

func remove(tb testing.TB, ix sparse.Index, tenant string, rev uint64, n int) {
	tb.Helper()
	if err := ix.Delete(context.Background(), []memtypes.Gone{{ID: id(n), Tenant: tenant, Rev: rev}}); err != nil {
		tb.Fatalf("Delete: %v", err)
	}
}

// found is the numbers of the memories that q finds.
func found(tb testing.TB, ix sparse.Index, q sparse.Query) []int {
	tb.Helper()
	hits, err := ix.Search(context.Background(), q)
	if err != nil {
		tb.Fatalf("Search: %v", err)
	}
	out := []int{}
	for _, h := range hits {
		var n int
		fmt.Sscanf(string(h.ID), "%d-", &n)
		out = append(out, n)
	}
	return out
}

func finds(tb testing.TB, ix sparse.Index, q sparse.Query, want ...int) {
	tb.Helper()
	if got := found(tb, ix, q); fmt.Sprint(got) != fmt.Sprint(append([]int{}, want...)) {
		tb.Fatalf("found %v, want %v", got, want)
	}
}

func code(tb testing.TB, what string, err error, want memtypes.Code) {
	tb.Helper()
	if err == nil {
		tb.Fatalf("%s: no error, want %q", what, want)
	}
	if got := memtypes.CodeOf(err); got != want {
		tb.Fatalf("%s: code %q (%v), want %q", what, got, err, want)
	}
}

// docs1 is a batch of one memory of tenant.
func docs1(tb testing.TB, tenant string) []sparse.Doc {
	tb.Helper()
	return []sparse.Doc{doc(tb, tenant, 1, 5, "cat")}
}
