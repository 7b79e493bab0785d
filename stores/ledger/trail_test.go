package ledger_test

import (
	"encoding/hex"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

func TestKeyOf(t *testing.T) {
	const id = memtypes.ID("0f8fad5b-d9cb-869f-8165-70867728950e")
	k, ok := ledger.KeyOf(id)
	if !ok || k.ID() != id {
		t.Errorf("KeyOf(%s) = %s, %v; want the same id back", id, k.ID(), ok)
	}
	for _, bad := range []memtypes.ID{"", "7", id[1:], "0F8fad5b-d9cb-869f-8165-70867728950e"} {
		if _, ok := ledger.KeyOf(bad); ok {
			t.Errorf("KeyOf(%q) = ok, want not", bad)
		}
	}
}

// The hash of an entry is what banks that exist were written with.
func TestLinkSum(t *testing.T) {
	k, _ := ledger.KeyOf("0f8fad5b-d9cb-869f-8165-70867728950e")
	l := ledger.Link{Seq: 7, Prev: 5, Was: 2, Op: ledger.OpNumber(ledger.Retire), ID: k, At: 1_700_000_000_000_000_001, Actor: "ann", RunID: "r1", Reason: "old"}
	sum, scratch := l.Sum(nil, "acme", []byte{1, 2, 3})
	const want = "abc4955537c8845f4a6752cfe60d0b3befefc72d11912156b811ba61e6d1e9f1"
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("Sum = %s, want %s", got, want)
	}
	if again, _ := l.Sum(scratch, "acme", []byte{1, 2, 3}); again != sum {
		t.Errorf("Sum with scratch space = %x, want %x as without", again, sum)
	}
	other := l
	other.Reason, other.RunID = "r1old", "" // the same bytes, joined otherwise
	if got, _ := other.Sum(nil, "acme", []byte{1, 2, 3}); got == sum {
		t.Error("two entries that differ have one hash")
	}
}

func TestOpNumber(t *testing.T) {
	for n, op := range []ledger.Op{1: ledger.Insert, ledger.Revise, ledger.Retire, ledger.Restore, ledger.Purge, ledger.Pin, ledger.Unpin, ledger.Touch} {
		if ledger.OpNumber(op) != n || ledger.OpNumbered(n) != op {
			t.Errorf("number of %q = %d and back %q, want %d", op, ledger.OpNumber(op), ledger.OpNumbered(n), n)
		}
	}
	if n := ledger.OpNumber(ledger.Recall); n != 0 {
		t.Errorf("OpNumber(recall) = %d, want 0", n)
	}
	for _, n := range []int{-1, 9, 99} {
		if op := ledger.OpNumbered(n); op != "" {
			t.Errorf("OpNumbered(%d) = %q, want none", n, op)
		}
	}
}
