package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

// restless files after every third batch, so that memories of one test are
// found in all ways: loose, filed, and filed between two calls.
type restless struct {
	*sqlite.DB
	n atomic.Int64
}

func (r *restless) Append(ctx context.Context, b ledger.Batch) ([]ledger.Result, error) {
	rs, err := r.DB.Append(ctx, b)
	if err != nil || r.n.Add(1)%3 > 0 {
		return rs, err
	}
	if err := r.File(context.WithoutCancel(ctx)); err != nil && memtypes.CodeOf(err) != memtypes.Unavailable {
		return nil, err
	}
	return rs, nil // durable, even if the bank was closed meanwhile
}

// all lists every memory of a bank, with its revision.
func all(t *testing.T, db *sqlite.DB) (list []string) {
	t.Helper()
	q := ledger.ListQuery{All: true, Limit: 100, States: []memtypes.State{memtypes.Active, memtypes.Retired}}
	for {
		p, err := db.List(t.Context(), q)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		for _, m := range p.Memories {
			list = append(list, fmt.Sprint(m.ID, m.Rev, m.Text))
		}
		if q.Cursor = p.Next; p.Next == "" {
			return list
		}
	}
}

// Memories that one process left loose are known to another, and whoever files
// them files for both.
func TestFilingBeside(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, nil), open(t, dir, nil)
	defer a.Close()
	defer b.Close()
	add := func(db *sqlite.DB, i int) ledger.Result {
		t.Helper()
		rs, err := db.Append(t.Context(), insertOf(memory("ann", i)))
		if err != nil {
			t.Fatalf("Append: %v", err)
		}
		return rs[0]
	}
	for i := range 40 {
		one, two := a, b
		if i%2 == 1 {
			one, two = b, a
		}
		first := add(one, i)
		if i%5 == 0 {
			if err := one.File(t.Context()); err != nil {
				t.Fatalf("File: %v", err)
			}
		}
		want := ledger.Result{ID: first.ID, Rev: first.Rev, Outcome: ledger.Same}
		if got := add(two, i); got != want || first.Outcome != ledger.Done {
			t.Fatalf("memory %d: %v, then in the other process %v, want %v", i, first, got, want)
		}
	}
	if x, y := all(t, a), all(t, b); len(x) != 40 || !slices.Equal(x, y) {
		t.Errorf("one process lists %d memories, the other %d, want the same 40", len(x), len(y))
	}
	if err := a.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

// A bank of version 1 is brought to the present one when it is opened to be
// written, with all that it holds.
func TestMigration(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, nil)
	for i := range 30 {
		if _, err := db.Append(t.Context(), insertOf(memory("ann", i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Append(t.Context(), ledger.Batch{Now: epoch, Actor: "test", Edits: []ledger.Edit{{Op: ledger.Purge, Memory: memory("ann", 3)}}}); err != nil {
		t.Fatal(err)
	}
	want := all(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	old := t.TempDir()
	now := filepath.Join(dir, "ledger.db")
	execSQL(t, filepath.Join(old, "ledger.db"), sqlite.FirstSchema()+fmt.Sprintf(`ATTACH '%s' AS now;
		INSERT INTO tenants SELECT * FROM now.tenants; INSERT INTO scopes SELECT * FROM now.scopes;
		INSERT INTO log SELECT seq, tenant, prev, was, op, id, at, actor, run, reason, hash, state, scope, rev, kind, layer, session,
			sec, nsec, dated, updated, pinned, retired, retirer, text, extra FROM now.log;
		PRAGMA application_id = %d; PRAGMA user_version = 1;`, now, 0x564d424c))
	if _, err := sqlite.Open(t.Context(), old, &sqlite.Options{ReadOnly: true}); memtypes.CodeOf(err) != memtypes.ReadOnly {
		t.Errorf("Open for reading: %v, want code %q: it must be migrated first", err, memtypes.ReadOnly)
	}
	db = open(t, old, nil)
	defer db.Close()
	if d := gocmp.Diff(want, all(t, db)); d != "" {
		t.Errorf("after the migration (-want +got):\n%s", d)
	}
	rs, err := db.Append(t.Context(), insertOf(memory("ann", 1), memory("ann", 3), memory("ann", 99)))
	if err != nil || rs[0].Outcome != ledger.Same || rs[1].Outcome != ledger.Done || rs[2].Outcome != ledger.Done {
		t.Errorf("Append = %v, %v; want same, done, done", rs, err)
	}
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
	if s, err := db.Stats(t.Context()); err != nil || s.Schema != 3 {
		t.Errorf("Stats: schema %d, %v; want 3", s.Schema, err)
	}
}

// However long the stream of writes, what is loose is bounded, and more so
// where somebody reads beside it.
func TestLooseIsBounded(t *testing.T) {
	const batch = 100
	for _, reads := range []bool{false, true} {
		db := open(t, t.TempDir(), nil)
		limit, most := sqlite.MaxLoose, 0
		if reads {
			limit = sqlite.FewLoose
		}
		for i := 0; i < 60*batch; i += batch {
			var ms []memtypes.Memory
			for j := range batch {
				ms = append(ms, memory("ann", i+j))
			}
			if reads {
				if _, err := db.Get(t.Context(), user("ann"), []memtypes.ID{ms[0].ID}); err != nil {
					t.Fatalf("Get: %v", err)
				}
			}
			if _, err := db.Append(t.Context(), insertOf(ms...)); err != nil {
				t.Fatalf("Append: %v", err)
			}
			n, err := db.Loose(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			most = max(most, n)
		}
		if most >= limit {
			t.Errorf("reads %v: %d memories were loose after a commit, want less than %d", reads, most, limit)
		}
		if n := len(all(t, db)); n != 60*batch {
			t.Errorf("reads %v: %d memories are listed, want %d", reads, n, 60*batch)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
