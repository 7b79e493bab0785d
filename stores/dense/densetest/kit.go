package densetest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

// tolerance is how far a backend's score may be from the exact cosine.
const tolerance = 1e-4

// id is the n-th ID in ascending order.
func id(n int) memtypes.ID {
	return memtypes.ID(fmt.Sprintf("00000000-0000-8000-8000-%012x", n))
}

// at is n days after a fixed day.
func at(n int) time.Time {
	return time.Date(2024, 2, 28, 12, 0, 0, 0, time.UTC).AddDate(0, 0, n)
}

func scope(t testing.TB, tenant, user, agent, run string) memtypes.Scope {
	t.Helper()
	s, err := memtypes.NewScope(tenant, user, agent, run)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// unit is xs, filled up with zeros and scaled to length 1.
func unit(xs ...float64) memtypes.Vector {
	var n float64
	for _, x := range xs {
		n += x * x
	}
	v := make(memtypes.Vector, Dim)
	for i, x := range xs {
		v[i] = float32(x / math.Sqrt(n))
	}
	return v
}

// cosine is the exact score of two vectors.
func cosine(a, b memtypes.Vector) float64 {
	var ab, aa, bb float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

// doc is document n of user ann in the default tenant, revision 1.
func doc(t testing.TB, n int, text memtypes.Vector) dense.Doc {
	return dense.Doc{ID: id(n), Rev: 1, Text: text, Facets: memtypes.Facets{
		Scope: scope(t, "", "ann", "", ""), Kind: memtypes.Dialogue, Layer: memtypes.Raw, When: at(n),
	}}
}

// ask is a query for everything of ann.
func ask(t testing.TB, v memtypes.Vector, k int) dense.Query {
	return dense.Query{Vector: v, K: k, Filter: memtypes.Filter{Scope: scope(t, "", "ann", "", "")}}
}

func upsert(t testing.TB, ix dense.Index, docs ...dense.Doc) {
	t.Helper()
	if err := ix.Upsert(t.Context(), docs); err != nil {
		t.Fatalf("Upsert: %v", err)
	}
}

// remove deletes memories of the default tenant as of rev.
func remove(t testing.TB, ix dense.Index, rev uint64, ids ...memtypes.ID) {
	t.Helper()
	if err := ix.Delete(t.Context(), gone(memtypes.DefaultTenant, rev, ids...)); err != nil {
		t.Fatalf("Delete: %v", err)
	}
}

// gone is the removal of a tenant's memories as of rev.
func gone(tenant string, rev uint64, ids ...memtypes.ID) []memtypes.Gone {
	out := make([]memtypes.Gone, len(ids))
	for i, id := range ids {
		out[i] = memtypes.Gone{ID: id, Tenant: tenant, Rev: rev}
	}
	return out
}

func search(t testing.TB, ix dense.Index, q dense.Query) []memtypes.Scored {
	t.Helper()
	hits, err := ix.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("Search: %v", err)
	}
	return hits
}

// wantIDs checks which memories q finds, in order.
func wantIDs(t testing.TB, ix dense.Index, q dense.Query, want ...memtypes.ID) {
	t.Helper()
	got := []memtypes.ID{}
	for _, h := range search(t, ix, q) {
		got = append(got, h.ID)
	}
	if diff := cmp.Diff(append([]memtypes.ID{}, want...), got); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// wantHeld checks Len and Revs.
func wantHeld(t testing.TB, ix dense.Index, want map[memtypes.ID]uint64) {
	t.Helper()
	got := map[memtypes.ID]uint64{}
	for h, err := range ix.Revs(t.Context()) {
		if err != nil {
			t.Fatalf("Revs: %v", err)
		}
		if _, twice := got[h.ID]; twice {
			t.Errorf("Revs lists %s twice", h.ID)
		}
		got[h.ID] = h.Rev
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Revs (-want +got):\n%s", diff)
	}
	n, err := ix.Len(t.Context())
	if err != nil {
		t.Fatalf("Len: %v", err)
	}
	if n != len(want) {
		t.Errorf("Len = %d, want %d", n, len(want))
	}
}

func wantCode(t testing.TB, err error, want memtypes.Code) {
	t.Helper()
	if err == nil || memtypes.CodeOf(err) != want {
		t.Errorf("error = %v, want one with code %q", err, want)
	}
}
