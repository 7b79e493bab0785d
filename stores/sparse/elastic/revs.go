package elastic

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/stores/sparse"
)

// page is how many documents a listing takes at a time.
const page = 2000

// Revs implements sparse.Index. It lists what was held when the listing began.
func (x *Index) Revs(ctx context.Context) iter.Seq2[sparse.Held, error] {
	return x.list(ctx, "elastic.Revs", held)
}

// list gives what matches query in all indices, from a picture taken at the
// start.
func (x *Index) list(ctx context.Context, op string, query obj) iter.Seq2[sparse.Held, error] {
	return func(yield func(sparse.Held, error) bool) {
		if err := x.pages(ctx, op, query, func(hits []hit) bool {
			for i := range hits {
				if h, ok := hits[i].held(); ok && !yield(h, nil) {
					return false
				}
			}
			return true
		}); err != nil {
			yield(sparse.Held{}, err)
		}
	}
}

// held is what a listing says of a memory; false for what is not one of ours.
func (h *hit) held() (sparse.Held, bool) {
	f := &h.Fields
	if len(f.ID) != 1 || len(f.Tenant) != 1 || len(f.Rev) != 1 {
		return sparse.Held{}, false
	}
	return sparse.Held{ID: f.ID[0], Rev: f.Rev[0], Tenant: f.Tenant[0]}, true
}

// pages gives what matches query page by page, until take says enough.
func (x *Index) pages(ctx context.Context, op string, query obj, take func([]hit) bool) error {
	if err := x.begin(ctx, op); err != nil {
		return err
	}
	if err := x.settle(ctx, op); err != nil {
		return err
	}
	s := x.store
	var picture struct {
		ID     string
		Shards shards `json:"_shards"`
	}
	err := x.overAll(ctx, ask{op: op, index: s.list(x.name), make: func() esapi.Request {
		return esapi.OpenPointInTimeRequest{Index: x.all(), KeepAlive: "5m", AllowPartialSearchResults: &no}
	}}, &picture, &picture.Shards)
	if err != nil {
		return err
	}
	pit := picture.ID
	defer func() { x.closePicture(ctx, op, pit) }()
	what := obj{
		"size": min(page, s.opt.MaxK), "_source": false, "track_total_hits": false, "query": query, "sort": []string{"_shard_doc"},
		"docvalue_fields": []string{"id", "tenant", "rev"},
	}
	for {
		if err := x.begin(ctx, op); err != nil {
			return err
		}
		what["pit"] = obj{"id": pit, "keep_alive": "5m"}
		var found struct {
			answer
			Hits struct {
				Hits []struct {
					hit
					Sort json.RawMessage // numbers of 64 bits
				}
			}
		}
		next := ask{op: op, index: s.list(x.name), make: func() esapi.Request {
			return esapi.SearchRequest{Body: body(what), AllowPartialSearchResults: &no}
		}}
		if err := s.call(ctx, next, &found); err != nil {
			return err
		}
		if err := s.whole(next, found.Shards); err != nil {
			return err
		}
		if found.PIT != "" {
			pit = found.PIT
		}
		n := len(found.Hits.Hits)
		if n == 0 {
			return nil
		}
		hits := make([]hit, n)
		for i := range hits {
			hits[i] = found.Hits.Hits[i].hit
		}
		if !take(hits) {
			return nil
		}
		what["search_after"] = found.Hits.Hits[n-1].Sort
	}
}

// closePicture gives back what a listing holds on the servers, also after the
// caller has given up. It ends by itself if that fails.
func (x *Index) closePicture(ctx context.Context, op, pit string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = x.store.call(ctx, ask{op: op, make: func() esapi.Request {
		return esapi.ClosePointInTimeRequest{Body: body(obj{"id": pit})}
	}}, nil)
}
