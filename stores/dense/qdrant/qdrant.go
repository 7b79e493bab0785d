// Package qdrant keeps dense indexes in Qdrant, for several processes at once.
//
// A [Store] is dense.Generations: each generation is a collection of its own,
// one of which the alias names as live, and each is a dense.Index. What is
// promised beyond the port: a write is there when it is acknowledged, an older
// write never replaces a newer one or a removal, in whatever order, how often
// and from how many processes they come, and what does not fit (another
// dimension, another embedder, a server that is too old) is Incompatible before
// anything is read or written.
//
// What the ledger still has to bring, retries over minutes and breakers are
// left to the engine. Late interaction (a vector for each token) is not done:
// dense.Doc holds one vector for each space.
//
// # How it is kept
//
// A memory is a point, its ID the point's UUID, with the named vectors "text"
// and "context" and a payload of its facets, its revision (rev) and how new it
// is (ver, the higher of revision and cause). A write is one upsert with a
// filter that lets each point replace only what is not newer; the server looks
// and writes in one step. A removal is a point without vectors and facets,
// gone = true, which no query finds; without it a late duplicate would find
// nothing to lose against, because the server takes in a point that it does not
// hold whatever the filter says. [Index.Sweep] clears such points away.
package qdrant

import (
	"context"
	"sync"
	"sync/atomic"

	qc "github.com/qdrant/go-client/qdrant"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

// Store is the connection to a Qdrant and the generations it keeps there. It is
// safe for concurrent use.
type Store struct {
	opt     Options // resolved
	client  *qc.Client
	closed  atomic.Bool
	greeted atomic.Bool // the server's version has been seen to be fit

	mu    sync.Mutex
	known map[string]bool // collections whose settings have been seen to be ours; guarded by mu
}

var _ dense.Generations = (*Store)(nil)

// Open makes a Store; o is needed, for Addr and Dim. It does not wait for the
// server: one that is away or too old shows in the first call. Settings that
// cannot be are Invalid, a CA file that cannot be read as well.
func Open(_ context.Context, o *Options) (*Store, error) {
	const op = "qdrant.Open"
	opt, err := o.resolved(op)
	if err != nil {
		return nil, err
	}
	client, err := dial(op, &opt)
	if err != nil {
		return nil, err
	}
	return &Store{opt: opt, client: client, known: map[string]bool{}}, nil
}

// Close implements dense.Generations: calls under way end with Unavailable.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	if err := s.client.Close(); err != nil {
		return memtypes.Errorf("qdrant.Close", memtypes.Internal, "%w", err)
	}
	return nil
}

// usable says why op cannot begin; the first time it asks the server for its version.
func (s *Store) usable(ctx context.Context, op string) error {
	if ctx.Err() != nil {
		return canceled(ctx, op)
	}
	if s.closed.Load() {
		return errClosed(op)
	}
	if s.greeted.Load() {
		return nil
	}
	v, err := s.version(ctx, op)
	if err != nil {
		return err
	}
	if !v.atLeast(oldest) {
		return memtypes.Errorf(op, memtypes.Incompatible,
			"qdrant at %s: found version %s, wanted %s or newer (%s is tested): replace the server", s.opt.Addr, v.text, oldest.text, tested)
	}
	s.greeted.Store(true)
	return nil
}

// know remembers that a collection has been seen to be ours, or forgets it.
func (s *Store) know(collection string, ours bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ours {
		s.known[collection] = true
	} else {
		delete(s.known, collection)
	}
}

func (s *Store) knows(collection string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[collection]
}
