package elastic

import (
	"net"
	"slices"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"
)

// security says how the connection is protected. That a password or key should
// not cross a network in the clear is the one thing that is wrong by itself.
func (i *inspection) security() {
	s := i.store
	secret, plain := s.opt.APIKey != "" || s.opt.Username != "", strings.HasPrefix(s.opt.URLs[0], "http:")
	words := "encrypted, with " + s.credential()
	if plain {
		words = "not encrypted, with " + s.credential()
	}
	if plain && secret && !s.nearby() {
		i.wrong("security", words, "https", "turn on xpack.security.http.ssl of Elasticsearch, and write https:// in sparse.urls")
		return
	}
	i.fine("security", words)
}

// nearby reports whether all servers are on this machine.
func (s *Store) nearby() bool {
	for _, u := range s.client.URLs() {
		ip := net.ParseIP(u.Hostname())
		if u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			return false
		}
	}
	return true
}

// permissions asks what the account may do; where security is off, anything.
func (i *inspection) permissions() {
	s := i.store
	if s.opt.APIKey == "" && s.opt.Username == "" {
		i.fine("permissions", "all: security is off")
		return
	}
	var may struct {
		All     bool `json:"has_all_requested"`
		Cluster map[string]bool
		Index   map[string]map[string]bool
	}
	want := obj{
		"cluster": []string{"monitor", "manage_index_templates"},
		"index":   []any{obj{"names": []string{s.opt.Prefix, s.opt.Prefix + ".*"}, "privileges": []string{"all"}}},
	}
	err := i.ask(func() esapi.Request { return esapi.SecurityHasPrivilegesRequest{Body: body(want)} }, &may)
	switch {
	case refused(err) != nil && !isStatus(err, 401) && !isStatus(err, 403):
		i.fine("permissions", "cannot be asked: the server has no security")
	case err != nil:
		i.failed("permissions", err)
	case !may.All:
		lacks := lacking("cluster", may.Cluster)
		for name, p := range may.Index {
			lacks = append(lacks, lacking("indices "+name, p)...)
		}
		slices.Sort(lacks)
		i.wrong("permissions", s.credential()+" lacks "+strings.Join(lacks, ", "), "monitor and manage_index_templates of the cluster, all of "+s.opt.Prefix+".*",
			"give the role of sparse.user or sparse.api_key these privileges")
	default:
		i.fine("permissions", "as needed")
	}
}

func lacking(of string, may map[string]bool) []string {
	var out []string
	for p, ok := range may {
		if !ok {
			out = append(out, of+": "+p)
		}
	}
	return out
}
