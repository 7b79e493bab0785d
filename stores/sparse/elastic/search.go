package elastic

import (
	"context"
	"fmt"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// answer is what a search gives.
type answer struct {
	PIT    string `json:"pit_id"`
	Shards shards `json:"_shards"`
	Hits   struct{ Hits []hit }
}

type hit struct {
	Score   float64 `json:"_score"`
	Sort    []any
	Matched []string `json:"matched_queries"`
	Fields  struct {
		ID     []memtypes.ID
		Tenant []string
		Rev    []uint64
	}
}

// scale takes out what Elasticsearch multiplies by.
const scale = sparse.K1 + 1

// Search implements sparse.Index. What Query.Check refuses, Stats, and K above
// Options.MaxK is Invalid.
func (x *Index) Search(ctx context.Context, q sparse.Query) ([]memtypes.Scored, error) {
	const op = "elastic.Search"
	if err := x.askable(ctx, op, &q); err != nil {
		return nil, err
	}
	if findsNothing(&q) {
		return nil, nil
	}
	hits, err := x.search(ctx, op, q.Filter.Scope.Tenant(), x.question(&q), "hits.hits._score", "hits.hits.sort")
	if err != nil {
		return nil, err
	}
	return scored(hits), nil
}

// askable refuses a query that cannot be asked.
func (x *Index) askable(ctx context.Context, op string, q *sparse.Query) error {
	if err := q.Check(op); err != nil {
		return err
	}
	if q.Stats != nil {
		return memtypes.BadField(op, "stats", memtypes.Remark("statistics"), "none: Elasticsearch scores by those of its index")
	}
	if q.K > x.store.opt.MaxK {
		return memtypes.BadField(op, "k", q.K, fmt.Sprintf("at most %d", x.store.opt.MaxK))
	}
	return x.begin(ctx, op)
}

// findsNothing reports whether q need not be asked.
func findsNothing(q *sparse.Query) bool {
	return len(q.Terms) == 0 || q.Filter.IDs != nil && len(q.Filter.IDs) == 0
}

// question is the body of a search for q.
func (x *Index) question(q *sparse.Query) obj {
	ask := obj{
		"size": q.K, "_source": false, "track_total_hits": false, "query": x.query(q, false),
		"sort": []any{obj{"_score": "desc"}, obj{"id": "asc"}},
	}
	if q.BySession {
		ask["collapse"] = obj{"field": "group"}
	}
	return ask
}

// unsorted reports whether a hit lacks what it was sorted by.
func unsorted(hits []hit) bool {
	return slices.ContainsFunc(hits, func(h hit) bool { return len(h.Sort) == 0 })
}

// scored are the memories of hits, in their order.
func scored(hits []hit) []memtypes.Scored {
	out := make([]memtypes.Scored, 0, len(hits))
	for _, h := range hits {
		if id, _ := h.Sort[len(h.Sort)-1].(string); h.Score > 0 {
			out = append(out, memtypes.Scored{ID: memtypes.ID(id), Score: h.Score / scale})
		}
	}
	return out
}

// search asks the index of a tenant; a tenant that has none yet has no memories.
func (x *Index) search(ctx context.Context, op, tenant string, what obj, fields ...string) ([]hit, error) {
	var found answer
	a := ask{op: op, index: x.of(tenant), make: func() esapi.Request {
		return x.request(tenant, what, append(fields, "_shards.total", "_shards.failed"))
	}}
	if there, err := x.inTenant(ctx, a, tenant, &found, &found.Shards); !there {
		return nil, err
	}
	if unsorted(found.Hits.Hits) {
		return nil, memtypes.Errorf(op, memtypes.Unavailable, "%s, index %s: found hits without what they were sorted by", x.store.where(), a.index)
	}
	return found.Hits.Hits, nil
}

// request is a search in the index of a tenant. With several shards, the first
// of two rounds gathers the statistics of all.
func (x *Index) request(tenant string, what obj, fields []string) esapi.Request {
	r := esapi.SearchRequest{
		Index: []string{x.of(tenant)}, Body: body(what), AllowPartialSearchResults: &no, FilterPath: fields,
		Preference: hashed(tenant), // of the copies of a shard, always the same
	}
	if route := x.store.routing(tenant); route != "" {
		r.Routing = []string{route}
	}
	if x.store.opt.Shards > 1 {
		r.SearchType = "dfs_query_then_fetch"
	}
	return r
}

// Highlight gives, of those ids that q admits, which tokens of q the memory's
// field holds, stand-ins among them, sorted. It scores and orders nothing.
func (x *Index) Highlight(ctx context.Context, q sparse.Query, ids []memtypes.ID) (map[memtypes.ID][]string, error) {
	const op = "elastic.Highlight"
	q.K = max(q.K, 1)
	if err := q.Check(op); err != nil {
		return nil, err
	}
	if err := x.begin(ctx, op); err != nil {
		return nil, err
	}
	out := map[memtypes.ID][]string{}
	if len(q.Terms) == 0 {
		return out, nil
	}
	for some := range slices.Chunk(ids, min(x.store.opt.MaxK, 1000)) {
		query := obj{"bool": obj{"must": []any{x.query(&q, true)}, "filter": []any{terms("id", some)}}}
		hits, err := x.search(ctx, op, q.Filter.Scope.Tenant(), obj{
			"size": len(some), "_source": false, "track_total_hits": false, "query": query, "sort": []any{obj{"id": "asc"}},
		}, "hits.hits.sort", "hits.hits.matched_queries")
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			id, _ := h.Sort[0].(string)
			slices.Sort(h.Matched)
			out[memtypes.ID(id)] = slices.Compact(h.Matched)
		}
	}
	return out, nil
}
