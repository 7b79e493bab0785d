package ledgertest

import (
	"context"
	"fmt"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

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
				return fmt.Errorf("method Revs: gives %+v, want its own tenant", h)
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
			return fmt.Errorf("method Revs: gives %d memories of %s, want %d", counts[s.name], s.name, want)
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
