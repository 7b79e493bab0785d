// Package local is the offline embedder: a static table of token vectors in
// the binary, so that a memory has a dense channel with no key, no service and
// no download.
//
// It promises the same vectors for the same text on every machine, tens of
// microseconds a text, and methods that are safe for concurrent use. English
// and Chinese are what the table knows; other languages get what their Latin
// letters or Han characters share with these. It is also a lexicon: the weight
// of a word, its neighbours, and the words of a Han text, for an index of
// words to use (see [Embedder.Weight]).
//
// How the table is made is in tools/embedder; how a model of better quality is
// asked is left to package openai.
package local

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
)

//go:embed table.bin
var embedded []byte

// tableName goes into the fingerprint in front of the table's digest. It names
// the way of encoding: change it when the encoder changes and the table not.
const tableName = "local-v1"

// Embedder turns texts into vectors by the table. Make one with [Open] or
// [Read]. All methods are safe for concurrent use.
type Embedder struct {
	table
	fingerprint string
	scratch     sync.Pool        // of *sketch
	inverse     func() []float32 // inverseNorms, worked out when first wanted
}

var (
	_ llm.Embedder = (*Embedder)(nil)
	_ llm.Lexicon  = (*Embedder)(nil)
)

// Open gives the embedder of the table in the binary. It checks the table's
// sizes and CRC, and copies none of its vectors. The error, if any, has code
// Internal: the binary is damaged.
func Open() (*Embedder, error) {
	t, err := decode(embedded)
	if err != nil {
		return nil, memtypes.Errorf("local.Open", memtypes.Internal, "embedded table: %w", err)
	}
	return newEmbedder(t), nil
}

// Read gives the embedder of another table, for instance a smaller one made by
// tools/embedder. Unlike Open it also checks the SHA-256 that the fingerprint
// is made of. It keeps no reference to b. An error has code Invalid.
func Read(b []byte) (*Embedder, error) {
	t, err := decode(bytes.Clone(b))
	if err == nil {
		err = t.checkDigest()
	}
	if err != nil {
		return nil, memtypes.Errorf("local.Read", memtypes.Invalid, "table: %w", err)
	}
	return newEmbedder(t), nil
}

func newEmbedder(t table) *Embedder {
	e := &Embedder{
		table:       t,
		fingerprint: fmt.Sprintf("%s/%d/%s", tableName, t.dim, hex.EncodeToString(t.digest[:6])),
	}
	e.inverse = sync.OnceValue(e.inverseNorms)
	e.scratch.New = func() any { return newSketch(t.rows, t.dim) }
	return e
}

// Embed gives a vector for each text, of length 1 and of Dim components. A text
// without a word that the table knows (empty, emoji, another script) gets a nil
// vector: it has no direction, and the caller must leave it out of the dense
// channel. Queries and passages are encoded alike. Embed fails only if ctx is
// done, with code Canceled.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([]memtypes.Vector, error) {
	s := e.scratch.Get().(*sketch)
	defer e.scratch.Put(s)
	vectors := make([]memtypes.Vector, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, memtypes.Errorf("local.Embed", memtypes.Canceled, "after %d of %d texts: %w", i, len(texts), err)
		}
		s.reset()
		e.tokens(text, s)
		vectors[i] = e.vector(s)
	}
	return vectors, nil
}

// Dim is the number of components of a vector.
func (e *Embedder) Dim() int { return e.dim }

// Cheap reports that its vectors are not worth keeping: to make one again takes
// less time than to read it from a disk.
func (e *Embedder) Cheap() bool { return true }

// Fingerprint names the encoder, the dimension and the table's digest. Vectors
// of different fingerprints must never be compared.
func (e *Embedder) Fingerprint() string { return e.fingerprint }
