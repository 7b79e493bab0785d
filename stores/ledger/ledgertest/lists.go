package ledgertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

func list(t *testing.T, b *bank) {
	var all []memtypes.Memory
	for i := range 25 { // inserted in another order than they happened; three at each moment, some undated
		d := memtypes.Draft{Text: fmt.Sprint("note ", i)}
		if i%5 != 0 {
			d.Event = at(100 - i/3)
		}
		m := note(d, start)
		b.do(at(i), edit(ledger.Insert, m), ledger.Done)
		all = append(all, b.one(m))
	}
	want := inOrder(all)
	for _, limit := range []int{0, 1, 2, 7, 24, 25, 26, ledger.MaxLimit} {
		for _, q := range []ledger.ListQuery{{Filter: memtypes.Filter{Scope: ann()}}, {All: true}} {
			q.Limit = limit
			same(t, fmt.Sprintf("pages of %d, all=%v", limit, q.All), b.pages(q), want)
		}
	}
	b.do(at(60), edit(ledger.Retire, all[4]), ledger.Done)
	if n := len(b.pages(ledger.ListQuery{All: true})); n != 24 {
		t.Errorf("List gave %d memories, want 24 active", n)
	}
}

func listFilters(t *testing.T, b *bank) {
	sec := func(n int) time.Time { return start.Truncate(time.Second).Add(time.Duration(n) * time.Second) }
	ms := []memtypes.Memory{
		note(memtypes.Draft{Text: "0 fact", Kind: memtypes.Knowledge, Event: sec(0)}, start),
		note(memtypes.Draft{Text: "1 turn", Talk: memtypes.Talk{Session: "s"}, Event: sec(1).Add(900 * time.Millisecond)}, start),
		note(memtypes.Draft{Text: "2 task", Kind: memtypes.TaskKind, Event: sec(2)}, start),
		note(memtypes.Draft{Text: "3 thought", Layer: memtypes.Thought, Talk: memtypes.Talk{Session: "s"}, Event: sec(3)}, start),
		note(memtypes.Draft{Text: "4 bot's", Scope: scope("acme", "ann", "bot", ""), Event: sec(4)}, start),
		note(memtypes.Draft{Text: "5 bob's", Scope: scope("acme", "bob", "bot", ""), Event: sec(5)}, start),
		note(memtypes.Draft{Text: "6 other's", Scope: scope("other", "ann", "", ""), Event: sec(6)}, start),
		note(memtypes.Draft{Text: "7 retired", Event: sec(7)}, start),
		note(memtypes.Draft{Text: "8 retired by a run", Event: sec(8)}, start),
	}
	b.fill(ms...)
	last := b.newest()
	b.do(at(50), edit(ledger.Retire, ms[7]), ledger.Done)
	b.must(ledger.Batch{Now: at(51), Actor: "decay", RunID: "r", Edits: []ledger.Edit{edit(ledger.Retire, ms[8])}})
	b.do(at(52), edit(ledger.Pin, ms[2]), ledger.Done)
	retired, both := []memtypes.State{memtypes.Retired}, []memtypes.State{memtypes.Retired, memtypes.Active}
	for _, c := range []struct {
		name string
		q    ledger.ListQuery
		want string // first characters of the texts
	}{
		{"a user", ledger.ListQuery{Filter: memtypes.Filter{Scope: ann()}}, "01234"},
		{"an agent", ledger.ListQuery{Filter: memtypes.Filter{Scope: scope("acme", "", "bot", "")}}, "45"},
		{"user and agent", ledger.ListQuery{Filter: memtypes.Filter{Scope: scope("acme", "ann", "bot", "")}}, "4"},
		{"unknown tenant", ledger.ListQuery{Filter: memtypes.Filter{Scope: scope("nobody", "ann", "", "")}}, ""},
		{"all", ledger.ListQuery{All: true}, "0123456"},
		{"all with a scope", ledger.ListQuery{All: true, Filter: memtypes.Filter{Scope: scope("other", "ann", "", "")}}, "6"},
		{"kinds", ledger.ListQuery{All: true, Filter: memtypes.Filter{Kinds: []memtypes.Kind{memtypes.TaskKind, memtypes.Knowledge}}}, "02"},
		{"layer", ledger.ListQuery{All: true, Filter: memtypes.Filter{Layers: []memtypes.Layer{memtypes.Thought}}}, "3"},
		{"session", ledger.ListQuery{Filter: memtypes.Filter{Scope: ann(), Session: "s"}}, "13"},
		{"from", ledger.ListQuery{All: true, Filter: memtypes.Filter{From: sec(5)}}, "56"},
		{"from between seconds", ledger.ListQuery{All: true, Filter: memtypes.Filter{From: sec(5).Add(1)}}, "6"},
		{"to", ledger.ListQuery{All: true, Filter: memtypes.Filter{To: sec(1)}}, "0"},
		{"to between seconds", ledger.ListQuery{All: true, Filter: memtypes.Filter{To: sec(1).Add(1)}}, "01"},
		{"from to", ledger.ListQuery{Filter: memtypes.Filter{Scope: ann(), From: sec(1), To: sec(3)}}, "12"},
		{"ids", ledger.ListQuery{All: true, Filter: memtypes.Filter{IDs: []memtypes.ID{ms[6].ID, ms[1].ID, ms[7].ID, "junk"}}}, "16"},
		{"ids within a scope", ledger.ListQuery{Filter: memtypes.Filter{Scope: ann(), IDs: idsOf(ms)}}, "01234"},
		{"no ids", ledger.ListQuery{All: true, Filter: memtypes.Filter{IDs: []memtypes.ID{}}}, ""},
		{"retired", ledger.ListQuery{All: true, States: retired}, "78"},
		{"both states", ledger.ListQuery{Filter: memtypes.Filter{Scope: ann()}, States: both}, "0123478"},
		{"of a run", ledger.ListQuery{All: true, RunID: "r"}, "8"},
		{"of a run, retired", ledger.ListQuery{All: true, RunID: "r", States: retired}, "8"},
		{"of a run, active", ledger.ListQuery{All: true, RunID: "r", States: both[1:]}, ""},
		{"of an unknown run", ledger.ListQuery{All: true, RunID: "x"}, ""},
		{"since", ledger.ListQuery{All: true, States: both, Since: last}, "278"},
		{"since in a scope", ledger.ListQuery{Filter: memtypes.Filter{Scope: ann()}, Since: last}, "2"},
	} {
		for _, limit := range []int{0, 1} {
			c.q.Limit = limit
			got := ""
			for _, s := range texts(b.pages(c.q)) {
				got += s[:1]
			}
			if got != c.want {
				t.Errorf("%s, pages of %d: got %q, want %q", c.name, limit, got, c.want)
			}
		}
	}
}

// A cursor stays good while others write: what was there is listed once.
func listWhileWriting(t *testing.T, b *bank) {
	ms := numbered(30, "note", memtypes.Draft{})
	b.fill(ms...)
	q := ledger.ListQuery{Filter: memtypes.Filter{Scope: ann()}, Limit: 4}
	seen := map[memtypes.ID]int{}
	for i := range 100 {
		p, err := b.List(t.Context(), q)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		for _, m := range p.Memories {
			seen[m.ID]++
		}
		if q.Cursor = p.Next; p.Next == "" {
			break
		}
		last := p.Memories[len(p.Memories)-1]
		b.do(at(200+i), edit(ledger.Retire, last), ledger.Done) // the one the cursor stands on
		b.do(at(i%30), edit(ledger.Insert, said(fmt.Sprint("new ", i))), ledger.Done)
	}
	for _, m := range ms {
		if seen[m.ID] != 1 {
			t.Errorf("%q was listed %d times, want once", m.Text, seen[m.ID])
		}
	}
}

func listRefuses(t *testing.T, b *bank) {
	for name, q := range map[string]ledger.ListQuery{
		"no scope":       {},
		"limit below 0":  {All: true, Limit: -1},
		"limit too high": {All: true, Limit: ledger.MaxLimit + 1},
		"bad cursor":     {All: true, Cursor: "%%"},
		"cut cursor":     {All: true, Cursor: "MSAx"},
		"bad kind":       {All: true, Filter: memtypes.Filter{Kinds: []memtypes.Kind{"smell"}}},
		"bad layer":      {All: true, Filter: memtypes.Filter{Layers: []memtypes.Layer{"x"}}},
		"bad state":      {All: true, States: []memtypes.State{"lost"}},
	} {
		_, err := b.List(t.Context(), q)
		b.code(name, err, memtypes.Invalid)
	}
}

func around(t *testing.T, b *bank) {
	turn := func(i int, d memtypes.Draft) memtypes.Memory {
		d.Text, d.Event = fmt.Sprint(i), at(i)
		if d.Talk.Session == "" {
			d.Talk.Session = "s"
		}
		return note(d, start)
	}
	ms := []memtypes.Memory{ // inserted out of order: 6 and 5 at one moment, so 6 stands before 5
		turn(9, memtypes.Draft{}), turn(1, memtypes.Draft{}), turn(2, memtypes.Draft{}), turn(6, memtypes.Draft{}), turn(3, memtypes.Draft{}),
	}
	five := turn(5, memtypes.Draft{})
	five.Event = at(6)
	ms = append(ms, five, turn(4, memtypes.Draft{}),
		turn(7, memtypes.Draft{Scope: scope("acme", "ann", "bot", "")}), turn(7, memtypes.Draft{Talk: memtypes.Talk{Session: "s2"}}),
		turn(7, memtypes.Draft{Layer: memtypes.Thought}), turn(8, memtypes.Draft{}))
	b.fill(ms...)
	b.do(at(99), edit(ledger.Retire, ms[4]), ledger.Done) // 3
	for _, c := range []struct {
		of   int // place in ms
		n    int
		want string
	}{
		{2, 0, "2"}, {2, 1, "124"}, {2, 2, "1246"}, {3, 1, "465"}, {5, 1, "658"}, {5, 9, "1246589"}, {0, 2, "589"}, {1, 1, "12"},
		{4, 1, "24"}, {9, 1, "578"}, {8, 5, "7"}, {7, 5, "7"},
	} {
		got, err := b.Around(t.Context(), ms[c.of].ID, c.n)
		if err != nil {
			t.Fatalf("Around: %v", err)
		}
		s := ""
		for _, m := range got {
			s += m.Text
			same(t, "a neighbour", m, b.one(m))
		}
		if s != c.want {
			t.Errorf("Around(%s, %d) = %q, want %q", ms[c.of].Text, c.n, s, c.want)
		}
	}
}

func aroundAlone(t *testing.T, b *bank) {
	ms := numbered(3, "no session", memtypes.Draft{})
	b.fill(ms...)
	got, err := b.Around(t.Context(), ms[1].ID, 5)
	if err != nil || len(got) != 1 || got[0].ID != ms[1].ID {
		t.Errorf("Around without a session = %q, %v; want itself", texts(got), err)
	}
	b.do(at(9), edit(ledger.Retire, ms[1]), ledger.Done)
	for _, id := range []memtypes.ID{ms[1].ID, said("unknown").ID, "junk"} {
		if got, err := b.Around(t.Context(), id, 5); err != nil || len(got) != 0 {
			t.Errorf("Around(%s) = %q, %v; want nothing", id, texts(got), err)
		}
	}
	_, err = b.Around(t.Context(), ms[0].ID, -1)
	b.code("Around of less than nothing", err, memtypes.Invalid)
}
