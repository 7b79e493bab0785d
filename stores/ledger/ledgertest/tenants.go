package ledgertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
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
		return fmt.Errorf("Append of %d edits gave %d results", len(b.Edits), len(got))
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
		return fmt.Errorf("Changes after %d are gone", p.head)
	}
	for i, c := range got {
		if p.of[c.ID] == nil || c.Seq != p.head+uint64(i)+1 {
			return fmt.Errorf("Changes gives %+v, want change %d of a memory of one of them", c, p.head+uint64(i)+1)
		}
	}
	p.head += uint64(len(got))
	if p.head != uint64(want) {
		return fmt.Errorf("Changes ends at %d, want %d, the changes of both", p.head, want)
	}
	owed, err := p.Claim(ctx, follower, "x", at(p.now), time.Hour, 2*p.batch)
	if err != nil {
		return err
	}
	settled := make([]ledger.Settled, len(owed))
	for i, o := range owed {
		if s := p.of[o.ID]; s == nil || s.name != o.Tenant {
			return fmt.Errorf("Claim gives %+v, want its own tenant", o)
		}
		settled[i] = ledger.Settled{Intent: o, Verdict: ledger.Placed}
	}
	p.left -= 2
	return p.Settle(ctx, follower, "x", settled)
}

// read asks everything for each of the tenants.
func (p *pair) read(ctx context.Context) error {
	for _, s := range p.sides {
		if len(s.pool) == 0 {
			continue
		}
		for _, ask := range []struct {
			name string
			of   func(context.Context, *side) error
		}{{"List", p.list}, {"Get", p.get}, {"Around", p.around}, {"History", p.history}, {"Audit", p.audit}} {
			p.left--
			if err := ask.of(ctx, s); err != nil {
				return fmt.Errorf("%s of %s: %w", ask.name, s.name, err)
			}
		}
	}
	return nil
}

// some is a memory of s or of the other.
func (p *pair) some(s *side) memtypes.Memory {
	if n := len(s.other.pool); n > 0 && p.r.IntN(3) == 0 {
		return s.other.pool[p.r.IntN(n)]
	}
	return s.pool[p.r.IntN(len(s.pool))]
}

// within is a scope that s may ask for.
func (p *pair) within(s *side) memtypes.Scope {
	if sc := s.pool[p.r.IntN(len(s.pool))].Scope; p.r.IntN(2) == 0 {
		return sc
	}
	return []memtypes.Scope{scope(s.name, "ann", "", ""), scope(s.name, "bob", "", ""), scope(s.name, "", "bot", "")}[p.r.IntN(3)]
}

func (p *pair) list(ctx context.Context, s *side) error {
	q := ledger.ListQuery{Filter: memtypes.Filter{Scope: p.within(s)}, Limit: 1 + p.r.IntN(40), States: [][]memtypes.State{nil, {memtypes.Retired}, both()}[p.r.IntN(3)]}
	switch p.r.IntN(8) {
	case 0:
		q.RunID = fmt.Sprint("run ", p.r.IntN(3))
	case 1:
		q.Filter.Session = p.some(s).Talk.Session
	case 2:
		q.Filter.From, q.Filter.To = at(p.r.IntN(500)), at(500+p.r.IntN(500))
	case 3:
		q.Filter.Kinds = []memtypes.Kind{p.some(s).Kind}
	case 4:
		q.Filter.Layers = []memtypes.Layer{memtypes.Thought}
	case 5:
		for range 30 {
			q.Filter.IDs = append(q.Filter.IDs, p.some(s).ID)
		}
	}
	want := s.alone.list(q)
	page, err := p.List(ctx, q)
	if err != nil {
		return err
	}
	if err := alone(page.Memories, want[:min(q.Limit, len(want))]); err != nil || page.Next == "" {
		return err
	}
	if len(want) < q.Limit {
		return fmt.Errorf("%d memories and a cursor, want no more to come", len(want))
	}
	// The cursor of one is a place in the list of the other, and nothing more.
	last := want[q.Limit-1]
	q.Cursor, q.Filter.Scope = page.Next, scope(s.other.name, q.Filter.Scope.User(), q.Filter.Scope.Agent(), "")
	if page, err = p.List(ctx, q); memtypes.CodeOf(err) == memtypes.Invalid && err != nil {
		return nil
	}
	if err != nil {
		return err
	}
	want = slices.DeleteFunc(s.other.alone.list(q), func(m memtypes.Memory) bool {
		c := m.When().Compare(last.When())
		return c < 0 || c == 0 && m.ID <= last.ID
	})
	if err := alone(page.Memories, want[:min(q.Limit, len(want))]); err != nil {
		return fmt.Errorf("with the scope of %s and this one's cursor: %w", s.other.name, err)
	}
	return nil
}

func both() []memtypes.State { return []memtypes.State{memtypes.Active, memtypes.Retired} }

func (p *pair) get(ctx context.Context, s *side) error {
	sc := p.within(s)
	var ids []memtypes.ID
	var want []memtypes.Memory
	for range 10 {
		id := p.some(s).ID
		ids = append(ids, id)
		if k := s.alone.memories[id]; k != nil && !k.purged && sc.Covers(k.Scope) {
			want = append(want, k.Memory)
		}
	}
	got, err := p.Get(ctx, sc, ids)
	if err != nil {
		return err
	}
	return alone(got, want)
}

func (p *pair) around(ctx context.Context, s *side) error {
	id, n := s.pool[p.r.IntN(len(s.pool))].ID, p.r.IntN(5)
	got, err := p.Around(ctx, id, n)
	if err != nil {
		return err
	}
	return alone(got, s.alone.around(id, n))
}

func (p *pair) history(ctx context.Context, s *side) error {
	id, sc := p.some(s).ID, p.within(s)
	got, err := p.History(ctx, sc, id)
	if err != nil {
		return err
	}
	var want []ledger.Revision
	if k := s.alone.memories[id]; k != nil && sc.Covers(k.Scope) {
		want = slices.Clone(k.revs)
		for i := range want { // recalls make no revision
			st := &want[i].Memory.Strength
			st.Recalls, st.LastRecall = k.Strength.Recalls, k.Strength.LastRecall
		}
	}
	for _, rs := range [][]ledger.Revision{got, want} {
		for i := range rs {
			rs[i].Rev, rs[i].Memory.Rev = 0, 0
		}
	}
	return unlike(got, want)
}

// audit reads two pages of the trail from its end.
func (p *pair) audit(ctx context.Context, s *side) error {
	before, rest := uint64(0), s.alone.log
	for range 2 {
		limit := 1 + p.r.IntN(50)
		got, err := p.Audit(ctx, s.name, before, limit)
		if err != nil {
			return err
		}
		page := rest[max(0, len(rest)-limit):]
		want := slices.Clone(page)
		slices.Reverse(want)
		rest = rest[:len(rest)-len(page)]
		for i := range want {
			want[i].Seq = 0
		}
		for i := range got {
			before, got[i].Seq = got[i].Seq, 0
		}
		if err := unlike(got, want); err != nil || len(got) == 0 {
			return err
		}
	}
	return nil
}

// revs reads what indexes should hold of both.
func (p *pair) revs(ctx context.Context) error {
	p.left--
	counts := map[string]int{}
	for after := memtypes.ID(""); ; {
		held, err := p.Revs(ctx, after, 5000)
		if err != nil {
			return err
		}
		for _, h := range held {
			after = h.ID
			if s := p.of[h.ID]; s == nil || s.name != h.Tenant {
				return fmt.Errorf("Revs gives %+v, want its own tenant", h)
			}
			counts[h.Tenant]++
		}
		if len(held) == 0 {
			break
		}
	}
	for _, s := range p.sides {
		want := 0
		for _, k := range s.alone.memories {
			if !k.purged && k.State == memtypes.Active {
				want++
			}
		}
		if counts[s.name] != want {
			return fmt.Errorf("Revs gives %d memories of %s, want %d", counts[s.name], s.name, want)
		}
	}
	return nil
}

// all reads all that each of them has, and verifies the log.
func (p *pair) all(ctx context.Context) error {
	if err := p.revs(ctx); err != nil {
		return err
	}
	for _, s := range p.sides {
		for _, user := range []string{"ann", "bob"} {
			q := ledger.ListQuery{Filter: memtypes.Filter{Scope: scope(s.name, user, "", "")}, States: both(), Limit: 1000}
			want := s.alone.list(q)
			for more := true; more; more = q.Cursor != "" {
				page, err := p.List(ctx, q)
				if err != nil {
					return err
				}
				n := min(q.Limit, len(want))
				if err := alone(page.Memories, want[:n]); err != nil {
					return fmt.Errorf("the whole list of %s: %w", s.name, err)
				}
				want, q.Cursor = want[n:], page.Next
			}
			if len(want) > 0 {
				return fmt.Errorf("the list of %s ends %d memories too early", s.name, len(want))
			}
		}
	}
	if m, ok := p.Ledger.(ledger.Movable); ok {
		sum, err := ledger.Verify(ctx, m)
		if err != nil {
			return err
		}
		if sum.Records != p.head {
			return fmt.Errorf("the log holds %v, want %d entries", sum, p.head)
		}
	}
	return nil
}

// alone compares memories with those of a model, but for their revisions.
func alone(got, want []memtypes.Memory) error {
	want = slices.Clone(want)
	for _, ms := range [][]memtypes.Memory{got, want} {
		for i := range ms {
			ms[i].Rev = 0
		}
	}
	return unlike(got, want)
}

func unlike(got, want any) error {
	if d := diff(got, want); d != "" {
		return fmt.Errorf("it is not what there would be without the other (-want +got):\n%s", d[:min(len(d), 2000)])
	}
	return nil
}
