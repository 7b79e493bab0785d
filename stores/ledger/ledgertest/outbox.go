package ledgertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// follow registers a follower, which must not fail.
func (b *bank) follow(name string, from uint64) {
	b.t.Helper()
	if err := b.Follow(b.t.Context(), name, from); err != nil {
		b.t.Fatalf("Follow(%q, %d): %v", name, from, err)
	}
}

// claim has holder claim of "dense/a" at a minute, for ten minutes.
func (b *bank) claim(holder string, now, limit int) []ledger.Intent {
	b.t.Helper()
	got, err := b.Claim(b.t.Context(), "dense/a", holder, at(now), 10*time.Minute, limit)
	if err != nil {
		b.t.Fatalf("Claim by %s at minute %d: %v", holder, now, err)
	}
	return got
}

// settle has holder settle intents of "dense/a" alike.
func (b *bank) settle(holder string, s ledger.Settled, intents ...ledger.Intent) {
	b.t.Helper()
	var list []ledger.Settled
	for _, i := range intents {
		s.Intent = i
		list = append(list, s)
	}
	if err := b.Settle(b.t.Context(), "dense/a", holder, list); err != nil {
		b.t.Fatalf("Settle by %s: %v", holder, err)
	}
}

// state describes "dense/a" at a minute.
func (b *bank) state(now int) ledger.Follower {
	b.t.Helper()
	list, err := b.Followers(b.t.Context(), at(now))
	if err != nil {
		b.t.Fatalf("Followers: %v", err)
	}
	for _, f := range list {
		if f.Name == "dense/a" {
			return f
		}
	}
	b.t.Fatalf("Followers = %+v, want dense/a among them", list)
	return ledger.Follower{}
}

// dead lists the dead letters of "dense/a".
func (b *bank) dead() []ledger.Letter {
	b.t.Helper()
	list, err := b.Dead(b.t.Context(), "dense/a", 100)
	if err != nil {
		b.t.Fatalf("Dead: %v", err)
	}
	return list
}

// placed and later are settlements of whatever intent.
func placed() ledger.Settled { return ledger.Settled{Verdict: ledger.Placed} }
func later(minute int) ledger.Settled {
	return ledger.Settled{Verdict: ledger.Later, At: at(minute), Reason: "away"}
}
func poison(minute int) ledger.Settled {
	return ledger.Settled{Verdict: ledger.Poison, At: at(minute), Reason: "too long"}
}

// intent is one of a memory that was not tried.
func intent(m memtypes.Memory, seq uint64) ledger.Intent {
	return ledger.Intent{ID: m.ID, Seq: seq, Tenant: m.Scope.Tenant()}
}

func follow(t *testing.T, b *bank) {
	ctx := t.Context()
	ms := numbered(4, "note", memtypes.Draft{})
	b.fill(ms...)
	head := b.newest()
	b.follow("dense/a", 0)
	b.follow("dense/a", head) // known: it stays as it is
	b.follow("sparse/b-2", head-1)
	b.follow("late", head)
	claim := func(name string) []ledger.Intent {
		t.Helper()
		got, err := b.Claim(ctx, name, "h", at(10), time.Minute, 100)
		if err != nil {
			t.Fatalf("Claim of %s: %v", name, err)
		}
		return got
	}
	var want []ledger.Intent
	for i, m := range ms {
		want = append(want, intent(m, uint64(i+1)))
	}
	same(t, "claimed by who follows from the beginning", claim("dense/a"), want)
	same(t, "claimed by who has all but one", claim("sparse/b-2"), want[3:])
	same(t, "claimed by who has all", claim("late"), want[:0])
	if err := b.Unfollow(ctx, "dense/a"); err != nil {
		t.Errorf("Unfollow: %v", err)
	}
	if err := b.Unfollow(ctx, "dense/a"); err != nil {
		t.Errorf("Unfollow of an unknown follower: %v, want nothing", err)
	}
	list, err := b.Followers(ctx, at(10))
	if err != nil || len(list) != 2 || list[0].Name != "late" || list[1].Name != "sparse/b-2" {
		t.Errorf("Followers = %+v, %v; want late and sparse/b-2", list, err)
	}
	b.follow("dense/a", 1)
	same(t, "claimed after following anew", claim("dense/a"), want[1:])
}

// Of each memory one intent is owed, whatever was done to it how often; a
// recall is no change.
func owedOnce(t *testing.T, b *bank) {
	b.follow("dense/a", 0)
	ms := numbered(3, "note", memtypes.Draft{})
	b.fill(ms...)
	for i, op := range []ledger.Op{ledger.Pin, ledger.Unpin, ledger.Retire, ledger.Restore} {
		b.do(at(10+i), edit(op, ms[1]), ledger.Done)
	}
	b.do(at(20), edit(ledger.Recall, ms[2]), ledger.Done)
	newest := b.one(ms[1]).Rev
	same(t, "what is owed of", b.state(20).Owed, 3)
	got := b.claim("h", 21, 100)
	if len(got) != 3 {
		t.Fatalf("claimed %+v, want one intent of each of 3 memories", got)
	}
	for _, i := range got {
		if i.ID == ms[1].ID && i.Seq != newest {
			t.Errorf("claimed change %d of what changed often, want the newest, %d", i.Seq, newest)
		}
	}
	b.settle("h", placed(), got...)
	for i, op := range []ledger.Op{ledger.Retire, ledger.Purge, ledger.Insert} {
		seq := b.do(at(30+i), edit(op, ms[0]), ledger.Done).Rev
		got := b.claim("h", 30+i, 100)
		same(t, fmt.Sprintf("claimed after %s", op), got, []ledger.Intent{intent(ms[0], seq)})
		b.settle("h", placed(), got...)
	}
	same(t, "claimed when nothing is owed", b.claim("h", 40, 100), []ledger.Intent{})
}

// What one has claimed no other gets before the time is over, nor the same.
func claimHolds(t *testing.T, b *bank) {
	b.follow("dense/a", 0)
	ms := numbered(5, "note", memtypes.Draft{})
	b.fill(ms...)
	first := b.claim("h1", 10, 2)
	same(t, "claimed first, the oldest", first, []ledger.Intent{intent(ms[0], 1), intent(ms[1], 2)})
	same(t, "claimed by another", b.claim("h2", 11, 2), []ledger.Intent{intent(ms[2], 3), intent(ms[3], 4)})
	same(t, "claimed by the first again", b.claim("h1", 12, 100), []ledger.Intent{intent(ms[4], 5)})
	same(t, "claimed when all is held", b.claim("h1", 19, 100), []ledger.Intent{})
	same(t, "claimed when the first claim is over", b.claim("h2", 20, 100), first)
	b.settle("h1", placed(), first...) // h2 has them now
	same(t, "claimed after who lost its claim settled", b.claim("h3", 29, 1), []ledger.Intent{intent(ms[2], 3)})
	same(t, "still owed", b.state(29).Owed, 5)
	b.settle("h2", placed(), first...)
	same(t, "owed after who holds it settled", b.state(29).Owed, 3)
	same(t, "the mark", b.state(29).Mark, uint64(2))
	b.settle("h2", placed(), first...) // is nothing any more
	b.settle("h1", placed(), intent(ms[4], 5))
	same(t, "owed after a claim that nobody took over was settled late", b.state(40).Owed, 2)
}

// A memory that changes while it is claimed is owed again, but to nobody else
// before it is settled.
func changeWhileClaimed(t *testing.T, b *bank) {
	b.follow("dense/a", 0)
	m, n := said("one"), said("two")
	b.fill(m, n)
	for i, verdict := range []ledger.Settled{placed(), poison(0)} {
		for j, noticed := range []bool{false, true} {
			minute := 20 + 40*i + 20*j
			held := b.claim("h", minute, 100)
			if len(held) == 0 {
				t.Fatalf("claimed nothing, want what changed")
			}
			op := ledger.Pin
			if b.one(m).Strength.Pinned {
				op = ledger.Unpin
			}
			seq := b.do(at(minute+1), edit(op, m), ledger.Done).Rev
			if noticed {
				same(t, "claimed by another meanwhile", b.claim("h2", minute+2, 100), []ledger.Intent{})
			}
			b.settle("h", verdict, held...)
			got := b.claim("h2", minute+3, 100)
			same(t, fmt.Sprintf("claimed after a change and %s", verdict.Verdict), got, []ledger.Intent{intent(m, seq)})
			b.settle("h2", later(minute+4), got...)
		}
	}
	same(t, "dead letters", b.dead(), []ledger.Letter{})
}

func settleLater(t *testing.T, b *bank) {
	b.follow("dense/a", 0)
	m := said("one")
	b.fill(m)
	i := b.claim("h", 1, 1)
	b.settle("h", later(30), i...)
	same(t, "claimed before it is due", b.claim("h", 29, 1), []ledger.Intent{})
	b.do(at(29), edit(ledger.Pin, m), ledger.Done)
	same(t, "claimed before it is due, though it changed", b.claim("h", 29, 1), []ledger.Intent{})
	same(t, "owed meanwhile", b.state(29).Owed, 1)
	same(t, "the mark meanwhile", b.state(29).Mark, uint64(0))
	got := b.claim("h2", 30, 1)
	same(t, "claimed when it is due", got, []ledger.Intent{{ID: m.ID, Seq: 2, Tries: 1, Tenant: m.Scope.Tenant()}})
	b.settle("h2", later(31), got...)
	got = b.claim("h", 31, 1)
	same(t, "claimed once more", got, []ledger.Intent{{ID: m.ID, Seq: 2, Tries: 2, Tenant: m.Scope.Tenant()}})
	b.settle("h", placed(), got...)
	same(t, "at last", b.state(40), ledger.Follower{Name: "dense/a", Mark: 2})
}

func deadLetters(t *testing.T, b *bank) {
	ctx := t.Context()
	b.follow("dense/a", 0)
	ms := numbered(4, "note", memtypes.Draft{})
	b.fill(ms...)
	got := b.claim("h", 10, 100)
	b.settle("h", poison(11), got[:3]...)
	b.settle("h", placed(), got[3])
	letters := []ledger.Letter{}
	for _, i := range got[:3] {
		letters = append(letters, ledger.Letter{Intent: i, At: at(11), Reason: "too long"})
	}
	same(t, "dead letters", b.dead(), letters)
	two, err := b.Dead(ctx, "dense/a", 2)
	if err != nil {
		t.Fatalf("Dead: %v", err)
	}
	same(t, "two dead letters", two, letters[:2])
	same(t, "the follower", b.state(12), ledger.Follower{Name: "dense/a", Mark: 4, Dead: 3})
	same(t, "claimed of dead letters", b.claim("h", 100, 100), []ledger.Intent{})
	seq := b.do(at(101), edit(ledger.Pin, ms[0]), ledger.Done).Rev
	got = b.claim("h", 101, 100)
	same(t, "claimed after a dead letter's memory changed", got, []ledger.Intent{intent(ms[0], seq)})
	b.settle("h", placed(), got...)
	same(t, "dead letters after that", b.dead(), letters[1:])
	revive := func(ids []memtypes.ID, want int) {
		t.Helper()
		if n, err := b.Revive(ctx, "dense/a", ids); err != nil || n != want {
			t.Errorf("Revive(%v) = %d, %v; want %d", ids, n, err, want)
		}
	}
	revive([]memtypes.ID{}, 0)
	revive([]memtypes.ID{ms[0].ID, said("unknown").ID}, 0)
	revive([]memtypes.ID{ms[2].ID, ms[3].ID}, 1)
	f := b.state(102)
	if f.Owed != 1 || f.Dead != 1 || f.Mark >= 3 {
		t.Errorf("Followers = %+v, want one owed, one dead and a mark before change 3", f)
	}
	got = b.claim("h", 102, 100)
	same(t, "claimed after a revival", got, []ledger.Intent{intent(ms[2], 3)})
	b.settle("h", poison(103), got...)
	revive(nil, 2)
	revive(nil, 0)
	b.settle("h", placed(), b.claim("h", 104, 100)...)
	same(t, "at last", b.state(105), ledger.Follower{Name: "dense/a", Mark: seq})
}
