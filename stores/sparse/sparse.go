// Package sparse finds memories by their words.
//
// An [Index] is derived data: the ledger can rebuild it at any time, so every
// write is an idempotent upsert, and losing an Index loses no memory. It takes
// tokens, not text: an [Analyzer] makes them, the same for every backend, so
// that all backends rank alike. Each backend passes package sparsetest; rely
// on nothing else about a backend.
package sparse

import (
	"context"
	"iter"

	"github.com/vimbank/vimbank/memtypes"
)

// Field is one of the indexed texts of a memory.
type Field string

// The fields, each with its own b of BM25 (k1 is 1.2 for all).
const (
	Text   Field = "text"   // the memory's own text; b .75
	Turn   Field = "turn"   // the turn after the question it answers; b .15
	Window Field = "window" // the turn between its neighbours of the session; b .15
)

// Fields lists the fields in their fixed order.
func Fields() []Field { return []Field{Text, Turn, Window} }

// B is the length normalisation of BM25 for f.
func (f Field) B() float64 {
	if f == Text {
		return .75
	}
	return .15
}

// K1 is the term saturation of BM25, for every field.
const K1 = 1.2

// Doc is what an index keeps of a memory.
type Doc struct {
	ID     memtypes.ID
	Rev    uint64 // the memory's revision: an older one never replaces a newer
	Facets memtypes.Facets
	Fields map[Field][]string // analysed tokens in order; a missing field is not found in
}

// Term is one term of a query. Its score in a document is
//
//	Boost * max over {Token with weight 1} and Near of weight * idf * saturation
//
// where idf is each token's own and saturation is tf/(tf + k1(1-b+b*len/avg)):
// a document counts once for a term, by its best spelling (research: expansion
// by neighbours; in Elasticsearch the same as dis_max over boosted terms).
type Term struct {
	Token string
	Boost float64 // zero means 1
	Near  []Near  // weaker terms that may stand in for Token
}

// Near is a weaker term.
type Near struct {
	Token  string
	Weight float64 // in (0,1]
}

// Query asks for the best matches of any of the terms.
type Query struct {
	Field  Field
	Terms  []Term
	K      int             // at least 1
	Filter memtypes.Filter // applied inside the index; its Scope must be given
	// BySession returns only the best memory of each session (memories without
	// a session each stand for themselves).
	BySession bool
}

// Index is what a backend implements. All methods are safe for concurrent use.
type Index interface {
	// Upsert stores docs, all or none. A doc whose Rev is lower than the one
	// held is skipped; an equal or higher Rev replaces it.
	Upsert(ctx context.Context, docs []Doc) error
	// Delete removes ids as of rev: a doc of a higher Rev stays, and a later
	// Upsert of a lower Rev is skipped. Unknown ids are not an error.
	Delete(ctx context.Context, ids []memtypes.ID, rev uint64) error
	// Search returns at most q.K memories by descending BM25 score above 0, ties by ID.
	Search(ctx context.Context, q Query) ([]memtypes.Scored, error)
	// Revs lists what the index holds, in no order, for reconciliation.
	Revs(ctx context.Context) iter.Seq2[Held, error]
	// Len is the number of memories held.
	Len() int
	// Close releases the index; searching afterwards is Unavailable.
	Close() error
}

// Frequencies is an optional power of an Index: how many memories hold a token.
type Frequencies interface {
	// DocFreq counts, for each token, the memories of tenant whose field holds it.
	DocFreq(ctx context.Context, tenant string, f Field, tokens []string) ([]int, error)
}

// Held is one entry of Revs.
type Held struct {
	ID  memtypes.ID
	Rev uint64
}
