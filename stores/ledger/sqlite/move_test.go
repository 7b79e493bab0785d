package sqlite_test

import (
	"strings"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

// A bank that was moved is sound to the last byte, and nothing of what was
// purged came with it.
func TestMoveIsSound(t *testing.T) {
	from, dir := open(t, t.TempDir(), nil), t.TempDir()
	defer from.Close()
	add(t, from, 0, sqlite.MaxLoose+50) // enough to be filed on the way
	var word string
	for i := range 40 {
		m, w := secret(i)
		word = w[:6]
		revised := m
		revised.Text += " more"
		for _, e := range []ledger.Edit{{Op: ledger.Insert, Memory: m}, {Op: ledger.Revise, Memory: revised}, {Op: ledger.Recall, Memory: m}, {Op: ledger.Purge, Memory: m}} {
			if _, err := from.Append(t.Context(), ledger.Batch{Now: epoch, Actor: "test", Edits: []ledger.Edit{e}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	to := open(t, dir, nil)
	sum, err := ledger.Move(t.Context(), from, to, nil)
	if err != nil {
		t.Fatalf("Move: %v", err)
	}
	if sum.Active != sqlite.MaxLoose+50 || sum.Purged != 40 {
		t.Errorf("Move = %v, want %d active and 40 purged", sum, sqlite.MaxLoose+50)
	}
	if err := to.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
	for _, tenant := range []string{"default", user("ann").Tenant()} {
		if err := to.VerifyAudit(t.Context(), tenant); err != nil {
			t.Errorf("VerifyAudit: %v", err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if in := find(t, dir, []byte(word)); len(in) > 0 {
		t.Errorf("found %q, which was purged, in %s", word, strings.Join(in, ", "))
	}
	to = open(t, dir, nil)
	defer to.Close()
	again, err := ledger.Verify(t.Context(), to)
	if err != nil || again != sum {
		t.Errorf("Verify after opening anew = %v, %v; want %v", again, err, sum)
	}
}

// A bank that was changed behind its back is not moved.
func TestMoveRefusesDamage(t *testing.T) {
	for _, query := range []string{
		"UPDATE log SET actor = 'nobody' WHERE seq = 5", "UPDATE log SET prev = prev + 1 WHERE seq = 9", "DELETE FROM log WHERE seq = 4",
	} {
		from, to := damaged(t, 20, query), open(t, t.TempDir(), nil)
		if _, err := ledger.Move(t.Context(), from, to, nil); err == nil {
			t.Errorf("%s: moved, want an error", query)
		}
		if _, err := ledger.Verify(t.Context(), from); memtypes.CodeOf(err) != memtypes.Internal {
			t.Errorf("%s: Verify: %v, want code %q", query, err, memtypes.Internal)
		}
		if err := to.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// BenchmarkMove times the way of a memory into another bank, verified.
func BenchmarkMove(b *testing.B) {
	from, to := open(b, b.TempDir(), nil), open(b, b.TempDir(), nil)
	defer from.Close()
	defer to.Close()
	add(b, from, 0, b.N)
	b.ResetTimer()
	if _, err := ledger.Move(b.Context(), from, to, nil); err != nil {
		b.Fatal(err)
	}
}
