package qdrant_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/densetest"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
)

// id is the n-th in ascending order.
func id(n int) memtypes.ID {
	return memtypes.ID(fmt.Sprintf("00000000-0000-8000-8000-%012x", n))
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
	v := make(memtypes.Vector, densetest.Dim)
	for i, x := range xs {
		v[i] = float32(x / math.Sqrt(n))
	}
	return v
}

// doc is document n of ann's, of revision rev.
func doc(t testing.TB, n int, rev uint64) dense.Doc {
	return dense.Doc{ID: id(n), Rev: rev, Text: unit(1, float64(n)), Facets: memtypes.Facets{
		Scope: scope(t, "", "ann", "", ""), Kind: memtypes.Dialogue, Layer: memtypes.Raw, Session: "s", When: time.Unix(int64(n), 0),
	}}
}

func docs(t testing.TB, n int) []dense.Doc {
	var out []dense.Doc
	for i := range n {
		out = append(out, doc(t, i, 1))
	}
	return out
}

func ask(t testing.TB, k int) dense.Query {
	return dense.Query{Vector: unit(1), K: k, Filter: memtypes.Filter{Scope: scope(t, "", "ann", "", "")}}
}

func gone(rev uint64, ns ...int) []memtypes.Gone {
	var out []memtypes.Gone
	for _, n := range ns {
		out = append(out, memtypes.Gone{ID: id(n), Tenant: memtypes.DefaultTenant, Rev: rev})
	}
	return out
}

// made opens a generation.
func made(t testing.TB, s *qdrant.Store, name string) dense.Index {
	t.Helper()
	ix, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func found(t testing.TB, ix dense.Index, q dense.Query) []memtypes.ID {
	t.Helper()
	hits, err := ix.Search(t.Context(), q)
	must(t, err)
	out := []memtypes.ID{}
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return out
}

func wantFound(t testing.TB, ix dense.Index, q dense.Query, ns ...int) {
	t.Helper()
	want := []memtypes.ID{}
	for _, n := range ns {
		want = append(want, id(n))
	}
	if diff := cmp.Diff(want, found(t, ix, q)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

func wantLen(t testing.TB, ix dense.Index, want int) {
	t.Helper()
	if got, err := ix.Len(t.Context()); err != nil || got != want {
		t.Errorf("Len = %d, %v, want %d", got, err, want)
	}
}

// wantError checks the code, and that the text says each of says.
func wantError(t testing.TB, err error, code memtypes.Code, says ...string) {
	t.Helper()
	if err == nil || memtypes.CodeOf(err) != code {
		t.Errorf("error = %v, want one with code %q", err, code)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error = %v, want one that says %q", err, s)
		}
	}
}

// each calls everything that an index can be asked.
func each(t testing.TB, ix dense.Index) map[string]error {
	ctx := t.Context()
	out := map[string]error{
		"Upsert": ix.Upsert(ctx, []dense.Doc{doc(t, 77, 1)}),
		"Delete": ix.Delete(ctx, gone(1, 78)),
	}
	_, out["Search"] = ix.Search(ctx, ask(t, 1))
	_, out["Len"] = ix.Len(ctx)
	for _, err := range ix.Revs(ctx) {
		out["Revs"] = err
	}
	return out
}

// within is a context that ends soon.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
