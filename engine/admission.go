package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/segment"
	"github.com/vimbank/vimbank/stores/sparse"
)

// pieces cuts a long document into segments, each a draft of its own; every
// other draft is its own only piece. The segments of a draft with a key have
// the keys "key#0", "key#1", ...: the same document gives the same memories.
func pieces(d memtypes.Draft) []memtypes.Draft {
	if d.Kind != memtypes.Knowledge || d.Layer == memtypes.Thought || len(d.Text) <= wholeUpTo {
		return []memtypes.Draft{d}
	}
	segments := segment.Split(d.Text, nil)
	if len(segments) < 2 {
		return []memtypes.Draft{d}
	}
	out := make([]memtypes.Draft, len(segments))
	for i, s := range segments {
		out[i] = d
		out[i].Text, out[i].Part = s.Text, i
		if d.Key != "" {
			out[i].Key = fmt.Sprintf("%s#%d", d.Key, i)
		}
	}
	return out
}

// wholeUpTo is the length in bytes up to which a document stays one memory:
// an abstract or a section is found better whole than in two halves.
const wholeUpTo = 4096

// consider judges one piece and makes a memory of it unless it is refused.
func (e *Engine) consider(ctx context.Context, draft int, d memtypes.Draft, now time.Time) (Remembered, memtypes.Memory, error) {
	r := Remembered{Draft: draft, Status: Stored}
	m, err := memtypes.New(d, now)
	if err != nil {
		return r, m, err
	}
	facts := admit.Facts{Now: now, ID: m.ID, Recalled: e.recent.of(d.Scope)}
	if e.rules.WantsSimilar(&d) {
		if facts.Similar, err = e.similar(ctx, &m); err != nil {
			return r, m, err
		}
	}
	v := e.rules.Check(d, facts)
	e.counts.judged(v.Code)
	if err := v.Err(); err != nil && memtypes.CodeOf(err) == memtypes.Invalid {
		return r, m, err
	}
	if r.Code, r.Reason, r.Of = v.Code, v.Reason, v.Of; v.Action == admit.Refuse {
		r.Status = Refused
		return r, m, nil
	}
	if v.Action == admit.Redact {
		if m, err = memtypes.New(v.Draft, now); err != nil {
			return r, m, err
		}
	}
	r.ID = m.ID
	return r, m, nil
}

// How many memories admission compares a draft with, and by how many of its words they are found.
const (
	similarKept  = 4
	similarWords = 32
)

// similar finds what m may be a duplicate of. Without the index nothing is:
// what doubt lets in, a later run can merge.
func (e *Engine) similar(ctx context.Context, m *memtypes.Memory) ([]memtypes.Memory, error) {
	tokens := e.parts.Analyzer.Tokens(ownText(m))
	if len(tokens) == 0 {
		return nil, nil
	}
	q := sparse.Query{Field: sparse.Text, K: similarKept, Filter: memtypes.Filter{
		Scope: m.Scope, Kinds: []memtypes.Kind{m.Kind}, Layers: []memtypes.Layer{m.Layer}}}
	seen := map[string]bool{}
	step := max(1, len(tokens)/similarWords) // words from all over the text
	for i := 0; i < len(tokens); i += step {
		if !seen[tokens[i]] {
			seen[tokens[i]] = true
			q.Terms = append(q.Terms, sparse.Term{Token: tokens[i]})
		}
	}
	found, err := e.indexes.Load().sparse.Search(ctx, q)
	if err != nil {
		return nil, nil
	}
	ids := make([]memtypes.ID, len(found))
	for i, s := range found {
		ids[i] = s.ID
	}
	return e.parts.Ledger.Get(ctx, m.Scope, ids)
}
