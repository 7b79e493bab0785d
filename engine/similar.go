package engine

import (
	"context"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// Unchecked counts drafts in Stats.Verdicts, besides their verdict, that could
// not be compared with all that is there, because the index did not answer: a
// duplicate may have been let in.
const Unchecked admit.Code = "unchecked"

// How many memories admission compares a draft with, and by how many of its words they are found.
const (
	similarKept  = 4
	similarWords = 32
)

// similar finds what m may be a duplicate of. Without the index nothing is:
// what doubt lets in, a later run can merge.
func (in *intake) similar(ctx context.Context, m *memtypes.Memory) ([]memtypes.Memory, error) {
	if like, ok := in.like[m.ID]; ok {
		return like, nil
	}
	e := in.engine
	q := e.likeness(m)
	if len(q.Terms) == 0 {
		return nil, nil
	}
	found, err := e.indexes.Load().sparse.Search(ctx, q)
	if err != nil {
		e.counts.judged(Unchecked)
	}
	return e.parts.Ledger.Get(ctx, m.Scope, idsOf(found))
}

// ahead finds what all drafts of a call may be duplicates of, where the index
// is a service: one question instead of one for each.
func (in *intake) ahead(ctx context.Context, parts [][]memtypes.Draft) error {
	many, ok := in.engine.indexes.Load().sparse.(sparse.Many)
	if !ok {
		return nil
	}
	var asked []memtypes.Memory
	var qs []sparse.Query
	for _, pieces := range parts {
		for _, d := range pieces {
			if !in.engine.rules.WantsSimilar(&d) {
				continue
			}
			m, err := memtypes.New(d, in.now)
			if err != nil {
				return err
			}
			if q := in.engine.likeness(&m); len(q.Terms) > 0 {
				asked, qs = append(asked, m), append(qs, q)
			}
		}
	}
	if len(qs) == 0 {
		return nil
	}
	found, err := many.SearchMany(ctx, qs)
	if err != nil {
		for range qs {
			in.engine.counts.judged(Unchecked)
		}
	}
	return in.readLike(ctx, asked, found)
}

// readLike reads what was found for each of asked.
func (in *intake) readLike(ctx context.Context, asked []memtypes.Memory, found [][]memtypes.Scored) error {
	want := map[memtypes.Scope][]memtypes.ID{}
	for i := range found {
		want[asked[i].Scope] = append(want[asked[i].Scope], idsOf(found[i])...)
	}
	type place struct {
		scope memtypes.Scope
		id    memtypes.ID
	}
	have := map[place]memtypes.Memory{}
	for scope, ids := range want {
		for from := 0; from < len(ids); from += fetchBatch {
			some, err := in.engine.parts.Ledger.Get(ctx, scope, ids[from:min(from+fetchBatch, len(ids))])
			if err != nil {
				return err
			}
			for i := range some {
				have[place{scope, some[i].ID}] = some[i]
			}
		}
	}
	in.like = make(map[memtypes.ID][]memtypes.Memory, len(asked))
	for i := range asked {
		m := &asked[i]
		in.like[m.ID] = nil
		if i >= len(found) {
			continue // the index did not answer
		}
		for _, s := range found[i] {
			if other, ok := have[place{m.Scope, s.ID}]; ok {
				in.like[m.ID] = append(in.like[m.ID], other)
			}
		}
	}
	return nil
}

// likeness asks for what m may be a duplicate of: by words from all over the text.
func (e *Engine) likeness(m *memtypes.Memory) sparse.Query {
	tokens := e.parts.Analyzer.Tokens(ownText(m))
	q := sparse.Query{Field: sparse.Text, K: similarKept, Filter: memtypes.Filter{
		Scope: m.Scope, Kinds: []memtypes.Kind{m.Kind}, Layers: []memtypes.Layer{m.Layer}}}
	seen := map[string]bool{}
	step := max(1, len(tokens)/similarWords)
	for i := 0; i < len(tokens); i += step {
		if !seen[tokens[i]] {
			seen[tokens[i]] = true
			q.Terms = append(q.Terms, sparse.Term{Token: tokens[i]})
		}
	}
	return q
}

func idsOf(found []memtypes.Scored) []memtypes.ID {
	ids := make([]memtypes.ID, len(found))
	for i, s := range found {
		ids[i] = s.ID
	}
	return ids
}
