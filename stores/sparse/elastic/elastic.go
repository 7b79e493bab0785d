// Package elastic keeps the index of words in Elasticsearch 8, for several
// processes at once.
//
// It promises what package sparse asks of a backend, and the ranking of the
// index in process. Tokens are indexed as they come, whatever is in them:
// Elasticsearch cuts them apart and does nothing else, so the English and CJK
// words are those of sparse.Analyzer by construction. Each field has its own
// BM25. Elasticsearch multiplies scores by k1+1; that is taken out again.
//
// # What differs from the index in process
//
// Lucene counts a document that was replaced or deleted in its statistics until
// segments merge, so scores drift from those of a fresh index by the share of
// such documents, which is kept below a tenth. [Index.Expunge] makes them exact;
// Elasticsearch holds back what is younger than half a minute. Equal scores
// stand by ID here as there, but sums of single precision may differ in their
// last bit. Replicas of a shard merge on their own: all searches of a tenant ask
// the same copy while it is there. A search gives at most [Options.MaxK] memories.
//
// # How it is kept
//
// A generation g is an index <prefix>.g, which lists the tenants, and an index
// <prefix>.g.<hash of the tenant> for each tenant that has written ("shared"
// tenancy: one for all, <prefix>.g.shared). The alias <prefix> is on the list of
// the live generation: switching it is one step for all tenants. Each index is
// written to through an alias of its own, <index>.w, and so never made by a
// write. A tenant's index is made by its first write; one that the list has and
// that is gone is an error, not an empty answer, and is not made again under
// another's hands: `vimbank rebuild` does that.
//
// Writes carry external versions (sparse.Doc, Rev and Cause), so they may come
// twice, late and in any order. A deleted memory leaves a document without
// content behind (a tombstone), which refuses late writes until [Index.Sweep].
//
// The account needs, of the cluster, "monitor" and "manage_index_templates", and
// of indices <prefix> and <prefix>.*, "all".
package elastic

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// Store is a connection to a cluster and the generations it keeps there. It is
// safe for concurrent use.
type Store struct {
	opt     Options
	schema  schema
	http    *http.Transport
	client  *elastictransport.Client
	closed  atomic.Bool
	guess   atomic.Pointer[string] // the generation that was live last
	mutants mutants
}

// mutants are what tests leave out to see that a test notices.
type mutants struct{ noTenant, noScope bool }

var _ sparse.Generations = (*Store)(nil)

// Open prepares a connection. It asks the server nothing, so that a process can
// start while Elasticsearch is away: what is wrong there shows in the first
// call, and in [Store.Inspect]. Bad options are Invalid.
func Open(ctx context.Context, o *Options) (*Store, error) {
	const op = "elastic.Open"
	if ctx.Err() != nil {
		return nil, canceled(ctx, op)
	}
	opt, urls, err := o.resolved(op)
	if err != nil {
		return nil, err
	}
	over, err := opt.transport(op)
	if err != nil {
		return nil, err
	}
	with := []elastictransport.Option{elastictransport.WithURLs(urls...), elastictransport.WithTransport(over), elastictransport.WithDisableRetry()}
	switch {
	case opt.APIKey != "":
		with = append(with, elastictransport.WithAPIKey(opt.APIKey))
	case opt.Username != "":
		with = append(with, elastictransport.WithBasicAuth(opt.Username, opt.Password))
	}
	client, err := elastictransport.NewClient(with...)
	if err != nil {
		over.CloseIdleConnections()
		return nil, badClient(op, err)
	}
	return &Store{opt: opt, schema: newSchema(&opt), http: over, client: client}, nil
}

// Close releases the connections. A second Close does nothing.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.opt.Timeout)
	defer cancel()
	err := s.client.Close(ctx) // waits for what looks after nodes that are down
	s.http.CloseIdleConnections()
	if err != nil {
		return memtypes.Errorf("elastic.Close", memtypes.Unavailable, "%s: %w", s.where(), err)
	}
	return nil
}

// where names the servers for an error.
func (s *Store) where() string { return "elasticsearch at " + strings.Join(s.opt.URLs, ",") }
