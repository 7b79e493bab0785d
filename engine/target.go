package engine

import (
	"context"
	"iter"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/sparse"
)

// target is an index of a service that is brought up to date: the same for
// vectors and words.
type target interface {
	// upsert projects ps as they were after cause and writes the docs. refused
	// are the memories that have no projection, whose docs are written without.
	upsert(ctx context.Context, ps []projection, cause uint64) (write func(context.Context) error, refused refusals, err error)
	remove(ctx context.Context, gone []memtypes.Gone) error
	held(ctx context.Context) iter.Seq2[held, error]
	len(ctx context.Context) (int, error)
	// bare is the index itself, to ask for its optional powers.
	bare() any
}

type sparseTarget struct {
	engine *Engine
	index  sparse.Index
}

func (t *sparseTarget) upsert(_ context.Context, ps []projection, cause uint64) (func(context.Context) error, refusals, error) {
	docs := t.engine.sparseDocs(ps, cause)
	return func(ctx context.Context) error { return t.index.Upsert(ctx, docs) }, nil, nil
}

func (t *sparseTarget) remove(ctx context.Context, gone []memtypes.Gone) error {
	return t.index.Delete(ctx, gone)
}

func (t *sparseTarget) held(ctx context.Context) iter.Seq2[held, error] {
	return sparseHeld(ctx, t.index)
}

func (t *sparseTarget) len(ctx context.Context) (int, error) { return t.index.Len(ctx) }

func (t *sparseTarget) bare() any { return t.index }

type denseTarget struct {
	engine *Engine
	index  dense.Index
}

func (t *denseTarget) upsert(ctx context.Context, ps []projection, cause uint64) (func(context.Context) error, refusals, error) {
	docs, refused, err := t.engine.denseDocs(ctx, ps, cause)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context) error { return t.index.Upsert(ctx, docs) }, refused, nil
}

func (t *denseTarget) remove(ctx context.Context, gone []memtypes.Gone) error {
	return t.index.Delete(ctx, gone)
}

func (t *denseTarget) held(ctx context.Context) iter.Seq2[held, error] {
	return denseHeld(ctx, t.index)
}

func (t *denseTarget) len(ctx context.Context) (int, error) { return t.index.Len(ctx) }

func (t *denseTarget) bare() any { return t.index }

// heldBy lists what t holds, each time anew.
func heldBy(ctx context.Context, t target) func() iter.Seq2[held, error] {
	return func() iter.Seq2[held, error] { return t.held(ctx) }
}
