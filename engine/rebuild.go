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
		ps, _, err := e.affected(ctx, ids)
		if err != nil {
			return err
		}
		if err := e.apply(ctx, ix, ps, nil, nil, nil).first(); err != nil {
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

// Drift is what Reconcile found in one index.
type Drift struct {
	Index   string        `json:"index"`
	Held    int           `json:"held"`    // memories in the index
	Missing []memtypes.ID `json:"missing"` // active in the ledger, not in the index
	Stale   []memtypes.ID `json:"stale"`   // held in an older revision
	Ghosts  []memtypes.ID `json:"ghosts"`  // held, but not active in the ledger
}

// OK reports whether the index agrees with the ledger.
func (d *Drift) OK() bool { return len(d.Missing)+len(d.Stale)+len(d.Ghosts) == 0 }

// Reconcile compares the ids and revisions that each index holds with the
// ledger's active memories and, if repair, makes the index agree. What others
// write meanwhile is no drift: the index has yet to follow it.
func (e *Engine) Reconcile(ctx context.Context, repair bool) ([]Drift, error) {
	if err := e.open("engine.Reconcile"); err != nil {
		return nil, err
	}
	if _, err := e.catchUp(ctx); err != nil {
		return nil, err
	}
	if err := e.follow.enter(ctx); err != nil {
		return nil, err
	}
	defer e.follow.leave()
	truth, err := e.activeRevs(ctx)
	if err != nil {
		return nil, err
	}
	ix := e.indexes.Load()
	drifts := []Drift{{Index: "sparse"}}
	held := []map[memtypes.ID]uint64{{}}
	for h, err := range ix.sparse.Revs(ctx) {
		if err != nil {
			return nil, err
		}
		held[0][h.ID] = h.Rev
	}
	if !e.withoutDense() {
		drifts, held = append(drifts, Drift{Index: "dense"}), append(held, map[memtypes.ID]uint64{})
		for h, err := range ix.dense.Revs(ctx) {
			if err != nil {
				return nil, err
			}
			held[1][h.ID] = h.Rev
		}
	}
	fresh, err := e.changedSince(ctx, e.followed())
	if err != nil {
		return nil, err
	}
	for i := range drifts {
		drifts[i].compare(truth, held[i], fresh)
	}
	if repair {
		err = e.repair(ctx, ix, drifts, held)
	}
	return drifts, err
}

// activeRevs reads the revision of every active memory.
func (e *Engine) activeRevs(ctx context.Context) (map[memtypes.ID]uint64, error) {
	out := map[memtypes.ID]uint64{}
	q := ledger.ListQuery{All: true, Limit: rebuildPage}
	for {
		page, err := e.parts.Ledger.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page.Memories {
			out[page.Memories[i].ID] = page.Memories[i].Rev
		}
		if page.Next == "" {
			return out, nil
		}
		q.Cursor = page.Next
	}
}

// changedSince are the memories that changed after seq.
func (e *Engine) changedSince(ctx context.Context, seq uint64) (map[memtypes.ID]bool, error) {
	out := map[memtypes.ID]bool{}
	for {
		changes, gone, err := e.parts.Ledger.Changes(ctx, seq, feedBatch)
		if err != nil || gone || len(changes) == 0 {
			return out, err
		}
		for _, c := range changes {
			out[c.ID], seq = true, c.Seq
		}
	}
}

// compare notes where held differs from truth, leaving out what is in fresh.
func (d *Drift) compare(truth, held map[memtypes.ID]uint64, fresh map[memtypes.ID]bool) {
	d.Held = len(held)
	for id, rev := range truth {
		if fresh[id] {
			continue
		}
		if have, ok := held[id]; !ok {
			d.Missing = append(d.Missing, id)
		} else if have < rev {
			d.Stale = append(d.Stale, id)
		}
	}
	for id := range held {
		if _, ok := truth[id]; !ok && !fresh[id] {
			d.Ghosts = append(d.Ghosts, id)
		}
	}
	slices.Sort(d.Missing)
	slices.Sort(d.Stale)
	slices.Sort(d.Ghosts)
}

// repair projects what is missing or stale and removes ghosts, in both indexes.
func (e *Engine) repair(ctx context.Context, ix *indexes, drifts []Drift, held []map[memtypes.ID]uint64) error {
	revs := map[memtypes.ID]uint64{}
	var dead, ids []memtypes.ID
	for i, d := range drifts {
		for _, id := range d.Ghosts {
			revs[id] = max(revs[id], held[i][id])
		}
		dead = append(dead, d.Ghosts...)
		ids = append(append(ids, d.Missing...), d.Stale...)
	}
	for batch := range slices.Chunk(ids, rebuildPage) {
		ps, _, err := e.affected(ctx, batch)
		if err != nil {
			return err
		}
		if err := e.apply(ctx, ix, ps, nil, nil, nil).first(); err != nil {
			return err
		}
	}
	return e.apply(ctx, ix, nil, dead, revs, nil).first()
}
