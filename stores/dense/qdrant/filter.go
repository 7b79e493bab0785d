package qdrant

import (
	"math"
	"time"
	"unicode/utf8"

	qc "github.com/qdrant/go-client/qdrant"

	"github.com/vimbank/vimbank/memtypes"
)

// admitting is memtypes.Filter.Admits as a condition of the server. It is false
// where nothing can be admitted.
func admitting(f *memtypes.Filter) (*qc.Filter, bool) {
	out := alive()
	out.Must = append(out.Must, qc.NewMatchKeyword(keyTenant, f.Scope.Tenant()))
	for _, c := range []struct{ key, v string }{
		{keyUser, f.Scope.User()}, {keyAgent, f.Scope.Agent()}, {keyRun, f.Scope.Run()}, {keySession, f.Session},
	} {
		if !utf8.ValidString(c.v) {
			return nil, false // nothing is kept with such a name
		}
		if c.v != "" {
			out.Must = append(out.Must, qc.NewMatchKeyword(c.key, c.v))
		}
	}
	out.Must = append(out.Must, anyOf(keyKind, f.Kinds)...)
	out.Must = append(out.Must, anyOf(keyLayer, f.Layers)...)
	if r := between(f.From, f.To); r != nil {
		out.Must = append(out.Must, qc.NewRange(keyWhen, r))
	}
	if f.IDs == nil {
		return out, true
	}
	var ids []*qc.PointId
	for _, id := range f.IDs {
		if _, err := memtypes.ParseID(string(id)); err == nil { // nothing else is held
			ids = append(ids, qc.NewIDUUID(string(id)))
		}
	}
	out.Must = append(out.Must, qc.NewHasID(ids...))
	return out, len(ids) > 0
}

// anyOf is the condition that a field has one of the names, where some are given.
func anyOf[S ~string](key string, names []S) []*qc.Condition {
	if len(names) == 0 {
		return nil
	}
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return []*qc.Condition{qc.NewMatchKeywords(key, all...)}
}

// between is the seconds from from to before to, either of which may be zero.
// What is kept has whole seconds, so a bound within one is that of the next.
func between(from, to time.Time) *qc.Range {
	if from.IsZero() && to.IsZero() {
		return nil
	}
	r := &qc.Range{}
	if !from.IsZero() {
		r.Gte = new(ceiling(from))
	}
	if !to.IsZero() {
		r.Lt = new(ceiling(to))
	}
	return r
}

func ceiling(t time.Time) float64 {
	return float64(t.Unix()) + math.Ceil(float64(t.Nanosecond())/1e9)
}
