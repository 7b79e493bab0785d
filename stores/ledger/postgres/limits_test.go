package postgres_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/postgres"
)

// IDs are unique over all partitions: one that another tenant has cannot be had.
func TestForgedID(t *testing.T) {
	db := open(t, live.Postgres(t), &postgres.Options{Partitions: 8})
	defer db.Close()
	own := said("t0", "mine")
	rev := must(t, db, inserts(own))[0].Rev
	for i := range 20 {
		forged := said(fmt.Sprint("t", i+1), "mine")
		forged.ID = own.ID
		for _, state := range []string{"active", "purged"} {
			if state == "purged" && i == 19 {
				must(t, db, ledger.Batch{Now: start, Actor: "test", Edits: []ledger.Edit{{Op: ledger.Purge, Memory: own}}})
			}
			rs, err := db.Append(t.Context(), inserts(forged))
			if err != nil || rs[0].Outcome != ledger.Conflicting {
				t.Errorf("insert of another tenant's ID (%s) = %+v, %v; want %q", state, rs, err, ledger.Conflicting)
			}
		}
	}
	if got, err := db.Get(t.Context(), own.Scope, []memtypes.ID{own.ID}); err != nil || len(got) != 0 {
		t.Errorf("Get of the purged = %d, %v; want nothing (its revision was %d)", len(got), err, rev)
	}
	sound(t, db, "t0")
}

// What a text of the server cannot hold is refused by name, not by the server.
func TestNUL(t *testing.T) {
	db := open(t, live.Postgres(t), &postgres.Options{Partitions: 1})
	defer db.Close()
	ctx := t.Context()
	m := said("t", "one")
	m.Talk.Session = "a\x00b"
	titled := said("t", "two")
	titled.Title, titled.Meta = "a\x00b", map[string]string{"k\x00": "v\x00"}
	must(t, db, inserts(titled))
	if got, err := db.Get(ctx, titled.Scope, []memtypes.ID{titled.ID}); err != nil || len(got) != 1 || got[0].Title != titled.Title || got[0].Meta["k\x00"] != "v\x00" {
		t.Errorf("Get = %+v, %v; want title and meta as they were", got, err)
	}
	for name, f := range map[string]func() error{
		"a session":     func() error { _, err := db.Append(ctx, inserts(m)); return err },
		"a setting":     func() error { return db.Set(ctx, "a", "\x00") },
		"a run":         func() error { _, err := db.Run(ctx, "\x00"); return err },
		"a run's list":  func() error { _, err := db.List(ctx, ledger.ListQuery{All: true, RunID: "\x00"}); return err },
		"a fingerprint": func() error { return db.PutVectors(ctx, "\x00", nil, nil, nil) },
		"a job":         func() error { _, err := db.Runs(ctx, "\x00", 1); return err },
		"a tenant":      func() error { _, err := db.Audit(ctx, "\x00", 0, 1); return err },
		"a run after":   func() error { _, err := db.RunsAfter(ctx, "\x00", 1); return err },
	} {
		if err := f(); memtypes.CodeOf(err) != memtypes.Invalid {
			t.Errorf("%s with NUL: %v, want code %q", name, err, memtypes.Invalid)
		}
	}
	if vs, err := db.GetVectors(ctx, "\x00", []memtypes.ID{m.ID}, []string{"\x00"}); err != nil || vs[0] != nil {
		t.Errorf("GetVectors with NUL = %v, %v; want none", vs, err)
	}
}

// As many and as long memories as one batch may have.
func TestLargeBatches(t *testing.T) {
	db := open(t, live.Postgres(t), &postgres.Options{Partitions: 2})
	defer db.Close()
	var many, long []memtypes.Memory
	for i := range ledger.MaxEdits {
		many = append(many, said(fmt.Sprint("t", i%7), fmt.Sprint("note ", i)))
	}
	for i := range 400 {
		long = append(long, said("t0", fmt.Sprint(i, strings.Repeat(" long", memtypes.MaxText/5-2))))
	}
	must(t, db, inserts(many...))
	var wg sync.WaitGroup // each too large to share a commit
	for i := range 4 {
		wg.Go(func() {
			if _, err := db.Append(t.Context(), inserts(long[i*100:(i+1)*100]...)); err != nil {
				t.Errorf("Append: %v", err)
			}
		})
	}
	wg.Wait()
	if changes := sound(t, db, "t0", "t3"); len(changes) != ledger.MaxEdits+400 {
		t.Errorf("the log has %d entries, want %d", len(changes), ledger.MaxEdits+400)
	}
	var ids []memtypes.ID
	for _, m := range long {
		ids = append(ids, m.ID)
	}
	got, err := db.Get(t.Context(), long[0].Scope, ids)
	if err != nil || len(got) != 400 || got[399].Text != long[399].Text {
		t.Errorf("Get = %d, %v; want 400 long memories", len(got), err)
	}

	// Now that its end is noted, a trail that is cut off there shows.
	run(t, live.Postgres(t), fmt.Sprintf("DELETE FROM %[1]q.log WHERE seq > %[2]d; DELETE FROM %[1]q.memories WHERE seq > %[2]d", db.Schema(), 5000))
	if err := db.Check(t.Context()); memtypes.CodeOf(err) != memtypes.Internal {
		t.Errorf("Check of a log that was cut off: %v, want code %q", err, memtypes.Internal)
	}
	if err := db.VerifyAudit(t.Context(), "t0"); memtypes.CodeOf(err) != memtypes.Internal {
		t.Errorf("VerifyAudit of a log that was cut off: %v, want code %q", err, memtypes.Internal)
	}
}

// Whoever puts vectors while memories are purged leaves none behind.
func TestVectorsOfPurged(t *testing.T) {
	u := live.Postgres(t)
	db := open(t, u, &postgres.Options{Partitions: 2})
	defer db.Close()
	var ms []memtypes.Memory
	for i := range 60 {
		ms = append(ms, said("t", fmt.Sprint("note ", i)))
	}
	must(t, db, inserts(ms...))
	ids, hashes, vs := make([]memtypes.ID, len(ms)), make([]string, len(ms)), make([]memtypes.Vector, len(ms))
	for i, m := range ms {
		ids[i], hashes[i], vs[i] = m.ID, "h", memtypes.Vector{1, 2}
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 15 {
				if err := db.PutVectors(t.Context(), "f", ids, hashes, vs); err != nil {
					t.Errorf("PutVectors: %v", err)
				}
			}
		})
	}
	wg.Go(func() {
		for i := len(ms) - 1; i >= 10; i-- {
			must(t, db, ledger.Batch{Now: start, Actor: "test", Edits: []ledger.Edit{{Op: ledger.Purge, Memory: ms[i]}}})
		}
	})
	wg.Wait()
	if n := ask[int](t, u, fmt.Sprintf("SELECT count(*) FROM %q.vectors", db.Schema())); n != 10 {
		t.Errorf("%d vectors are left, want those of the 10 memories that were not purged", n)
	}
	sound(t, db, "t")
}

// The bank is restored from an old backup below a process that goes on: what
// that remembers must not be held against what others wrote since.
func TestRestoredBelow(t *testing.T) {
	u := live.Postgres(t)
	db := open(t, u, &postgres.Options{Partitions: 2})
	defer db.Close()
	must(t, db, inserts(said("t0", "one"), said("t1", "two")))
	empty(t, u, db.Schema())
	other := open(t, u, &postgres.Options{Schema: db.Schema()})
	defer other.Close()
	must(t, other, inserts(said("t5", "of another"), said("t6", "of another")))
	if _, gone, err := db.Changes(t.Context(), 3, 10); err != nil || !gone {
		t.Errorf("Changes after what is no more: gone = %v, %v; want gone", gone, err)
	}
	must(t, db, inserts(said("t0", "one"), said("t1", "three"), said("t5", "mine")))
	for tenant, want := range map[string]int{"t0": 1, "t1": 1, "t5": 2, "t6": 1} {
		for _, l := range []*postgres.DB{db, other} {
			p, err := l.List(t.Context(), ledger.ListQuery{Filter: memtypes.Filter{Scope: said(tenant, "x").Scope}})
			if err != nil || len(p.Memories) != want {
				t.Errorf("List of %s = %d, %v; want %d", tenant, len(p.Memories), err, want)
			}
			for _, m := range p.Memories {
				if m.Scope.Tenant() != tenant {
					t.Errorf("List of %s gave a memory of %v", tenant, m.Scope)
				}
			}
		}
	}
	sound(t, db, "t0", "t1", "t5", "t6")
}
