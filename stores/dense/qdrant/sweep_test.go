package qdrant_test

import (
	"context"
	"testing"

	qc "github.com/qdrant/go-client/qdrant"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
)

// TestTombstones: a removal keeps nothing of its memory, and Sweep clears away
// those that are old enough.
func TestTombstones(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		prefix, c := unique(), raw(t, addr)
		t.Cleanup(func() { tidy(t, addr, prefix) })
		s := open(t, addr, qdrant.Options{Prefix: prefix})
		ix := made(t, s, "one")
		must(t, ix.Upsert(t.Context(), docs(t, 6)))
		must(t, ix.Delete(t.Context(), gone(5, 0, 1)))
		must(t, ix.Delete(t.Context(), gone(8, 2, 9)))
		got, err := c.Get(t.Context(), &qc.GetPoints{
			CollectionName: prefix + ".one", Ids: []*qc.PointId{qc.NewIDUUID(string(id(2)))},
			WithPayload: qc.NewWithPayload(true), WithVectors: qc.NewWithVectors(true),
		})
		must(t, err)
		if len(got) != 1 || len(got[0].GetPayload()) != 4 || !got[0].GetPayload()["gone"].GetBoolValue() ||
			got[0].GetPayload()["ver"].GetIntegerValue() != 8 || got[0].GetPayload()["tenant"].GetStringValue() != memtypes.DefaultTenant ||
			len(got[0].GetVectors().GetVectors().GetVectors()) != 0 {
			t.Errorf("a removal is kept as %v, want tenant, gone, rev, ver and no vector", got)
		}
		for _, step := range []struct {
			before uint64
			swept  int
			points int
		}{{5, 0, 7}, {8, 2, 5}, {8, 0, 5}, {1 << 63, 2, 3}} {
			n, err := sweep(t, ix, step.before)
			if err != nil || n != step.swept {
				t.Errorf("Sweep before %d = %d, %v, want %d", step.before, n, err, step.swept)
			}
			if got := points(t, c, prefix+".one"); got != step.points {
				t.Errorf("%d points after sweeping before %d, want %d", got, step.before, step.points)
			}
			wantLen(t, ix, 3)
		}
		must(t, s.Drop(t.Context(), "one"))
		_, err = sweep(t, ix, 9)
		wantError(t, err, memtypes.Unavailable, "gone")
	})
}

// sweep is how a caller who has only the port gets at it.
func sweep(t *testing.T, ix dense.Index, before uint64) (int, error) {
	t.Helper()
	s, ok := ix.(interface {
		Sweep(context.Context, uint64) (int, error)
	})
	if !ok {
		t.Fatalf("%T cannot sweep", ix)
	}
	return s.Sweep(t.Context(), before)
}

func points(t *testing.T, c *qc.Client, name string) int {
	t.Helper()
	n, err := c.Count(t.Context(), &qc.CountPoints{CollectionName: name, Exact: new(true)})
	must(t, err)
	return int(n)
}

// TestTenantsApart: each tenant has a collection of its own, which goes with
// the generation.
func TestTenantsApart(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		prefix, c := unique(), raw(t, addr)
		t.Cleanup(func() { tidy(t, addr, prefix) })
		s := open(t, addr, qdrant.Options{Prefix: prefix, Tenancy: qdrant.Apart})
		ix := made(t, s, "one")
		other := doc(t, 1, 1)
		other.Facets.Scope = scope(t, "other/one", "ann", "", "")
		must(t, ix.Upsert(t.Context(), []dense.Doc{doc(t, 0, 1), other}))
		if got := owned(t, c, prefix); len(got) != 3 {
			t.Errorf("collections %q, want that of the generation and of two tenants", got)
		}
		wantFound(t, ix, ask(t, 5), 0)
		wantLen(t, ix, 2)
		if list, err := s.List(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("List = %q, %v, want one", list, err)
		}
		must(t, ix.Delete(t.Context(), []memtypes.Gone{{ID: id(1), Tenant: "other/one", Rev: 3}}))
		if n, err := sweep(t, ix, 9); err != nil || n != 1 {
			t.Errorf("Sweep = %d, %v, want 1", n, err)
		}
		must(t, s.Drop(t.Context(), "one"))
		if got := owned(t, c, prefix); len(got) != 0 {
			t.Errorf("collections %q are left", got)
		}
	})
}
