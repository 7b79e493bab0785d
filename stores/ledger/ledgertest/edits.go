package ledgertest

import (
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

func insert(t *testing.T, b *bank) {
	m := said("the keys are under the mat")
	r := b.do(at(7), edit(ledger.Insert, m), ledger.Done)
	if r.Rev == 0 || r.Rev != b.newest() {
		t.Errorf("Rev = %d, want the newest number %d", r.Rev, b.newest())
	}
	m.Created, m.Updated, m.Rev = at(7), at(7), r.Rev
	same(t, "what was inserted", b.one(m), m)
}

// Everything that a memory can hold must come back as it was.
func everyField(t *testing.T, b *bank) {
	m := note(memtypes.Draft{
		Scope: scope("acme", "ann", "bot", "run-7"), Kind: memtypes.TaskKind, Layer: memtypes.Thought,
		Text: "line one\nline two \t \"quoted\" <b>&amp;</b> 日本語 \U0001f600 \u2028", Title: "a title", Part: 3,
		Talk: memtypes.Talk{Session: "s 1", Speaker: "Ann"},
		Task: &memtypes.Task{Name: "pick", TaskID: "t1", Object: "cup", Place: "shelf", Observation: "a room", Result: "ok",
			Outcome: memtypes.Failure, Commands: []memtypes.Command{{Name: "go", Args: []string{"shelf 1", ""}, Result: "there"}, {Name: "look"}}},
		Triple: &memtypes.Triple{Head: "Ann", Relation: "likes", Tail: "tea"},
		Meta:   map[string]string{"a": "b", "": "empty key", "ключ": "<&>"},
		Source: memtypes.Source{URI: "file:///x", Author: "Bob", Trust: memtypes.Verified},
		Event:  time.Date(1, 1, 1, 0, 0, 1, 999999999, time.UTC), Pinned: true, Key: "key-1",
	}, start)
	m.Strength = memtypes.Strength{Recalls: 4, LastRecall: at(-5), Initial: 0.25, Pinned: true}
	other := note(memtypes.Draft{Text: strings.Repeat("long ", 13000), Event: time.Date(9999, 12, 31, 23, 59, 59, 1, time.UTC)}, start)
	for i, m := range []memtypes.Memory{m, other} {
		m.Rev = b.do(at(i), edit(ledger.Insert, m), ledger.Done).Rev
		m.Created, m.Updated = at(i), at(i)
		same(t, "what was inserted", b.one(m), m)
	}
}

func insertAgain(t *testing.T, b *bank) {
	m := note(memtypes.Draft{Text: "first", Key: "k"}, start)
	first := b.do(at(0), edit(ledger.Insert, m), ledger.Done)
	before := b.one(m)
	if r := b.do(at(1), edit(ledger.Insert, m), ledger.Same); r.Rev != first.Rev {
		t.Errorf("inserted again: Rev = %d, want %d as before", r.Rev, first.Rev)
	}
	moved := note(memtypes.Draft{Text: "first", Key: "k", Source: memtypes.Source{URI: "elsewhere", Author: "Bo", Trust: memtypes.Verified}}, start)
	b.do(at(1), edit(ledger.Insert, moved), ledger.Same) // where it comes from is no content
	other := note(memtypes.Draft{Text: "second", Key: "k"}, start)
	if other.ID != m.ID {
		t.Fatalf("one key gave the ids %s and %s", m.ID, other.ID)
	}
	if r := b.do(at(2), edit(ledger.Insert, other), ledger.Conflicting); r.Rev != first.Rev {
		t.Errorf("conflicting: Rev = %d, want the present %d", r.Rev, first.Rev)
	}
	foreign := m
	foreign.Scope = scope("acme", "bob", "", "")
	b.do(at(3), edit(ledger.Insert, foreign), ledger.Conflicting)
	same(t, "after inserting again", b.one(m), before)
	if n := b.newest(); n != first.Rev {
		t.Errorf("Head = %d, want %d: nothing was done", n, first.Rev)
	}
	b.do(at(4), edit(ledger.Revise, other), ledger.Done)
	b.do(at(5), edit(ledger.Insert, m), ledger.Same)     // what it was at first
	b.do(at(5), edit(ledger.Insert, other), ledger.Same) // what it is
	third := note(memtypes.Draft{Text: "third", Key: "k"}, start)
	b.do(at(6), edit(ledger.Revise, third), ledger.Done)
	b.do(at(7), edit(ledger.Insert, m), ledger.Same)
	b.do(at(7), edit(ledger.Insert, other), ledger.Conflicting) // neither
}

func revise(t *testing.T, b *bank) {
	m := note(memtypes.Draft{Text: "old", Kind: memtypes.TaskKind, Key: "k", Part: 2, Title: "t", Talk: memtypes.Talk{Session: "s"}}, start)
	b.do(at(0), edit(ledger.Insert, m), ledger.Done)
	b.do(at(1), edit(ledger.Recall, m), ledger.Done)
	want := b.one(m)
	n := m
	n.Text, n.Title, n.Talk, n.Meta, n.Event = "new", "", memtypes.Talk{Session: "s2", Speaker: "Bo"}, map[string]string{"x": "y"}, at(-99)
	n.Source, n.Task, n.Triple = memtypes.Source{URI: "u", Trust: memtypes.Normal}, &memtypes.Task{Name: "n"}, &memtypes.Triple{Head: "h"}
	n.Kind, n.Layer, n.Part, n.Key, n.Strength = memtypes.Dialogue, memtypes.Thought, 9, "z", memtypes.Strength{Initial: .5, Pinned: true} // stay
	r := b.do(at(2), edit(ledger.Revise, n), ledger.Done)
	if r.Rev <= want.Rev || r.Rev != b.newest() {
		t.Errorf("Rev = %d, want one after %d, and the newest, %d", r.Rev, want.Rev, b.newest())
	}
	want.Text, want.Title, want.Talk, want.Meta, want.Event, want.Source, want.Task, want.Triple = n.Text, n.Title, n.Talk, n.Meta, n.Event, n.Source, n.Task, n.Triple
	want.Updated, want.Rev = at(2), r.Rev
	same(t, "what was revised", b.one(m), want)
	if again := b.do(at(3), edit(ledger.Revise, n), ledger.Same); again.Rev != r.Rev {
		t.Errorf("revised to the same: Rev = %d, want %d as before", again.Rev, r.Rev)
	}
	b.do(at(4), edit(ledger.Revise, said("not there")), ledger.Missing)
}

func retireRestore(t *testing.T, b *bank) {
	m := said("to be retired")
	b.do(at(0), edit(ledger.Insert, m), ledger.Done)
	b.do(at(1), edit(ledger.Recall, m), ledger.Done)
	before := b.one(m)
	r := b.must(ledger.Batch{Now: at(2), Actor: "decay", RunID: "run-1", Edits: []ledger.Edit{edit(ledger.Retire, m)}})[0]
	want := before
	want.State, want.Rev, want.Strength.Retired, want.Strength.RunID = memtypes.Retired, r.Rev, at(2), "run-1"
	same(t, "what was retired", b.one(m), want)
	b.do(at(3), edit(ledger.Retire, m), ledger.Same)
	for _, op := range []ledger.Op{ledger.Revise, ledger.Recall, ledger.Pin, ledger.Unpin, ledger.Touch} {
		b.do(at(4), edit(op, m), ledger.Missing)
	}
	same(t, "the retired after edits that find it missing", b.one(m), want)
	r = b.do(at(5), edit(ledger.Restore, m), ledger.Done)
	want = before
	want.Rev = r.Rev
	same(t, "what was restored", b.one(m), want)
	b.do(at(6), edit(ledger.Restore, m), ledger.Same)
	b.do(at(7), edit(ledger.Retire, m), ledger.Done)
	r = b.do(at(8), edit(ledger.Insert, m), ledger.Done) // restores
	want.Rev = r.Rev
	same(t, "what was inserted while retired", b.one(m), want)
}

func purge(t *testing.T, b *bank) {
	m := note(memtypes.Draft{Text: "a secret", Talk: memtypes.Talk{Session: "s"}, Meta: map[string]string{"a": "b"}, Pinned: true}, start)
	n := m
	n.Text = "another secret"
	b.do(at(0), edit(ledger.Insert, m), ledger.Done)
	b.do(at(1), edit(ledger.Recall, m), ledger.Done)
	b.do(at(2), edit(ledger.Revise, n), ledger.Done)
	r := b.do(at(3), edit(ledger.Purge, m), ledger.Done)
	if r.Rev != b.newest() {
		t.Errorf("Rev = %d, want the newest, %d", r.Rev, b.newest())
	}
	b.none(m)
	if again := b.do(at(4), edit(ledger.Purge, m), ledger.Same); again.Rev != r.Rev {
		t.Errorf("purged again: Rev = %d, want %d as before", again.Rev, r.Rev)
	}
	for _, op := range []ledger.Op{ledger.Revise, ledger.Retire, ledger.Restore, ledger.Recall, ledger.Pin} {
		if r := b.do(at(5), edit(op, m), ledger.Missing); r.Rev != 0 {
			t.Errorf("%s of the purged: Rev = %d, want 0", op, r.Rev)
		}
	}
	if h, err := b.History(t.Context(), ann(), m.ID); err != nil || len(h) != 0 {
		t.Errorf("History of the purged = %d revisions, %v; want none", len(h), err)
	}
	if ms := b.pages(ledger.ListQuery{All: true, States: []memtypes.State{memtypes.Active, memtypes.Retired}}); len(ms) != 0 {
		t.Errorf("List gave %q, want nothing", texts(ms))
	}
	r = b.do(at(6), edit(ledger.Insert, n), ledger.Done)
	n.Created, n.Updated, n.Rev = at(6), at(6), r.Rev
	same(t, "what was inserted anew", b.one(n), n)
	if h, err := b.History(t.Context(), ann(), m.ID); err != nil || len(h) != 1 {
		t.Errorf("History of the memory inserted anew = %d revisions, %v; want 1", len(h), err)
	}
}

func recall(t *testing.T, b *bank) {
	m := said("often needed")
	want := b.do(at(0), edit(ledger.Insert, m), ledger.Done)
	for i, now := range []int{5, 9, 7} { // the clock may run backwards, the last recall not
		if r := b.do(at(now), edit(ledger.Recall, m), ledger.Done); r.Rev != want.Rev {
			t.Errorf("recall %d: Rev = %d, want %d as before", i, r.Rev, want.Rev)
		}
	}
	s := b.one(m).Strength
	same(t, "strength", s, memtypes.Strength{Recalls: 3, LastRecall: at(9), Initial: 1})
	if n := b.newest(); n != want.Rev {
		t.Errorf("Head = %d, want %d: a recall is no change of content", n, want.Rev)
	}
	b.do(at(10), edit(ledger.Recall, said("not there")), ledger.Missing)
}

func pin(t *testing.T, b *bank) {
	m := said("keep this")
	first := b.do(at(0), edit(ledger.Insert, m), ledger.Done)
	b.do(at(1), edit(ledger.Unpin, m), ledger.Same)
	r := b.do(at(2), edit(ledger.Pin, m), ledger.Done)
	if got := b.one(m); !got.Strength.Pinned || got.Rev != r.Rev || r.Rev <= first.Rev || !got.Updated.Equal(at(0)) {
		t.Errorf("pinned = %+v, want pinned, of a new revision %d, not updated", got, r.Rev)
	}
	b.do(at(3), edit(ledger.Pin, m), ledger.Same)
	b.do(at(4), edit(ledger.Unpin, m), ledger.Done)
	if b.one(m).Strength.Pinned {
		t.Error("unpinned: still pinned")
	}
	b.do(at(5), edit(ledger.Pin, m), ledger.Done)
	before := b.one(m)
	before.Rev = b.do(at(6), edit(ledger.Touch, m), ledger.Done).Rev
	same(t, "touched", b.one(m), before)
}

func stale(t *testing.T, b *bank) {
	m := said("moves on")
	rev := b.do(at(0), edit(ledger.Insert, m), ledger.Done).Rev
	b.do(at(1), edit(ledger.Recall, m), ledger.Done)
	zero, one := 0, 1
	want := b.one(m)
	for _, op := range []ledger.Op{ledger.Insert, ledger.Revise, ledger.Retire, ledger.Restore, ledger.Purge, ledger.Recall, ledger.Pin, ledger.Unpin} {
		e := edit(op, m)
		e.IfRev = rev + 1
		if r := b.do(at(2), e, ledger.Stale); r.Rev != rev {
			t.Errorf("stale %s: Rev = %d, want the present %d", op, r.Rev, rev)
		}
		e.IfRev, e.IfRecalls = rev, &zero
		b.do(at(2), e, ledger.Stale)
	}
	same(t, "after stale edits", b.one(m), want)
	e := edit(ledger.Retire, m)
	e.IfRev, e.IfRecalls = rev, &one
	b.do(at(3), e, ledger.Done)
	e = edit(ledger.Insert, said("never seen"))
	e.IfRev = 1
	b.do(at(4), e, ledger.Stale)
	e = edit(ledger.Retire, said("never seen"))
	e.IfRev = 1
	b.do(at(4), e, ledger.Missing)
}

// An edit reaches only what its scope covers.
func scopeGuards(t *testing.T, b *bank) {
	m := note(memtypes.Draft{Text: "private", Scope: scope("acme", "ann", "bot", "")}, start)
	b.do(at(0), edit(ledger.Insert, m), ledger.Done)
	want := b.one(m)
	for _, s := range []memtypes.Scope{scope("other", "ann", "bot", ""), scope("acme", "bob", "", ""), scope("acme", "ann", "bot", "r")} {
		for _, op := range []ledger.Op{ledger.Revise, ledger.Retire, ledger.Restore, ledger.Purge, ledger.Recall, ledger.Pin} {
			e := edit(op, m)
			e.Memory.Scope = s
			if r := b.do(at(1), e, ledger.Missing); r.Rev != 0 {
				t.Errorf("%s from %v: Rev = %d, want 0: it must not tell", op, s, r.Rev)
			}
		}
		if ms, err := b.Get(t.Context(), s, []memtypes.ID{m.ID}); err != nil || len(ms) != 0 {
			t.Errorf("Get from %v = %d memories, %v; want none", s, len(ms), err)
		}
		if h, err := b.History(t.Context(), s, m.ID); err != nil || len(h) != 0 {
			t.Errorf("History from %v = %d revisions, %v; want none", s, len(h), err)
		}
		if ms := b.pages(ledger.ListQuery{Filter: memtypes.Filter{Scope: s}}); len(ms) != 0 {
			t.Errorf("List from %v = %q, want none", s, texts(ms))
		}
	}
	same(t, "after edits from other scopes", b.one(m), want)
	e := edit(ledger.Retire, m)
	e.Memory.Scope = scope("acme", "", "bot", "") // covers it
	b.do(at(2), e, ledger.Done)
}

func badBatches(t *testing.T, b *bank) {
	good := said("good")
	for _, c := range []struct {
		name string
		with func(*ledger.Batch)
	}{
		{"no time", func(x *ledger.Batch) { x.Now = time.Time{} }},
		{"no actor", func(x *ledger.Batch) { x.Actor = "" }},
		{"unknown operation", func(x *ledger.Batch) { x.Edits[1].Op = "explode" }},
		{"bad id", func(x *ledger.Batch) { x.Edits[1].Memory.ID = "7" }},
		{"no scope", func(x *ledger.Batch) { x.Edits[1].Memory.Scope = memtypes.Scope{} }},
		{"unknown kind", func(x *ledger.Batch) { x.Edits[1].Memory.Kind = "smell" }},
		{"unknown layer", func(x *ledger.Batch) { x.Edits[1].Memory.Layer = "" }},
		{"blank text", func(x *ledger.Batch) { x.Edits[1].Memory.Text = " " }},
		{"text too long", func(x *ledger.Batch) { x.Edits[1].Memory.Text = strings.Repeat("x", memtypes.MaxText+1) }},
		{"broken text", func(x *ledger.Batch) { x.Edits[1].Memory.Text = "\xff" }},
		{"broken meta", func(x *ledger.Batch) { x.Edits[1].Memory.Meta = map[string]string{"a": "\xff"} }},
		{"broken task", func(x *ledger.Batch) {
			x.Edits[1].Memory.Task = &memtypes.Task{Commands: []memtypes.Command{{Args: []string{"\xff"}}}}
		}},
		{"no strength", func(x *ledger.Batch) { x.Edits[1].Memory.Strength.Initial = 0 }},
		{"long reason", func(x *ledger.Batch) { x.Edits[1].Reason = strings.Repeat("x", 2000) }},
		{"run without id", func(x *ledger.Batch) { x.Runs = []ledger.Run{{Started: at(0)}} }},
		{"too many", func(x *ledger.Batch) { x.Edits = make([]ledger.Edit, ledger.MaxEdits+1) }},
	} {
		x := batch(at(0), edit(ledger.Insert, good), edit(ledger.Insert, said("bad")))
		c.with(&x)
		_, err := b.Append(t.Context(), x)
		b.code(c.name, err, memtypes.Invalid)
	}
	b.none(good)
	if n := b.newest(); n != 0 {
		t.Errorf("Head = %d after nothing but bad batches, want 0", n)
	}
}

// The edits of a batch see those before them.
func batchInOrder(t *testing.T, b *bank) {
	m := said("lives fast")
	n := m
	n.Text = "revised"
	rs := b.must(batch(at(0), edit(ledger.Insert, m), edit(ledger.Insert, m), edit(ledger.Revise, n), edit(ledger.Recall, m), edit(ledger.Retire, m),
		edit(ledger.Recall, m), edit(ledger.Restore, m), edit(ledger.Purge, m), edit(ledger.Insert, m), edit(ledger.Revise, said("nobody"))))
	want := []ledger.Outcome{ledger.Done, ledger.Same, ledger.Done, ledger.Done, ledger.Done, ledger.Missing, ledger.Done, ledger.Done, ledger.Done, ledger.Missing}
	revs := []uint64{1, 1, 2, 2, 3, 0, 4, 5, 6, 0}
	first := rs[0].Rev - 1 // a backend may begin to count above 1
	for i, r := range rs {
		if rev := revs[i]; r.Outcome != want[i] || rev > 0 && r.Rev != first+rev || rev == 0 && r.Rev != 0 {
			t.Errorf("edit %d = %+v, want %q of revision %d after %d", i, r, want[i], rev, first)
		}
	}
	if got := b.one(m); got.Text != m.Text || got.Strength.Recalls != 0 {
		t.Errorf("at the end = %q, %d recalls; want the first text, inserted anew", got.Text, got.Strength.Recalls)
	}
	if rs := b.must(batch(at(1))); len(rs) != 0 {
		t.Errorf("an empty batch gave %v, want nothing", rs)
	}
}

func get(t *testing.T, b *bank) {
	ms := numbered(300, "note", memtypes.Draft{})
	edits := make([]ledger.Edit, len(ms))
	for i, m := range ms {
		edits[i] = edit(ledger.Insert, m)
	}
	b.must(batch(at(0), edits...))
	b.do(at(1), edit(ledger.Retire, ms[3]), ledger.Done)
	ids := append(idsOf(ms[200:]), said("unknown").ID, "not an id", ms[3].ID, ms[3].ID)
	got, err := b.Get(t.Context(), ann(), ids)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	same(t, "ids, in the order asked", idsOf(got), append(idsOf(ms[200:]), ms[3].ID, ms[3].ID))
	if st := got[len(got)-1].State; st != memtypes.Retired {
		t.Errorf("state of the retired = %q, want %q", st, memtypes.Retired)
	}
	_, err = b.Get(t.Context(), memtypes.Scope{}, ids)
	b.code("Get without scope", err, memtypes.Invalid)
	if got, err := b.Get(t.Context(), ann(), nil); err != nil || len(got) != 0 {
		t.Errorf("Get of no ids = %d, %v; want nothing", len(got), err)
	}
}
