package elastic

import (
	"context"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// tokensAtOnce is how many tokens one request counts.
const tokensAtOnce = 1024

// counted is the answer to a request that counts.
type counted struct {
	Shards shards `json:"_shards"`
	Aggs   struct {
		DF struct {
			Buckets []struct {
				Docs int `json:"doc_count"`
			}
		}
		Docs   struct{ Value float64 }
		Tokens struct{ Value float64 }
	} `json:"aggregations"`
}

// DocFreq implements sparse.Frequencies, exactly: replaced and deleted documents
// do not count.
func (x *Index) DocFreq(ctx context.Context, tenant string, f sparse.Field, tokens []string) ([]int, error) {
	counts, _, err := x.count(ctx, "elastic.DocFreq", tenant, f, tokens, x.store.opt.Tenancy == Shared)
	return counts, err
}

// Statistics implements sparse.Statistics, exactly, as DocFreq. With Shared
// tenancy they are those of all tenants, by which searches score there.
func (x *Index) Statistics(ctx context.Context, tenant string, f sparse.Field, tokens []string) (sparse.Stats, error) {
	counts, stats, err := x.count(ctx, "elastic.Statistics", tenant, f, tokens, false)
	if err != nil {
		return sparse.Stats{}, err
	}
	stats.DocFreq = make(map[string]int, len(tokens))
	for i, t := range tokens {
		if counts[i] > 0 {
			stats.DocFreq[t] = counts[i]
		}
	}
	return stats, nil
}

// count counts tokens in a field of the index of a tenant: by the tenant's own
// memories, where only is set, or by all in that index.
func (x *Index) count(ctx context.Context, op, tenant string, f sparse.Field, tokens []string, only bool) ([]int, sparse.Stats, error) {
	var stats sparse.Stats
	if !slices.Contains(sparse.Fields(), f) {
		return nil, stats, memtypes.BadField(op, "field", string(f), "text, turn or window")
	}
	if err := x.begin(ctx, op); err != nil {
		return nil, stats, err
	}
	counts := make([]int, 0, len(tokens))
	for first := true; first || len(counts) < len(tokens); first = false {
		some := tokens[len(counts):min(len(counts)+tokensAtOnce, len(tokens))]
		found, err := x.countSome(ctx, op, tenant, f, some, only)
		if err != nil {
			return nil, stats, err
		}
		if found == nil { // no such tenant yet
			return make([]int, len(tokens)), stats, nil
		}
		stats.Docs, stats.Tokens = int(found.Aggs.Docs.Value), int(found.Aggs.Tokens.Value)
		for _, b := range found.Aggs.DF.Buckets {
			counts = append(counts, b.Docs)
		}
	}
	return counts, stats, nil
}

func (x *Index) countSome(ctx context.Context, op, tenant string, f sparse.Field, tokens []string, only bool) (*counted, error) {
	aggs := obj{
		"docs":   obj{"value_count": obj{"field": lengthOf(f)}},
		"tokens": obj{"sum": obj{"field": lengthOf(f)}},
	}
	if len(tokens) > 0 {
		filters := make([]any, len(tokens))
		for i, t := range tokens {
			filters[i] = term(string(f), written(t))
		}
		aggs["df"] = obj{"filters": obj{"filters": filters}}
	}
	what := obj{"size": 0, "track_total_hits": false, "aggs": aggs}
	if only {
		what["query"] = term("tenant", tenant)
	}
	var found counted
	a := ask{op: op, index: x.of(tenant), make: func() esapi.Request {
		r := esapi.SearchRequest{Index: []string{x.of(tenant)}, Body: body(what), AllowPartialSearchResults: &no, Preference: hashed(tenant)}
		if route := x.store.routing(tenant); only {
			r.Routing = []string{route}
		}
		return r
	}}
	if there, err := x.inTenant(ctx, a, tenant, &found, &found.Shards); !there {
		return nil, err
	}
	if len(found.Aggs.DF.Buckets) != len(tokens) {
		return nil, memtypes.Errorf(op, memtypes.Unavailable, "%s, index %s: found counts of %d tokens, wanted %d", x.store.where(), a.index, len(found.Aggs.DF.Buckets), len(tokens))
	}
	return &found, nil
}
