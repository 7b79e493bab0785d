package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
)

const rebuild = "`vimbank rebuild` makes a new index from the ledger"

// Inspect looks at the cluster and at what is kept there, without changing
// anything. It goes on where one thing cannot be seen.
func (s *Store) Inspect(ctx context.Context) []memtypes.Finding {
	i := &inspection{store: s, ctx: ctx, op: "elastic.Inspect"}
	n, err := s.nodes(ctx, i.op)
	if err != nil {
		i.failed("reachable", err)
		return i.found
	}
	i.fine("reachable", fmt.Sprintf("%s, %d node(s)", s.where(), len(n.Nodes)))
	i.version(&n)
	i.security()
	i.permissions()
	i.licence()
	i.health()
	i.disk()
	i.template()
	i.live()
	return i.found
}

// inspection collects findings.
type inspection struct {
	store *Store
	ctx   context.Context
	op    string
	found []memtypes.Finding
}

func (i *inspection) fine(check, found string) {
	i.found = append(i.found, memtypes.Finding{Part: "sparse", Check: check, OK: true, Found: found})
}

func (i *inspection) wrong(check, found, wanted, mend string) {
	i.found = append(i.found, memtypes.Finding{Part: "sparse", Check: check, Found: found, Wanted: wanted, Mend: mend})
}

// failed notes that something could not be seen; the error says what mends it.
func (i *inspection) failed(check string, err error) {
	i.wrong(check, err.Error(), "an answer of Elasticsearch 8", "see the settings sparse.*, and the log of the server")
}

func (i *inspection) ask(r func() esapi.Request, into any) error {
	return i.store.call(i.ctx, ask{op: i.op, make: r}, into)
}

func (i *inspection) version(n *nodes) {
	if v := n.foreign(); v != "" {
		i.wrong("version", v, "8", "run VIMBank with Elasticsearch 8, or name another cluster in sparse.urls")
		return
	}
	i.fine("version", strings.Join(n.versions(), ", "))
	if most := n.most(); most > 0 && most < i.store.opt.BatchBytes {
		i.wrong("settings", fmt.Sprintf("http.max_content_length of %d bytes", most), fmt.Sprintf("at least %d", i.store.opt.BatchBytes),
			"raise http.max_content_length in elasticsearch.yml")
	}
}

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

func (i *inspection) licence() {
	var l struct{ License struct{ Status, Type string } }
	err := i.ask(func() esapi.Request { return esapi.LicenseGetRequest{} }, &l)
	switch {
	case err != nil:
		i.fine("licence", "cannot be seen; none of the features in use needs more than the basic one")
	case l.License.Status == "active":
		i.fine("licence", l.License.Type+", active")
	default:
		i.wrong("licence", l.License.Type+", "+l.License.Status, "an active one, basic or higher", "renew it, or POST /_license/start_basic")
	}
}

func (i *inspection) health() {
	var h struct {
		Status     string
		Unassigned int `json:"unassigned_shards"`
	}
	pattern := i.store.list("*")
	err := i.ask(func() esapi.Request {
		return esapi.ClusterHealthRequest{Index: []string{pattern}}
	}, &h)
	switch {
	case err != nil:
		i.failed("health", err)
	case h.Status == "red":
		i.wrong("health", fmt.Sprintf("red: %d shards of %s are nowhere, some of them the only copy", h.Unassigned, pattern), "green or yellow",
			"bring the missing nodes back (GET /_cluster/allocation/explain says why), or "+rebuild)
	case h.Status == "yellow":
		i.fine("health", fmt.Sprintf("yellow: %d copies of shards have no node; a node that is lost now takes data with it", h.Unassigned))
	default:
		i.fine("health", h.Status)
	}
}

// scarce is the free share of a disk below which Elasticsearch stops writes by
// default.
const scarce = .05

func (i *inspection) disk() {
	var n struct {
		Nodes map[string]struct {
			FS struct {
				Total struct {
					All  float64 `json:"total_in_bytes"`
					Free float64 `json:"available_in_bytes"`
				}
			}
		}
	}
	err := i.ask(func() esapi.Request {
		return esapi.NodesStatsRequest{Metric: []string{"fs"}, FilterPath: []string{"nodes.*.fs.total"}}
	}, &n)
	if err != nil {
		i.failed("disk", err)
		return
	}
	least, room := 1.0, 0.0
	for _, node := range n.Nodes {
		if t := node.FS.Total; t.All > 0 && t.Free/t.All <= least {
			least, room = t.Free/t.All, t.Free
		}
	}
	words := fmt.Sprintf("%.0f %% free, %.1f GB, at the fullest node", least*100, room/1e9)
	if least < scarce {
		i.wrong("disk", words, "more than 5 %", "free space there: Elasticsearch stops taking writes")
		return
	}
	i.fine("disk", words)
}

func (i *inspection) template() {
	var t struct {
		Templates []struct {
			Name     string
			Template struct {
				Patterns []string        `json:"index_patterns"`
				Auto     *bool           `json:"allow_auto_create"`
				Meta     json.RawMessage `json:"_meta"`
			} `json:"index_template"`
		} `json:"index_templates"`
	}
	s := i.store
	const mend = "every process that opens a generation makes it: restart `vimbank serve`, or `vimbank rebuild`"
	err := i.ask(func() esapi.Request { return esapi.IndicesGetIndexTemplateRequest{Name: s.opt.Prefix} }, &t)
	switch {
	case isStatus(err, 404) || err == nil && len(t.Templates) == 0:
		i.wrong("template", "no index template "+s.opt.Prefix, "one", mend)
	case err != nil:
		i.failed("template", err)
	default:
		x := t.Templates[0].Template
		if !slices.Equal(x.Patterns, []string{s.opt.Prefix + ".*"}) || x.Auto == nil || *x.Auto {
			i.wrong("template", fmt.Sprintf("index template %s for %v", s.opt.Prefix, x.Patterns), "one for "+s.opt.Prefix+".* that forbids auto-creation", mend)
			return
		}
		i.fine("template", s.opt.Prefix)
	}
}

// live looks at the generation that serves, and at each of its indices.
func (i *inspection) live() {
	name, err := i.store.live(i.ctx, i.op)
	switch {
	case err != nil:
		i.failed("alias", err)
	case name == "":
		i.wrong("alias", "the alias "+i.store.opt.Prefix+" points nowhere", "it on the list of a generation", rebuild)
	default:
		i.fine("alias", i.store.opt.Prefix+" is generation "+name)
		i.indices(i.store.index(name))
	}
}

// indices compares the indices of a generation with how they should have been
// made and with the list.
func (i *inspection) indices(x *Index) {
	s := i.store
	all, err := s.describe(i.ctx, i.op, strings.Join(x.all(), ","))
	if err != nil {
		i.failed("mapping", err)
		return
	}
	before := len(i.found)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		i.made(name, all[name])
	}
	listed, err := x.tenants(i.ctx, i.op)
	if err != nil {
		i.failed("mapping", err)
	}
	for _, part := range listed {
		if name := x.all()[0] + "." + part; all[name] == nil {
			i.wrong("mapping", "no index "+name, "it: the list says that it held memories", rebuild)
		}
	}
	if len(i.found) == before {
		i.fine("mapping", fmt.Sprintf("%d indices as they were made", len(all)))
	}
}

// made looks at one index: its mapping, and whether it takes writes.
func (i *inspection) made(name string, m *made) {
	if found, wanted := i.store.schema.differs(m); found != "" {
		i.wrong("mapping", name+": "+brief(found), brief(wanted), rebuild)
	}
	if _, ok := m.Aliases[writable(name)]; !ok {
		i.wrong("alias", name+" lacks the alias "+writable(name), "it, for writes", rebuild)
	}
	words, _ := json.Marshal(m.Settings.Index["blocks"])
	if strings.Contains(string(words), `"true"`) {
		i.wrong("settings", name+" has index.blocks "+string(words), "none",
			"free space on the disks, or take the block off: PUT /"+name+"/_settings {\"index.blocks\": null}")
	}
}
