// Package bank opens a memory bank: one that lives in a folder, with no service
// and no key, which is the default; or one that several processes share through
// PostgreSQL, Qdrant and Elasticsearch.
//
// It names the products (SQLite or PostgreSQL as the ledger, the in-process
// indexes or services, the built-in embedder or an OpenAI-compatible one) and
// hands them to package engine. What a bank does is the engine's; which settings exist is package
// configs'.
package bank

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/llm/local"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/sparse"
)

// Options say how a bank is opened. The zero value, and a nil pointer, open it
// with the built-in embedder and the engine's defaults.
type Options struct {
	Engine engine.Options
	// Embedder replaces the built-in table.
	Embedder llm.Embedder
	// WordsOnly leaves vectors out altogether.
	WordsOnly bool
	// ReadOnly opens an existing bank for reading.
	ReadOnly bool
	// Dense sets the in-process index of vectors.
	Dense dense.Options
	// Services take the places of the folder's files; nil: there are none.
	Services *Services
}

// The files of a bank, beside the ledger's own.
const (
	denseFile  = "dense.snapshot"
	sparseFile = "sparse.snapshot"
)

// Open opens the bank in dir, or makes a new one there. Every process that
// opens the same folder works on the same memories. The errors are those of
// the ledger (Incompatible for a folder that is another program's or a newer
// version's, ReadOnly, Full) and of engine.Open.
func Open(ctx context.Context, dir string, o *Options) (*engine.Engine, error) {
	if o == nil {
		o = &Options{}
	}
	db, err := Ledger(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	parts, err := assemble(ctx, dir, o)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	parts.Ledger = db
	e, err := engine.Open(ctx, parts, &o.Engine)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return e, nil
}

// assemble makes the parts around the ledger: indexes from their snapshots
// where those are whole and of this embedder, else empty ones, which the
// engine fills from the ledger. Where the ledger is a service, there is no
// folder for snapshots.
func assemble(ctx context.Context, dir string, o *Options) (engine.Parts, error) {
	var p engine.Parts
	var err error
	var words func(string) []string
	if p.Embedder, err = o.embedder(); err != nil {
		return p, err
	}
	if lex, ok := p.Embedder.(llm.Lexicon); ok {
		words = lex.Words
	}
	p.Analyzer = sparse.NewAnalyzer(&sparse.AnalyzerOptions{Words: words})
	p.Fresh = func(context.Context) (dense.Index, sparse.Index, error) { return freshIndexes(p.Embedder, &o.Dense) }
	if o.Services.indexed() {
		p.Shared, err = o.Services.shared(ctx, p.Embedder)
		return p, err
	}
	if !o.Services.local() {
		p.Dense, p.Sparse, err = p.Fresh(ctx)
		return p, err
	}
	note := projection(p.Embedder)
	s, mark, err := sparse.Load(filepath.Join(dir, sparseFile), note, nil)
	if err != nil {
		s, mark, err = fresh(sparse.Open(nil))
	}
	if err != nil {
		return p, err
	}
	p.Sparse, p.SparseMark = s, mark
	if p.Embedder != nil {
		d, mark, err := dense.Load(filepath.Join(dir, denseFile), p.Embedder.Dim(), note, &o.Dense)
		if err != nil {
			d, mark, err = fresh(dense.Open(p.Embedder.Dim(), &o.Dense))
		}
		if err != nil {
			return p, err
		}
		p.Dense, p.DenseMark = d, mark
	}
	if !o.ReadOnly {
		p.Save = func(_ context.Context, d dense.Index, s sparse.Index, denseMark, sparseMark uint64) error {
			return save(dir, note, d, s, denseMark, sparseMark)
		}
	}
	return p, nil
}

// embedder is the one that o names, else the built-in table; nil for none.
func (o *Options) embedder() (llm.Embedder, error) {
	if o.Embedder != nil || o.WordsOnly {
		return o.Embedder, nil
	}
	table, err := local.Open()
	if err != nil {
		return nil, err
	}
	return table, nil
}

// projection names what the contents of both indexes depend on besides the
// ledger: how memories become tokens and vectors, and by which embedder.
func projection(e llm.Embedder) string {
	const version = "projection/1"
	if e == nil {
		return version
	}
	return version + " " + e.Fingerprint()
}

func fresh[T any](ix T, err error) (T, uint64, error) { return ix, 0, err }

func freshIndexes(e llm.Embedder, o *dense.Options) (dense.Index, sparse.Index, error) {
	s, err := sparse.Open(nil)
	if err != nil || e == nil {
		return nil, s, err
	}
	d, err := dense.Open(e.Dim(), o)
	if err != nil {
		return nil, nil, err
	}
	return d, s, nil
}

// save lets the indexes rest in dir.
func save(dir, note string, d dense.Index, s sparse.Index, denseMark, sparseMark uint64) error {
	var errs []error
	if f, ok := d.(*dense.Flat); ok {
		errs = append(errs, f.Save(filepath.Join(dir, denseFile), denseMark, note))
	}
	if ix, ok := s.(*sparse.Inverted); ok {
		errs = append(errs, ix.Save(filepath.Join(dir, sparseFile), sparseMark, note))
	}
	return errors.Join(errs...)
}

// Exists reports whether dir holds a bank already.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "ledger.db"))
	return err == nil
}
