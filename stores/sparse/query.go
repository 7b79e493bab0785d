package sparse

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
)

// Search implements Index. No terms, or none that the tenant's documents hold,
// find nothing, without an error. What Check refuses is Invalid. A document
// frequency above the documents of the Stats counts as those.
// A session is its name within the tenant.
func (ix *Inverted) Search(ctx context.Context, q Query) ([]memtypes.Scored, error) {
	const op = "sparse.Search"
	if err := q.Check(op); err != nil {
		return nil, err
	}
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	if ctx.Err() != nil {
		return nil, canceled(op, ctx)
	}
	if ix.closed {
		return nil, closedError(op)
	}
	sh := ix.shards[q.Filter.Scope.Tenant()]
	if sh == nil {
		return nil, nil
	}
	s := ix.borrow()
	defer ix.giveBack(s)
	if !s.prepare(sh, &q) || !ix.admit(s, &q) {
		return nil, nil
	}
	s.exhaustive, s.widest = ix.options.Exhaustive, ix.widest
	if !s.run(ctx) {
		return nil, canceled(op, ctx)
	}
	return s.top.take(), nil
}

// borrow gives space for a search. It is kept from search to search, as it
// takes long to make: a third of a megabyte that begins as zeros.
func (ix *Inverted) borrow() *search {
	select {
	case s := <-ix.idle:
		return s
	default:
		return new(search)
	}
}

func (ix *Inverted) giveBack(s *search) {
	s.release()
	select {
	case ix.idle <- s:
	default: // enough are kept
	}
}

// maxBoost keeps the sums far from the end of single precision.
const maxBoost = 1e6

// Check refuses, for op, what no index can be asked, with Invalid: K below 1, an
// unknown field, no scope, a boost outside [0,1e6], a weight outside (0,1],
// negative Stats.
func (q *Query) Check(op string) error {
	if _, ok := q.Field.place(); !ok {
		return unknownField(op, q.Field)
	}
	if q.K < 1 {
		return memtypes.BadField(op, "k", q.K, "at least 1")
	}
	if q.Filter.Scope.IsZero() {
		return memtypes.BadField(op, "filter.scope", memtypes.Remark("none"), "the scope to search in")
	}
	if s := q.Stats; s != nil && (s.Docs < 0 || s.Tokens < 0) {
		return memtypes.BadField(op, "stats", memtypes.Remark(fmt.Sprintf("%d documents of %d tokens", s.Docs, s.Tokens)), "numbers from 0 up")
	}
	for i, t := range q.Terms {
		if !(t.Boost >= 0 && t.Boost <= maxBoost) {
			return memtypes.BadField(op, fmt.Sprintf("terms[%d].boost", i), t.Boost, "0 (for 1) to 1e6")
		}
		for j, n := range t.Near {
			if !(n.Weight > 0 && n.Weight <= 1) {
				return memtypes.BadField(op, fmt.Sprintf("terms[%d].near[%d].weight", i, j), n.Weight, "a number above 0, at most 1")
			}
		}
	}
	return nil
}

// prepare makes the clauses of q; it reports false if no document can match.
func (s *search) prepare(sh *shard, q *Query) bool {
	place, _ := q.Field.place()
	s.shard, s.place, s.field = sh, place, &sh.fields[place]
	if s.field.docs == 0 {
		return false
	}
	s.foreign = nil
	mean := float64(s.field.tokens) / float64(s.field.docs)
	if o := q.Stats; o != nil && o.Docs > 0 && o.Tokens > 0 {
		s.foreign, mean = o, float64(o.Tokens)/float64(o.Docs)
	}
	s.inverse.set(float32(q.Field.B()), float32(mean))
	s.cursors, s.clauses = s.cursors[:0], s.clauses[:0]
	for _, t := range merge(q.Terms) {
		boost := float32(cmp.Or(t.Boost, 1))
		from := len(s.cursors)
		s.addList(from, t.Token, boost)
		for _, n := range t.Near {
			s.addList(from, n.Token, boost*float32(n.Weight))
		}
		if len(s.cursors) > from {
			s.clauses = s.nextClause()
		}
	}
	s.tables = slices.Grow(s.tables[:0], len(s.cursors))[:len(s.cursors)]
	clear(s.tables)
	for i := range s.cursors { // only now that they move no more
		c := &s.cursors[i]
		c.table = &s.tables[i]
		c.most = c.list.peak.bound(c.weight, &s.inverse)
		of := &s.clauses[c.clause]
		if of.lists == nil {
			of.lists = s.cursors[i:i:len(s.cursors)]
		}
		of.lists = of.lists[:len(of.lists)+1]
	}
	s.top.reset(sh.docs, q.K, q.BySession)
	return len(s.clauses) > 0
}

// nextClause makes room for one more clause and keeps the space of an earlier one.
func (s *search) nextClause() []clause {
	if n := len(s.clauses); n < cap(s.clauses) {
		cs := s.clauses[:n+1]
		cs[n] = clause{best: cs[n].best}
		return cs
	}
	return append(s.clauses, clause{})
}

// addList adds the postings of token to the clause whose lists begin at from,
// unless it has them at no less.
func (s *search) addList(from int, token string, boost float32) {
	l := s.shard.list(s.place, token)
	if l == nil {
		return
	}
	weight := boost * s.idf(l, token)
	for i := from; i < len(s.cursors); i++ {
		if o := &s.cursors[i]; o.list == l {
			o.weight = max(o.weight, weight)
			return
		}
	}
	s.cursors = append(s.cursors, cursor{list: l, weight: weight, clause: len(s.clauses), bounded: -1})
}

// idf is that of l, which is the list of token, by the statistics of the query.
func (s *search) idf(l *list, token string) float32 {
	if o := s.foreign; o != nil {
		return idf(o.Docs, min(max(o.DocFreq[token], 0), o.Docs))
	}
	return idf(s.field.docs, int(l.df))
}

// merge adds up the boosts of terms that are alike, as Lucene does with a word
// said twice. Most queries have none.
func merge(terms []Term) []Term {
	for i := range terms {
		for j := range i {
			if alike(&terms[i], &terms[j]) {
				return mergeAll(terms)
			}
		}
	}
	return terms
}

func mergeAll(terms []Term) []Term {
	var out []Term
	for _, t := range terms {
		i := slices.IndexFunc(out, func(o Term) bool { return alike(&o, &t) })
		if i < 0 {
			out = append(out, t)
			continue
		}
		out[i].Boost = cmp.Or(out[i].Boost, 1) + cmp.Or(t.Boost, 1)
	}
	return out
}

func alike(a, b *Term) bool { return a.Token == b.Token && slices.Equal(a.Near, b.Near) }

// admit finds out which documents the filter of q admits; it reports false if
// there are none.
func (ix *Inverted) admit(s *search, q *Query) bool {
	in := s.shard.facets.Admitted(&q.Filter, func(id memtypes.ID) (uint32, bool) {
		at, ok := ix.held[id]
		return at.doc, ok && at.shard == s.shard
	})
	if s.filtered = in != nil; !s.filtered {
		return true
	}
	s.filter = slices.Grow(s.filter[:0], int(in.DenseSize()))[:in.DenseSize()]
	clear(s.filter)
	in.WriteDenseTo(s.filter)
	return !in.IsEmpty()
}
