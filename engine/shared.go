package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/sparse"
)

// Shared says which services hold the indexes for all processes that share the
// bank (docs/adr/0009-shared-indexes.md). What its indexes have been given is
// found in them when the call that gave it has returned. Only Sparse is needed,
// and Dense where there is an embedder.
type Shared struct {
	Dense  dense.Generations
	Sparse sparse.Generations
	// Holder names this process among all that share the bank; empty: its
	// host, its number and some chance.
	Holder string
	// MaxOwed is how many changes an index may lag behind before new memories
	// are refused with Full; forgetting never is. It bounds the tail, too, which
	// holds them in this process. Zero means 100,000.
	MaxOwed int
	// Batch is how many changes are brought to a service at once. Zero means 512.
	Batch int
	// Hold is how long a batch may take before another process may take it
	// over. Zero means 30 s.
	Hold time.Duration
	// Search bounds one search of a service; zero means 2 s.
	Search time.Duration
	// Failures in a row open a service's breaker, Pause is how long it stays
	// open. Zero means 5 and 5 s.
	Failures int
	Pause    time.Duration
	// Refresh is how often this process asks how far the indexes have come,
	// which generation is live, and what is left undone. Zero means 1 s.
	Refresh time.Duration
	// Segment is how many memories make a segment of the tail full. Zero means 4,096.
	Segment int
	// Retry is how long what a service could not take waits for its second try,
	// with jitter, and doubled with each further one up to MaxRetry: as long
	// may pass before a service that is well again has everything. Zero means
	// 500 ms and 30 s.
	Retry, MaxRetry time.Duration
	// RebuildRate is how many memories a rebuild reads in a second, at most.
	// Zero means as fast as it goes.
	RebuildRate int
}

func (o Shared) resolved() Shared {
	o.Holder = cmp.Or(o.Holder, newHolder())
	o.MaxOwed = cmp.Or(o.MaxOwed, 100_000)
	o.Batch = cmp.Or(o.Batch, feedBatch)
	o.Hold = cmp.Or(o.Hold, 30*time.Second)
	o.Search = cmp.Or(o.Search, 2*time.Second)
	o.Failures = cmp.Or(o.Failures, 5)
	o.Pause = cmp.Or(o.Pause, 5*time.Second)
	o.Refresh = cmp.Or(o.Refresh, time.Second)
	o.Segment = cmp.Or(o.Segment, 4096)
	o.Retry = cmp.Or(o.Retry, 500*time.Millisecond)
	o.MaxRetry = cmp.Or(o.MaxRetry, 30*time.Second)
	return o
}

func newHolder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	var b [4]byte
	rand.Read(b[:])
	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), hex.EncodeToString(b[:]))
}

// shared is how an engine works with services: it owns the tails, the pump and
// what is known of the services.
type shared struct {
	engine *Engine
	opt    Shared
	kinds  []*kind // sparse, and dense where there is an embedder
	hash   string  // names what makes the contents of the indexes: see projectionHash
	pump   *pump

	mu       sync.Mutex
	known    standing // guarded by mu: as the pump saw it last
	admitted int      // guarded by mu: memories let in since then
	rebuilds gate     // held by the rebuild of this process
}

// kind is one of the two kinds of index: what the pump, the rebuild and
// Reconcile do alike for both.
type kind struct {
	name    string // "dense" or "sparse"
	backend *backend
	gens    generations
	open    func(ctx context.Context, generation string) (target, error)
	serving target
	drop    func(mark uint64)
	clear   func()
	size    func() int
}

// generations is what dense.Generations and sparse.Generations have in common.
type generations interface {
	Live(ctx context.Context) (string, error)
	Switch(ctx context.Context, name string) error
	Drop(ctx context.Context, name string) error
	List(ctx context.Context) ([]string, error)
	Close() error
}

// follower is the name by which the ledger knows a generation.
func (k *kind) follower(generation string) string { return k.name + "/" + generation }

// newShared makes the indexes of parts: each a service with a tail.
func newShared(e *Engine, o Shared) (*shared, *indexes) {
	s := &shared{engine: e, rebuilds: newGate(), opt: o.resolved(), hash: projectionHash(e)}
	ix := &indexes{}
	words := newTail(s.opt.Segment, func() (sparse.Index, error) { return sparse.Open(nil) })
	k := &kind{name: "sparse", backend: newBackend("sparse", &s.opt), gens: o.Sparse, drop: words.drop, clear: words.clear, size: words.len}
	k.open = func(ctx context.Context, name string) (target, error) {
		index, err := o.Sparse.Open(ctx, name)
		return &sparseTarget{e, index}, err
	}
	k.serving = &sparseTarget{e, o.Sparse.Serving()}
	ix.sparse = &sparseOverlay{service: o.Sparse.Serving(), tail: words, backend: k.backend, limit: s.opt.Search}
	s.kinds = append(s.kinds, k)
	if e.parts.Embedder == nil {
		return s, ix
	}
	dim := e.parts.Embedder.Dim()
	vectors := newTail(s.opt.Segment, func() (dense.Index, error) { return dense.Open(dim, &dense.Options{BinaryAbove: -1}) })
	k = &kind{name: "dense", backend: newBackend("dense", &s.opt), gens: o.Dense, drop: vectors.drop, clear: vectors.clear, size: vectors.len}
	k.open = func(ctx context.Context, name string) (target, error) {
		index, err := o.Dense.Open(ctx, name)
		return &denseTarget{e, index}, err
	}
	k.serving = &denseTarget{e, o.Dense.Serving()}
	ix.dense = &denseOverlay{service: o.Dense.Serving(), tail: vectors, backend: k.backend, limit: s.opt.Search}
	s.kinds = append(s.kinds, k)
	return s, ix
}

// projectionHash names, in a generation's name, what its contents depend on
// besides the ledger: how memories become tokens and vectors, and by which
// embedder.
func projectionHash(e *Engine) string {
	const version = "projection/1"
	if e.parts.Embedder == nil {
		return "words"
	}
	sum := sha256.Sum256([]byte(version + " " + e.parts.Embedder.Fingerprint()))
	return hex.EncodeToString(sum[:4])
}

// start begins to follow and to pump. A service that does not answer now is
// waited for in the background.
func (s *shared) start(ctx context.Context) error {
	if err := s.refresh(ctx); err != nil {
		return err
	}
	if err := s.beginTails(ctx); err != nil {
		return err
	}
	for _, k := range s.kinds {
		_, _ = s.see(ctx, k) // a service that is away is seen later
	}
	s.pump = startPump(s)
	return nil
}

// beginTails lets the tails begin where the services' followers are. Without
// any they begin with the ledger, unless that is more than a tail may hold.
func (s *shared) beginTails(ctx context.Context) error {
	head, err := s.engine.parts.Ledger.Head(ctx)
	if err != nil {
		return err
	}
	marks := s.engine.marks()
	for _, k := range s.kinds {
		mark, any := s.mark(k)
		if !any && head > uint64(s.opt.MaxOwed) {
			mark = head
		}
		raise(marks[k.name], min(mark, head))
	}
	return nil
}

// restart begins anew where the ledger cannot tell what has changed, because
// it is an older one by now.
func (s *shared) restart(ctx context.Context) error {
	marks := s.engine.marks()
	for _, k := range s.kinds {
		k.clear()
		marks[k.name].Store(0)
	}
	s.engine.shelf.clear()
	if err := s.refresh(ctx); err != nil {
		return err
	}
	return s.beginTails(ctx)
}

// close stops the pump, which finishes what it is at, and lets go of the services.
func (s *shared) close(ctx context.Context) error {
	var errs []error
	if s.pump != nil {
		errs = append(errs, s.pump.stop(ctx))
	}
	for _, k := range s.kinds {
		errs = append(errs, k.gens.Close())
	}
	return errors.Join(errs...)
}

// checkShared refuses parts that cannot be shared.
func (p *Parts) checkShared(op string) error {
	switch {
	case p.Dense != nil || p.Sparse != nil:
		return memtypes.BadField(op, "parts", memtypes.Remark("indexes of this process beside shared ones"), "one or the other")
	case p.Shared.Sparse == nil:
		return memtypes.BadField(op, "parts", memtypes.Remark("no service for the sparse index"), "one")
	case (p.Shared.Dense == nil) != (p.Embedder == nil):
		return memtypes.BadField(op, "parts", memtypes.Remark("only one of a service for the dense index and an embedder"), "both or none")
	}
	return nil
}
