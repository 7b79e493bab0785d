package ledgertest

import (
	"testing"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

func history(t *testing.T, b *bank) {
	m := note(memtypes.Draft{Text: "one", Pinned: true}, start)
	var want []ledger.Revision
	step := func(now int, op ledger.Op, reason string, change func(*memtypes.Memory)) {
		change(&m)
		e := edit(op, m)
		e.Reason = reason
		r := b.must(ledger.Batch{Now: at(now), Actor: "ann", RunID: "r", Edits: []ledger.Edit{e}})[0]
		m.Rev = r.Rev
		want = append(want, ledger.Revision{Rev: r.Rev, At: at(now), Op: op, Actor: "ann", RunID: "r", Reason: reason, Memory: m})
	}
	step(0, ledger.Insert, "", func(m *memtypes.Memory) { m.Created, m.Updated = at(0), at(0) })
	step(1, ledger.Unpin, "", func(m *memtypes.Memory) { m.Strength.Pinned = false })
	step(2, ledger.Revise, "a typo", func(m *memtypes.Memory) { m.Text, m.Updated = "two", at(2) })
	step(3, ledger.Retire, "old", func(m *memtypes.Memory) {
		m.State, m.Strength.Retired, m.Strength.RunID = memtypes.Retired, at(3), "r"
	})
	step(4, ledger.Restore, "", func(m *memtypes.Memory) {
		m.State, m.Strength.Retired, m.Strength.RunID = memtypes.Active, m.Event, ""
	})
	step(5, ledger.Revise, "", func(m *memtypes.Memory) {
		m.Text, m.Event, m.Meta, m.Updated = "three", at(-9), map[string]string{"a": "b"}, at(5)
	})
	step(6, ledger.Pin, "", func(m *memtypes.Memory) { m.Strength.Pinned = true })
	got, err := b.History(t.Context(), scope("acme", "ann", "", ""), m.ID)
	if err != nil {
		t.Fatalf("History: %v", err)
	}
	same(t, "revisions", got, want)
	same(t, "the newest revision", got[len(got)-1].Memory, b.one(m))
	if got, err := b.History(t.Context(), ann(), said("unknown").ID); err != nil || len(got) != 0 {
		t.Errorf("History of the unknown = %v, %v; want nothing", got, err)
	}
	_, err = b.History(t.Context(), memtypes.Scope{}, m.ID)
	b.code("History without scope", err, memtypes.Invalid)
}

func audit(t *testing.T, b *bank) {
	var want []ledger.Entry // newest first
	for i := range 40 {
		m := note(memtypes.Draft{Text: "note " + string(rune('A'+i)), Scope: scope([]string{"acme", "other", "third"}[i%3], "ann", "", "")}, start)
		e := edit(ledger.Insert, m)
		e.Reason = "because"
		r := b.must(ledger.Batch{Now: at(i), Actor: "ann", RunID: "r", Edits: []ledger.Edit{e, edit(ledger.Recall, m)}})[0]
		if m.Scope.Tenant() == "acme" {
			want = append([]ledger.Entry{{Seq: r.Rev, At: at(i), Actor: "ann", Op: ledger.Insert, ID: m.ID, RunID: "r", Reason: "because"}}, want...)
		}
	}
	for _, limit := range []int{1, 3, 100} {
		var got []ledger.Entry
		for before := uint64(0); ; {
			page, err := b.Audit(t.Context(), "acme", before, limit)
			if err != nil {
				t.Fatalf("Audit: %v", err)
			}
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
			before = page[len(page)-1].Seq
		}
		same(t, "the trail, newest first", got, want)
	}
	for i, e := range want { // a number between two entries of the tenant is as good
		got, err := b.Audit(t.Context(), "acme", e.Seq+1, 1)
		if err != nil || len(got) != 1 || got[0].Seq != e.Seq {
			t.Errorf("Audit before %d = %v, %v; want entry %d, place %d", e.Seq+1, got, err, e.Seq, i)
		}
	}
	if got, err := b.Audit(t.Context(), "nobody", 0, 10); err != nil || len(got) != 0 {
		t.Errorf("Audit of an unknown tenant = %v, %v; want nothing", got, err)
	}
	_, err := b.Audit(t.Context(), "acme", 0, 0)
	b.code("Audit of no entries", err, memtypes.Invalid)
}

func changes(t *testing.T, b *bank) {
	m, n := said("one"), said("two")
	var want []ledger.Change
	for i, e := range []ledger.Edit{edit(ledger.Insert, m), edit(ledger.Insert, n), edit(ledger.Recall, m), edit(ledger.Pin, m), edit(ledger.Retire, n),
		edit(ledger.Purge, n), edit(ledger.Insert, m), edit(ledger.Restore, m), edit(ledger.Insert, n)} {
		r := b.must(batch(at(i), e))[0]
		if r.Outcome == ledger.Done && e.Op != ledger.Recall {
			want = append(want, ledger.Change{Seq: r.Rev, ID: e.Memory.ID})
		}
	}
	for _, limit := range []int{1, 2, 100} {
		var got []ledger.Change
		after := uint64(0)
		for {
			page, gone, err := b.Changes(t.Context(), after, limit)
			if err != nil || gone {
				t.Fatalf("Changes after %d: gone = %v, %v", after, gone, err)
			}
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
			after = page[len(page)-1].Seq
		}
		same(t, "the feed", got, want)
		if n := b.newest(); after != n {
			t.Errorf("the feed ends at %d, Head = %d; want the same", after, n)
		}
	}
	if _, gone, err := b.Changes(t.Context(), b.newest()+1, 5); err != nil || !gone {
		t.Errorf("Changes after what never was: gone = %v, %v; want gone", gone, err)
	}
	_, _, err := b.Changes(t.Context(), 0, 0)
	b.code("Changes of no entries", err, memtypes.Invalid)
}

func head(t *testing.T, b *bank) {
	if n := b.newest(); n != 0 {
		t.Errorf("Head of an empty ledger = %d, want 0", n)
	}
	if c, gone, err := b.Changes(t.Context(), 0, 5); len(c) != 0 || gone || err != nil {
		t.Errorf("Changes of an empty ledger = %v, %v, %v; want nothing", c, gone, err)
	}
	for i, m := range numbered(3, "note", memtypes.Draft{}) {
		if r := b.do(at(i), edit(ledger.Insert, m), ledger.Done); r.Rev != b.newest() {
			t.Errorf("Head = %d, want %d", b.newest(), r.Rev)
		}
	}
}
