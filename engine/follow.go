package engine

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/sparse"
)

// feedBatch bounds how many changes are projected at once.
const feedBatch = 512

// lag names the indexes that do not follow up to the present, and why.
type lag map[string]error

// names lists the lagging indexes.
func (l lag) names() []string { return slices.Sorted(maps.Keys(l)) }

// first is the error of one of the lagging indexes, or nil.
func (l lag) first() error {
	for _, name := range l.names() {
		if l[name] != nil {
			return l[name]
		}
	}
	return nil
}

// catchUp follows the ledger's feed to its present head. The error is the
// ledger's; what an index or the embedder could not do is in lag.
func (e *Engine) catchUp(ctx context.Context) (lag, error) {
	head, err := e.parts.Ledger.Head(ctx)
	if err != nil {
		return nil, err
	}
	return e.followTo(ctx, head)
}

// followed is the sequence number up to which every index in use follows.
func (e *Engine) followed() uint64 {
	if e.withoutDense() {
		return e.sparseMark.Load()
	}
	return min(e.sparseMark.Load(), e.denseMark.Load())
}

// withoutDense reports whether vectors play no part now.
func (e *Engine) withoutDense() bool { return e.parts.Embedder == nil || e.foreign.Load() }

// followTo projects every change up to seq. Whoever comes while another
// follows waits, up to catchUpWait, and then mostly finds nothing left to do: so
// many writers share the work as they share the commits.
func (e *Engine) followTo(ctx context.Context, seq uint64) (lag, error) {
	if e.followed() >= seq {
		return nil, nil
	}
	wait, cancel := context.WithTimeout(ctx, catchUpWait)
	defer cancel()
	if err := e.follow.enter(wait); err != nil {
		return nil, err
	}
	defer e.follow.leave()
	late := lag{}
	for e.followed() < seq && len(late) == 0 || e.sparseMark.Load() < seq && late["sparse"] == nil {
		more, err := e.step(ctx, late)
		if err != nil || !more {
			return late, err
		}
	}
	return late, nil
}

// step projects the next changes that an index which is not late lacks.
func (e *Engine) step(ctx context.Context, late lag) (more bool, err error) {
	from := e.sparseMark.Load()
	if !e.withoutDense() && late["dense"] == nil {
		from = min(from, e.denseMark.Load())
	}
	changes, gone, err := e.parts.Ledger.Changes(ctx, from, feedBatch)
	if err != nil {
		return false, err
	}
	if gone {
		return e.lost(ctx)
	}
	if len(changes) == 0 {
		return false, nil
	}
	return true, e.project(ctx, changes, late)
}

// lost starts over where the ledger cannot tell what has changed.
func (e *Engine) lost(ctx context.Context) (more bool, err error) {
	if e.shared != nil {
		return true, e.shared.restart(ctx)
	}
	return false, e.rebuildLocked(ctx, nil)
}

// project brings both indexes up to date with the memories of changes, and
// with the neighbours whose context they are. e.follow must be held.
func (e *Engine) project(ctx context.Context, changes []ledger.Change, late lag) error {
	ids, revs := make([]memtypes.ID, 0, len(changes)), map[memtypes.ID]uint64{}
	for _, c := range changes {
		if _, seen := revs[c.ID]; !seen {
			ids = append(ids, c.ID)
		}
		revs[c.ID] = c.Seq
	}
	e.shelf.drop(ids)
	reach, err := e.affected(ctx, ids)
	if err != nil {
		return err
	}
	w := writing{ps: reach.ps, cause: changes[len(changes)-1].Seq}
	for _, id := range reach.dead {
		w.gone = append(w.gone, memtypes.Gone{ID: id, Rev: revs[id]})
	}
	errs := e.apply(ctx, e.indexes.Load(), w, late)
	for name, mark := range e.marks() {
		switch {
		case late[name] != nil: // left out: its mark stays where it failed
		case errs[name] != nil:
			late[name] = errs[name]
		default:
			raise(mark, w.cause)
		}
	}
	e.unsaved.Add(int64(len(changes)))
	return ctx.Err()
}

// marks are how far each index of this process follows.
func (e *Engine) marks() map[string]*atomic.Uint64 {
	return map[string]*atomic.Uint64{"dense": &e.denseMark, "sparse": &e.sparseMark}
}

// raise lets mark be at least to, and reports whether it was lower.
func raise(mark *atomic.Uint64, to uint64) bool {
	for {
		was := mark.Load()
		if was >= to {
			return false
		}
		if mark.CompareAndSwap(was, to) {
			return true
		}
	}
}

// writing is what an index is to hold and to forget.
type writing struct {
	ps    []projection
	gone  []memtypes.Gone
	cause uint64 // the newest change that whoever made ps had seen; 0: not known
}

// apply writes w to both indexes of ix but those that are late, side by side:
// neither waits for the other, and each says for itself what went wrong.
func (e *Engine) apply(ctx context.Context, ix *indexes, w writing, late lag) lag {
	var inDense, inSparse error
	var wg sync.WaitGroup
	if ix.dense != nil && !e.foreign.Load() && late["dense"] == nil {
		wg.Go(func() { inDense = e.applyDense(ctx, ix.dense, w) })
	}
	if late["sparse"] == nil {
		inSparse = e.applySparse(ctx, ix.sparse, w)
	}
	wg.Wait()
	return lag{"dense": inDense, "sparse": inSparse}
}

func (e *Engine) applySparse(ctx context.Context, ix sparse.Index, w writing) error {
	if err := ix.Upsert(ctx, e.sparseDocs(w.ps, w.cause)); err != nil {
		return err
	}
	if len(w.gone) == 0 {
		return nil
	}
	return ix.Delete(ctx, w.gone)
}

func (e *Engine) applyDense(ctx context.Context, ix dense.Index, w writing) error {
	docs, _, err := e.denseDocs(ctx, w.ps, w.cause)
	if err != nil {
		return err
	}
	if err := ix.Upsert(ctx, docs); err != nil {
		return err
	}
	if len(w.gone) == 0 {
		return nil
	}
	return ix.Delete(ctx, w.gone)
}
