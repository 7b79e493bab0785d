package elastic

import (
	"context"
	"math"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// Sweep removes the tombstones of revisions below before, and gives their
// number: those for which no late write can come any more. Call [Index.Expunge]
// now and then to free their place. After an error, what is left is there the
// next time.
func (x *Index) Sweep(ctx context.Context, before uint64) (int, error) {
	const op = "elastic.Sweep"
	query := obj{"bool": obj{"filter": []any{term("gone", true), obj{"range": obj{"rev": obj{"lt": min(before, math.MaxInt64)}}}}}}
	n := 0
	var failed error
	err := x.pages(ctx, op, query, func(hits []hit) bool {
		old := make([]write, 0, len(hits))
		for i := range hits {
			if h, ok := hits[i].held(); ok {
				old = append(old, write{id: h.ID, tenant: h.Tenant, version: h.Rev})
			}
		}
		if failed = x.write(ctx, op, old); failed == nil {
			n += len(old)
		}
		return failed == nil
	})
	if failed != nil {
		err = failed
	}
	return n, err
}

// Expunge writes the indices anew without replaced and deleted documents, which
// makes the statistics of searches exact and removes what was forgotten from
// the disks. Those younger than half a minute may stay until the next time:
// Elasticsearch keeps them for copies that come back.
func (x *Index) Expunge(ctx context.Context) error {
	const op = "elastic.Expunge"
	if err := x.begin(ctx, op); err != nil {
		return err
	}
	for _, make := range []func() esapi.Request{
		func() esapi.Request { return esapi.IndicesFlushRequest{Index: x.all()} },
		func() esapi.Request {
			return esapi.IndicesForcemergeRequest{Index: x.all(), OnlyExpungeDeletes: &yes}
		},
		func() esapi.Request { return esapi.IndicesRefreshRequest{Index: x.all()} },
	} {
		if err := x.store.call(ctx, ask{op: op, index: x.store.list(x.name), slow: true, make: make}, nil); err != nil {
			return err
		}
	}
	return nil
}
