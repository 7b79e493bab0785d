package sparsetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

func upsertReplaces(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, "cat runs", "dog runs")...)
	again := doc(t, 1, "bird")
	again.Rev = 2
	again.Facets.Session = "s"
	upsert(t, ix, again)
	finds(t, ix, query(t, "cat"))
	finds(t, ix, query(t, "bird"), 1)
	finds(t, ix, query(t, "runs"), 2)
	q := query(t, "bird dog")
	q.Filter.Session = "s"
	finds(t, ix, q, 1)
	holds(t, ix, 2)
	same := doc(t, 1, "fish") // an equal revision replaces too
	same.Rev = 2
	upsert(t, ix, same)
	finds(t, ix, query(t, "bird"))
	finds(t, ix, query(t, "fish"), 1)
}

func upsertOlder(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	d := doc(t, 1, "cat")
	d.Rev = 5
	upsert(t, ix, d)
	late := doc(t, 1, "dog")
	late.Rev = 4
	upsert(t, ix, late, doc(t, 2, "cat")) // the rest of the batch is taken
	finds(t, ix, query(t, "cat"), 1, 2)
	finds(t, ix, query(t, "dog"))
}

func upsertTwiceInABatch(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	a, b := doc(t, 1, "cat"), doc(t, 1, "dog")
	a.Rev, b.Rev = 1, 2
	upsert(t, ix, a, b)
	finds(t, ix, query(t, "cat dog"), 1)
	upsert(t, ix, a)
	finds(t, ix, query(t, "dog"), 1)
	holds(t, ix, 1)
}

func upsertAllOrNone(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	for _, tt := range []struct {
		name string
		edit func(*sparse.Doc)
	}{
		{"no id", func(d *sparse.Doc) { d.ID = "" }},
		{"no scope", func(d *sparse.Doc) { d.Facets.Scope = memtypes.Scope{} }},
		{"unknown field", func(d *sparse.Doc) { d.Fields["title"] = []string{"x"} }},
		{"empty token", func(d *sparse.Doc) { d.Fields[sparse.Text] = []string{"x", ""} }},
	} {
		bad := doc(t, 2, "cat")
		tt.edit(&bad)
		err := ix.Upsert(t.Context(), []sparse.Doc{doc(t, 1, "cat"), bad, doc(t, 3, "cat")})
		code(t, tt.name, err, memtypes.Invalid)
		finds(t, ix, query(t, "cat"))
	}
	if err := ix.Upsert(t.Context(), nil); err != nil {
		t.Fatalf("Upsert of nothing: %v", err)
	}
}

func deletes(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, "cat", "cat", "cat")...)
	remove(t, ix, 1, id(2), id(77)) // the revision held is enough; an unknown ID is no error
	finds(t, ix, query(t, "cat"), 1, 3)
	upsert(t, ix, doc(t, 2, "cat")) // the same revision may come back
	finds(t, ix, query(t, "cat"), 1, 2, 3)
	remove(t, ix, 9, id(1), id(2), id(3))
	finds(t, ix, query(t, "cat"))
	holds(t, ix, 0)
	remove(t, ix, 9)
}

func deleteBeforeUpsert(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	remove(t, ix, 7, id(1))
	late := doc(t, 1, "cat")
	late.Rev = 6
	upsert(t, ix, late)
	finds(t, ix, query(t, "cat"))
	remove(t, ix, 3, id(1)) // an older delete does not weaken the newer one
	upsert(t, ix, late)
	finds(t, ix, query(t, "cat"))
	late.Rev = 8
	upsert(t, ix, late)
	finds(t, ix, query(t, "cat"), 1)
}

func deleteNewerStays(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	d := doc(t, 1, "cat")
	d.Rev = 5
	upsert(t, ix, d, doc(t, 2, "cat"))
	remove(t, ix, 4, id(1), id(2))
	finds(t, ix, query(t, "cat"), 1)
}

func revs(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	ds := docs(t, "cat", "dog", "", "bird")
	for i := range ds {
		ds[i].Rev = uint64(10 + i)
		ds[i].Facets.Scope = scope(t, []string{"acme", "beta"}[i%2], "ann", "", "")
	}
	upsert(t, ix, ds...)
	removeOf(t, ix, "beta", 50, id(2), id(60))
	want := []sparse.Held{{ID: id(1), Rev: 10, Tenant: "acme"}, {ID: id(3), Rev: 12, Tenant: "acme"}, {ID: id(4), Rev: 13, Tenant: "beta"}}
	var got []sparse.Held
	for h, err := range ix.Revs(t.Context()) {
		if err != nil {
			t.Fatalf("Revs: %v", err)
		}
		got = append(got, h)
	}
	slices.SortFunc(got, func(a, b sparse.Held) int { return strings.Compare(string(a.ID), string(b.ID)) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("Revs (-want +got):\n%s", diff)
	}
	for range ix.Revs(t.Context()) { // breaking off is allowed
		break
	}
}

func canceledContext(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, "cat")...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ix.Search(ctx, query(t, "cat"))
	code(t, "Search", err, memtypes.Canceled)
	code(t, "Upsert", ix.Upsert(ctx, docs(t, "dog")), memtypes.Canceled)
	code(t, "Delete", ix.Delete(ctx, gone(memtypes.DefaultTenant, 9, id(1))), memtypes.Canceled)
	finds(t, ix, query(t, "cat"), 1)
}

func closed(t *testing.T, open func(testing.TB) sparse.Index) {
	ix := open(t)
	upsert(t, ix, docs(t, "cat")...)
	for range 2 { // a second Close does nothing
		if err := ix.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	_, err := ix.Search(t.Context(), query(t, "cat"))
	code(t, "Search", err, memtypes.Unavailable)
	code(t, "Upsert", ix.Upsert(t.Context(), docs(t, "cat")), memtypes.Unavailable)
	code(t, "Delete", ix.Delete(t.Context(), gone(memtypes.DefaultTenant, 1, id(1))), memtypes.Unavailable)
	seen := 0
	for _, err := range ix.Revs(t.Context()) {
		code(t, "Revs", err, memtypes.Unavailable)
		seen++
	}
	if seen != 1 {
		t.Fatalf("Revs after Close yields %d times, want one error", seen)
	}
	if f, ok := ix.(sparse.Frequencies); ok {
		_, err := f.DocFreq(t.Context(), memtypes.DefaultTenant, sparse.Text, []string{"cat"})
		code(t, "DocFreq", err, memtypes.Unavailable)
	}
	if s, ok := ix.(sparse.Statistics); ok {
		_, err := s.Statistics(t.Context(), memtypes.DefaultTenant, sparse.Text, []string{"cat"})
		code(t, "Statistics", err, memtypes.Unavailable)
	}
}
