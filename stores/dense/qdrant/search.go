package qdrant

import (
	"cmp"
	"context"
	"slices"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

const (
	// spare is how many hits more than K are asked for, to see whether more
	// tie at the cut than were sent.
	spare = 8
	// maxTies is how many more are asked for at most.
	maxTies = 4096
	// largeK is from where a search first asks how much there is to find.
	largeK = 10_000
)

// Search implements dense.Index. In space Context it asks for those with a
// context vector and for those without in one request, and puts both in order.
// Of hits that tie at the cut the server sends any; more are asked for until
// those with the lowest IDs are certain, as the port has it.
func (x *Index) Search(ctx context.Context, q dense.Query) ([]memtypes.Scored, error) {
	const op = "qdrant.Search"
	if err := dense.CheckQuery(op, &q, x.s.opt.Dim); err != nil {
		return nil, err
	}
	hits, err := x.search(ctx, op, &q)
	if x.generation == "" && answered(err, codes.NotFound) {
		// The generation was dropped since it was asked for: another is live.
		hits, err = x.search(ctx, op, &q)
	}
	if x.closed.Load() {
		return nil, errClosed(op)
	}
	return hits, err
}

func (x *Index) search(ctx context.Context, op string, q *dense.Query) ([]memtypes.Scored, error) {
	base, err := x.begin(ctx, op)
	if err != nil {
		return nil, err
	}
	f, some := admitting(&q.Filter)
	if !some {
		return nil, nil
	}
	p := search{s: x.s, op: op, collection: x.s.home(base, q.Filter.Scope.Tenant()), q: q, filter: f}
	hits, err := p.run(ctx)
	if err != nil && x.s.absent(err, p.collection, base) {
		return nil, x.without(ctx, op, base)
	}
	return hits, err
}

// without says whether that a tenant has no collection means that it has no
// memories: not if the generation is gone, or on its way out, tenant by tenant.
func (x *Index) without(ctx context.Context, op, base string) error {
	if _, err := x.s.info(ctx, op, base); err != nil || x.generation != "" {
		return err
	}
	now, err := x.s.live(ctx, op)
	if err == nil && now != base {
		err = &memtypes.Error{Op: op, Code: memtypes.Unavailable, Err: &refusal{codes.NotFound, "collection " + base + " is no longer live"}}
	}
	return err
}

// search is one Search on its way.
type search struct {
	s          *Store
	op         string
	collection string
	q          *dense.Query
	filter     *qc.Filter
}

func (p *search) run(ctx context.Context) ([]memtypes.Scored, error) {
	k := p.q.K
	if k > largeK {
		n, err := p.s.count(ctx, p.op, p.collection, p.filter)
		if err != nil || n == 0 {
			return nil, err
		}
		k = min(k, n)
	}
	for more := spare; ; more = min(more*8, maxTies) {
		lists, err := p.ask(ctx, k+more)
		if err != nil {
			return nil, err
		}
		hits := merged(lists)
		if len(hits) <= k {
			return hits, nil
		}
		if more == maxTies || settled(lists, k+more, hits[k-1].Score) {
			return hits[:k], nil
		}
	}
}

// settled reports whether nothing that was not sent, of lists of at most n,
// can have a score of at least floor.
func settled(lists [][]*qc.ScoredPoint, n int, floor float64) bool {
	for _, l := range lists {
		if len(l) >= n && score(l[len(l)-1].GetScore()) >= floor {
			return false
		}
	}
	return true
}

// merged is all hits in the port's order, each memory once.
func merged(lists [][]*qc.ScoredPoint) []memtypes.Scored {
	var hits []memtypes.Scored
	seen := map[string]bool{}
	for _, l := range lists {
		for _, p := range l {
			// A memory that changes between the two parts of a request may be in both.
			if id := p.GetId().GetUuid(); !seen[id] {
				seen[id] = true
				hits = append(hits, memtypes.Scored{ID: memtypes.ID(id), Score: score(p.GetScore())})
			}
		}
	}
	slices.SortFunc(hits, func(a, b memtypes.Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	return hits
}

// ask gives the n nearest in each vector that the space is made of.
func (p *search) ask(ctx context.Context, n int) ([][]*qc.ScoredPoint, error) {
	parts := []*qc.QueryPoints{p.part(dense.Text, p.filter, n)}
	if p.q.Space == dense.Context {
		alone := &qc.Filter{Must: p.filter.Must, MustNot: append(slices.Clone(p.filter.MustNot), qc.NewHasVector(string(dense.Context)))}
		parts = []*qc.QueryPoints{p.part(dense.Context, p.filter, n), p.part(dense.Text, alone, n)}
	}
	var reply *qc.QueryBatchResponse
	err := p.s.call(ctx, p.op, p.collection, p.s.opt.Timeout, func(ctx context.Context) (err error) {
		reply, err = p.s.client.GetPointsClient().QueryBatch(ctx, &qc.QueryBatchPoints{CollectionName: p.collection, QueryPoints: parts})
		return err
	})
	if err != nil {
		return nil, p.misfit(ctx, err)
	}
	var out [][]*qc.ScoredPoint
	for _, r := range reply.GetResult() {
		out = append(out, r.GetResult())
	}
	return out, nil
}

func (p *search) part(space dense.Space, f *qc.Filter, n int) *qc.QueryPoints {
	return &qc.QueryPoints{
		CollectionName: p.collection, Using: new(string(space)), Query: qc.NewQueryDense(p.q.Vector),
		Filter: f, Limit: new(uint64(n)), Params: p.s.params(n),
		WithPayload: qc.NewWithPayload(false), WithVectors: qc.NewWithVectors(false),
	}
}

// params says how a search looks for n.
func (s *Store) params(n int) *qc.SearchParams {
	if s.opt.Exact {
		return &qc.SearchParams{Exact: new(true), Quantization: &qc.QuantizationSearchParams{Ignore: new(true)}}
	}
	p := &qc.SearchParams{HnswEf: new(uint64(max(s.opt.HNSW.Ef, n)))}
	if s.opt.Quantization != Full {
		p.Quantization = &qc.QuantizationSearchParams{Rescore: new(true), Oversampling: new(s.opt.Oversampling)}
	}
	return p
}

// misfit looks for the cause of a question that the server does not understand
// in the settings of the collection, which somebody may have changed.
func (p *search) misfit(ctx context.Context, err error) error {
	if !answered(err, codes.InvalidArgument) {
		return err
	}
	p.s.know(p.collection, false)
	info, ierr := p.s.info(ctx, p.op, p.collection)
	if ierr != nil {
		return ierr
	}
	if ferr := p.s.fits(p.op, p.collection, info); ferr != nil {
		return ferr
	}
	// What was asked has been checked: this is the server's own rule.
	return memtypes.Errorf(p.op, memtypes.Unavailable, "the question is refused: %w: see its strict mode", err)
}
