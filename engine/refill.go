package engine

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// The steps of a regeneration, in their order: follow, fill, catchUp, change,
// clean. Each can be done again from its beginning, or goes on where it was.

// follow makes the new generations and lets them follow the ledger.
func (r *regeneration) follow(ctx context.Context) error {
	s := r.shared
	from, err := strconv.ParseUint(r.run.Detail[detailFrom], 10, 64)
	if err != nil {
		return memtypes.Errorf("engine.Rebuild", memtypes.Internal, "run %s: %s: %w", r.run.ID, detailFrom, err)
	}
	for _, k := range s.kinds {
		name := r.run.Detail[k.name]
		err := r.ask(ctx, k, func(ctx context.Context) error { _, err := k.open(ctx, name); return err })
		if err != nil {
			return err
		}
		if err := s.engine.parts.Ledger.Follow(ctx, k.follower(name), from); err != nil {
			return err
		}
	}
	return s.refresh(ctx)
}

// fill writes every active memory into the new generations. What changes
// meanwhile they follow like any other, and whatever is older loses.
func (r *regeneration) fill(ctx context.Context) error {
	s, e := r.shared, r.shared.engine
	for r.run.Detail[detailFilled] == "" {
		began := time.Now()
		page, err := e.parts.Ledger.List(ctx, ledger.ListQuery{All: true, Limit: rebuildPage, Cursor: r.run.Detail[detailCursor]})
		if err != nil {
			return err
		}
		if err := r.put(ctx, page.Memories); err != nil {
			return err
		}
		r.run.Counts["done"] += len(page.Memories)
		if r.run.Detail[detailCursor] = page.Next; page.Next == "" {
			head, err := e.parts.Ledger.Head(ctx)
			if err != nil {
				return err
			}
			r.run.Detail[detailFilled] = strconv.FormatUint(head, 10)
		}
		if err := r.note(ctx); err != nil {
			return err
		}
		e.at("filled a page")
		if r.progress != nil {
			r.progress(r.run.Counts["done"], 0)
		}
		if rate := s.opt.RebuildRate; rate > 0 {
			pause(ctx, time.Duration(len(page.Memories))*time.Second/time.Duration(rate)-time.Since(began))
		}
	}
	return nil
}

// put writes some memories into the new generations; what is refused for good
// is counted, and Reconcile finds it missing.
func (r *regeneration) put(ctx context.Context, memories []memtypes.Memory) error {
	ids := make([]memtypes.ID, len(memories))
	for i := range memories {
		ids[i] = memories[i].ID
	}
	w, err := r.shared.engine.present(ctx, ids, nil)
	if w.ps = own(w.ps, ids); err != nil || len(w.ps) == 0 {
		return err
	}
	for _, k := range r.shared.kinds {
		if err := r.patiently(ctx, func() error { return r.putInto(ctx, k, w) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *regeneration) putInto(ctx context.Context, k *kind, w writing) error {
	index, err := k.open(ctx, r.run.Detail[k.name])
	if err != nil {
		return err
	}
	write, _, err := index.upsert(ctx, w.ps, w.cause)
	if err != nil {
		return err
	}
	failed := refusals{}
	if err := failed.take(k.backend.insist(ctx, r.shared.opt.Hold, write)); err != nil {
		return err
	}
	for _, cause := range failed {
		if memtypes.CodeOf(cause) == memtypes.Unavailable {
			return cause
		}
	}
	r.run.Counts["refused "+k.name] += len(failed)
	return nil
}

// catchUp waits until the new generations have what changed while they were
// filled, and until every process that was awake has seen that they follow.
func (r *regeneration) catchUp(ctx context.Context) error {
	s := r.shared
	filled, err := strconv.ParseUint(r.run.Detail[detailFilled], 10, 64)
	if err != nil {
		return memtypes.Errorf("engine.Rebuild", memtypes.Internal, "run %s: %s: %w", r.run.ID, detailFilled, err)
	}
	pause(ctx, 2*s.opt.Refresh)
	for {
		if err := s.refresh(ctx); err != nil {
			return err
		}
		behind := slices.ContainsFunc(s.kinds, func(k *kind) bool {
			return slices.ContainsFunc(s.following(k), func(f ledger.Follower) bool {
				return f.Name == k.follower(r.run.Detail[k.name]) && f.Mark < filled
			})
		})
		if !behind {
			return nil
		}
		pause(ctx, s.opt.Refresh)
		if ctx.Err() != nil {
			return memtypes.Errorf("engine.Rebuild", memtypes.Canceled, "%w", ctx.Err())
		}
		if err := r.renew(ctx); err != nil {
			return err
		}
	}
}

// change lets the new generations serve.
func (r *regeneration) change(ctx context.Context) error {
	s, e := r.shared, r.shared.engine
	for _, k := range s.kinds {
		if err := r.renew(ctx); err != nil {
			return err
		}
		name := r.run.Detail[k.name]
		if err := r.ask(ctx, k, func(ctx context.Context) error { return k.gens.Switch(ctx, name) }); err != nil {
			return err
		}
		s.noteLive(k, name, nil)
		e.at("switched")
	}
	if e.parts.Embedder == nil {
		return nil
	}
	e.foreign.Store(false)
	return e.parts.Ledger.Set(ctx, fingerprintKey, e.parts.Embedder.Fingerprint())
}

// clean removes the generations that served before, once nobody searches them.
func (r *regeneration) clean(ctx context.Context) error {
	s := r.shared
	for _, k := range s.kinds {
		for _, f := range s.following(k) {
			if f.Name == k.follower(r.run.Detail[k.name]) {
				continue
			}
			if err := s.engine.parts.Ledger.Unfollow(ctx, f.Name); err != nil {
				return err
			}
		}
	}
	pause(ctx, 2*s.opt.Refresh)
	for _, k := range s.kinds {
		_, names, err := s.look(ctx, k)
		if err != nil {
			return err
		}
		for _, name := range names {
			if name == r.run.Detail[k.name] {
				continue
			}
			if err := r.ask(ctx, k, func(ctx context.Context) error { return k.gens.Drop(ctx, name) }); err != nil {
				return err
			}
		}
	}
	return s.refresh(ctx)
}
