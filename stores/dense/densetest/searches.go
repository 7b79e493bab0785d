package densetest

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

func order(t *testing.T, ix dense.Index) {
	vs := []memtypes.Vector{unit(-1), unit(1, 2), unit(1), unit(1, 1), unit(1, -3), unit(0, 0, 0, 0, 0, 0, 0, 1)}
	for n, v := range vs {
		upsert(t, ix, doc(t, n, v))
	}
	q := ask(t, unit(1, .1), 10)
	wantIDs(t, ix, q, id(2), id(3), id(1), id(4), id(5), id(0)) // cosines .995, .774, .534, .219, 0, -.995
	for i, n := range []int{2, 3, 1, 4, 5, 0} {
		got := search(t, ix, q)[i]
		if want := cosine(q.Vector, vs[n]); math.Abs(got.Score-want) > tolerance {
			t.Errorf("hit %d, %s: score = %v, want %v", i, got.ID, got.Score, want)
		}
	}
}

func ties(t *testing.T, ix dense.Index) {
	for _, n := range []int{5, 3, 9, 1} {
		upsert(t, ix, doc(t, n, unit(1, 1)))
	}
	upsert(t, ix, doc(t, 7, unit(1, .9)))
	wantIDs(t, ix, ask(t, east, 10), id(7), id(1), id(3), id(5), id(9))
}

func bounds(t *testing.T, ix dense.Index) {
	for n := range 5 {
		upsert(t, ix, doc(t, n, unit(1, float64(n))))
	}
	wantIDs(t, ix, ask(t, east, 1), id(0))
	wantIDs(t, ix, ask(t, east, 4), id(0), id(1), id(2), id(3))
	wantIDs(t, ix, ask(t, east, 5), id(0), id(1), id(2), id(3), id(4))
	wantIDs(t, ix, ask(t, east, memtypes.MaxK), id(0), id(1), id(2), id(3), id(4))
	for _, k := range []int{0, -1} {
		_, err := ix.Search(t.Context(), ask(t, east, k))
		wantField(t, err, "k")
	}
}

// nearlyUnit: a length within 1e-3 of 1 is taken, and does not count.
func nearlyUnit(t *testing.T, ix dense.Index) {
	long, short := unit(1, .01), unit(1, .001)
	for i := range long {
		long[i] *= 1.0009
		short[i] *= .9992
	}
	upsert(t, ix, doc(t, 1, long), doc(t, 2, short))
	wantIDs(t, ix, ask(t, long, 2), id(1), id(2))
	wantIDs(t, ix, ask(t, east, 2), id(2), id(1)) // by cosine; the dot product would say 1, 2
}

// bads is vectors that neither Upsert nor Search may take.
func bads() map[string]memtypes.Vector {
	nan, inf, long := unit(1, 1), unit(1, 1), unit(1, 1)
	nan[3], inf[3] = float32(math.NaN()), float32(math.Inf(-1))
	for i := range long {
		long[i] *= 1.01
	}
	return map[string]memtypes.Vector{
		"too short": unit(1)[:Dim-1], "too long": append(unit(1), 0), "empty": {},
		"not a number": nan, "infinite": inf, "longer than 1": long, "zero": make(memtypes.Vector, Dim),
	}
}

func badVectors(t *testing.T, ix dense.Index) {
	for name, v := range bads() {
		t.Run(name, func(t *testing.T) {
			wantField(t, ix.Upsert(t.Context(), []dense.Doc{doc(t, 1, v)}), "text")
			d := doc(t, 1, east)
			d.Context = v
			wantField(t, ix.Upsert(t.Context(), []dense.Doc{d}), "context")
			_, err := ix.Search(t.Context(), ask(t, v, 1))
			wantField(t, err, "vector")
		})
	}
	t.Run("no scope", func(t *testing.T) {
		wantField(t, ix.Upsert(t.Context(), []dense.Doc{{ID: id(1), Text: east}}), "scope")
	})
	t.Run("no ID", func(t *testing.T) {
		d := doc(t, 1, east)
		d.ID = ""
		wantField(t, ix.Upsert(t.Context(), []dense.Doc{d}), "id")
	})
	wantHeld(t, ix, map[memtypes.ID]uint64{})
}

func badQueries(t *testing.T, ix dense.Index) {
	upsert(t, ix, doc(t, 1, east))
	_, err := ix.Search(t.Context(), dense.Query{Vector: east, K: 1})
	wantField(t, err, "filter.scope")
	q := ask(t, east, 1)
	q.Space = "colour"
	_, err = ix.Search(t.Context(), q)
	wantField(t, err, "space")
	q = ask(t, nil, 1)
	_, err = ix.Search(t.Context(), q)
	wantField(t, err, "vector")
}

// wantField checks for an Invalid error that names the field.
func wantField(t testing.TB, err error, field string) {
	t.Helper()
	wantCode(t, err, memtypes.Invalid)
	if f, ok := errors.AsType[*memtypes.Field](err); !ok || f.Name != field {
		t.Errorf("error = %v, want one that names the field %q", err, field)
	}
}

func spaces(t *testing.T, ix dense.Index) {
	both := func(n int, text, context memtypes.Vector) dense.Doc {
		d := doc(t, n, text)
		d.Context = context
		return d
	}
	upsert(t, ix, both(1, east, north), both(2, north, east), doc(t, 3, unit(1, 1)))
	for _, sp := range []dense.Space{"", dense.Text} {
		q := ask(t, unit(1, .1), 5)
		q.Space = sp
		wantIDs(t, ix, q, id(1), id(3), id(2))
	}
	q := ask(t, unit(1, .1), 5)
	q.Space = dense.Context
	wantIDs(t, ix, q, id(2), id(3), id(1)) // 3 by its text

	one := doc(t, 1, east) // loses its context vector; 3 gains one
	three := both(3, north, unit(-1))
	one.Rev, three.Rev = 2, 2
	upsert(t, ix, one, three)
	wantIDs(t, ix, q, id(1), id(2), id(3))
	wantIDs(t, ix, ask(t, unit(1, .1), 5), id(1), id(2), id(3))
	remove(t, ix, 2, id(2))
	wantIDs(t, ix, q, id(1), id(3))
	wantIDs(t, ix, ask(t, unit(0, 1), 5), id(3), id(1))
}

func canceled(t *testing.T, ix dense.Index) {
	upsert(t, ix, doc(t, 1, east))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	wantCode(t, ix.Upsert(over, []dense.Doc{doc(t, 2, east)}), memtypes.Canceled)
	wantCode(t, ix.Delete(over, gone(memtypes.DefaultTenant, 9, id(1))), memtypes.Canceled)
	_, err := ix.Search(over, ask(t, east, 1))
	wantCode(t, err, memtypes.Canceled)
	_, err = ix.Len(over)
	wantCode(t, err, memtypes.Canceled)
	for _, err := range ix.Revs(over) {
		wantCode(t, err, memtypes.Canceled)
	}
	wantHeld(t, ix, map[memtypes.ID]uint64{id(1): 1})
}

func closed(t *testing.T, ix dense.Index) {
	upsert(t, ix, doc(t, 1, east))
	if err := ix.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if err := ix.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	wantCode(t, ix.Upsert(t.Context(), []dense.Doc{doc(t, 2, east)}), memtypes.Unavailable)
	wantCode(t, ix.Delete(t.Context(), gone(memtypes.DefaultTenant, 9, id(1))), memtypes.Unavailable)
	_, err := ix.Search(t.Context(), ask(t, east, 1))
	wantCode(t, err, memtypes.Unavailable)
	_, err = ix.Len(t.Context())
	wantCode(t, err, memtypes.Unavailable)
	n := 0
	for _, err := range ix.Revs(t.Context()) {
		wantCode(t, err, memtypes.Unavailable)
		n++
	}
	if n != 1 {
		t.Errorf("Revs of a closed index yields %d times, want its error once", n)
	}
}
