package bank

import (
	"context"
	"errors"
	"io"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/postgres"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// Services names what takes the places of the files in a bank's folder, so that
// several processes on several machines can share the bank.
type Services struct {
	// Postgres keeps the ledger; nil: SQLite, in the folder.
	Postgres *Postgres
	// Qdrant and Elastic hold the indexes, both or none; nil: in the process.
	// The dimension and the fingerprint are the embedder's. Without an embedder
	// Qdrant is left out.
	Qdrant  *qdrant.Options
	Elastic *elastic.Options
	// Pump sets how changes are brought to them. Its Dense and Sparse are not read.
	Pump engine.Shared
}

// Postgres is a ledger in a schema of a server.
type Postgres struct {
	URL     string // postgres://...
	Options postgres.Options
}

// local reports whether the ledger is in the bank's folder.
func (s *Services) local() bool { return s == nil || s.Postgres == nil }

// indexed reports whether services hold the indexes.
func (s *Services) indexed() bool { return s != nil && (s.Elastic != nil || s.Qdrant != nil) }

// Ledger opens the ledger alone, that of o's services or that in dir. It is how
// a bank is moved, see Migrate, and looked at.
func Ledger(ctx context.Context, dir string, o *Options) (ledger.Ledger, error) {
	if o == nil {
		o = &Options{}
	}
	if s := o.Services; !s.local() {
		p := s.Postgres.Options
		p.ReadOnly = p.ReadOnly || o.ReadOnly
		return postgres.Open(ctx, s.Postgres.URL, &p)
	}
	if dir == "" {
		return nil, memtypes.BadField("bank.Open", "bank", dir, "a folder")
	}
	return sqlite.Open(ctx, dir, &sqlite.Options{ReadOnly: o.ReadOnly, Beside: []string{denseFile, sparseFile}})
}

// shared connects to the services of the indexes. Neither need answer now.
func (s *Services) shared(ctx context.Context, e llm.Embedder) (*engine.Shared, error) {
	if s.Elastic == nil {
		return nil, memtypes.BadField("bank.Open", "services", memtypes.Remark("Qdrant without Elasticsearch"), "both or none")
	}
	out := s.Pump
	words, err := elastic.Open(ctx, s.words(e))
	if err != nil {
		return nil, err
	}
	out.Sparse = words
	if e == nil {
		return &out, nil
	}
	if s.Qdrant == nil {
		return nil, errors.Join(memtypes.BadField("bank.Open", "services", memtypes.Remark("Elasticsearch without Qdrant"), "both, or no embedder"), words.Close())
	}
	vectors, err := qdrant.Open(ctx, s.vectors(e))
	if err != nil {
		return nil, errors.Join(err, words.Close())
	}
	out.Dense = vectors
	return &out, nil
}

// vectors and words say what the contents of the indexes are made by.
func (s *Services) vectors(e llm.Embedder) *qdrant.Options {
	o := *s.Qdrant
	o.Dim, o.Fingerprint = e.Dim(), projection(e)
	return &o
}

func (s *Services) words(e llm.Embedder) *elastic.Options {
	o := *s.Elastic
	o.Fingerprint = projection(e)
	return &o
}

// Findings looks at every service of a bank: whether it is reachable, of a
// version and with settings that do. It changes nothing. o may be nil.
func Findings(ctx context.Context, o *Options) []memtypes.Finding {
	s := o.services()
	if s == nil {
		return nil
	}
	l := &looking{ctx: ctx}
	if !s.local() {
		l.at("ledger", func() (io.Closer, error) {
			p := s.Postgres.Options
			p.ReadOnly = true
			return postgres.Open(ctx, s.Postgres.URL, &p)
		})
	}
	e, err := o.embedder()
	if err != nil {
		return append(l.found, memtypes.Finding{Part: "embedder", Check: "reachable", Found: err.Error(), Wanted: "an embedder", Mend: "see the settings embedder.*"})
	}
	if s.Qdrant != nil && e != nil {
		l.at("dense", func() (io.Closer, error) { return qdrant.Open(ctx, s.vectors(e)) })
	}
	if s.Elastic != nil {
		l.at("sparse", func() (io.Closer, error) { return elastic.Open(ctx, s.words(e)) })
	}
	return l.found
}

// looking collects findings.
type looking struct {
	ctx   context.Context
	found []memtypes.Finding
}

func (l *looking) at(part string, open func() (io.Closer, error)) {
	in, err := open()
	if err != nil {
		l.found = append(l.found, memtypes.Finding{Part: part, Check: "reachable", Found: err.Error(), Wanted: "a server that can be used", Mend: "see the settings " + part + ".*"})
		return
	}
	if i, ok := in.(inspector); ok {
		l.found = append(l.found, i.Inspect(l.ctx)...)
	}
	if err := in.Close(); err != nil {
		l.found = append(l.found, memtypes.Finding{Part: part, Check: "close", Found: err.Error()})
	}
}

// inspector is a store that can say how it stands.
type inspector interface {
	Inspect(ctx context.Context) []memtypes.Finding
	Close() error
}

var (
	_ dense.Generations  = (*qdrant.Store)(nil)
	_ sparse.Generations = (*elastic.Store)(nil)
)
