package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
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
	var hits [][]memtypes.Hit
	var mu sync.Mutex // guards hits and a.Candidates
	err = eachKind(q.Kinds, func(kind memtypes.Kind) error {
		found, err := s.kind(ctx, kind)
		if err != nil {
			return err
		}
		ranked := fusion.Rank(found.query, found.candidates, profile, &e.opts.Fusion)
		mu.Lock()
		defer mu.Unlock()
		hits, a.Candidates = append(hits, ranked), a.Candidates+len(found.candidates)
		return nil
	})
	if err != nil {
		return nil, err
	}
	a.Hits = fusion.Merge(hits, cmp.Or(q.K, 10))
	if !q.Quiet {
		e.recalled(q.Scope, a.Hits, a.Now)
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

// eachKind runs f for the kinds, side by side, and joins their errors.
func eachKind(kinds []memtypes.Kind, f func(memtypes.Kind) error) error {
	if len(kinds) == 0 {
		kinds = memtypes.Kinds()
	}
	kinds = slices.Compact(slices.Sorted(slices.Values(kinds)))
	errs := make([]error, len(kinds))
	var wg sync.WaitGroup
	for i, k := range kinds {
		wg.Go(func() { errs[i] = f(k) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// recalled strengthens what was shown and remembers it, to know its echo.
func (e *Engine) recalled(scope memtypes.Scope, hits []memtypes.Hit, now time.Time) {
	for i := range hits {
		e.recent.add(scope, &hits[i].Memory, now)
	}
	e.reinforce.add(hits, now)
}

// retention is what the curve leaves of m at now.
func (e *Engine) retention(m *memtypes.Memory, now time.Time) float64 {
	return e.opts.Forgetting.Retention(m.Strength, m.Created, now)
}
