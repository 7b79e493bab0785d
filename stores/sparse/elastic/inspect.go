package elastic

import (
	"context"
	"fmt"
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
