package ledgertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Tenants makes ops operations of two tenants on a ledger, as [CheckTenants]
// does. The ledger must be empty; Tenants closes it.
func Tenants(t *testing.T, open func(testing.TB) ledger.Ledger, seed uint64, ops int) {
	t.Helper()
	l := open(t)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	t.Logf("%d operations from seed %d", ops, seed)
	if err := CheckTenants(t.Context(), l, seed, ops); err != nil {
		t.Error(err)
	}
}

// CheckTenants makes ops operations of two tenants, drawn from seed, on an empty
// ledger: edits, also of the other's memories, in batches of one tenant's or of
// both's, and everything that can be read. Both have users of the same names
// with the same sessions, texts and runs. Each answer to a tenant must be that
// of a model to which this tenant's edits alone were made, but for the sequence
// numbers, which are the ledger's; cursors of one, with the scope of the other,
// give the other's alone. At the end the whole log must verify, where the ledger
// can show it. The error names the first answer that is not so.
func CheckTenants(ctx context.Context, l ledger.Ledger, seed uint64, ops int) error {
	p := &pair{r: rand.New(rand.NewPCG(seed, 0)), Ledger: l, left: ops, most: max(50, min(ops/8, 10_000)), batch: max(8, min(ops/30, 1000)), of: map[memtypes.ID]*side{}}
	for i, name := range []string{"acme", "globex"} {
		p.sides[i] = &side{name: name, alone: &model{memories: map[memtypes.ID]*kept{}}}
	}
	p.sides[0].other, p.sides[1].other = p.sides[1], p.sides[0]
	err := l.Follow(ctx, follower, 0)
	for step := 1; p.left > 0 && err == nil; step++ {
		p.now = step
		if err = p.append(ctx); err == nil {
			err = p.read(ctx)
		}
		if err == nil && step%50 == 0 {
			err = p.revs(ctx)
		}
	}
	if err == nil {
		err = p.all(ctx)
	}
	if err != nil {
		return fmt.Errorf("seed %d, %d of %d operations before the end: %w", seed, p.left, ops, err)
	}
	return nil
}

const follower = "dense/tenants"

// pair is two tenants at work on one ledger.
type pair struct {
	ledger.Ledger
	r     *rand.Rand
	sides [2]*side
	of    map[memtypes.ID]*side // whose a memory is
	most  int                   // memories of a tenant
	batch int                   // edits of one batch, at most
	left  int                   // operations to be made
	now   int
	head  uint64
}

// side is one of the tenants.
type side struct {
	name  string
	other *side
	alone *model            // with its edits only
	pool  []memtypes.Memory // as first inserted
}

// append makes one batch of edits.
func (p *pair) append(ctx context.Context) error {
	s, mixed := p.sides[p.r.IntN(2)], p.r.IntN(6) == 0
	b := ledger.Batch{Now: at(p.now), Actor: "of " + s.name}
	if p.r.IntN(4) == 0 {
		b.RunID = fmt.Sprint("run ", p.r.IntN(3)) // the same in both
	}
	if mixed {
		b.Actor = "anybody"
	}
	mine := map[*side]*ledger.Batch{}
	whose := make([]*side, min(p.left, 1+p.r.IntN(p.batch)))
	for i := range whose {
		if mixed {
			s = p.sides[p.r.IntN(2)]
		}
		if mine[s] == nil {
			mine[s] = &ledger.Batch{Now: b.Now, Actor: b.Actor, RunID: b.RunID}
		}
		e := p.edit(s)
		b.Edits, mine[s].Edits, whose[i] = append(b.Edits, e), append(mine[s].Edits, e), s
	}
	p.left -= len(b.Edits)
	got, err := p.Append(ctx, b)
	if err != nil {
		return err
	}
	if len(got) != len(b.Edits) {
		return fmt.Errorf("method Append: of %d edits gave %d results", len(b.Edits), len(got))
	}
	want := map[*side][]ledger.Result{}
	for s, part := range mine {
		want[s] = s.alone.apply(*part)
	}
	for i, s := range whose {
		w := want[s][0]
		want[s] = want[s][1:]
		if got[i].ID != w.ID || got[i].Outcome != w.Outcome || (got[i].Rev == 0) != (w.Rev == 0) {
			return fmt.Errorf("%s of %s, of %s, by %s = %+v, want %s", b.Edits[i].Op, w.ID, p.of[w.ID].name, s.name, got[i], w.Outcome)
		}
	}
	return p.changes(ctx)
}

// edit is one of s, now and then of a memory of the other.
func (p *pair) edit(s *side) ledger.Edit {
	ops := []ledger.Op{ledger.Insert, ledger.Revise, ledger.Revise, ledger.Retire, ledger.Restore, ledger.Purge, ledger.Recall, ledger.Pin, ledger.Unpin}
	e := ledger.Edit{Op: ops[p.r.IntN(len(ops))], Reason: "a reason of " + s.name}
	if n := len(s.pool); n < p.most && (n == 0 || e.Op == ledger.Insert || p.r.IntN(2) == 0) {
		m := s.memory(n)
		p.of[m.ID] = s
		s.pool = append(s.pool, m)
		e.Op, e.Memory = ledger.Insert, m
		return e
	}
	e.Memory = s.pool[p.r.IntN(len(s.pool))]
	if n := len(s.other.pool); e.Op != ledger.Insert && n > 0 && p.r.IntN(8) == 0 {
		own := e.Memory.Scope
		e.Memory = s.other.pool[p.r.IntN(n)]
		e.Memory.Scope = own
	}
	if e.Op == ledger.Revise {
		e.Memory.Text = fmt.Sprint(e.Memory.Text, ", revised ", p.r.IntN(3))
		e.Memory.Event = at(p.r.IntN(500))
	}
	return e
}

// memory is the n-th, the same in both tenants but for whose it is.
func (s *side) memory(n int) memtypes.Memory {
	d := memtypes.Draft{
		Scope: scope(s.name, []string{"ann", "bob"}[n%2], []string{"", "bot"}[n/2%2], ""),
		Text:  fmt.Sprint("text ", n), Kind: memtypes.Kinds()[n/4%len(memtypes.Kinds())], Meta: map[string]string{"of": s.name},
	}
	if n%5 > 0 {
		d.Talk.Session = fmt.Sprint("s", n/60)
	}
	if n%7 > 0 {
		d.Event = at(n * 7919 % 1000)
	}
	if n%11 == 0 {
		d.Layer = memtypes.Thought
	}
	return note(d, start)
}

// changes reads what the last batch told the feed, and what a follower is owed.
func (p *pair) changes(ctx context.Context) error {
	want := 0
	for _, s := range p.sides {
		want += len(s.alone.log)
	}
	got, gone, err := p.Changes(ctx, p.head, ledger.MaxLimit)
	if err != nil {
		return err
	}
	if gone {
		return fmt.Errorf("method Changes: after %d are gone", p.head)
	}
	for i, c := range got {
		if p.of[c.ID] == nil || c.Seq != p.head+uint64(i)+1 {
			return fmt.Errorf("method Changes: gives %+v, want change %d of a memory of one of them", c, p.head+uint64(i)+1)
		}
	}
	p.head += uint64(len(got))
	if p.head != uint64(want) {
		return fmt.Errorf("method Changes: ends at %d, want %d, the changes of both", p.head, want)
	}
	owed, err := p.Claim(ctx, follower, "x", at(p.now), time.Hour, 2*p.batch)
	if err != nil {
		return err
	}
	settled := make([]ledger.Settled, len(owed))
	for i, o := range owed {
		if s := p.of[o.ID]; s == nil || s.name != o.Tenant {
			return fmt.Errorf("method Claim: gives %+v, want its own tenant", o)
		}
		settled[i] = ledger.Settled{Intent: o, Verdict: ledger.Placed}
	}
	p.left -= 2
	return p.Settle(ctx, follower, "x", settled)
}
