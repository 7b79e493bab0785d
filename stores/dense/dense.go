// Package dense finds memories by the nearness of their vectors.
//
// An [Index] is derived data: the ledger can rebuild it at any time, so every
// write is an idempotent upsert, and losing an Index loses no memory. Each
// backend passes package densetest; rely on nothing else about a backend.
package dense

import (
	"context"
	"iter"

	"github.com/vimbank/vimbank/memtypes"
)

// Space names one of the vectors of a memory; each Index holds all spaces.
type Space string

// The spaces. Every indexed memory has Text; Context only where neighbours
// change it. A search in Context falls back to Text for memories without it.
const (
	Text    Space = "text"    // the embedding of the memory's own text
	Context Space = "context" // averaged with its neighbours in the session (docs/ranking.md)
)

// Doc is what an index keeps of a memory.
type Doc struct {
	ID     memtypes.ID
	Rev    uint64 // the memory's revision: an older one never replaces a newer
	Facets memtypes.Facets
	Text   memtypes.Vector // of length 1 and the index's dimension; nil: not found by nearness
	// Context is nil where the memory has no neighbours.
	Context memtypes.Vector
}

// Query asks for the nearest memories.
type Query struct {
	Vector memtypes.Vector // of length 1 and the index's dimension
	Space  Space           // empty means Text
	K      int             // at least 1
	Filter memtypes.Filter // applied inside the index; its Scope must be given
}

// Index is what a backend implements. All methods are safe for concurrent use.
type Index interface {
	// Upsert stores docs, all or none. A doc whose Rev is lower than the one
	// held is skipped; an equal or higher Rev replaces it. A vector of another
	// dimension, not of length 1 (within 1e-3) or with NaN is Invalid.
	Upsert(ctx context.Context, docs []Doc) error
	// Delete removes ids as of rev: a doc of a higher Rev stays, and a later
	// Upsert of a lower Rev is skipped. Unknown ids are not an error.
	Delete(ctx context.Context, ids []memtypes.ID, rev uint64) error
	// Search returns at most q.K memories by descending cosine, ties by ID.
	Search(ctx context.Context, q Query) ([]memtypes.Scored, error)
	// Revs lists what the index holds, in no order, for reconciliation.
	Revs(ctx context.Context) iter.Seq2[Held, error]
	// Len is the number of memories held.
	Len() int
	// Close releases the index; searching afterwards is Unavailable.
	Close() error
}

// Held is one entry of Revs.
type Held struct {
	ID  memtypes.ID
	Rev uint64
}
