// Package engine is where minds and stores meet: it orders the steps of
// remembering, recalling, forgetting and rebuilding, and nothing else does.
//
// The ledger is the truth. A memory is remembered when Remember returns: it is
// on the disk then. The dense and sparse indexes are projections that follow
// the ledger's feed; what they return is checked against the ledger (scope,
// alive) before it leaves, so a stale index costs recall and never shows what
// is forgotten. Several engines, in one process or in several, may use one
// bank: each follows what the others write.
//
// Indexes are either this process's own, or services that all processes share
// ([Shared]). Then a search is the union of the service's answer and of a tail
// in this process, which holds what the service has yet to take; the pump
// brings it there, memory by memory, under claims that the ledger hands out.
//
// Ranking is left to package fusion, the curve to package forgetting,
// admission to package admit; the products behind the ports are chosen by the
// caller (package bank wires the embedded default).
package engine

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/forgetting"
	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/sparse"
)

// Parts are what an engine is made of. Ledger and Analyzer are needed, and
// Sparse or Shared.
type Parts struct {
	Ledger   ledger.Ledger
	Sparse   sparse.Index
	Analyzer *sparse.Analyzer
	// Dense and Embedder go together; without them only words find.
	Dense    dense.Index
	Embedder llm.Embedder
	// DenseMark and SparseMark say up to which sequence number of the ledger
	// each index already follows; zero for an empty index.
	DenseMark, SparseMark uint64
	// Fresh makes empty indexes for Rebuild; nil: Rebuild is Unavailable.
	Fresh func(ctx context.Context) (dense.Index, sparse.Index, error)
	// Save lets in-process indexes rest on disk, each with the mark up to which
	// it follows; nil: they are made anew at each start.
	Save func(ctx context.Context, d dense.Index, s sparse.Index, denseMark, sparseMark uint64) error
	// Shared takes the place of all indexes above: services hold them, for
	// several processes.
	Shared *Shared
}

// Options set how an engine behaves. The zero value is ready to use.
type Options struct {
	Profile    fusion.Profile     // of ranking; empty means fusion.Default
	Fusion     fusion.Options     // of the paper profile and the weights
	Forgetting forgetting.Options // the curve, its thresholds and its breaker
	Admit      admit.Options      // what is let in
	Actor      string             // named in the audit trail; empty means "engine"
	Clock      func() time.Time   // nil means time.Now
	// Adopt opens a bank whose vectors another embedder made, to Rebuild it.
	// Until then only words find.
	Adopt bool
	// At, unless nil, is called at each point where a crash could leave ledger
	// and indexes apart: "appended", "claimed", "dense written", "sparse
	// written", "settled", "filled a page", "switched". For tests of crashes.
	At func(point string)
}

// Engine is a memory bank in use. All methods are safe for concurrent use.
type Engine struct {
	parts Parts
	opts  Options

	indexes atomic.Pointer[indexes] // swapped by Rebuild
	shared  *shared                 // nil where the indexes are this process's own
	lexical *lexicalCache
	shelf   *shelf

	// follow is held by whoever projects: one at a time in this process.
	follow     gate
	foreign    atomic.Bool   // vectors are of another embedder: leave dense alone
	denseMark  atomic.Uint64 // the sequence number up to which each index follows
	sparseMark atomic.Uint64
	unsaved    atomic.Int64 // changes since the last save

	rules     *admit.Rules
	recent    *recentTexts // recalled texts, to know an echo
	reinforce *reinforcer
	counts    counters
	closed    atomic.Bool
}

// indexes are the projections in use.
type indexes struct {
	dense  dense.Index // nil where there is no embedder
	sparse sparse.Index
}

// fingerprintKey is the ledger's setting that names the embedder of the bank.
const fingerprintKey = "embedder"

// Open takes parts into use and follows the ledger up to now. It is
// Incompatible when the bank's vectors were made by another embedder, unless
// o.Adopt. o may be nil. The engine owns parts from here on, and closes them.
func Open(ctx context.Context, parts Parts, o *Options) (*Engine, error) {
	const op = "engine.Open"
	if o == nil {
		o = &Options{}
	}
	if err := parts.check(op); err != nil {
		return nil, err
	}
	if _, err := fusion.ParseProfile(string(o.Profile)); err != nil {
		return nil, err
	}
	rules, err := admit.New(&o.Admit)
	if err != nil {
		return nil, err
	}
	if err := o.Forgetting.Check(); err != nil {
		return nil, err
	}
	e := &Engine{parts: parts, rules: rules, opts: *o, follow: newGate(), recent: newRecentTexts(), lexical: newLexicalCache(), shelf: newShelf()}
	e.opts.Profile = cmp.Or(o.Profile, fusion.Default)
	e.opts.Actor = cmp.Or(o.Actor, "engine")
	if e.opts.Clock == nil {
		e.opts.Clock = time.Now
	}
	ix := &indexes{dense: parts.Dense, sparse: parts.Sparse}
	if parts.Shared != nil {
		e.shared, ix = newShared(e, *parts.Shared)
	}
	e.indexes.Store(ix)
	e.denseMark.Store(parts.DenseMark)
	e.sparseMark.Store(parts.SparseMark)
	if err := e.checkEmbedder(ctx); err != nil {
		return nil, err
	}
	e.reinforce = startReinforcer(e)
	if e.shared != nil {
		if err := e.shared.start(ctx); err != nil {
			return nil, errors.Join(err, e.Close(context.WithoutCancel(ctx)))
		}
	}
	if _, err := e.catchUp(ctx); err != nil {
		return nil, errors.Join(err, e.Close(context.WithoutCancel(ctx)))
	}
	return e, nil
}

// check refuses parts of which no engine can be made.
func (p *Parts) check(op string) error {
	switch {
	case p.Ledger == nil || p.Sparse == nil && p.Shared == nil || p.Analyzer == nil:
		return memtypes.BadField(op, "parts", memtypes.Remark("a nil part"), "ledger, sparse index and analyzer")
	case p.Shared != nil:
		return p.checkShared(op)
	case (p.Dense == nil) != (p.Embedder == nil):
		return memtypes.BadField(op, "parts", memtypes.Remark("only one of dense index and embedder"), "both or none")
	}
	return nil
}

// checkEmbedder compares the embedder with the one that the bank was made with,
// and names it to a new bank.
func (e *Engine) checkEmbedder(ctx context.Context) error {
	if e.parts.Embedder == nil {
		return nil
	}
	settings, err := e.parts.Ledger.Settings(ctx)
	if err != nil {
		return err
	}
	have, want := settings[fingerprintKey], e.parts.Embedder.Fingerprint()
	switch {
	case have == want:
		return nil
	case have == "":
		err := e.parts.Ledger.Set(ctx, fingerprintKey, want)
		if memtypes.CodeOf(err) == memtypes.ReadOnly {
			return nil // an empty bank that cannot be written has no vectors to mix
		}
		return err
	case e.opts.Adopt:
		e.foreign.Store(true)
		return nil
	}
	return memtypes.Errorf("engine.Open", memtypes.Incompatible,
		"embedder: the bank's vectors are of %s, the configured embedder is %s; configure that one again, or make all vectors anew with `vimbank rebuild`", have, want)
}

// Close waits for what is under way, keeps what the indexes know on disk and
// releases all parts. The second Close does nothing.
func (e *Engine) Close(ctx context.Context) error {
	if e.closed.Swap(true) {
		return nil
	}
	var errs []error
	if e.reinforce != nil {
		errs = append(errs, e.reinforce.stop(ctx))
	}
	if e.shared != nil {
		errs = append(errs, e.shared.close(ctx))
	}
	errs = append(errs, e.follow.enter(context.WithoutCancel(ctx)))
	defer e.follow.leave()
	errs = append(errs, e.save(ctx, false))
	ix := e.indexes.Load()
	if ix.dense != nil {
		errs = append(errs, ix.dense.Close())
	}
	return errors.Join(append(errs, ix.sparse.Close(), e.parts.Ledger.Close())...)
}

// saveAfter is how many changes make a snapshot worth its while at Close.
const saveAfter = 64

// save keeps the indexes on disk if enough has changed; e.follow must be held.
func (e *Engine) save(ctx context.Context, always bool) error {
	if e.parts.Save == nil || e.foreign.Load() || !always && e.unsaved.Load() < saveAfter {
		return nil
	}
	ix := e.indexes.Load()
	err := e.parts.Save(ctx, ix.dense, ix.sparse, e.denseMark.Load(), e.sparseMark.Load())
	if c := memtypes.CodeOf(err); err != nil && (c == memtypes.ReadOnly || c == memtypes.Unavailable || c == memtypes.Full) {
		return nil // a snapshot only saves time: the next start replays the ledger
	}
	if err == nil {
		e.unsaved.Store(0)
	}
	return err
}

// at tells a test that a point of interest is reached.
func (e *Engine) at(point string) {
	if e.opts.At != nil {
		e.opts.At(point)
	}
}

// now is the engine's clock, in UTC.
func (e *Engine) now() time.Time { return e.opts.Clock().UTC() }

// open refuses calls after Close.
func (e *Engine) open(op string) error {
	if e.closed.Load() {
		return memtypes.Errorf(op, memtypes.Unavailable, "the engine is closed")
	}
	return nil
}
