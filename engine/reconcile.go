package engine

import (
	"context"
	"errors"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
)

// Drift is what Reconcile found in one index.
type Drift struct {
	Index   string        `json:"index"`   // "dense" or "sparse"
	Held    int           `json:"held"`    // memories in the index
	Missing []memtypes.ID `json:"missing"` // active in the ledger, not in the index
	Stale   []memtypes.ID `json:"stale"`   // held in another revision
	Ghosts  []memtypes.ID `json:"ghosts"`  // held, but not active in the ledger
}

// OK reports whether the index agrees with the ledger.
func (d *Drift) OK() bool { return len(d.Missing)+len(d.Stale)+len(d.Ghosts) == 0 }

// Reconcile compares the ids and revisions that each index holds with the
// ledger's active memories and, if repair, makes the index agree. What an index
// has yet to follow is no drift. It compares sums over ranges of IDs first, so
// its memory grows with what differs and not with the bank. An index that is
// ahead of the ledger, because that was restored from an older state, is
// Incompatible: a rebuild cures it.
func (e *Engine) Reconcile(ctx context.Context, repair bool) ([]Drift, error) {
	if err := e.open("engine.Reconcile"); err != nil {
		return nil, err
	}
	if e.shared != nil {
		return e.shared.reconcile(ctx, repair)
	}
	if _, err := e.catchUp(ctx); err != nil {
		return nil, err
	}
	if err := e.follow.enter(ctx); err != nil {
		return nil, err
	}
	defer e.follow.leave()
	ix := e.indexes.Load()
	compared := []*comparison{{engine: e, from: e.followed(), drift: Drift{Index: "sparse"},
		held: func() iter.Seq2[held, error] { return sparseHeld(ctx, ix.sparse) }}}
	if !e.withoutDense() {
		compared = append(compared, &comparison{engine: e, from: e.followed(), drift: Drift{Index: "dense"},
			held: func() iter.Seq2[held, error] { return denseHeld(ctx, ix.dense) }})
	}
	drifts, err := compare(ctx, compared)
	if err != nil || !repair {
		return drifts, err
	}
	return drifts, e.repair(ctx, compared, func(ctx context.Context, _ string, w writing) error { return e.apply(ctx, ix, w, nil).first() })
}

// comparison is one index on its way through Reconcile.
type comparison struct {
	engine *Engine
	held   func() iter.Seq2[held, error] // what the index holds
	from   uint64                        // what changed after this is not counted: the index has yet to follow
	drift  Drift
	ahead  uint64 // the highest revision that the index holds
	// tenants are those of the ghosts: the ledger may know nothing of them.
	tenants map[memtypes.ID]string
}

// compare does all comparisons and gives what they found.
func compare(ctx context.Context, all []*comparison) ([]Drift, error) {
	seed := maphash.MakeSeed()
	drifts := make([]Drift, len(all))
	for i, c := range all {
		truth, err := digested(seed, ledgerHeld(ctx, c.engine.parts.Ledger, "", revsPage))
		if err != nil {
			return nil, err
		}
		if err := c.compare(ctx, truth); err != nil {
			return nil, err
		}
		drifts[i] = c.drift
	}
	return drifts, nil
}

// compare finds the ranges that differ, and what differs in them.
func (c *comparison) compare(ctx context.Context, truth *digests) error {
	mine, err := digested(truth.seed, c.watched())
	if err != nil {
		return err
	}
	c.drift.Held, c.tenants = mine.held(), map[memtypes.ID]string{}
	for differ := range groups(truth, mine) {
		if err := c.look(ctx, differ, truth); err != nil {
			return err
		}
	}
	if err := c.leaveOut(ctx); err != nil {
		return err
	}
	slices.Sort(c.drift.Missing)
	slices.Sort(c.drift.Stale)
	slices.Sort(c.drift.Ghosts)
	head, err := c.engine.parts.Ledger.Head(ctx)
	if err == nil && c.ahead > head {
		err = memtypes.Errorf("engine.Reconcile", memtypes.Incompatible,
			"index %s: found revision %d, wanted at most %d, the ledger's newest; the ledger was restored from an older state: make the index anew with `vimbank rebuild`",
			c.drift.Index, c.ahead, head)
	}
	return err
}

// watched is what the index holds, and notes the highest revision.
func (c *comparison) watched() iter.Seq2[held, error] {
	return func(yield func(held, error) bool) {
		for h, err := range c.held() {
			c.ahead = max(c.ahead, h.rev)
			if !yield(h, err) {
				return
			}
		}
	}
}

// lookAtOnce bounds the memories that are compared one by one at the same time.
const lookAtOnce = 1 << 18

// groups gives the ranges that differ, as many at a time as can be looked at.
func groups(a, b *digests) iter.Seq[map[int]bool] {
	return func(yield func(map[int]bool) bool) {
		differ, n := map[int]bool{}, 0
		for r := range a.of {
			if a.of[r] == b.of[r] {
				continue
			}
			differ[r] = true
			if n += a.of[r].n + b.of[r].n; n >= lookAtOnce {
				if !yield(differ) {
					return
				}
				differ, n = map[int]bool{}, 0
			}
		}
		if len(differ) > 0 {
			yield(differ)
		}
	}
}

// look compares the memories of the ranges differ one by one.
func (c *comparison) look(ctx context.Context, differ map[int]bool, truth *digests) error {
	mine := map[memtypes.ID]held{}
	for h, err := range c.held() {
		if err != nil {
			return err
		}
		if differ[rangeOf(h.id)] {
			mine[h.id] = h
		}
	}
	for r := range differ {
		for h, err := range ledgerHeld(ctx, c.engine.parts.Ledger, before(r), min(truth.of[r].n+1, revsPage)) {
			if err != nil {
				return err
			}
			if rangeOf(h.id) != r {
				break
			}
			have, ok := mine[h.id]
			delete(mine, h.id)
			switch {
			case !ok:
				c.drift.Missing = append(c.drift.Missing, h.id)
			case have.rev != h.rev:
				c.drift.Stale = append(c.drift.Stale, h.id)
			}
		}
	}
	for id, h := range mine {
		c.drift.Ghosts = append(c.drift.Ghosts, id)
		c.tenants[id] = h.tenant
	}
	return nil
}

// leaveOut takes what changed after c.from out of the drift.
func (c *comparison) leaveOut(ctx context.Context) error {
	fresh := map[memtypes.ID]bool{}
	for _, list := range []*[]memtypes.ID{&c.drift.Missing, &c.drift.Stale, &c.drift.Ghosts} {
		for _, id := range *list {
			fresh[id] = false
		}
	}
	for seq := c.from; len(fresh) > 0; {
		changes, gone, err := c.engine.parts.Ledger.Changes(ctx, seq, feedBatch)
		if err != nil {
			return err
		}
		if gone || len(changes) == 0 {
			break
		}
		for _, ch := range changes {
			if seq = ch.Seq; !fresh[ch.ID] {
				if _, asked := fresh[ch.ID]; asked {
					fresh[ch.ID] = true
				}
			}
		}
	}
	for _, list := range []*[]memtypes.ID{&c.drift.Missing, &c.drift.Stale, &c.drift.Ghosts} {
		*list = slices.DeleteFunc(*list, func(id memtypes.ID) bool { return fresh[id] })
	}
	return nil
}

// repair has write bring what drifted into each index as the ledger has it now:
// with its present content, or not at all.
func (e *Engine) repair(ctx context.Context, all []*comparison, write func(ctx context.Context, index string, w writing) error) error {
	for _, c := range all {
		ids := slices.Concat(c.drift.Missing, c.drift.Stale, c.drift.Ghosts)
		for batch := range slices.Chunk(ids, rebuildPage) {
			w, err := e.present(ctx, batch, c.tenants)
			if err != nil {
				return err
			}
			err = write(ctx, c.drift.Index, w)
			if _, some := errors.AsType[*memtypes.Rejected](err); err != nil && !some {
				return err
			}
		}
	}
	return nil
}

// present is what an index should hold of ids now, with the docs that depend on
// them; those that are not active are removed where ghosts names their tenant,
// and left to who follows the feed otherwise.
func (e *Engine) present(ctx context.Context, ids []memtypes.ID, ghosts map[memtypes.ID]string) (writing, error) {
	head, err := e.parts.Ledger.Head(ctx) // before reading them, so that it is no more than they have seen
	if err != nil {
		return writing{}, err
	}
	reach, err := e.affected(ctx, ids)
	w := writing{ps: reach.ps, cause: head}
	for _, id := range reach.dead {
		if tenant, ok := ghosts[id]; ok {
			w.gone = append(w.gone, memtypes.Gone{ID: id, Tenant: tenant, Rev: head})
		}
	}
	return w, err
}
