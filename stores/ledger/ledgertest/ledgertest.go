// Package ledgertest is the contract of package ledger: every backend must pass
// Run, and the engine relies on nothing else about one.
//
// It promises to say what it got and wanted, and to check each rule alone before
// it checks them together against a model in memory. What only one backend
// promises, such as its files, is left to that backend's own tests.
package ledgertest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Run checks the ledgers that open makes. Each must be empty; Run closes it.
func Run(t *testing.T, open func(testing.TB) ledger.Ledger) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *bank)
	}{
		{"Insert", insert}, {"InsertAgain", insertAgain}, {"EveryField", everyField}, {"Revise", revise}, {"RetireRestore", retireRestore},
		{"Purge", purge}, {"Recall", recall}, {"Pin", pin}, {"Stale", stale}, {"ScopeGuards", scopeGuards}, {"BadBatches", badBatches},
		{"BatchInOrder", batchInOrder}, {"Get", get},
		{"List", list}, {"ListFilters", listFilters}, {"ListWhileWriting", listWhileWriting}, {"ListRefuses", listRefuses},
		{"Around", around}, {"AroundAlone", aroundAlone},
		{"History", history}, {"Audit", audit}, {"Changes", changes}, {"Head", head}, {"Wait", wait}, {"Revs", revs},
		{"Follow", follow}, {"OwedOnce", owedOnce}, {"ClaimHolds", claimHolds}, {"ChangeWhileClaimed", changeWhileClaimed}, {"SettleLater", settleLater},
		{"DeadLetters", deadLetters}, {"FollowerStates", followerStates}, {"OutboxRefuses", outboxRefuses}, {"ClaimersAtOnce", claimersAtOnce},
		{"Leases", leases}, {"Fence", fence}, {"Runs", runs}, {"RunUndone", runUndone},
		{"Settings", settings}, {"Vectors", vectors},
		{"Concurrent", concurrent}, {"SameAtOnce", sameAtOnce}, {"Canceled", canceled}, {"Closed", closed}, {"CloseWaits", closeWaits},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t)
			t.Cleanup(func() {
				if err := l.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			c.run(t, &bank{t: t, Ledger: l})
		})
	}
	t.Run("Model", func(t *testing.T) { againstModel(t, open) })
	t.Run("Debts", func(t *testing.T) { againstDebts(t, open) })
	t.Run("Movable", func(t *testing.T) { movable(t, open) })
}

// bank is a ledger under test, with the calls that must not fail.
type bank struct {
	t *testing.T
	ledger.Ledger
}

// start is the first moment of every test.
var start = time.Date(2026, time.March, 1, 12, 0, 0, 123456789, time.UTC)

// at is start and n minutes.
func at(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }

func scope(tenant, user, agent, run string) memtypes.Scope {
	s, err := memtypes.NewScope(tenant, user, agent, run)
	if err != nil {
		panic(err) // a mistake of the test itself
	}
	return s
}

// ann is whose memories the tests keep, unless they say otherwise.
func ann() memtypes.Scope { return scope("acme", "ann", "", "") }

// note makes a memory of ann from a draft, of which it fills what is empty.
func note(d memtypes.Draft, now time.Time) memtypes.Memory {
	if d.Scope.IsZero() {
		d.Scope = ann()
	}
	d.Kind = cmp.Or(d.Kind, memtypes.Dialogue)
	m, err := memtypes.New(d, now)
	if err != nil {
		panic(err) // a mistake of the test itself
	}
	return m
}

// said is a memory of ann.
func said(text string) memtypes.Memory { return note(memtypes.Draft{Text: text}, start) }

// batch is edits at a time.
func batch(now time.Time, edits ...ledger.Edit) ledger.Batch {
	return ledger.Batch{Now: now, Actor: "test", Edits: edits}
}

// edit does op to m.
func edit(op ledger.Op, m memtypes.Memory) ledger.Edit { return ledger.Edit{Op: op, Memory: m} }

// must appends and returns the results.
func (b *bank) must(batch ledger.Batch) []ledger.Result {
	b.t.Helper()
	r, err := b.Append(b.t.Context(), batch)
	if err != nil {
		b.t.Fatalf("Append: %v", err)
	}
	if len(r) != len(batch.Edits) {
		b.t.Fatalf("Append gave %d results for %d edits", len(r), len(batch.Edits))
	}
	return r
}

// do appends one edit and checks what became of it.
func (b *bank) do(now time.Time, e ledger.Edit, want ledger.Outcome) ledger.Result {
	b.t.Helper()
	r := b.must(batch(now, e))[0]
	if r.Outcome != want || r.ID != e.Memory.ID {
		b.t.Fatalf("%s of %s = %+v, want outcome %q of the same id", e.Op, e.Memory.ID, r, want)
	}
	return r
}

// fill inserts ms one minute apart, from minute 0.
func (b *bank) fill(ms ...memtypes.Memory) {
	b.t.Helper()
	for i, m := range ms {
		b.do(at(i), edit(ledger.Insert, m), ledger.Done)
	}
}

// one returns a memory, which must be there.
func (b *bank) one(m memtypes.Memory) memtypes.Memory {
	b.t.Helper()
	ms, err := b.Get(b.t.Context(), m.Scope, []memtypes.ID{m.ID})
	if err != nil || len(ms) != 1 {
		b.t.Fatalf("Get(%s) = %d memories, %v; want 1", m.ID, len(ms), err)
	}
	return ms[0]
}

// none checks that Get does not give a memory.
func (b *bank) none(m memtypes.Memory) {
	b.t.Helper()
	if ms, err := b.Get(b.t.Context(), m.Scope, []memtypes.ID{m.ID}); err != nil || len(ms) != 0 {
		b.t.Errorf("Get(%s) = %d memories, %v; want none", m.ID, len(ms), err)
	}
}

// pages lists all that q admits, page by page.
func (b *bank) pages(q ledger.ListQuery) (ms []memtypes.Memory) {
	b.t.Helper()
	for range 1000 {
		p, err := b.List(b.t.Context(), q)
		if err != nil {
			b.t.Fatalf("List(%+v): %v", q, err)
		}
		if want := cmp.Or(q.Limit, 100); len(p.Memories) > want || p.Next != "" && len(p.Memories) < want {
			b.t.Fatalf("List gave %d memories and next %q, want a full page of %d or the last", len(p.Memories), p.Next, want)
		}
		ms = append(ms, p.Memories...)
		if q.Cursor = p.Next; p.Next == "" {
			return ms
		}
	}
	b.t.Fatal("List does not come to an end after 1000 pages")
	return nil
}

// code checks the code of an error.
func (b *bank) code(what string, err error, want memtypes.Code) {
	b.t.Helper()
	if err == nil || memtypes.CodeOf(err) != want {
		b.t.Errorf("%s: error %v, want code %q", what, err, want)
	}
}

// newest is Head, which must not fail.
func (b *bank) newest() uint64 {
	b.t.Helper()
	n, err := b.Head(b.t.Context())
	if err != nil {
		b.t.Fatalf("Head: %v", err)
	}
	return n
}

// same checks two values of any kind, comparing scopes by their fields.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if d := diff(got, want); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func diff(got, want any) string {
	return gocmp.Diff(want, got, gocmp.Comparer(func(a, b memtypes.Scope) bool { return a == b }), cmpopts.EquateEmpty())
}

// texts and ids of memories, for short failures.
func texts(ms []memtypes.Memory) []string {
	out := make([]string, len(ms))
	for i := range ms {
		out[i] = ms[i].Text
	}
	return out
}

func idsOf(ms []memtypes.Memory) []memtypes.ID {
	out := make([]memtypes.ID, len(ms))
	for i := range ms {
		out[i] = ms[i].ID
	}
	return out
}

// numbered makes n memories with texts "prefix 0" on.
func numbered(n int, prefix string, d memtypes.Draft) []memtypes.Memory {
	out := make([]memtypes.Memory, n)
	for i := range out {
		d.Text = fmt.Sprint(prefix, " ", i)
		out[i] = note(d, start)
	}
	return out
}

// inOrder sorts as a Page is ordered.
func inOrder(ms []memtypes.Memory) []memtypes.Memory {
	out := slices.Clone(ms)
	slices.SortFunc(out, func(a, b memtypes.Memory) int {
		return cmp.Or(a.When().Compare(b.When()), cmp.Compare(a.ID, b.ID))
	})
	return out
}
