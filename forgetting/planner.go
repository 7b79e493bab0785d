package forgetting

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Planner makes a Plan of the memories that it is shown one by one. It keeps
// the due ones only, at most MaxItems, whatever the size of the bank. A
// Planner is for one run over one scope and for one goroutine.
type Planner struct {
	now    time.Time
	o      Options
	counts Counts
	retire latest
	purge  latest
}

// NewPlanner starts a plan as of now. It fails with Invalid if o makes no sense.
func NewPlanner(now time.Time, o *Options) (*Planner, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	f := o.filled()
	return &Planner{now: now, o: f, retire: latest{max: f.MaxItems}, purge: latest{max: f.MaxItems}}, nil
}

// Add judges m, which must be shown once only. The order of the calls does not
// matter, and m is not kept.
func (p *Planner) Add(m *memtypes.Memory) {
	if m.State == memtypes.Retired {
		p.addRetired(m)
		return
	}
	p.counts.Active++
	r, theta := p.o.Retention(m.Strength, m.Created, p.now), p.o.Threshold(m.Kind)
	switch {
	case m.Strength.Pinned:
		p.counts.Pinned++
	case r >= theta:
		p.counts.Kept++
	default:
		p.counts.Due++
		due, _ := p.o.Due(m)
		p.retire.add(m, Item{Retention: r, Threshold: theta, Due: due})
	}
}

// addRetired judges a memory that was retired before. One that is pinned, or
// whose time of retirement is not known, is never purged by a plan.
func (p *Planner) addRetired(m *memtypes.Memory) {
	p.counts.Retired++
	s := m.Strength
	if s.Pinned || s.Retired.IsZero() || p.now.Sub(s.Retired) <= p.o.Grace {
		return
	}
	p.counts.Purge++
	r := p.o.Retention(s, m.Created, p.now)
	p.purge.add(m, Item{Retention: r, Threshold: p.o.Threshold(m.Kind), Due: s.Retired.Add(p.o.Grace)})
}

// Plan gives the plan for what was added so far. More may be added afterwards.
func (p *Planner) Plan() Plan {
	return Plan{
		Now: p.now, Retire: p.retire.sorted(p.retireReason), Purge: p.purge.sorted(p.purgeReason), Counts: p.counts,
		Breaker: breaker(p.counts.Due, p.counts.Active, &p.o), Clock: clock(p.now, &p.o), Confirmed: p.o.Confirmed,
	}
}

// order puts the item that is due the longest first.
func order(a, b Item) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID)) }

// candidate is an item with the facts that its reason is put into words from.
type candidate struct {
	Item
	created  time.Time
	strength memtypes.Strength
}

// latest keeps the first max candidates by order, with the last of them on top.
type latest struct {
	max   int
	items []candidate
}

// add takes m in as it, and gives up the last candidate when there are too many.
func (l *latest) add(m *memtypes.Memory, it Item) {
	it.ID, it.Scope, it.Kind, it.Rev, it.Recalls = m.ID, m.Scope, m.Kind, m.Rev, m.Strength.Recalls
	c := candidate{it, m.Created, m.Strength}
	switch {
	case len(l.items) < l.max:
		heap.Push(l, c)
	case order(it, l.items[0].Item) < 0:
		l.items[0] = c
		heap.Fix(l, 0)
	}
}

// sorted gives the items in order, each with its reason.
func (l *latest) sorted(reason func(*candidate) string) []Item {
	items := make([]Item, len(l.items))
	for i := range l.items {
		items[i] = l.items[i].Item
		items[i].Reason = reason(&l.items[i])
	}
	slices.SortFunc(items, order)
	return items
}

// Len is part of heap.Interface.
func (l *latest) Len() int { return len(l.items) }

// Less is part of heap.Interface.
func (l *latest) Less(i, j int) bool { return order(l.items[i].Item, l.items[j].Item) > 0 }

// Swap is part of heap.Interface.
func (l *latest) Swap(i, j int) { l.items[i], l.items[j] = l.items[j], l.items[i] }

// Push is part of heap.Interface.
func (l *latest) Push(x any) { l.items = append(l.items, x.(candidate)) }

// Pop is part of heap.Interface.
func (l *latest) Pop() any {
	last := l.items[len(l.items)-1]
	l.items = l.items[:len(l.items)-1]
	return last
}
