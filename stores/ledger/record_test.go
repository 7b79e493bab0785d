package ledger_test

import (
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// trail is two entries of one memory, an insert and a revise.
func trail(t *testing.T) []ledger.Record {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	scope, err := memtypes.NewScope("acme", "ann", "", "")
	if err != nil {
		t.Fatal(err)
	}
	m, err := memtypes.New(memtypes.Draft{Scope: scope, Kind: memtypes.Dialogue, Text: "new", Meta: map[string]string{"a": "b", "c": "d"}}, at)
	if err != nil {
		t.Fatal(err)
	}
	old := m
	old.Text, old.State, old.Rev = "old", "", 0
	m.Rev = 2
	key, _ := ledger.KeyOf(m.ID)
	list := []ledger.Record{
		{Link: ledger.Link{Seq: 1, Op: ledger.OpNumber(ledger.Insert), ID: key, At: at.UnixNano(), Actor: "ann"}, Tenant: "acme", Memory: &m, Origin: make([]byte, 16)},
		{Link: ledger.Link{Seq: 2, Prev: 1, Was: 1, Op: ledger.OpNumber(ledger.Revise), ID: key, At: at.UnixNano() + 9, Actor: "ann"}, Tenant: "acme", Replaced: &old},
	}
	list[0].Hash, _ = list[0].Sum(nil, "acme", nil)
	list[1].Hash, _ = list[1].Sum(nil, "acme", list[0].Hash[:])
	return list
}

// sum adds up a trail.
func sum(list []ledger.Record) (ledger.Sum, error) {
	var tally ledger.Tally
	for i := range list {
		if err := tally.Add(&list[i]); err != nil {
			return ledger.Sum{}, err
		}
	}
	return tally.Sum(), nil
}

// Whatever differs in a record shows in a comparison, and in the sum or as an
// error of it.
func TestTally(t *testing.T) {
	want, err := sum(trail(t))
	if err != nil || want.Records != 2 || want.Active != 1 || want.Replaced != 1 {
		t.Fatalf("Tally = %v, %v; want 2 entries, 1 active, 1 replaced", want, err)
	}
	if err := ledger.CheckRecords(trail(t)); err != nil {
		t.Fatalf("CheckRecords: %v", err)
	}
	if again, err := sum(trail(t)); err != nil || again != want {
		t.Errorf("Tally of the same = %v, %v; want %v", again, err, want)
	}
	for name, change := range map[string]func([]ledger.Record){
		"text":       func(rs []ledger.Record) { rs[0].Memory.Text = "x" },
		"meta":       func(rs []ledger.Record) { rs[0].Memory.Meta["a"] = "x" },
		"recalls":    func(rs []ledger.Record) { rs[0].Memory.Strength.Recalls++ },
		"pin":        func(rs []ledger.Record) { rs[0].Memory.Strength.Pinned = true },
		"state":      func(rs []ledger.Record) { rs[0].Memory.State = memtypes.Retired },
		"revision":   func(rs []ledger.Record) { rs[0].Memory.Rev++ },
		"updated":    func(rs []ledger.Record) { rs[0].Memory.Updated = rs[0].Memory.Updated.Add(1) },
		"no memory":  func(rs []ledger.Record) { rs[0].Memory = nil },
		"purged":     func(rs []ledger.Record) { rs[0].Purged = true },
		"origin":     func(rs []ledger.Record) { rs[0].Origin[3] = 1 },
		"replaced":   func(rs []ledger.Record) { rs[1].Replaced.Text = "x" },
		"unreplaced": func(rs []ledger.Record) { rs[1].Replaced = nil },
		"actor":      func(rs []ledger.Record) { rs[1].Actor = "x" },
		"tenant":     func(rs []ledger.Record) { rs[1].Tenant = "x" },
		"hash":       func(rs []ledger.Record) { rs[1].Hash[0]++ },
		"link":       func(rs []ledger.Record) { rs[1].Was = 0 },
		"order":      func(rs []ledger.Record) { rs[0], rs[1] = rs[1], rs[0] },
	} {
		changed, was := trail(t), trail(t)
		change(changed)
		if changed[0].Equal(&was[0]) && changed[1].Equal(&was[1]) {
			t.Errorf("%s: another one is Equal, want not", name)
		}
		if got, err := sum(changed); err == nil && got.Digest == want.Digest {
			t.Errorf("%s: another trail has the digest %x, too", name, want.Digest)
		} else if err != nil && memtypes.CodeOf(err) != memtypes.Internal {
			t.Errorf("%s: %v, want code %q", name, err, memtypes.Internal)
		}
	}
}

// The time zone of a backend's answers is no difference.
func TestRecordEqualZones(t *testing.T) {
	a, b := trail(t), trail(t)
	zone := time.FixedZone("x", 3600)
	for _, at := range []*time.Time{&b[0].Memory.Created, &b[0].Memory.Updated, &b[1].Replaced.Created} {
		*at = at.In(zone)
	}
	for i := range a {
		if !a[i].Equal(&b[i]) {
			t.Errorf("entry %d in another time zone is not Equal, want it to be", a[i].Seq)
		}
	}
}

func TestCheckFollower(t *testing.T) {
	for name, want := range map[string]bool{"a": true, "dense/bge-small/7": true, "": false, "A": false, "a_b": false, "ä": false, "a\xff": false} {
		if err := ledger.CheckFollower("test", name); (err == nil) != want {
			t.Errorf("CheckFollower(%q) = %v, want ok %v", name, err, want)
		}
	}
}
