package ledgertest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// movable runs the contract of ledger.Movable, where the backend has that power.
func movable(t *testing.T, open func(testing.TB) ledger.Ledger) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, from, to *bank)
	}{
		{"All", moveAll}, {"GoesOn", moveGoesOn}, {"Refuses", moveRefuses}, {"Notices", moveNotices}, {"Records", records},
		{"Runs", moveRuns}, {"Leases", moveLeases},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, openBank(t, open), openBank(t, open)) })
	}
	t.Run("Model", func(t *testing.T) { moveModel(t, open) })
}

func openBank(t *testing.T, open func(testing.TB) ledger.Ledger) *bank {
	l := open(t)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	if _, ok := l.(ledger.Movable); !ok {
		t.Skip("the backend cannot be moved")
	}
	return &bank{t: t, Ledger: l}
}

// moved is the ledger as one that can be moved.
func (b *bank) moved() ledger.Bank { return b.Ledger.(ledger.Bank) }

// move moves from into to, which must not fail.
func move(t *testing.T, from, to *bank) ledger.Sum {
	t.Helper()
	sum, err := ledger.Move(t.Context(), from.moved(), to.moved(), &ledger.MoveOptions{Page: 7})
	if err != nil {
		t.Fatalf("Move: %v", err)
	}
	return sum
}

// eventful fills a bank with memories to which everything was done, and
// returns them.
func eventful(b *bank) []memtypes.Memory {
	ms := numbered(8, "note", memtypes.Draft{Talk: memtypes.Talk{Session: "s", Speaker: "ann"}, Meta: map[string]string{"a": "ü"}})
	ms = append(ms, numbered(4, "deed", memtypes.Draft{Scope: scope("other", "bob", "bot", "r"), Kind: memtypes.TaskKind, Pinned: true, Event: at(-100000),
		Task: &memtypes.Task{Name: "n", Commands: []memtypes.Command{{Name: "c", Args: []string{"x"}}}, Outcome: memtypes.Success}, Key: "k"})[:1]...)
	ms[2].Strength.Initial = 0.25
	b.fill(ms...)
	for i, op := range []ledger.Op{ledger.Recall, ledger.Recall, ledger.Revise, ledger.Pin, ledger.Revise, ledger.Retire, ledger.Restore, ledger.Revise} {
		m := ms[1]
		m.Text, m.Event = fmt.Sprint("revised ", i), at(-i)
		b.do(at(20+i), edit(op, m), ledger.Done)
	}
	x := batch(at(40), edit(ledger.Retire, ms[2]))
	x.RunID, x.Edits[0].Reason = "r1", "weak"
	b.must(x)
	revised := ms[3]
	revised.Text = "to be purged"
	b.do(at(41), edit(ledger.Revise, revised), ledger.Done)
	b.do(at(42), edit(ledger.Purge, ms[3]), ledger.Done)
	b.do(at(43), edit(ledger.Purge, ms[4]), ledger.Done)
	b.do(at(44), edit(ledger.Insert, ms[4]), ledger.Done)
	b.do(at(45), edit(ledger.Unpin, ms[8]), ledger.Done)
	return ms
}

// alike compares all that two banks tell of memories and tenants.
func alike(t *testing.T, from, to *bank, ms []memtypes.Memory) {
	t.Helper()
	both := []memtypes.State{memtypes.Active, memtypes.Retired}
	same(t, "List", to.pages(ledger.ListQuery{All: true, States: both}), from.pages(ledger.ListQuery{All: true, States: both}))
	same(t, "what a run retired", to.pages(ledger.ListQuery{All: true, RunID: "r1"}), from.pages(ledger.ListQuery{All: true, RunID: "r1"}))
	for _, m := range ms {
		want, err := from.History(t.Context(), m.Scope, m.ID)
		if err != nil {
			t.Fatalf("History: %v", err)
		}
		got, err := to.History(t.Context(), m.Scope, m.ID)
		if err != nil {
			t.Fatalf("History: %v", err)
		}
		same(t, "History", got, want)
	}
	for _, tenant := range []string{"acme", "other"} {
		want, err := from.Audit(t.Context(), tenant, 0, ledger.MaxLimit)
		if err != nil {
			t.Fatalf("Audit: %v", err)
		}
		got, err := to.Audit(t.Context(), tenant, 0, ledger.MaxLimit)
		if err != nil {
			t.Fatalf("Audit: %v", err)
		}
		same(t, "Audit of "+tenant, got, want)
	}
}

func moveAll(t *testing.T, from, to *bank) {
	ms := eventful(from)
	for _, p := range [][2]string{{"a", "1"}, {"ü", "日本"}} {
		if err := from.Set(t.Context(), p[0], p[1]); err != nil {
			t.Fatalf("Set: %v", err)
		}
	}
	sum := move(t, from, to)
	if sum.Records != from.newest() || sum.Active != 7 || sum.Retired != 1 || sum.Purged != 1 || sum.Replaced != 3 {
		t.Errorf("Move = %v, want %d entries, 7 active, 1 retired, 1 purged, 3 replaced", sum, from.newest())
	}
	alike(t, from, to, ms)
	to.none(ms[3])
	got, err := to.Settings(t.Context())
	if err != nil {
		t.Fatalf("Settings: %v", err)
	}
	same(t, "Settings", got, map[string]string{"a": "1", "ü": "日本"})
	same(t, "moved once more", move(t, from, to), sum)

	// Both go on alike: what was known is, and the trail goes on where it ended.
	for _, b := range []*bank{from, to} {
		b.do(at(50), edit(ledger.Insert, ms[1]), ledger.Same) // its content at first
		b.do(at(50), edit(ledger.Insert, ms[2]), ledger.Done) // restored
		b.do(at(51), edit(ledger.Insert, ms[3]), ledger.Done) // was purged
		b.do(at(52), edit(ledger.Retire, ms[8]), ledger.Done)
		b.do(at(53), edit(ledger.Insert, said("new")), ledger.Done)
	}
	alike(t, from, to, ms)
	one, err := ledger.Verify(t.Context(), from.moved())
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	two, err := ledger.Verify(t.Context(), to.moved())
	if err != nil || one != two {
		t.Errorf("Verify after both went on = %v, %v; want %v", two, err, one)
	}
}

// A move that stopped anywhere goes on, and what was adopted may be adopted again.
func moveGoesOn(t *testing.T, from, to *bank) {
	ms := eventful(from)
	all, err := from.moved().Records(t.Context(), 0, ledger.MaxLimit)
	if err != nil {
		t.Fatalf("Records: %v", err)
	}
	adopt := func(rs []ledger.Record) {
		t.Helper()
		if err := to.moved().Adopt(t.Context(), rs); err != nil {
			t.Fatalf("Adopt of entries %d to %d: %v", rs[0].Seq, rs[len(rs)-1].Seq, err)
		}
	}
	adopt(all[:5])
	adopt(all[:5])
	adopt(all[2:9])
	if n := to.newest(); n != 9 {
		t.Errorf("Head = %d, want 9", n)
	}
	if err := to.moved().Adopt(t.Context(), nil); err != nil {
		t.Errorf("Adopt of nothing: %v", err)
	}
	move(t, from, to)
	alike(t, from, to, ms)
	adopt(all)
	got, err := to.moved().Records(t.Context(), 0, ledger.MaxLimit)
	if err != nil {
		t.Fatalf("Records: %v", err)
	}
	same(t, "all records", got, all)
}

// What contradicts is refused, and nothing of its page is adopted.
func moveRefuses(t *testing.T, from, to *bank) {
	eventful(from)
	read := func() []ledger.Record {
		t.Helper()
		all, err := from.moved().Records(t.Context(), 0, ledger.MaxLimit)
		if err != nil {
			t.Fatalf("Records: %v", err)
		}
		return all
	}
	if err := to.moved().Adopt(t.Context(), read()[:4]); err != nil {
		t.Fatalf("Adopt: %v", err)
	}
	for name, c := range map[string]struct {
		code memtypes.Code
		of   func([]ledger.Record) []ledger.Record
	}{
		"a gap":                    {memtypes.Invalid, func(rs []ledger.Record) []ledger.Record { return append(rs[4:6:6], rs[7]) }},
		"a gap to what is there":   {memtypes.Invalid, func(rs []ledger.Record) []ledger.Record { return rs[5:] }},
		"another text there":       {memtypes.Conflict, func(rs []ledger.Record) []ledger.Record { rs[3].Memory.Text = "x"; return rs[3:] }},
		"another strength there":   {memtypes.Conflict, func(rs []ledger.Record) []ledger.Record { rs[1].Memory.Strength.Recalls++; return rs[1:4] }},
		"another reason there":     {memtypes.Conflict, func(rs []ledger.Record) []ledger.Record { rs[2].Reason = "x"; return rs }},
		"another reason":           {memtypes.Conflict, func(rs []ledger.Record) []ledger.Record { rs[6].Reason = "x"; return rs[4:] }},
		"another hash":             {memtypes.Conflict, func(rs []ledger.Record) []ledger.Record { rs[6].Hash[0]++; return rs[4:] }},
		"no operation":             {memtypes.Invalid, func(rs []ledger.Record) []ledger.Record { rs[6].Op = 9; return rs[4:] }},
		"another's memory":         {memtypes.Invalid, func(rs []ledger.Record) []ledger.Record { rs[6].Memory = rs[5].Memory; return rs[4:] }},
		"a memory of no kind":      {memtypes.Invalid, func(rs []ledger.Record) []ledger.Record { rs[6].Memory.Kind = "x"; return rs[4:] }},
		"a memory of another time": {memtypes.Invalid, func(rs []ledger.Record) []ledger.Record { rs[6].Memory.Created = at(99); return rs[4:] }},
	} {
		to.code(name, to.moved().Adopt(t.Context(), c.of(read())), c.code)
		if n := to.newest(); n != 4 {
			t.Fatalf("%s: Head = %d, want 4: nothing adopted", name, n)
		}
	}
	to.do(at(60), edit(ledger.Insert, said("its own")), ledger.Done)
	_, err := ledger.Move(t.Context(), from.moved(), to.moved(), nil)
	to.code("Move into a ledger that was written", err, memtypes.Conflict)
}

// Whoever writes while records are moved is noticed in the end.
func moveNotices(t *testing.T, from, to *bank) {
	ms := eventful(from)
	wrote := false
	_, err := ledger.Move(t.Context(), from.moved(), to.moved(), &ledger.MoveOptions{Page: 5, Each: func(done, of uint64) {
		if of != from.newest() || done == 0 || done > of {
			t.Errorf("told %d of %d, want some of %d", done, of, from.newest())
		}
		if !wrote {
			from.do(at(90), edit(ledger.Recall, ms[0]), ledger.Done)
		}
		wrote = true
	}})
	to.code("Move while another writes", err, memtypes.Conflict)
}

func records(t *testing.T, from, _ *bank) {
	eventful(from)
	all, err := from.moved().Records(t.Context(), 0, ledger.MaxLimit)
	if err != nil || uint64(len(all)) != from.newest() {
		t.Fatalf("Records = %d, %v; want %d", len(all), err, from.newest())
	}
	for after := range all {
		got, err := from.moved().Records(t.Context(), uint64(after), 3)
		if err != nil {
			t.Fatalf("Records: %v", err)
		}
		same(t, fmt.Sprintf("3 records after %d", after), got, all[after:min(len(all), after+3)])
	}
	got, err := from.moved().Records(t.Context(), from.newest(), 3)
	if err != nil || len(got) != 0 {
		t.Errorf("Records after the last = %d, %v; want none", len(got), err)
	}
	_, err = from.moved().Records(t.Context(), 0, 0)
	from.code("Records of none", err, memtypes.Invalid)
}

func moveRuns(t *testing.T, from, to *bank) {
	var want []ledger.Run
	for i := range 20 {
		r := ledger.Run{ID: fmt.Sprintf("run-%02d", (i*7)%20), Job: "decay", Scope: ann(), Actor: "cron", Status: "done", Started: at(i), Ended: at(i + 1),
			Counts: map[string]int{"planned": i}, Detail: map[string]string{"k": "v"}}
		x := batch(at(i))
		x.Runs = []ledger.Run{r}
		from.must(x)
		want = append(want, r)
	}
	move(t, from, to)
	newest, err := to.Runs(t.Context(), "", 100)
	if err != nil {
		t.Fatalf("Runs: %v", err)
	}
	slices.SortFunc(want, func(a, b ledger.Run) int { return b.Started.Compare(a.Started) })
	same(t, "Runs", newest, want)
	_, err = from.moved().RunsAfter(t.Context(), "", 0)
	from.code("RunsAfter of none", err, memtypes.Invalid)
}

// A fence goes on rising after a move.
func moveLeases(t *testing.T, from, to *bank) {
	ctx := t.Context()
	take := func(b *bank, name, holder string, now int) ledger.Lease {
		t.Helper()
		l, err := b.Acquire(ctx, name, holder, at(now), 10*time.Minute)
		if err != nil {
			t.Fatalf("Acquire: %v", err)
		}
		return l
	}
	var released ledger.Lease
	for i := range 4 {
		released = take(from, "purge", "b", i)
		if err := from.Release(ctx, released); err != nil {
			t.Fatalf("Release: %v", err)
		}
	}
	held := take(from, "decay", "a", 5)
	list, err := from.moved().Leases(ctx)
	if err != nil || len(list) != 2 || list[1].Name != "purge" || list[1].Holder != "" || list[1].Fence != released.Fence {
		t.Fatalf("Leases = %+v, %v; want decay, and purge released with fence %d", list, err, released.Fence)
	}
	same(t, "the lease that is held", list[0], held)
	move(t, from, to)
	move(t, from, to)
	_, err = to.Acquire(ctx, "decay", "b", at(6), time.Minute)
	to.code("Acquire of a lease held before the move", err, memtypes.Conflict)
	if l := take(to, "purge", "c", 6); l.Fence <= released.Fence {
		t.Errorf("fence after the move = %d, want more than %d", l.Fence, released.Fence)
	}
	newer := take(to, "decay", "c", 60)
	move(t, from, to)
	x := batch(at(61))
	x.Fence = &newer
	to.must(x)
	to.code("a lease of no name", to.moved().AdoptLeases(ctx, []ledger.Lease{{Fence: 1}}), memtypes.Invalid)
	to.code("a lease of no fence", to.moved().AdoptLeases(ctx, []ledger.Lease{{Name: "x"}}), memtypes.Invalid)
}

// Whatever was done before a move and is done after it: the ledger that it was
// moved to agrees with the model.
func moveModel(t *testing.T, open func(testing.TB) ledger.Ledger) {
	openBank(t, open) // skips
	rapid.Check(t, func(rt *rapid.T) {
		from, to := open(t).(ledger.Bank), open(t).(ledger.Bank)
		defer func() {
			for _, l := range []ledger.Bank{from, to} {
				if err := l.Close(); err != nil {
					rt.Fatalf("Close: %v", err)
				}
			}
		}()
		c := &comparison{T: rt, outer: t, ledger: from, model: &model{memories: map[memtypes.ID]*kept{}}, pool: drafts()}
		for range rapid.IntRange(1, 15).Draw(rt, "batches before") {
			c.append(rt)
		}
		if _, err := ledger.Move(t.Context(), from, to, &ledger.MoveOptions{Page: rapid.IntRange(1, 50).Draw(rt, "page")}); err != nil {
			rt.Fatalf("Move: %v", err)
		}
		c.ledger = to
		c.everything(rt)
		for range rapid.IntRange(0, 4).Draw(rt, "batches after") {
			c.history(rt)
			c.append(rt)
		}
		c.list(rt)
		c.trails(rt)
		c.everything(rt)
	})
}
