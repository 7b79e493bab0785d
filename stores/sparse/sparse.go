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
	ID  memtypes.ID
	Rev uint64 // the memory's revision
	// Cause is the change for which the doc was made, where that is newer than
	// Rev: its context depends on its neighbours. The higher of both says how
	// new a doc is; an index that one process alone feeds, in order, may look
	// at Rev only.
	Cause  uint64
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
	// Stats, unless nil, take the place of the index's own: so a small index
	// scores its documents as if they stood in a large one. Without documents
	// or tokens they are as nil. An index that cannot is Invalid: one whose
	// service scores by itself.
	Stats *Stats
	// BySession returns only the best memory of each session (memories without
	// a session each stand for themselves).
	BySession bool
}

// Index is what a backend implements. All methods are safe for concurrent use.
type Index interface {
	// Upsert stores docs. A doc that is older than the one held, see Doc.Rev,
	// is skipped; one as new or newer replaces it. A *memtypes.Rejected names
	// the docs that a service refused one by one, and all others are stored;
	// after any other error some may be: write them again, that changes nothing.
	Upsert(ctx context.Context, docs []Doc) error
	// Delete removes memories, each as of its Rev: a doc that is newer stays,
	// and a later Upsert of an older one is skipped, however late it comes.
	// Unknown ones are not an error. Errors are those of Upsert.
	Delete(ctx context.Context, gone []memtypes.Gone) error
	// Search returns at most q.K memories by descending BM25 score above 0, ties by ID.
	Search(ctx context.Context, q Query) ([]memtypes.Scored, error)
	// Revs lists what the index holds, in no order, for reconciliation.
	Revs(ctx context.Context) iter.Seq2[Held, error]
	// Len is the number of memories held.
	Len(ctx context.Context) (int, error)
	// Close releases the index; searching afterwards is Unavailable.
	Close() error
}

// Frequencies is an optional power of an Index: how many memories hold a token.
type Frequencies interface {
	// DocFreq counts, for each token, the memories of tenant whose field holds it.
	DocFreq(ctx context.Context, tenant string, f Field, tokens []string) ([]int, error)
}

// Statistics is an optional power of an Index: what BM25 knows of a field.
type Statistics interface {
	// Statistics describes the memories of tenant that have the field f.
	Statistics(ctx context.Context, tenant string, f Field, tokens []string) (Stats, error)
}

// Many is an optional power of an Index for which each call takes a while: to
// answer several queries at once, each as Search would.
type Many interface {
	SearchMany(ctx context.Context, qs []Query) ([][]memtypes.Scored, error)
}

// Stats are the figures that a score of BM25 depends on besides the document.
type Stats struct {
	Docs    int            // documents that have the field
	Tokens  int            // in all of them together
	DocFreq map[string]int // documents that hold a token; one that is left out counts as 0
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
