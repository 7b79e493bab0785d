package elastic

import (
	"context"
	"net/http"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
)

// settleIn makes the index of a tenant that writes first, and then enters the
// tenant in the list: whoever is in the list has had an index. Several processes
// may do so at once.
func (x *Index) settleIn(ctx context.Context, op, tenant string) error {
	s, index := x.store, x.of(tenant)
	listed, err := x.listed(ctx, op, tenant)
	if err != nil {
		return err
	}
	if listed {
		there, err := s.names(ctx, op, index)
		if isKind(err, noIndex) || err == nil && len(there) == 0 {
			return x.lost(op, tenant)
		}
		return err
	}
	if err := s.create(ctx, op, index); err != nil {
		return err
	}
	if err := s.compare(ctx, op, index); err != nil {
		return err
	}
	err = s.call(ctx, ask{op: op, index: s.list(x.name), make: func() esapi.Request {
		return esapi.IndexRequest{Index: writable(s.list(x.name)), DocumentID: s.part(tenant), OpType: "create", RequireAlias: &yes,
			Body: body(obj{"tenant": entry(s, tenant)})}
	}}, nil)
	if isStatus(err, http.StatusConflict) {
		return nil
	}
	return err
}

// entry is who has an index, in the list.
func entry(s *Store, tenant string) string {
	if s.opt.Tenancy == Shared {
		return "(all)"
	}
	return tenant
}

// listed reports whether the tenant is in the list, as of now. A list that is
// gone is an error: the generation is.
func (x *Index) listed(ctx context.Context, op, tenant string) (bool, error) {
	var answer struct{ Found bool }
	s := x.store
	err := s.call(ctx, ask{op: op, index: s.list(x.name), make: func() esapi.Request {
		return esapi.GetRequest{Index: s.list(x.name), DocumentID: s.part(tenant)}
	}}, &answer)
	if isStatus(err, http.StatusNotFound) && strings.Contains(refused(err).reason, `"found":false`) { // no proxy's page
		return false, nil
	}
	if err == nil && !answer.Found {
		err = memtypes.Errorf(op, memtypes.Unavailable, "%s, index %s: found an answer that says neither yes nor no", s.where(), s.list(x.name))
	}
	return answer.Found, err
}

// tenants gives the parts that the list names.
func (x *Index) tenants(ctx context.Context, op string) ([]string, error) {
	const most = 10_000 // a look, not a proof
	var found struct {
		Hits struct {
			Hits []struct {
				ID string `json:"_id"`
			}
		}
	}
	list := x.store.list(x.name)
	err := x.store.call(ctx, ask{op: op, index: list, make: func() esapi.Request { return esapi.IndicesRefreshRequest{Index: []string{list}} }}, nil)
	if err != nil {
		return nil, err
	}
	err = x.store.call(ctx, ask{op: op, index: list, make: func() esapi.Request {
		return esapi.SearchRequest{Index: []string{list}, Body: body(obj{"size": min(most, x.store.opt.MaxK), "_source": false})}
	}}, &found)
	var out []string
	for _, h := range found.Hits.Hits {
		out = append(out, h.ID)
	}
	return out, err
}

// inTenant sends a, which goes to the index of a tenant. It reports false where
// the tenant has none yet, or it is being made, which is no error: the tenant has
// no memories. n is where the answer says how many shards there were.
func (x *Index) inTenant(ctx context.Context, a ask, tenant string, into any, n *shards) (bool, error) {
	once := func() error {
		if err := x.store.call(ctx, a, into); err != nil {
			return err
		}
		return x.store.whole(a, *n)
	}
	err := once()
	lost := isKind(err, noIndex)
	if !lost && !starting(err) {
		return err == nil, err
	}
	switch listed, lerr := x.listed(ctx, a.op, tenant); {
	case lerr == nil && !listed:
		return false, nil
	case lerr != nil && lost:
		return false, lerr
	case lerr != nil:
		return false, err
	}
	// Who is in the list has an index that has started: perhaps just now.
	if err = once(); isKind(err, noIndex) {
		err = x.lost(a.op, tenant)
	}
	return err == nil, err
}

func (x *Index) lost(op, tenant string) error {
	return memtypes.Errorf(op, memtypes.Unavailable, "%s: the index %s, or its alias %s, is gone, which held memories: `vimbank rebuild` makes it again from the ledger",
		x.store.where(), x.of(tenant), writable(x.of(tenant)))
}
