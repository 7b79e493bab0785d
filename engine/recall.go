package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/timeword"
)

// Answer is what Recall found.
type Answer struct {
	Hits    []memtypes.Hit `json:"hits"`    // best first
	Profile fusion.Profile `json:"profile"` // that ranked them
	Now     time.Time      `json:"now"`     // the moment it was asked for
	// Times are the time words that the query names, as they were understood.
	Times []timeword.Range `json:"times,omitempty"`
	// Degraded names the indexes that did not answer or lag behind, with the cause.
	Degraded map[string]string `json:"degraded,omitempty"`
	// Candidates is how many memories were weighed.
	Candidates int `json:"candidates"`
}

// catchUpWait bounds how long a recall waits for an index to follow the
// ledger; what it lacks after that is said in Degraded.
const catchUpWait = 2 * time.Second

// Recall finds the memories that fit q best, ranked by its profile. Every hit
// is active and within q.Scope at the time of the answer, whatever the indexes
// say. Unless q.Quiet, the memories found are strengthened. With one index
// down the other answers and the answer says so; with both down, or without
// the ledger, it is Unavailable.
func (e *Engine) Recall(ctx context.Context, q memtypes.Query) (*Answer, error) {
	const op = "engine.Recall"
	if err := cmp.Or(e.open(op), q.Check()); err != nil {
		return nil, err
	}
	profile, err := fusion.ParseProfile(cmp.Or(q.Profile, string(e.opts.Profile)))
	if err != nil {
		return nil, err
	}
	a := &Answer{Profile: profile, Now: q.Now.UTC(), Degraded: map[string]string{}}
	if q.Now.IsZero() {
		a.Now = e.now()
	}
	a.Times = timeword.Find(q.Text, a.Now)
	if err := e.catchUpFor(ctx, a); err != nil {
		return nil, err
	}
	s, err := e.prepare(ctx, q, profile, a)
	if err != nil {
		return nil, err
	}
	all, err := s.kinds(ctx, q.Kinds)
	if err != nil {
		return nil, err
	}
	s.query.Stats = stats(all)
	var candidates []fusion.Candidate
	for _, f := range all {
		candidates = append(candidates, f.candidates...)
	}
	if a.Candidates = len(candidates); a.Candidates == 0 {
		if err := s.unanswered(); err != nil {
			return nil, err
		}
	}
	a.Hits, err = s.settle(ctx, fusion.Rank(s.query, candidates, profile, &e.opts.Fusion), cmp.Or(q.K, 10))
	if err != nil {
		return nil, err
	}
	if !q.Quiet {
		e.recalled(q.Scope, q.Text, a.Hits, a.Now)
	}
	e.counts.recalls.Add(1)
	return a, nil
}

// catchUpFor follows the ledger before a recall, for a bounded time.
func (e *Engine) catchUpFor(ctx context.Context, a *Answer) error {
	bounded, cancel := context.WithTimeout(ctx, catchUpWait)
	defer cancel()
	late, err := e.catchUp(bounded)
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		a.Degraded["indexes"] = "behind the ledger"
		return nil
	}
	for name, cause := range late {
		if cause != nil {
			a.Degraded[name] = cause.Error()
		}
	}
	if e.foreign.Load() {
		a.Degraded["dense"] = "vectors of another embedder; run a rebuild"
	}
	return err
}

// recalled strengthens what was shown and remembers it, to know its echo.
func (e *Engine) recalled(scope memtypes.Scope, question string, hits []memtypes.Hit, now time.Time) {
	for i := range hits {
		e.recent.add(scope, question, &hits[i].Memory, now)
	}
	e.reinforce.add(hits, now)
}

// retention is what the curve leaves of m at now.
func (e *Engine) retention(m *memtypes.Memory, now time.Time) float64 {
	return e.opts.Forgetting.Retention(m.Strength, m.Created, now)
}
