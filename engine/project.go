package engine

import (
	"context"
	"math"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/sparse"
)

// Reach of a turn's context, in turns on each side.
const (
	windowReach  = 2 // of the window field
	contextReach = 3 // of the context vector
)

// contextWeights are what a neighbour at distance 1, 2, 3 adds to the context
// vector of a turn (docs/ranking.md).
var contextWeights = [contextReach + 1]float32{1, .7, .5, .35}

// ownText is what of a memory's own content is indexed: who says it or what it
// is called, and the text. Commands and results of a task stay out: they are
// what is handed back, not what is asked for.
func ownText(m *memtypes.Memory) string {
	switch {
	case m.Kind == memtypes.Dialogue && m.Talk.Speaker != "" && !strings.Contains(m.Text, "\n"):
		return m.Talk.Speaker + ": " + m.Text
	case m.Kind == memtypes.Knowledge && m.Title != "" && !strings.HasPrefix(m.Text, m.Title):
		return m.Title + ". " + m.Text
	case m.Kind == memtypes.TaskKind && m.Task != nil:
		return strings.Join(nonEmpty(m.Text, spaced(m.Task.Name), m.Task.Object, m.Task.Place), " ")
	}
	return m.Text
}

// spaced makes words of a skill's name: "pick_and_place" is three.
func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

func nonEmpty(parts ...string) []string {
	out := parts[:0]
	for _, p := range parts {
		if strings.TrimSpace(p) != "" {
			out = append(out, p)
		}
	}
	return out
}

// projection is a memory as the indexes see it: with its place among its
// neighbours, of which mems[at] is the memory itself.
type projection struct {
	mems []memtypes.Memory
	at   int
}

func (p projection) memory() *memtypes.Memory { return &p.mems[p.at] }

// around returns the neighbours within n, in order, and where p's own memory is among them.
func (p projection) around(n int) ([]memtypes.Memory, int) {
	from, to := max(0, p.at-n), min(len(p.mems), p.at+n+1)
	return p.mems[from:to], p.at - from
}

// sparseDocs analyses ps, as they were after the change cause.
func (e *Engine) sparseDocs(ps []projection, cause uint64) []sparse.Doc {
	docs := make([]sparse.Doc, len(ps))
	for i, p := range ps {
		docs[i] = e.sparseDoc(p)
		docs[i].Cause = cause
	}
	return docs
}

// sparseDoc analyses the fields of p. Window exists only for dialogue, Turn
// for dialogue and, as the text itself, for triples: a long tail is a list and
// not more talk, so both lengths' normalisations are wanted. Elsewhere they
// would repeat Text.
func (e *Engine) sparseDoc(p projection) sparse.Doc {
	m := p.memory()
	own := ownText(m)
	fields := map[sparse.Field][]string{sparse.Text: e.parts.Analyzer.Tokens(own)}
	if m.Kind == memtypes.Dialogue {
		turn := own
		if p.at > 0 {
			if before := &p.mems[p.at-1]; endsInQuestion(before.Text) {
				turn = ownText(before) + "\n" + own
			}
		}
		fields[sparse.Turn] = e.parts.Analyzer.Tokens(turn)
		near, _ := p.around(windowReach)
		texts := make([]string, len(near))
		for i := range near {
			texts[i] = ownText(&near[i])
		}
		fields[sparse.Window] = e.parts.Analyzer.Tokens(strings.Join(texts, "\n"))
	}
	if m.Triple != nil && m.Kind == memtypes.Knowledge {
		fields[sparse.Turn] = fields[sparse.Text]
	}
	return sparse.Doc{ID: m.ID, Rev: m.Rev, Facets: memtypes.FacetsOf(m), Fields: fields}
}

// endsInQuestion reports whether the last mark of s is a question mark.
func endsInQuestion(s string) bool {
	s = strings.TrimRight(s, " \t\r\n\"'”’」』)")
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？")
}

// denseDocs embeds every text of ps and their neighbours once, and averages,
// as they were after the change cause. A text that the embedder refuses gets no
// vector, and is named.
func (e *Engine) denseDocs(ctx context.Context, ps []projection, cause uint64) (docs []dense.Doc, refused refusals, err error) {
	vectors, refused, err := e.vectorsOf(ctx, ps)
	if err != nil {
		return nil, nil, err
	}
	docs = make([]dense.Doc, len(ps))
	for i, p := range ps {
		m := p.memory()
		docs[i] = dense.Doc{ID: m.ID, Rev: m.Rev, Cause: cause, Facets: memtypes.FacetsOf(m), Text: vectors[m.ID]}
		if near, at := p.around(contextReach); len(near) > 1 && m.Kind == memtypes.Dialogue {
			docs[i].Context = average(near, at, vectors)
		}
	}
	return docs, refused, nil
}

// average is the context vector of near[at], of length 1, or nil if no text of
// near has a vector.
func average(near []memtypes.Memory, at int, vectors map[memtypes.ID]memtypes.Vector) memtypes.Vector {
	var sum memtypes.Vector
	for i := range near {
		v := vectors[near[i].ID]
		if v == nil {
			continue
		}
		if sum == nil {
			sum = make(memtypes.Vector, len(v))
		}
		w := contextWeights[max(i-at, at-i)]
		for d, x := range v {
			sum[d] += w * x
		}
	}
	return unit(sum)
}

// unit scales v to length 1 in place; nil where it has no direction.
func unit(v memtypes.Vector) memtypes.Vector {
	var sq float64
	for _, x := range v {
		sq += float64(x) * float64(x)
	}
	if sq < 1e-12 {
		return nil
	}
	scale := float32(1 / math.Sqrt(sq))
	for i := range v {
		v[i] *= scale
	}
	return v
}
