package elastic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// Index is one generation. Besides what package sparse asks, it can
// [Index.Highlight], [Index.Sweep] and [Index.Expunge].
type Index struct {
	store  *Store
	name   string
	closed atomic.Bool
}

var (
	_ sparse.Index       = (*Index)(nil)
	_ sparse.Frequencies = (*Index)(nil)
	_ sparse.Statistics  = (*Index)(nil)
)

func (s *Store) index(name string) *Index { return &Index{store: s, name: name} }

// Close implements sparse.Index. The Store stays open.
func (x *Index) Close() error {
	x.closed.Store(true)
	return nil
}

// begin refuses what cannot be done now.
func (x *Index) begin(ctx context.Context, op string) error {
	if ctx.Err() != nil {
		return canceled(ctx, op)
	}
	if x.closed.Load() || x.store.closed.Load() {
		return errClosed(op)
	}
	return nil
}

// of is the index of a tenant.
func (x *Index) of(tenant string) string { return x.all()[0] + "." + x.store.part(tenant) }

// all is the list and the indices of all tenants. The list is named, not
// matched: a generation that is gone is an error, not an empty one.
func (x *Index) all() []string {
	list := x.store.list(x.name)
	return []string{list, list + ".*"}
}

// held matches the memories, in all indices: tombstones say that they are gone,
// and the entries of the list have no revision.
var held = obj{"bool": obj{
	"filter":   []any{obj{"exists": obj{"field": "rev"}}},
	"must_not": []any{obj{"term": obj{"gone": true}}},
}}

// Len implements sparse.Index.
func (x *Index) Len(ctx context.Context) (int, error) {
	const op = "elastic.Len"
	if err := x.begin(ctx, op); err != nil {
		return 0, err
	}
	if err := x.settle(ctx, op); err != nil {
		return 0, err
	}
	var answer struct {
		Count  int
		Shards shards `json:"_shards"`
	}
	err := x.overAll(ctx, ask{op: op, index: x.store.list(x.name), make: func() esapi.Request {
		return esapi.CountRequest{Index: x.all(), Body: body(obj{"query": held})}
	}}, &answer, &answer.Shards)
	return answer.Count, err
}

// overAll sends a, which goes to all indices. Where one of them does not answer,
// perhaps because it is being made, it waits for that, and asks once more. n is
// where the answer says how many shards there were.
func (x *Index) overAll(ctx context.Context, a ask, into any, n *shards) error {
	once := func() error {
		if err := x.store.call(ctx, a, into); err != nil {
			return err
		}
		return x.store.whole(a, *n)
	}
	err := once()
	if !starting(err) {
		return err
	}
	if err := x.store.started(ctx, a.op, x.all()...); err != nil {
		return err
	}
	return once()
}

// shards says how many of those asked have answered.
type shards struct{ Total, Failed int }

// part is an answer of only some of the shards.
type part struct{ shards }

func (p *part) Error() string {
	return fmt.Sprintf("%d of %d shards did not answer: see its cluster health", p.Failed, p.Total)
}

// starting reports whether err may come from an index that is being made.
func starting(err error) bool {
	_, some := errors.AsType[*part](err)
	return some || isStatus(err, http.StatusServiceUnavailable)
}

// whole refuses an answer of only a part of the shards.
func (s *Store) whole(a ask, n shards) error {
	if n.Failed == 0 {
		return nil
	}
	return memtypes.Errorf(a.op, memtypes.Unavailable, "%s, index %s: %w", s.where(), a.index, &part{n})
}

// settle makes all writes found that were acknowledged, where they did not wait
// for that themselves.
func (x *Index) settle(ctx context.Context, op string) error {
	if x.store.opt.Refresh != Later {
		return nil
	}
	return x.store.call(ctx, ask{op: op, index: x.store.list(x.name), slow: true, make: func() esapi.Request {
		return esapi.IndicesRefreshRequest{Index: x.all()}
	}}, nil)
}
