package engine

import (
	"context"

	"github.com/vimbank/vimbank/memtypes"
)

// reconcile is Reconcile where the indexes are shared: it compares and repairs
// the live generations.
func (s *shared) reconcile(ctx context.Context, repair bool) ([]Drift, error) {
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	var all []*comparison
	open := map[string]target{}
	kinds := map[string]*kind{}
	for _, k := range s.kinds {
		if k.name == "dense" && s.engine.withoutDense() {
			continue
		}
		live, _, err := s.look(ctx, k)
		if err != nil {
			return nil, err
		}
		if live == "" {
			return nil, memtypes.Errorf("engine.Reconcile", memtypes.Unavailable, "the %s service has no live generation; one is made by itself, or by `vimbank rebuild`", k.name)
		}
		index, err := k.open(ctx, live)
		if err != nil {
			return nil, err
		}
		open[k.name], kinds[k.name] = index, k
		mark := uint64(0)
		for _, f := range s.following(k) {
			if f.Name == k.follower(live) {
				mark = f.Mark
			}
		}
		all = append(all, &comparison{engine: s.engine, from: mark, drift: Drift{Index: k.name}, held: heldBy(ctx, index)})
	}
	drifts, err := compare(ctx, all)
	if err != nil || !repair {
		return drifts, err
	}
	return drifts, s.engine.repair(ctx, all, func(ctx context.Context, name string, w writing) error {
		return s.mend(ctx, kinds[name], open[name], w)
	})
}

// mend writes w into the live generation of k.
func (s *shared) mend(ctx context.Context, k *kind, index target, w writing) error {
	if len(w.gone) > 0 {
		err := k.backend.call(ctx, s.opt.Hold, func(ctx context.Context) error { return index.remove(ctx, w.gone) })
		if err != nil {
			return err
		}
	}
	if len(w.ps) == 0 {
		return nil
	}
	put, _, err := index.upsert(ctx, w.ps, w.cause)
	if err != nil {
		return err
	}
	return k.backend.call(ctx, s.opt.Hold, put)
}
