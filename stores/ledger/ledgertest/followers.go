package ledgertest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

func followerStates(t *testing.T, b *bank) {
	b.follow("dense/a", 0)
	same(t, "in an empty ledger", b.state(0), ledger.Follower{Name: "dense/a"})
	ms := numbered(5, "note", memtypes.Draft{})
	b.fill(ms...)
	same(t, "before any claim", b.state(10), ledger.Follower{Name: "dense/a", Owed: 5, Due: at(0)})
	got := b.claim("h", 10, 3)
	same(t, "with three claimed", b.state(10), ledger.Follower{Name: "dense/a", Owed: 5, Due: at(0)})
	b.settle("h", placed(), got[1])
	same(t, "with the second placed", b.state(10), ledger.Follower{Name: "dense/a", Owed: 4, Due: at(0)})
	b.settle("h", poison(10), got[0])
	same(t, "with the first dead", b.state(10), ledger.Follower{Name: "dense/a", Mark: 2, Owed: 3, Dead: 1, Due: at(2)})
	b.do(at(11), edit(ledger.Pin, ms[3]), ledger.Done)
	same(t, "after a change of what is owed", b.state(11), ledger.Follower{Name: "dense/a", Mark: 2, Owed: 3, Dead: 1, Due: at(2)})
	b.settle("h", placed(), got[2])
	f := b.state(12)
	if f.Mark != 3 || f.Owed != 2 || !f.Due.Equal(at(3)) {
		t.Errorf("Followers = %+v, want mark 3, two owed, the oldest since %v: change 4 is not placed", f, at(3))
	}
	b.settle("h", placed(), b.claim("h", 13, 100)...)
	same(t, "with all placed", b.state(13), ledger.Follower{Name: "dense/a", Mark: 6, Dead: 1})
}

func outboxRefuses(t *testing.T, b *bank) {
	ctx := t.Context()
	b.follow("dense/a", 0)
	m := said("one")
	b.fill(m)
	held := []ledger.Settled{{Intent: intent(m, 1), Verdict: ledger.Placed}}
	calls := func(name string) map[string]func() error {
		return map[string]func() error{
			"Follow":   func() error { return b.Follow(ctx, name, 0) },
			"Unfollow": func() error { return b.Unfollow(ctx, name) },
			"Claim":    func() error { _, err := b.Claim(ctx, name, "h", at(0), time.Minute, 1); return err },
			"Settle":   func() error { return b.Settle(ctx, name, "h", held) },
			"Dead":     func() error { _, err := b.Dead(ctx, name, 1); return err },
			"Revive":   func() error { _, err := b.Revive(ctx, name, nil); return err },
		}
	}
	for _, name := range []string{"", "Dense", "a b", "a.b", "ä", "a\n", strings.Repeat("a", 101)} {
		for call, f := range calls(name) {
			b.code(fmt.Sprintf("%s(%q)", call, name), f(), memtypes.Invalid)
		}
	}
	for call, f := range calls("unknown") {
		if call != "Follow" && call != "Unfollow" {
			b.code(call+" of an unknown follower", f(), memtypes.NotFound)
		}
	}
	claim := func(holder string, now time.Time, hold time.Duration, limit int) func() error {
		return func() error { _, err := b.Claim(ctx, "dense/a", holder, now, hold, limit); return err }
	}
	settle := func(holder string, s ledger.Settled) func() error {
		return func() error { return b.Settle(ctx, "dense/a", holder, []ledger.Settled{s}) }
	}
	for what, f := range map[string]func() error{
		"a follower from beyond the end": func() error { return b.Follow(ctx, "new", b.newest()+1) },
		"a claim of nobody":              claim("", at(0), time.Minute, 1),
		"a claim at no time":             claim("h", time.Time{}, time.Minute, 1),
		"a claim of no duration":         claim("h", at(0), 0, 1),
		"a claim of nothing":             claim("h", at(0), time.Minute, 0),
		"a settlement of nobody":         settle("", held[0]),
		"no verdict":                     settle("h", ledger.Settled{Intent: held[0].Intent}),
		"no time for later":              settle("h", ledger.Settled{Intent: held[0].Intent, Verdict: ledger.Later}),
		"no memory":                      settle("h", ledger.Settled{Verdict: ledger.Placed}),
		"no dead letters":                func() error { _, err := b.Dead(ctx, "dense/a", 0); return err },
	} {
		b.code(what, f(), memtypes.Invalid)
	}
	same(t, "the follower after all that", b.state(1), ledger.Follower{Name: "dense/a", Owed: 1, Due: at(0)})
}
