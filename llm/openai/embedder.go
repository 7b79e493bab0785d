package openai

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	oai "github.com/sashabaranov/go-openai"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
)

// EmbedderOptions sets how texts are embedded. The zero value is ready to use.
type EmbedderOptions struct {
	Options
	Dim      int // the model's dimensions; zero: asked of the server by OpenEmbedder
	Batch    int // texts a request; zero means 32
	MaxInput int // bytes of a text that are sent, cut between characters; zero means 24 KiB (about 8,000 tokens)

	// Some models read a question in another way than its answer. Where the
	// server does not see to it, give both prefixes of the model's card ("query: ",
	// "passage: "), or the name under which the server embeds questions.
	QueryPrefix   string
	PassagePrefix string
	QueryModel    string // empty: the same model
}

// Embedder embeds by a server. Make one with [OpenEmbedder]; Close it when done.
type Embedder struct {
	s   *server
	o   EmbedderOptions
	dim int
}

var (
	_ llm.Embedder      = (*Embedder)(nil)
	_ llm.QueryEmbedder = (*Embedder)(nil)
)

// maxRequest bounds the bytes of text in one request.
const maxRequest = 256 << 10

// OpenEmbedder makes an Embedder of model at baseURL. Unless o gives the
// dimension it asks the server for one vector, and fails as Embed does.
// Settings that cannot be used are Invalid.
func OpenEmbedder(ctx context.Context, baseURL, model string, o *EmbedderOptions) (*Embedder, error) {
	const op = "openai.OpenEmbedder"
	if o == nil {
		o = &EmbedderOptions{}
	}
	e := &Embedder{o: *o, dim: o.Dim}
	e.o.Batch, e.o.MaxInput = cmp.Or(o.Batch, 32), cmp.Or(o.MaxInput, 24<<10)
	if e.dim < 0 || e.o.Batch < 0 || e.o.MaxInput < 0 {
		return nil, memtypes.BadField(op, "dim, batch, max_input", fmt.Sprint(o.Dim, o.Batch, o.MaxInput), "numbers of at least 0")
	}
	var err error
	if e.s, err = connect(op, baseURL, model, &o.Options); err != nil {
		return nil, err
	}
	if e.dim > 0 {
		return e, nil
	}
	v, err := e.request(ctx, model, []string{o.PassagePrefix + "dimension"})
	if err != nil {
		e.s.close()
		return nil, memtypes.Errorf(op, memtypes.CodeOf(err), "asking for the dimension: %w", err)
	}
	e.dim = len(v[0])
	return e, nil
}

// Dim is the number of dimensions, as given or as the server's first vector had.
func (e *Embedder) Dim() int { return e.dim }

// Fingerprint is openai:<model>:<dim>, and the passage prefix where there is
// one, for it changes the vectors too. Neither address nor key is in it.
func (e *Embedder) Fingerprint() string {
	f := fmt.Sprintf("openai:%s:%d", e.s.model, e.dim)
	if e.o.PassagePrefix != "" {
		f += ":" + strconv.Quote(e.o.PassagePrefix)
	}
	return f
}

// Close gives the idle connections up.
func (e *Embedder) Close() error { e.s.close(); return nil }

// Embed embeds texts as passages, in batches one after the other; a blank text
// gives nil and is not sent. A vector of another dimension, of length zero or
// not of finite numbers is Incompatible, and no vector is returned.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([]memtypes.Vector, error) {
	return e.embed(ctx, e.s.model, e.o.PassagePrefix, texts)
}

// EmbedQuery is Embed for questions, by QueryModel and QueryPrefix.
func (e *Embedder) EmbedQuery(ctx context.Context, texts []string) ([]memtypes.Vector, error) {
	return e.embed(ctx, cmp.Or(e.o.QueryModel, e.s.model), e.o.QueryPrefix, texts)
}

func (e *Embedder) embed(ctx context.Context, model, prefix string, texts []string) ([]memtypes.Vector, error) {
	out := make([]memtypes.Vector, len(texts))
	for _, b := range e.batches(prefix, texts) {
		vs, err := e.request(ctx, model, b.texts)
		if err != nil {
			return nil, err
		}
		for i, v := range vs {
			out[b.places[i]] = v
		}
	}
	return out, nil
}

// batch is what goes into one request.
type batch struct {
	texts  []string
	places []int // of the texts among those asked for
	bytes  int
}

// batches cuts texts into requests; blank ones are left out.
func (e *Embedder) batches(prefix string, texts []string) []batch {
	out := []batch{{}}
	for i, t := range texts {
		if strings.TrimSpace(t) == "" {
			continue
		}
		t = prefix + cut(t, e.o.MaxInput)
		b := &out[len(out)-1]
		if len(b.texts) == e.o.Batch || len(b.texts) > 0 && b.bytes+len(t) > maxRequest {
			out = append(out, batch{})
			b = &out[len(out)-1]
		}
		b.texts, b.places, b.bytes = append(b.texts, t), append(b.places, i), b.bytes+len(t)
	}
	if len(out[0].texts) == 0 {
		return nil
	}
	return out
}

// request embeds one batch.
func (e *Embedder) request(ctx context.Context, model string, texts []string) (vs []memtypes.Vector, err error) {
	const op = "openai.Embed"
	err = e.s.do(ctx, op, func(ctx context.Context) error {
		res, err := e.s.client.CreateEmbeddings(ctx, oai.EmbeddingRequest{Input: texts, Model: oai.EmbeddingModel(model)})
		if err != nil {
			return err
		}
		vs, err = e.read(op, res.Data, len(texts))
		return err
	})
	return vs, err
}

// read puts the vectors into the order of the request and checks them.
func (e *Embedder) read(op string, data []oai.Embedding, n int) ([]memtypes.Vector, error) {
	if len(data) != n {
		return nil, memtypes.Errorf(op, memtypes.Unavailable, "found %d vectors, wanted %d", len(data), n)
	}
	vs, dim := make([]memtypes.Vector, n), e.dim
	for _, d := range data {
		if d.Index < 0 || d.Index >= n || vs[d.Index] != nil {
			return nil, memtypes.Errorf(op, memtypes.Unavailable, "found vector index %d twice or out of range, wanted each of 0 to %d once", d.Index, n-1)
		}
		dim = cmp.Or(dim, len(d.Embedding)) // the probe takes what it gets
		if len(d.Embedding) != dim || dim == 0 {
			return nil, memtypes.Errorf(op, memtypes.Incompatible, "found a vector of %d dimensions, wanted %d", len(d.Embedding), dim)
		}
		if !normalise(d.Embedding) {
			return nil, memtypes.Errorf(op, memtypes.Incompatible, "found a vector without a direction (all zero, or not finite) for text %d of the request", d.Index)
		}
		vs[d.Index] = d.Embedding
	}
	return vs, nil
}

// normalise scales v to length 1; false if it has no direction.
func normalise(v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return false
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
	return true
}

// cut shortens s to at most n bytes, between characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
