package elastic

import (
	"cmp"
	"slices"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// maxTerms is how many values one condition may have (index.max_terms_count).
const maxTerms = 65_536

func term(field string, value any) obj { return obj{"term": obj{field: value}} }

func terms[T any](field string, values []T) obj { return obj{"terms": obj{field: values}} }

// conditions is a filter as Elasticsearch has it: all of them must hold.
func (x *Index) conditions(f *memtypes.Filter) []any {
	s := f.Scope
	var out []any
	if !x.store.mutants.noTenant {
		out = append(out, term("tenant", s.Tenant()))
	}
	for _, c := range []struct{ field, value string }{{"user", s.User()}, {"agent", s.Agent()}, {"run", s.Run()}} {
		if c.value != "" && !x.store.mutants.noScope {
			out = append(out, term(c.field, c.value))
		}
	}
	if f.Session != "" {
		out = append(out, term("session", f.Session))
	}
	if len(f.Kinds) > 0 {
		out = append(out, terms("kind", f.Kinds))
	}
	if len(f.Layers) > 0 {
		out = append(out, terms("layer", f.Layers))
	}
	if during := between(f.From, f.To); len(during) > 0 {
		out = append(out, obj{"range": obj{"when": during}})
	}
	if f.IDs != nil {
		out = append(out, ids(f.IDs))
	}
	return out
}

// between is the range of seconds from from, before to. Times are kept in whole
// seconds, so a part of one counts as the next for both ends.
func between(from, to time.Time) obj {
	up := func(t time.Time) int64 {
		if t.Nanosecond() > 0 {
			return t.Unix() + 1
		}
		return t.Unix()
	}
	out := obj{}
	if !from.IsZero() {
		out["gte"] = up(from)
	}
	if !to.IsZero() {
		out["lt"] = up(to)
	}
	return out
}

func ids(all []memtypes.ID) obj {
	if len(all) <= maxTerms {
		return terms("id", all)
	}
	var some []any
	for part := range slices.Chunk(all, maxTerms) {
		some = append(some, terms("id", part))
	}
	return obj{"bool": obj{"should": some}}
}

// clause is one term of a query: the best of its spellings. named makes each say
// which of them a memory has.
func clause(f sparse.Field, t *sparse.Term, named bool) obj {
	of := func(token string, boost float32) obj {
		o := obj{"value": written(token), "boost": boost}
		if named {
			o["_name"] = token
		}
		return term(string(f), o)
	}
	boost := float32(cmp.Or(t.Boost, 1))
	if len(t.Near) == 0 {
		return of(t.Token, boost)
	}
	either := []any{of(t.Token, boost)}
	for _, n := range t.Near {
		either = append(either, of(n.Token, boost*float32(n.Weight)))
	}
	return obj{"dis_max": obj{"queries": either}}
}

// query is q as Elasticsearch has it: any term must match, and all conditions
// hold, which add nothing to the score.
func (x *Index) query(q *sparse.Query, named bool) obj {
	var should []any
	for i := range q.Terms {
		should = append(should, clause(q.Field, &q.Terms[i], named))
	}
	return obj{"bool": obj{
		"must":   []any{obj{"bool": obj{"should": should}}},
		"filter": x.conditions(&q.Filter),
	}}
}
