package faults

import (
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/sparse"
)

// handle is a generation as somebody has opened it; of no name: the live one.
type handle struct {
	name   string
	closed atomic.Bool
}

// Close ends the use of the index by whoever opened it.
func (h *handle) Close() error {
	h.closed.Store(true)
	return nil
}

// enter is what happens to a call before it is served.
func (h *handle) enter(ctx context.Context, op string, s *Switches) error {
	if h.closed.Load() {
		return memtypes.Errorf(op, memtypes.Unavailable, "the index is closed")
	}
	return s.pass(ctx, op)
}

// Dense is a service that holds vectors.
type Dense struct{ *store[dense.Doc, *dense.Flat] }

var _ dense.Generations = Dense{}

// NewDense makes an empty one, for vectors of dim numbers.
func NewDense(dim int) Dense {
	return Dense{&store[dense.Doc, *dense.Flat]{gens: map[string]*generation[dense.Doc, *dense.Flat]{}, kind: kind[dense.Doc, *dense.Flat]{
		name:  "dense",
		fresh: func() (*dense.Flat, error) { return dense.Open(dim, nil) },
		label: func(d *dense.Doc) label { return label{d.ID, d.Rev, d.Facets.Scope.Tenant(), max(d.Rev, d.Cause)} },
		upsert: func(ctx context.Context, ix *dense.Flat, docs []dense.Doc) error {
			docs = slices.Clone(docs)
			for i := range docs { // it looks at Rev only
				docs[i].Rev = max(docs[i].Rev, docs[i].Cause)
			}
			return ix.Upsert(ctx, docs)
		},
		remove: func(ctx context.Context, ix *dense.Flat, gone []memtypes.Gone) error { return ix.Delete(ctx, gone) },
	}}}
}

// Serving implements dense.Generations.
func (s Dense) Serving() dense.Index { return denseIndex{s, &handle{}} }

// Open implements dense.Generations.
func (s Dense) Open(ctx context.Context, name string) (dense.Index, error) {
	return denseIndex{s, &handle{name: name}}, s.generate(ctx, name)
}

// denseIndex is one generation.
type denseIndex struct {
	s Dense
	*handle
}

func (x denseIndex) Upsert(ctx context.Context, docs []dense.Doc) error {
	return x.s.upsert(ctx, "faults.Upsert", x.handle, docs)
}

func (x denseIndex) Delete(ctx context.Context, gone []memtypes.Gone) error {
	return x.s.remove(ctx, "faults.Delete", x.handle, gone)
}

func (x denseIndex) Search(ctx context.Context, q dense.Query) ([]memtypes.Scored, error) {
	const op = "faults.Search"
	if err := x.enter(ctx, op, &x.s.Switches); err != nil {
		return nil, err
	}
	g, err := x.s.of(op, x.name)
	if err != nil {
		return nil, err
	}
	return g.index.Search(ctx, q)
}

func (x denseIndex) Revs(ctx context.Context) iter.Seq2[dense.Held, error] {
	return func(yield func(dense.Held, error) bool) {
		labels, err := x.s.held(ctx, "faults.Revs", x.handle)
		if err != nil {
			yield(dense.Held{}, err)
			return
		}
		for _, l := range labels {
			if !yield(dense.Held{ID: l.id, Rev: l.rev, Tenant: l.tenant}, nil) {
				return
			}
		}
	}
}

func (x denseIndex) Len(ctx context.Context) (int, error) {
	labels, err := x.s.held(ctx, "faults.Len", x.handle)
	return len(labels), err
}

// Sparse is a service that holds words.
type Sparse struct {
	*store[sparse.Doc, *sparse.Inverted]
}

var _ sparse.Generations = Sparse{}

// NewSparse makes an empty one.
func NewSparse() Sparse {
	return Sparse{&store[sparse.Doc, *sparse.Inverted]{gens: map[string]*generation[sparse.Doc, *sparse.Inverted]{}, kind: kind[sparse.Doc, *sparse.Inverted]{
		name:  "sparse",
		fresh: func() (*sparse.Inverted, error) { return sparse.Open(nil) },
		label: func(d *sparse.Doc) label { return label{d.ID, d.Rev, d.Facets.Scope.Tenant(), max(d.Rev, d.Cause)} },
		upsert: func(ctx context.Context, ix *sparse.Inverted, docs []sparse.Doc) error {
			docs = slices.Clone(docs)
			for i := range docs {
				docs[i].Rev = max(docs[i].Rev, docs[i].Cause)
			}
			return ix.Upsert(ctx, docs)
		},
		remove: func(ctx context.Context, ix *sparse.Inverted, gone []memtypes.Gone) error {
			return ix.Delete(ctx, gone)
		},
	}}}
}

// Serving implements sparse.Generations.
func (s Sparse) Serving() sparse.Index { return sparseIndex{s, &handle{}} }

// Open implements sparse.Generations.
func (s Sparse) Open(ctx context.Context, name string) (sparse.Index, error) {
	return sparseIndex{s, &handle{name: name}}, s.generate(ctx, name)
}

// sparseIndex is one generation.
type sparseIndex struct {
	s Sparse
	*handle
}

var (
	_ sparse.Frequencies = sparseIndex{}
	_ sparse.Statistics  = sparseIndex{}
)

func (x sparseIndex) Upsert(ctx context.Context, docs []sparse.Doc) error {
	return x.s.upsert(ctx, "faults.Upsert", x.handle, docs)
}

func (x sparseIndex) Delete(ctx context.Context, gone []memtypes.Gone) error {
	return x.s.remove(ctx, "faults.Delete", x.handle, gone)
}

// inverted is the index to ask, if the service answers.
func (x sparseIndex) inverted(ctx context.Context, op string) (*sparse.Inverted, error) {
	if err := x.enter(ctx, op, &x.s.Switches); err != nil {
		return nil, err
	}
	g, err := x.s.of(op, x.name)
	if err != nil {
		return nil, err
	}
	return g.index, nil
}

func (x sparseIndex) Search(ctx context.Context, q sparse.Query) ([]memtypes.Scored, error) {
	ix, err := x.inverted(ctx, "faults.Search")
	if err != nil {
		return nil, err
	}
	return ix.Search(ctx, q)
}

func (x sparseIndex) DocFreq(ctx context.Context, tenant string, f sparse.Field, tokens []string) ([]int, error) {
	ix, err := x.inverted(ctx, "faults.DocFreq")
	if err != nil {
		return nil, err
	}
	return ix.DocFreq(ctx, tenant, f, tokens)
}

func (x sparseIndex) Statistics(ctx context.Context, tenant string, f sparse.Field, tokens []string) (sparse.Stats, error) {
	ix, err := x.inverted(ctx, "faults.Statistics")
	if err != nil {
		return sparse.Stats{}, err
	}
	return ix.Statistics(ctx, tenant, f, tokens)
}

func (x sparseIndex) Revs(ctx context.Context) iter.Seq2[sparse.Held, error] {
	return func(yield func(sparse.Held, error) bool) {
		labels, err := x.s.held(ctx, "faults.Revs", x.handle)
		if err != nil {
			yield(sparse.Held{}, err)
			return
		}
		for _, l := range labels {
			if !yield(sparse.Held{ID: l.id, Rev: l.rev, Tenant: l.tenant}, nil) {
				return
			}
		}
	}
}

func (x sparseIndex) Len(ctx context.Context) (int, error) {
	labels, err := x.s.held(ctx, "faults.Len", x.handle)
	return len(labels), err
}
