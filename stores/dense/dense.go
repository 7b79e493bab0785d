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
	ID  memtypes.ID
	Rev uint64 // the memory's revision
	// Cause is the change for which the doc was made, where that is newer than
	// Rev: its context depends on its neighbours. The higher of both says how
	// new a doc is; an index that one process alone feeds, in order, may look
	// at Rev only.
	Cause  uint64
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
	// Upsert stores docs. A doc that is older than the one held, see Doc.Rev,
	// is skipped; one as new or newer replaces it. A vector of another
	// dimension, not of length 1 (within 1e-3) or with NaN is Invalid, and
	// nothing is stored. A *memtypes.Rejected names the docs that a service
	// refused one by one, and all others are stored; after any other error
	// some may be: write them again, that changes nothing.
	Upsert(ctx context.Context, docs []Doc) error
	// Delete removes memories, each as of its Rev: a doc that is newer stays,
	// and a later Upsert of an older one is skipped, however late it comes.
	// Unknown ones are not an error. Errors are those of Upsert.
	Delete(ctx context.Context, gone []memtypes.Gone) error
	// Search returns at most q.K memories by descending cosine, ties by ID.
	Search(ctx context.Context, q Query) ([]memtypes.Scored, error)
	// Revs lists what the index holds, in no order, for reconciliation.
	Revs(ctx context.Context) iter.Seq2[Held, error]
	// Len is the number of memories held.
	Len(ctx context.Context) (int, error)
	// Close releases the index; searching afterwards is Unavailable.
	Close() error
}

// Held is one entry of Revs.
type Held struct {
	ID     memtypes.ID
	Rev    uint64
	Tenant string
}

// Generations are the power of a service that holds an index for several
// processes: it keeps one or several generations of it, each under a name, of
// which one is live, so that a new one can be made while the old one serves.
type Generations interface {
	// Live names the generation that serves; empty if there is none.
	Live(ctx context.Context) (string, error)
	// Serving is the index that whatever generation is live at the time of a
	// call makes: for searching. Without one, calls are Unavailable.
	Serving() Index
	// Open opens the generation of that name, [a-z0-9-]{1,64}, or makes it. One
	// that was made with other settings (a dimension, a mapping) is Incompatible.
	Open(ctx context.Context, name string) (Index, error)
	// Switch makes a generation the live one, in one step; NotFound if it is not there.
	Switch(ctx context.Context, name string) error
	// Drop removes a generation and all it holds; the live one is Conflict, an
	// unknown one is no error.
	Drop(ctx context.Context, name string) error
	// List names all generations.
	List(ctx context.Context) ([]string, error)
	// Close releases the connections; the indexes it gave are closed with it.
	Close() error
}
