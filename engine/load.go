package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Load takes memories over as another bank held them: ID, times, strength,
// pins and state stay as they are, so nothing fades sooner or later than it
// would have. It is how a bank is restored from an export. Admission is not
// asked again. Loading the same memory twice changes nothing, also where it is
// retired or was restored meanwhile; one whose ID has another content here is
// Refused with the code Conflicting. Revisions before the present one are not
// taken over. actor may be empty.
//
// A commit holds the memories that were stored at the same moment, because that
// moment is the ledger's, and the earlier moments come first; after an error
// the commits before it stay, and the results are those of the memories done,
// with an empty Status for the others.
func (e *Engine) Load(ctx context.Context, memories []memtypes.Memory, actor string) ([]Remembered, error) {
	if err := e.open("engine.Load"); err != nil {
		return nil, err
	}
	out := make([]Remembered, len(memories))
	order := make([]int, len(memories))
	for i := range order {
		order[i], out[i].Draft = i, i
	}
	slices.SortStableFunc(order, func(a, b int) int { return memories[a].Created.Compare(memories[b].Created) })
	l := &loading{engine: e, memories: memories, out: out, actor: cmp.Or(actor, e.opts.Actor)}
	for len(order) > 0 {
		n := 1
		for n < len(order) && n < ledger.MaxEdits && memories[order[n]].Created.Equal(memories[order[0]].Created) {
			n++
		}
		if err := l.commit(ctx, order[:n]); err != nil {
			return out, err
		}
		order = order[n:]
	}
	e.index(ctx, l.last)
	return out, nil
}

// loading is one call of Load.
type loading struct {
	engine   *Engine
	memories []memtypes.Memory
	out      []Remembered
	actor    string
	last     uint64 // the newest revision
}

// commit inserts memories of one moment, and retires again those that were retired.
func (l *loading) commit(ctx context.Context, order []int) error {
	b := ledger.Batch{Now: l.memories[order[0]].Created, Actor: l.actor}
	var inserted, retire []int
	for _, i := range order {
		m := &l.memories[i]
		if m.State == memtypes.Retired {
			again, done, err := l.wasRetired(ctx, i)
			if err != nil {
				return err
			}
			if again {
				retire = append(retire, i)
			}
			if done {
				continue
			}
		}
		inserted = append(inserted, i)
		b.Edits = append(b.Edits, ledger.Edit{Op: ledger.Insert, Memory: *m, Reason: "loaded"})
	}
	if len(inserted) > 0 {
		if err := l.engine.admitted(ctx, "engine.Load", len(inserted)); err != nil {
			return err
		}
		results, err := l.engine.parts.Ledger.Append(ctx, b)
		if err != nil {
			return err
		}
		for j, res := range results {
			l.settle(inserted[j], res)
		}
	}
	return l.retire(ctx, retire)
}

// settle notes what the ledger made of memory i.
func (l *loading) settle(i int, res ledger.Result) {
	l.last = max(l.last, res.Rev)
	switch res.Outcome {
	case ledger.Same:
		l.out[i] = Remembered{Draft: i, ID: res.ID, Rev: res.Rev, Status: Known}
	case ledger.Conflicting:
		l.conflict(i)
	default:
		l.out[i] = Remembered{Draft: i, ID: res.ID, Rev: res.Rev, Status: Stored}
		l.engine.counts.stored.Add(1)
	}
}

func (l *loading) conflict(i int) {
	id := l.memories[i].ID
	l.out[i] = Remembered{Draft: i, Status: Refused, Code: Conflicting, Of: id, Reason: otherContent("id", string(id))}
}

// wasRetired looks at what is here of a memory that was retired there: done if
// nothing is to be inserted, again if it is to be retired. What was restored
// here stays so; what a load that was cut off left active does not.
func (l *loading) wasRetired(ctx context.Context, i int) (again, done bool, err error) {
	m := &l.memories[i]
	have, err := l.engine.parts.Ledger.Get(ctx, m.Scope, []memtypes.ID{m.ID})
	if err != nil || len(have) == 0 {
		return err == nil, false, err
	}
	same, err := l.engine.sameContent(ctx, &have[0], m)
	if err != nil {
		return false, true, err
	}
	if !same {
		l.conflict(i)
		return false, true, nil
	}
	l.out[i] = Remembered{Draft: i, ID: m.ID, Rev: have[0].Rev, Status: Known}
	if have[0].State == memtypes.Retired {
		return false, true, nil
	}
	revs, err := l.engine.parts.Ledger.History(ctx, m.Scope, m.ID)
	return len(revs) == 1, true, err
}

// retire retires memories that were, each as of its own moment.
func (l *loading) retire(ctx context.Context, which []int) error {
	for _, i := range which {
		m := &l.memories[i]
		if l.out[i].Status == Refused { // its ID is another scope's
			continue
		}
		at := m.Strength.Retired
		if at.IsZero() {
			at = m.Updated
		}
		res, err := l.engine.parts.Ledger.Append(ctx, ledger.Batch{Now: at, Actor: l.actor, RunID: m.Strength.RunID, Edits: []ledger.Edit{
			{Op: ledger.Retire, Memory: memtypes.Memory{ID: m.ID, Scope: m.Scope}, Reason: "loaded"}}})
		if err != nil {
			return err
		}
		l.out[i].Rev = res[0].Rev
		l.last = max(l.last, res[0].Rev)
	}
	return nil
}
