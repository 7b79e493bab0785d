package ledgertest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// debts is what one follower owes, as plain as can be: what every backend must
// agree with, whoever claims and settles in whatever order.
type debts struct {
	*bank
	pool   []memtypes.Memory
	now    int
	newest uint64
	of     map[memtypes.ID]*debt
	claims []claimed
}

// debt is a memory that is owed, or a dead letter.
type debt struct {
	seq     uint64   // its newest change
	pending []uint64 // its changes that are not placed
	floor   uint64   // no change before this one is owed
	ready   int      // the minute from which it can be claimed
	holder  string
	tries   int
	letter  *ledger.Letter
}

// claimed is an intent that somebody was given, perhaps long ago.
type claimed struct {
	holder string
	ledger.Intent
}

// againstDebts runs random changes, claims and settlements on a ledger and a
// model alike.
func againstDebts(t *testing.T, open func(testing.TB) ledger.Ledger) {
	rapid.Check(t, func(rt *rapid.T) {
		l := open(t)
		defer func() {
			if err := l.Close(); err != nil {
				rt.Fatalf("Close: %v", err)
			}
		}()
		d := &debts{bank: &bank{t: t, Ledger: l}, pool: numbered(6, "note", memtypes.Draft{}), of: map[memtypes.ID]*debt{}}
		d.follow("dense/a", 0)
		rt.Repeat(map[string]func(*rapid.T){
			"change": d.change, "claim": d.claimSome, "settle": d.settleSome, "revive": d.reviveSome, "look": d.look,
			"time passes": func(rt *rapid.T) { d.now += rapid.IntRange(1, 12).Draw(rt, "minutes") },
		})
		d.look(rt)
	})
}

func (d *debts) change(t *rapid.T) {
	b := batch(at(d.now + rapid.IntRange(-2, 2).Draw(t, "clock"))) // not quite the claimers' clock
	for range rapid.IntRange(1, 3).Draw(t, "edits") {
		op := rapid.SampledFrom([]ledger.Op{ledger.Insert, ledger.Insert, ledger.Pin, ledger.Unpin, ledger.Retire, ledger.Purge, ledger.Recall}).Draw(t, "op")
		b.Edits = append(b.Edits, edit(op, rapid.SampledFrom(d.pool).Draw(t, "memory")))
	}
	for i, r := range d.must(b) {
		if r.Outcome == ledger.Done && b.Edits[i].Op != ledger.Recall {
			d.changed(r.ID, r.Rev)
		}
	}
}

func (d *debts) changed(id memtypes.ID, seq uint64) {
	d.newest = seq
	o := d.of[id]
	if o == nil {
		o = &debt{floor: seq}
		d.of[id] = o
	}
	if o.letter != nil {
		o.letter, o.pending, o.tries, o.ready, o.holder = nil, nil, 0, 0, ""
	}
	o.seq, o.pending = seq, append(o.pending, seq)
}

// claimSome compares a claim of some.
func (d *debts) claimSome(t *rapid.T) {
	d.claimBy(t, rapid.SampledFrom([]string{"h1", "h2", "h3"}).Draw(t, "holder"), rapid.IntRange(1, 7).Draw(t, "limit"))
}

func (d *debts) claimBy(t *rapid.T, holder string, limit int) {
	due := map[memtypes.ID]*debt{}
	for id, o := range d.of {
		if o.letter == nil && o.ready <= d.now {
			due[id] = o
		}
	}
	got := d.claim(holder, d.now, limit)
	if len(got) != min(limit, len(due)) {
		t.Fatalf("Claim of %d gave %d, want %d that are due", limit, len(got), min(limit, len(due)))
	}
	for _, i := range got {
		o := due[i.ID]
		if o == nil || o.seq != i.Seq || o.tries != i.Tries || i.Tenant != d.pool[0].Scope.Tenant() {
			t.Fatalf("Claim gave %+v, want one of those that are due: %+v", i, o)
		}
		delete(due, i.ID)
		o.holder, o.ready = holder, d.now+10
		d.claims = append(d.claims, claimed{holder, i})
	}
}

// settleSome settles intents that somebody was given once, some of them again
// and some long after they were given to somebody else.
func (d *debts) settleSome(t *rapid.T) {
	for range rapid.IntRange(1, 4).Draw(t, "settlements") {
		if len(d.claims) == 0 {
			return
		}
		n := rapid.IntRange(0, len(d.claims)-1).Draw(t, "which")
		c := d.claims[n]
		if rapid.IntRange(0, 3).Draw(t, "for good") > 0 {
			d.claims = slices.Delete(d.claims, n, n+1)
		}
		verdict := rapid.SampledFrom([]ledger.Settled{placed(), placed(), later(d.now + 5), poison(d.now)}).Draw(t, "verdict")
		d.settle(c.holder, verdict, c.Intent)
		d.settled(c, verdict)
	}
}

func (d *debts) settled(c claimed, s ledger.Settled) {
	o := d.of[c.ID]
	if o == nil || o.holder != c.holder {
		return
	}
	o.holder, o.ready = "", d.now
	switch {
	case s.Verdict == ledger.Later:
		o.ready = d.now + 5
		o.tries++
	case o.seq != c.Seq:
		o.tries, o.floor = 0, max(o.floor, c.Seq+1)
		o.pending = slices.DeleteFunc(o.pending, func(seq uint64) bool { return seq <= c.Seq })
	case s.Verdict == ledger.Placed:
		delete(d.of, c.ID)
	default:
		o.letter = &ledger.Letter{Intent: ledger.Intent{ID: c.ID, Seq: c.Seq, Tries: o.tries, Tenant: c.Tenant}, At: s.At, Reason: s.Reason}
	}
}

func (d *debts) letters() (list []ledger.Letter) {
	for _, o := range d.of {
		if o.letter != nil {
			list = append(list, *o.letter)
		}
	}
	slices.SortFunc(list, func(a, b ledger.Letter) int { return cmp.Compare(a.Seq, b.Seq) })
	return list
}

func (d *debts) reviveSome(t *rapid.T) {
	d.claimBy(t, "h3", 1) // whose memory changed is no dead letter any more, once that was noticed
	var ids []memtypes.ID
	if rapid.Bool().Draw(t, "some") {
		ids = idsOf(rapid.SliceOfNDistinct(rapid.SampledFrom(d.pool), 1, 3, func(m memtypes.Memory) memtypes.ID { return m.ID }).Draw(t, "of"))
	}
	want := 0
	for _, l := range d.letters() {
		if ids == nil || slices.Contains(ids, l.ID) {
			o := d.of[l.ID]
			o.letter, o.tries, o.ready = nil, 0, 0
			want++
		}
	}
	if n, err := d.Revive(d.t.Context(), "dense/a", ids); err != nil || n != want {
		t.Fatalf("Revive(%v) = %d, %v; want %d", ids, n, err, want)
	}
}

// look compares what the follower is said to owe.
func (d *debts) look(t *rapid.T) {
	d.claimBy(t, "h3", 1)
	letters := d.letters()
	if diff := diff(d.dead(), letters); diff != "" {
		t.Fatalf("dead letters (-want +got):\n%s", diff)
	}
	f := d.state(d.now)
	owed := len(d.of) - len(letters)
	if f.Owed != owed || f.Dead != len(letters) || f.Due.IsZero() != (owed == 0) || f.Due.After(at(d.now)) {
		t.Fatalf("Followers = %+v, want %d owed, %d dead, and due by %v if any is", f, owed, len(letters), at(d.now).Format(time.TimeOnly))
	}
	low, high, why := d.newest, d.newest, "nothing is owed"
	for _, o := range d.of {
		if o.letter == nil {
			low = min(low, o.floor-1)
			if o.pending[0]-1 <= high {
				high, why = o.pending[0]-1, fmt.Sprintf("change %d is owed", o.pending[0])
			}
		}
	}
	if f.Mark < low || f.Mark > high {
		t.Fatalf("mark = %d, want %d to %d: %s", f.Mark, low, high, why)
	}
}
