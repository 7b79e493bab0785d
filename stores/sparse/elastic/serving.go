package elastic

import (
	"context"
	"iter"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// Serving implements sparse.Generations. The index it gives asks, in each call,
// which generation is live; searches go to the one that was so last at the same
// time, so that asking takes no longer.
func (s *Store) Serving() sparse.Index { return &serving{store: s} }

type serving struct {
	store  *Store
	closed atomic.Bool
}

var (
	_ sparse.Frequencies = (*serving)(nil)
	_ sparse.Statistics  = (*serving)(nil)
)

// resolve gives the live generation's index.
func (v *serving) resolve(ctx context.Context, op string) (*Index, error) {
	if ctx.Err() != nil {
		return nil, canceled(ctx, op)
	}
	if v.closed.Load() || v.store.closed.Load() {
		return nil, errClosed(op)
	}
	name, err := v.store.live(ctx, op)
	if err != nil {
		return nil, err
	}
	v.store.guess.Store(&name)
	if name == "" {
		return nil, memtypes.Errorf(op, memtypes.Unavailable, "%s: no generation is live, the alias %s points nowhere: `vimbank rebuild` makes one from the ledger",
			v.store.where(), v.store.opt.Prefix)
	}
	return v.store.index(name), nil
}

// read runs a question against the live generation: at first against the one
// that was live last, while asking whether it still is.
func read[T any](ctx context.Context, v *serving, op string, question func(context.Context, *Index) (T, error)) (T, error) {
	var out T
	guess := v.store.guess.Load()
	if guess == nil || *guess == "" || v.closed.Load() {
		x, err := v.resolve(ctx, op)
		if err != nil {
			return out, err
		}
		return question(ctx, x)
	}
	var both errgroup.Group // without its context: neither answer ends the other's call
	var live *Index
	var qerr error
	both.Go(func() (err error) {
		live, err = v.resolve(ctx, op)
		return err
	})
	both.Go(func() error {
		out, qerr = question(ctx, v.store.index(*guess))
		return nil
	})
	if err := both.Wait(); err != nil {
		var none T
		return none, err
	}
	if live.name != *guess {
		return question(ctx, live)
	}
	return out, qerr
}

func (v *serving) Search(ctx context.Context, q sparse.Query) ([]memtypes.Scored, error) {
	return read(ctx, v, "elastic.Search", func(ctx context.Context, x *Index) ([]memtypes.Scored, error) { return x.Search(ctx, q) })
}

func (v *serving) DocFreq(ctx context.Context, tenant string, f sparse.Field, tokens []string) ([]int, error) {
	return read(ctx, v, "elastic.DocFreq", func(ctx context.Context, x *Index) ([]int, error) { return x.DocFreq(ctx, tenant, f, tokens) })
}

func (v *serving) Statistics(ctx context.Context, tenant string, f sparse.Field, tokens []string) (sparse.Stats, error) {
	return read(ctx, v, "elastic.Statistics", func(ctx context.Context, x *Index) (sparse.Stats, error) {
		return x.Statistics(ctx, tenant, f, tokens)
	})
}

// Highlight is that of the live generation, see [Index.Highlight].
func (v *serving) Highlight(ctx context.Context, q sparse.Query, ids []memtypes.ID) (map[memtypes.ID][]string, error) {
	return read(ctx, v, "elastic.Highlight", func(ctx context.Context, x *Index) (map[memtypes.ID][]string, error) {
		return x.Highlight(ctx, q, ids)
	})
}

func (v *serving) Len(ctx context.Context) (int, error) {
	return read(ctx, v, "elastic.Len", func(ctx context.Context, x *Index) (int, error) { return x.Len(ctx) })
}

func (v *serving) Upsert(ctx context.Context, docs []sparse.Doc) error {
	x, err := v.resolve(ctx, "elastic.Upsert")
	if err != nil {
		return err
	}
	return x.Upsert(ctx, docs)
}

func (v *serving) Delete(ctx context.Context, gone []memtypes.Gone) error {
	x, err := v.resolve(ctx, "elastic.Delete")
	if err != nil {
		return err
	}
	return x.Delete(ctx, gone)
}

func (v *serving) Revs(ctx context.Context) iter.Seq2[sparse.Held, error] {
	return func(yield func(sparse.Held, error) bool) {
		x, err := v.resolve(ctx, "elastic.Revs")
		if err != nil {
			yield(sparse.Held{}, err)
			return
		}
		x.Revs(ctx)(yield)
	}
}

func (v *serving) Close() error {
	v.closed.Store(true)
	return nil
}
