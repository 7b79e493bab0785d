package sparsetest

import (
	"cmp"
	"math"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// model is what an Index means, written for the reader: every document is
// looked at for every query, in double precision.
type model struct {
	docs  map[memtypes.ID]sparse.Doc
	gone  map[memtypes.ID]uint64
	stats *statistics // in the place of those of docs
}

func newModel() *model {
	return &model{docs: map[memtypes.ID]sparse.Doc{}, gone: map[memtypes.ID]uint64{}}
}

func (m *model) upsert(docs []sparse.Doc) {
	for _, d := range docs {
		if old, ok := m.docs[d.ID]; ok && d.Rev < old.Rev || !ok && d.Rev < m.gone[d.ID] {
			continue
		}
		m.docs[d.ID] = d
		delete(m.gone, d.ID)
	}
}

func (m *model) remove(ids []memtypes.ID, rev uint64) {
	for _, id := range ids {
		if old, ok := m.docs[id]; ok && old.Rev > rev {
			continue
		}
		delete(m.docs, id)
		m.gone[id] = max(m.gone[id], rev)
	}
}

// search scores and sorts everything that q admits.
func (m *model) search(q sparse.Query) []memtypes.Scored {
	s := m.statistics(q.Filter.Scope.Tenant(), q.Field)
	best := map[string]memtypes.Scored{}
	for id, d := range m.docs {
		hit := memtypes.Scored{ID: id, Score: s.score(d.Fields[q.Field], q)}
		if hit.Score == 0 || !q.Filter.Admits(id, d.Facets) {
			continue
		}
		key := "id " + string(id)
		if q.BySession && d.Facets.Session != "" {
			key = "session " + d.Facets.Session
		}
		if old, ok := best[key]; !ok || compare(hit, old) < 0 {
			best[key] = hit
		}
	}
	hits := make([]memtypes.Scored, 0, len(best))
	for _, h := range best {
		hits = append(hits, h)
	}
	slices.SortFunc(hits, compare)
	return hits[:min(q.K, len(hits))]
}

// compare orders by descending score, then by ID. Scores are taken as single
// precision, in which backends compute.
func compare(a, b memtypes.Scored) int {
	return cmp.Or(cmp.Compare(float32(b.Score), float32(a.Score)), cmp.Compare(a.ID, b.ID))
}

// statistics of one field of one tenant.
type statistics struct {
	docs   float64
	tokens float64
	df     map[string]float64
}

func (m *model) statistics(tenant string, f sparse.Field) statistics {
	if m.stats != nil {
		return *m.stats
	}
	s := statistics{df: map[string]float64{}}
	for _, d := range m.docs {
		tokens := d.Fields[f]
		if d.Facets.Scope.Tenant() != tenant || len(tokens) == 0 {
			continue
		}
		s.docs++
		s.tokens += float64(len(tokens))
		for t := range counts(tokens) {
			s.df[t]++
		}
	}
	return s
}

func counts(tokens []string) map[string]int {
	n := map[string]int{}
	for _, t := range tokens {
		n[t]++
	}
	return n
}

// score is the contract's formula.
func (s *statistics) score(tokens []string, q sparse.Query) float64 {
	if len(tokens) == 0 {
		return 0
	}
	tf := counts(tokens)
	of := func(token string) float64 {
		if tf[token] == 0 {
			return 0
		}
		idf := math.Log(1 + (s.docs-s.df[token]+.5)/(s.df[token]+.5))
		norm := sparse.K1 * (1 - q.Field.B() + q.Field.B()*float64(Length(len(tokens)))/(s.tokens/s.docs))
		return idf * float64(tf[token]) / (float64(tf[token]) + norm)
	}
	sum := 0.0
	for _, t := range q.Terms {
		most := of(t.Token)
		for _, n := range t.Near {
			most = max(most, n.Weight*of(n.Token))
		}
		sum += cmp.Or(t.Boost, 1) * most
	}
	return sum
}

// Length is what is left of a length of n tokens after Lucene's one byte:
// exact below 40; above, what is over 24 keeps its 4 leading bits.
func Length(n int) int {
	if n < 40 {
		return n
	}
	step := 1
	for (n-24)/step >= 16 {
		step *= 2
	}
	return 24 + (n-24)/step*step
}
