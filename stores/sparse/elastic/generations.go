package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// Live implements sparse.Generations.
func (s *Store) Live(ctx context.Context) (string, error) { return s.live(ctx, "elastic.Live") }

func (s *Store) live(ctx context.Context, op string) (string, error) {
	var found map[string]json.RawMessage
	err := s.call(ctx, ask{op: op, index: s.opt.Prefix, make: func() esapi.Request {
		return esapi.IndicesGetAliasRequest{Name: []string{s.opt.Prefix}}
	}}, &found)
	if isStatus(err, http.StatusNotFound) && strings.HasPrefix(refused(err).reason, "alias [") { // no proxy's page
		return "", nil
	}
	if err != nil {
		return "", err
	}
	indices := slices.Sorted(maps.Keys(found))
	if len(indices) == 1 && s.generation(indices[0]) != "" {
		return s.generation(indices[0]), nil
	}
	return "", memtypes.Errorf(op, memtypes.Incompatible, "%s: found the alias %s on %s, wanted it on the list of one generation, %s: "+
		"take it off, or `vimbank rebuild`", s.where(), s.opt.Prefix, strings.Join(indices, ", "), s.list("<generation>"))
}

// Open implements sparse.Generations. The index is an *[Index]. It also sees to
// the template that keeps others from making indices of these names by writing.
func (s *Store) Open(ctx context.Context, name string) (sparse.Index, error) {
	const op = "elastic.Open"
	if err := checkName(op, name); err != nil {
		return nil, err
	}
	if err := s.checkVersion(ctx, op); err != nil {
		return nil, err
	}
	err := s.call(ctx, ask{op: op, slow: true, make: func() esapi.Request {
		return esapi.IndicesPutIndexTemplateRequest{Name: s.opt.Prefix, Body: bytes.NewReader(s.template())}
	}}, nil)
	if err != nil {
		return nil, err
	}
	if err := s.create(ctx, op, s.list(name)); err != nil {
		return nil, err
	}
	if err := s.compare(ctx, op, s.list(name)+","+s.list(name)+".*"); err != nil {
		return nil, err
	}
	return s.index(name), nil
}

func (s *Store) template() []byte {
	return must(json.Marshal(obj{
		"index_patterns": []string{s.opt.Prefix + ".*"}, "priority": 500, "allow_auto_create": false,
		"template": json.RawMessage(s.schema.body), "_meta": s.schema.mapping["_meta"],
	}))
}

// create makes an index, if it is not there, and waits until it has started: it
// may be somebody else who is making it.
func (s *Store) create(ctx context.Context, op, index string) error {
	body := obj{}
	_ = json.Unmarshal(s.schema.body, &body)
	body["aliases"] = obj{writable(index): obj{}}
	b := must(json.Marshal(body))
	err := s.call(ctx, ask{op: op, index: index, slow: true, make: func() esapi.Request {
		return esapi.IndicesCreateRequest{Index: index, Body: bytes.NewReader(b)}
	}}, nil)
	if !isKind(err, exists) {
		return err
	}
	return s.started(ctx, op, index)
}

// started waits until indices can be searched. The health of a new index does
// not tell: while its first shards start, it is yellow and not red.
func (s *Store) started(ctx context.Context, op string, indices ...string) error {
	limited, cancel := context.WithTimeout(ctx, s.opt.Timeout)
	defer cancel()
	for {
		var found answer
		a := ask{op: op, index: indices[0], make: func() esapi.Request {
			return esapi.SearchRequest{Index: indices, Body: body(obj{"size": 0}), AllowPartialSearchResults: &no}
		}}
		err := s.call(ctx, a, &found)
		if err == nil {
			err = s.whole(a, found.Shards)
		}
		if !starting(err) || !sleep(limited, 50*time.Millisecond) {
			return err
		}
	}
}

// describe gives the indices that match a pattern.
func (s *Store) describe(ctx context.Context, op, pattern string) (map[string]*made, error) {
	var found map[string]*made
	err := s.call(ctx, ask{op: op, index: pattern, slow: true, make: func() esapi.Request {
		return esapi.IndicesGetRequest{Index: strings.Split(pattern, ",")}
	}}, &found)
	return found, err
}

// compare refuses indices that were made in another way.
func (s *Store) compare(ctx context.Context, op, pattern string) error {
	all, err := s.describe(ctx, op, pattern)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if found, wanted := s.schema.differs(all[name]); found != "" {
			return memtypes.Errorf(op, memtypes.Incompatible, "%s, index %s: found %s, wanted %s: `vimbank rebuild` makes a new index from the ledger",
				s.where(), name, brief(found), brief(wanted))
		}
	}
	return nil
}

// Switch implements sparse.Generations, by one change of aliases for all
// tenants. Two at once cannot make two generations live: the alias is a write
// alias, of which there is one, and is taken from where it was found.
func (s *Store) Switch(ctx context.Context, name string) error {
	const op = "elastic.Switch"
	if err := checkName(op, name); err != nil {
		return err
	}
	var err error
	for range 5 { // others may switch meanwhile
		var live string
		if live, err = s.live(ctx, op); err != nil {
			return err
		}
		if live == name {
			return nil
		}
		if err = s.move(ctx, op, live, name); err == nil {
			return nil
		}
		if isKind(err, noIndex) {
			return memtypes.Errorf(op, memtypes.NotFound, "%s: no generation %q", s.where(), name)
		}
		if r := refused(err); r == nil || r.status == http.StatusUnauthorized || r.status == http.StatusForbidden || r.busy() {
			return err
		}
	}
	return err
}

func (s *Store) move(ctx context.Context, op, from, to string) error {
	actions := []any{}
	if from != "" {
		actions = append(actions, obj{"remove": obj{"index": s.list(from), "alias": s.opt.Prefix, "must_exist": true}})
	}
	actions = append(actions, obj{"add": obj{"index": s.list(to), "alias": s.opt.Prefix, "is_write_index": true}})
	body := must(json.Marshal(obj{"actions": actions}))
	return s.call(ctx, ask{op: op, index: s.list(to), slow: true, make: func() esapi.Request {
		return esapi.IndicesUpdateAliasesRequest{Body: bytes.NewReader(body)}
	}}, nil)
}

// List implements sparse.Generations, by name.
func (s *Store) List(ctx context.Context) ([]string, error) {
	all, err := s.names(ctx, "elastic.List", s.list("*"))
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, index := range all {
		if g := s.generation(index); g != "" {
			out = append(out, g)
		}
	}
	return out, nil
}

// names gives the indices that match a pattern, by name.
func (s *Store) names(ctx context.Context, op, pattern string) ([]string, error) {
	var found map[string]json.RawMessage
	err := s.call(ctx, ask{op: op, index: pattern, slow: true, make: func() esapi.Request {
		return esapi.IndicesGetAliasRequest{Index: []string{pattern}, ExpandWildcards: "all"}
	}}, &found)
	return slices.Sorted(maps.Keys(found)), err
}

// Drop implements sparse.Generations. The list of the tenants goes last, so that
// what a failure leaves can be dropped again.
func (s *Store) Drop(ctx context.Context, name string) error {
	const op = "elastic.Drop"
	if err := checkName(op, name); err != nil {
		return err
	}
	live, err := s.live(ctx, op)
	if err != nil {
		return err
	}
	if live == name {
		return memtypes.Errorf(op, memtypes.Conflict, "%s: generation %q is live: switch to another first", s.where(), name)
	}
	parts, err := s.names(ctx, op, s.list(name)+".*")
	if err != nil {
		return err
	}
	for some := range slices.Chunk(append(parts, s.list(name)), 16) { // an address has at most 4096 bytes
		err := s.call(ctx, ask{op: op, index: s.list(name), slow: true, make: func() esapi.Request {
			return esapi.IndicesDeleteRequest{Index: some, IgnoreUnavailable: &yes}
		}}, nil)
		if err != nil && !isKind(err, noIndex) {
			return err
		}
	}
	return nil
}

// yes and no are for options of requests, which are pointers.
var yes, no = true, false
