package fusion

import (
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Candidate is a memory that at least one channel found.
type Candidate struct {
	Memory memtypes.Memory
	Scores Scores
	// Retention is what the forgetting curve leaves of it, in [0,1]; it is
	// handed on to the hit and weighs nothing here.
	Retention float64
}

// Query is what the ranking may know of the question.
type Query struct {
	Text string
	// Now is when it is asked; the zero Now means not known, and then age
	// weighs nothing.
	Now time.Time
	// Spans are the times that the text names (package timeword finds them).
	Spans []Span
	// Stats describes a channel's answer over all kinds, where the candidates
	// do not hold all of it; nil or missing: the candidates do.
	Stats map[Channel]Stat
}

// Span is a time that the query names: [From,To).
type Span struct {
	From, To time.Time
	// Day says that a single day is meant, or less.
	Day bool
}

// holds reports whether t lies in the span.
func (s Span) holds(t time.Time) bool { return !t.Before(s.From) && t.Before(s.To) }

// late reports whether t lies within ten days after the span: what happened in
// May is often told in June.
func (s Span) late(t time.Time) bool {
	return !t.Before(s.To) && t.Before(s.To.Add(10*24*time.Hour))
}

// Options tunes what the equations leave open. The zero value is ready to use.
type Options struct {
	// Unit is the unit of T-t in eq. 5. Zero means one day.
	Unit time.Duration
	// DialogueLambda is lambda of eq. 5 for dialogue, for one Unit. Zero means .01.
	DialogueLambda float64
	// TaskLambda is lambda of eq. 5 for tasks, which the paper wants stronger.
	// Zero means .05.
	TaskLambda float64
}
