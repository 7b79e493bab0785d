// Package llm is the port to language models: an Embedder turns texts into
// vectors, a Completer answers a prompt.
//
// A model only proposes. Nothing here writes a memory, and every caller must
// cope with a model that is slow, wrong or away: the rule-based way exists for
// each operation. Backends are package local (offline, in the binary) and
// package openai (any OpenAI-compatible server).
//
// What protects a backend that can be slow or away is a [Guard]: Retry,
// Breaker, Limit, Timeout, nested by Chain; a [Budget] bounds what is spent.
package llm

import (
	"context"

	"github.com/vimbank/vimbank/memtypes"
)

// Embedder turns texts into vectors. Safe for concurrent use.
type Embedder interface {
	// Embed gives one vector of length 1 and of Dim numbers for each text, in
	// order. A text of which the model knows nothing gives nil: the caller
	// leaves the dense channel out for it.
	Embed(ctx context.Context, texts []string) ([]memtypes.Vector, error)
	// Dim is the number of dimensions of each vector.
	Dim() int
	// Fingerprint names the model and its dimension; vectors of two
	// fingerprints must never be compared.
	Fingerprint() string
}

// QueryEmbedder is an Embedder whose model reads a question in another way
// than the text that answers it. It is optional: [EmbedQuery] asks.
type QueryEmbedder interface {
	// EmbedQuery is Embed for questions; the vectors compare with Embed's.
	EmbedQuery(ctx context.Context, texts []string) ([]memtypes.Vector, error)
}

// EmbedQuery embeds questions: by e's own way for them where it has one, else by Embed.
func EmbedQuery(ctx context.Context, e Embedder, texts []string) ([]memtypes.Vector, error) {
	if q, ok := e.(QueryEmbedder); ok {
		return q.EmbedQuery(ctx, texts)
	}
	return e.Embed(ctx, texts)
}

// Lexicon is what an Embedder with a word table knows of single words
// besides. It is optional: ask with a type assertion.
type Lexicon interface {
	// Weight is how much a word tells, about 1 for a telling word and near 0
	// for a function word; ok is false for a word outside the table.
	Weight(word string) (w float64, ok bool)
	// Neighbours gives for each of words at most n others by descending cosine,
	// all above .3. It reads the whole table for each: remember what it says.
	Neighbours(words []string, n int) [][]Neighbour
	// Words cuts a run of Han characters into words.
	Words(han string) []string
}

// Neighbour is a word near another one.
type Neighbour struct {
	Word   string
	Cosine float64
}

// Completer answers a prompt. Safe for concurrent use.
type Completer interface {
	// Complete sends r and returns the whole answer.
	Complete(ctx context.Context, r Request) (Response, error)
	// Fingerprint names the model.
	Fingerprint() string
}

// Request is one prompt.
type Request struct {
	System    string // instructions; may be empty
	Prompt    string // what is asked
	MaxTokens int    // zero: the server's default
	// Schema, if given, is a JSON schema (draft 2020-12) that the answer must
	// follow; a server without structured output ignores it.
	Schema []byte
}

// Response is the answer and what it cost.
type Response struct {
	Text         string
	PromptTokens int // as the server counted; 0 if it did not say
	AnswerTokens int
}
