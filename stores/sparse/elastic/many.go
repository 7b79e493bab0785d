package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// manyAtOnce bounds the searches of one request.
const manyAtOnce = 128

// SearchMany implements sparse.Many: many searches in few requests.
func (x *Index) SearchMany(ctx context.Context, qs []sparse.Query) ([][]memtypes.Scored, error) {
	out := make([][]memtypes.Scored, len(qs))
	var places []int
	for i := range qs {
		if err := x.askable(ctx, "elastic.SearchMany", &qs[i]); err != nil {
			return nil, err
		}
		if !findsNothing(&qs[i]) {
			places = append(places, i)
		}
	}
	for some := range slices.Chunk(places, manyAtOnce) {
		part := make([]sparse.Query, len(some))
		for j, i := range some {
			part[j] = qs[i]
		}
		found, err := x.searchSome(ctx, part)
		if err != nil {
			return nil, err
		}
		for j, i := range some {
			out[i] = found[j]
		}
	}
	return out, nil
}

// reply is the answer to one of several searches.
type reply struct {
	answer
	Status int `json:"status"`
}

func (x *Index) searchSome(ctx context.Context, qs []sparse.Query) ([][]memtypes.Scored, error) {
	const op = "elastic.SearchMany"
	var lines bytes.Buffer
	write := json.NewEncoder(&lines) // which ends each line
	for i := range qs {
		tenant := qs[i].Filter.Scope.Tenant()
		head := obj{"index": x.of(tenant), "preference": hashed(tenant), "allow_partial_search_results": false}
		if route := x.store.routing(tenant); route != "" {
			head["routing"] = route
		}
		if x.store.opt.Shards > 1 {
			head["search_type"] = "dfs_query_then_fetch"
		}
		for _, v := range []obj{head, x.question(&qs[i])} {
			if err := write.Encode(v); err != nil {
				return nil, memtypes.Errorf(op, memtypes.Internal, "%w", err)
			}
		}
	}
	var found struct{ Responses []reply }
	err := x.store.call(ctx, ask{op: op, index: x.store.list(x.name), make: func() esapi.Request {
		return esapi.MsearchRequest{Body: bytes.NewReader(lines.Bytes()), FilterPath: []string{"responses.status", "responses.hits.hits._score", "responses.hits.hits.sort"}}
	}}, &found)
	if err != nil {
		return nil, err
	}
	if len(found.Responses) != len(qs) {
		return nil, memtypes.Errorf(op, memtypes.Unavailable, "%s: found %d answers, wanted %d", x.store.where(), len(found.Responses), len(qs))
	}
	out := make([][]memtypes.Scored, len(qs))
	for i, r := range found.Responses {
		if r.Status != 200 || unsorted(r.Hits.Hits) { // one of its own says why, and knows a tenant that has no index yet
			if out[i], err = x.Search(ctx, qs[i]); err != nil {
				return nil, err
			}
			continue
		}
		out[i] = scored(r.Hits.Hits)
	}
	return out, nil
}

// SearchMany is that of the live generation.
func (v *serving) SearchMany(ctx context.Context, qs []sparse.Query) ([][]memtypes.Scored, error) {
	return read(ctx, v, "elastic.SearchMany", func(ctx context.Context, x *Index) ([][]memtypes.Scored, error) { return x.SearchMany(ctx, qs) })
}
