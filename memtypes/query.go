package memtypes

import (
	"slices"
	"time"
)

// MaxK bounds how many hits one query may ask for.
const MaxK = 1000

// Query is a question to the engine.
type Query struct {
	Scope   Scope
	Text    string
	Kinds   []Kind    // empty: all
	K       int       // 1..MaxK; zero means 10
	Now     time.Time // when it is asked; zero means the engine's clock
	From    time.Time // only memories at or after; zero: no bound
	To      time.Time // only memories before; zero: no bound
	Session string    // only memories of this session; empty: all
	Profile string    // a fusion profile; empty means the engine's default
	// Quiet leaves the recalled memories' strength alone: for evaluation and browsing.
	Quiet bool
}

// Check refuses what cannot be asked, with Invalid.
func (q *Query) Check() error {
	const op = "memtypes.Query"
	if q.Scope.IsZero() {
		return BadField(op, "scope", Remark("none of user, agent, run"), "at least one of them")
	}
	if err := CheckText(op, "query", q.Text); err != nil {
		return err
	}
	if q.K < 0 || q.K > MaxK {
		return BadField(op, "k", q.K, "1 to 1000, or 0 for the default")
	}
	for _, k := range q.Kinds {
		if _, err := ParseKind(string(k)); err != nil {
			return err
		}
	}
	if !q.From.IsZero() && !q.To.IsZero() && !q.From.Before(q.To) {
		return BadField(op, "from", q.From.Format(time.RFC3339), "a time before to, "+q.To.Format(time.RFC3339))
	}
	return nil
}

// Reason is one number that made a hit's score.
type Reason struct {
	Name   string  `json:"name"`   // "turn", "context", "retention": the channel or feature
	Value  float64 `json:"value"`  // as measured, in the feature's own unit
	Weight float64 `json:"weight"` // what the profile gives it
	Points float64 `json:"points"` // what it added to the score; the points of a hit sum to its Score
}

// Hit is one memory found, with everything that made its score.
type Hit struct {
	Memory    Memory   `json:"memory"`
	Score     float64  `json:"score"`     // in [0,1], comparable within one answer
	Retention float64  `json:"retention"` // of the forgetting curve at the time of asking, in [0,1]
	Reasons   []Reason `json:"reasons"`
	Same      []ID     `json:"same,omitempty"` // memories of the same text, folded onto this hit
}

// Vector is a dense embedding.
type Vector []float32

// Scored is an ID with the score one index gave it.
type Scored struct {
	ID    ID
	Score float64
}

// Facets is what an index knows of a memory to filter by.
type Facets struct {
	Scope   Scope
	Kind    Kind
	Layer   Layer
	Session string
	When    time.Time // Memory.When, with second precision
}

// FacetsOf takes the facets of m.
func FacetsOf(m *Memory) Facets {
	return Facets{Scope: m.Scope, Kind: m.Kind, Layer: m.Layer, Session: m.Talk.Session, When: m.When().Truncate(time.Second)}
}

// Filter says which memories a search may return. Scope must be given; every
// other zero field does not restrict.
type Filter struct {
	Scope   Scope
	Kinds   []Kind // any of
	Layers  []Layer
	Session string
	From    time.Time // at or after
	To      time.Time // before
	IDs     []ID      // any of; nil does not restrict, an empty non-nil list admits nothing
}

// Admits is the meaning of a Filter, for a memory with id and f: what every
// index must agree with.
func (q *Filter) Admits(id ID, f Facets) bool {
	return q.Scope.Covers(f.Scope) &&
		(len(q.Kinds) == 0 || slices.Contains(q.Kinds, f.Kind)) &&
		(len(q.Layers) == 0 || slices.Contains(q.Layers, f.Layer)) &&
		(q.Session == "" || q.Session == f.Session) &&
		(q.IDs == nil || slices.Contains(q.IDs, id)) &&
		(q.From.IsZero() || !f.When.Before(q.From)) &&
		(q.To.IsZero() || f.When.Before(q.To))
}

// Gone is a memory that an index is to forget, as of a revision.
type Gone struct {
	ID     ID
	Tenant string
	Rev    uint64
}
