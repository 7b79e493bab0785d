package engine

import (
	"context"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Progress is told how far long work has come; total is 0 while it is not known.
type Progress func(done, total int)

// rebuildPage is how many memories are read from the ledger at once.
const rebuildPage = 512

// Rebuild makes both indexes anew from the ledger and switches to them when
// they are whole; recalls go on with the old ones meanwhile. It is also the
// way to another embedder: open with Options.Adopt, then Rebuild. progress may
// be nil. An error leaves everything as it was.
func (e *Engine) Rebuild(ctx context.Context, progress Progress) error {
	if err := e.open("engine.Rebuild"); err != nil {
		return err
	}
	if e.shared != nil {
		return e.shared.rebuild(ctx, progress)
	}
	if err := e.follow.enter(ctx); err != nil {
		return err
	}
	defer e.follow.leave()
	return e.rebuildLocked(ctx, progress)
}

// rebuildLocked is Rebuild with e.follow held.
func (e *Engine) rebuildLocked(ctx context.Context, progress Progress) error {
	if e.parts.Fresh == nil {
		return memtypes.Errorf("engine.Rebuild", memtypes.Unavailable, "this engine was given no way to make new indexes")
	}
	head, err := e.parts.Ledger.Head(ctx)
	if err != nil {
		return err
	}
	d, s, err := e.parts.Fresh(ctx)
	if err != nil {
		return err
	}
	next, foreign := &indexes{dense: d, sparse: s}, e.foreign.Swap(false)
	if err := e.fill(ctx, next, progress); err != nil {
		e.foreign.Store(foreign)
		return err
	}
	if e.parts.Embedder != nil {
		if err := e.parts.Ledger.Set(ctx, fingerprintKey, e.parts.Embedder.Fingerprint()); err != nil {
			e.foreign.Store(foreign)
			return err
		}
	}
	// The old indexes are left to the collector: a recall may still hold them.
	e.indexes.Store(next)
	e.denseMark.Store(head)
	e.sparseMark.Store(head)
	return e.save(ctx, true)
}

// fill projects every active memory into ix. What changes meanwhile is in the
// feed after the head that was read before, and is followed later.
func (e *Engine) fill(ctx context.Context, ix *indexes, progress Progress) error {
	done := 0
	q := ledger.ListQuery{All: true, Limit: rebuildPage}
	for {
		page, err := e.parts.Ledger.List(ctx, q)
		if err != nil {
			return err
		}
		ids := make([]memtypes.ID, len(page.Memories))
		for i := range page.Memories {
			ids[i] = page.Memories[i].ID
		}
		reach, err := e.affected(ctx, ids)
		if err != nil {
			return err
		}
		if err := e.apply(ctx, ix, writing{ps: own(reach.ps, ids)}, nil).first(); err != nil {
			return err
		}
		if done += len(ids); progress != nil {
			progress(done, 0)
		}
		if page.Next == "" {
			return nil
		}
		q.Cursor = page.Next
	}
}

// own leaves of ps the projections of ids themselves: where all memories are
// projected, their neighbours' turn comes anyway.
func own(ps []projection, ids []memtypes.ID) []projection {
	want := make(map[memtypes.ID]bool, len(ids))
	for _, id := range ids {
		want[id] = true
	}
	return slices.DeleteFunc(ps, func(p projection) bool { return !want[p.memory().ID] })
}
