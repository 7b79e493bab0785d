package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

// damaged makes a bank of many entries in two tenants, changes its file behind
// its back, and opens it again.
func damaged(t *testing.T, n int, queries ...string) *sqlite.DB {
	t.Helper()
	dir := t.TempDir()
	db := open(t, dir, nil)
	other, err := memtypes.NewScope("other", "bob", "", "")
	if err != nil {
		t.Fatal(err)
	}
	b := ledger.Batch{Now: epoch, Actor: "test"}
	for i := range n {
		m := memory("ann", i)
		if i%3 == 0 {
			m, err = memtypes.New(memtypes.Draft{Scope: other, Kind: memtypes.Knowledge, Text: fmt.Sprint("fact ", i)}, epoch)
			if err != nil {
				t.Fatal(err)
			}
		}
		b.Edits = append(b.Edits, ledger.Edit{Op: ledger.Insert, Memory: m, Reason: "because"})
	}
	last := b.Edits[n-1]
	for _, op := range []ledger.Op{ledger.Recall, ledger.Pin, ledger.Retire} {
		b.Edits = append(b.Edits, ledger.Edit{Op: op, Memory: last.Memory})
	}
	if _, err := db.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	execSQL(t, filepath.Join(dir, "ledger.db"), queries...)
	db = open(t, dir, nil)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestVerifyAudit(t *testing.T) {
	for _, c := range []struct{ name, query, says string }{
		{"untouched", "SELECT 1", ""},
		{"an actor", "UPDATE log SET actor = 'nobody' WHERE seq = 5", "audit entry 5 "},
		{"a reason", "UPDATE log SET reason = NULL WHERE seq = 8", "audit entry 8 "},
		{"a time", "UPDATE log SET at = at + 1 WHERE seq = 3", "audit entry 3 "},
		{"an operation", "UPDATE log SET op = 4 WHERE seq = 21", "audit entry 21 "},
		{"a hash", "UPDATE log SET hash = x'00' WHERE seq = 12", "audit entry 12 "},
		{"a missing entry", "DELETE FROM log WHERE seq = 6", "audit entry 8 "}, // 7 is of the other tenant
		{"the noted end cut off", "DELETE FROM log WHERE seq > 18", ""},        // not noted yet: Check finds it
		{"content is not part of it", "UPDATE log SET text = 'x' WHERE seq = 5", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := damaged(t, 20, c.query)
			err := db.VerifyAudit(t.Context(), memtypes.DefaultTenant)
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || memtypes.CodeOf(err) != memtypes.Internal) {
				t.Errorf("VerifyAudit: %v, want %q", err, c.says)
			}
			if c.name == "untouched" {
				return
			}
			if err := db.VerifyAudit(t.Context(), "other"); c.says != "" && err != nil {
				t.Errorf("VerifyAudit of the other tenant: %v, want nothing", err)
			}
		})
	}
	db := damaged(t, 3)
	if err := db.VerifyAudit(t.Context(), "nobody"); err != nil {
		t.Errorf("VerifyAudit of an unknown tenant: %v, want nothing", err)
	}
}

// The ends of trails are noted every thousand entries; a trail that does not
// reach its noted end was cut.
func TestVerifyAuditCut(t *testing.T) {
	db := damaged(t, 1500, "DELETE FROM log WHERE seq > 700")
	if err := db.VerifyAudit(t.Context(), memtypes.DefaultTenant); memtypes.CodeOf(err) != memtypes.Internal {
		t.Errorf("VerifyAudit of a trail that was cut: %v, want code %q", err, memtypes.Internal)
	}
	if err := damaged(t, 1500).VerifyAudit(t.Context(), memtypes.DefaultTenant); err != nil {
		t.Errorf("VerifyAudit: %v", err)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct{ query, says string }{
		{"SELECT 1", ""},
		{"DELETE FROM log WHERE seq = 4", "holes in the log"},
		{"UPDATE log SET rev = 2 WHERE seq = 5", "revision is not their newest log entry"},
		{"UPDATE log SET text = NULL WHERE seq = 5", "without scope, kind, time or text"},
		{"UPDATE log SET retired = NULL WHERE state = 1", "contradict the time of retirement"},
		{"UPDATE log SET state = 2 WHERE seq = 5", "purged memories with content"},
		{"UPDATE log SET state = NULL WHERE seq = 20", "contents or recalls of no memory"},
		{"UPDATE log SET state = 0, rev = 21, id = randomblob(16) WHERE seq = 21", "entries that are no insert"},
		{"UPDATE log SET scope = 77 WHERE seq = 5", "broken references"},
		{"UPDATE log SET filed = 0 WHERE seq = 5", "memories that no query finds"},
		{"UPDATE log SET filed = NULL WHERE seq = 5", "memories that no query finds"},
		{"UPDATE log SET filed = 1, id = randomblob(16) WHERE seq = 21", "entries filed that are no memory"},
		{"UPDATE filing SET seq = 0; UPDATE log SET filed = 0, id = (SELECT id FROM log WHERE seq = 4) WHERE seq = 5", "memories of one ID"},
		{"INSERT INTO followers VALUES (1, 'a', 7); INSERT INTO owed SELECT 1, id, 8, 8, 0, 0, '', 0, NULL, NULL FROM log WHERE seq = 8", "debts of changes that were not drawn"},
		{"INSERT INTO followers VALUES (1, 'a', 7); INSERT INTO owed SELECT 1, id, 6, 5, 0, 0, '', 0, NULL, NULL FROM log WHERE seq = 5", "debts of changes that were not drawn"},
		{"INSERT INTO owed SELECT 1, id, 5, 5, 0, 0, '', 0, NULL, NULL FROM log WHERE seq = 5", "broken references"},
		{"UPDATE tenants SET head = 5, hash = x'00'", "noted entry is not in the log"},
	} {
		err := damaged(t, 20, c.query).Check(t.Context())
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || memtypes.CodeOf(err) != memtypes.Internal) {
			t.Errorf("%s: Check: %v, want %q", c.query, err, c.says)
		}
	}
}

func TestStats(t *testing.T) {
	db := damaged(t, 20)
	s, err := db.Stats(t.Context())
	if err != nil {
		t.Fatalf("Stats: %v", err)
	}
	want := []sqlite.Count{
		{Tenant: "default", Kind: memtypes.Dialogue, State: memtypes.Active, N: 12},
		{Tenant: "default", Kind: memtypes.Dialogue, State: memtypes.Retired, N: 1},
		{Tenant: "other", Kind: memtypes.Knowledge, State: memtypes.Active, N: 7},
	}
	if d := gocmp.Diff(want, s.Counts); d != "" {
		t.Errorf("counts (-want +got):\n%s", d)
	}
	if s.Head != 22 || s.Schema != 3 || s.Bytes < 20<<10 {
		t.Errorf("Stats = %+v, want head 22, schema 3, some bytes", s)
	}
	if got, want := s.Counts[1].String(), "1 retired dialogue of default"; got != want {
		t.Errorf("String = %q, want %q", got, want)
	}
}
