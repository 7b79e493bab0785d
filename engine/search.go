package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/timeword"
)

// depth is how many memories each channel proposes, at least: as many as the
// ranking must see. More were measured, and found nothing more.
const depth = fusion.Depth

// search is one query on its way through the indexes.
type search struct {
	engine   *Engine
	ix       *indexes
	query    fusion.Query
	filter   memtypes.Filter
	profile  fusion.Profile
	terms    []sparse.Term   // of the query's words
	vector   memtypes.Vector // nil: the dense channels are left out
	depth    int
	degraded *degraded
	answered atomic.Bool // an index answered wholly
}

// degraded collects what went wrong without stopping the recall.
type degraded struct {
	mu    sync.Mutex
	cause map[string]string // guarded by mu; shared with the Answer
}

func (d *degraded) add(name string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cause[name] = err.Error()
}

// any is one of the causes, or empty.
func (d *degraded) any() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(d.cause)) {
		return name + ": " + d.cause[name]
	}
	return ""
}

// prepare turns q into terms and a vector.
func (e *Engine) prepare(ctx context.Context, q memtypes.Query, p fusion.Profile, a *Answer) (*search, error) {
	s := &search{
		engine: e, ix: e.indexes.Load(), profile: p, depth: max(depth, 2*cmp.Or(q.K, 10)),
		query:    fusion.Query{Text: q.Text, Now: a.Now, Spans: spans(a.Times)},
		filter:   memtypes.Filter{Scope: q.Scope, Session: q.Session, From: q.From, To: q.To},
		degraded: &degraded{cause: a.Degraded},
	}
	if err := e.terms(ctx, s, p); err != nil {
		return nil, err
	}
	if !e.withoutDense() && slices.ContainsFunc(p.Needs(q.Kinds...), isDense) {
		vs, err := llm.EmbedQuery(ctx, e.parts.Embedder, []string{q.Text})
		if err != nil {
			if ctx.Err() != nil {
				return nil, memtypes.Errorf("engine.Recall", memtypes.Canceled, "%w", ctx.Err())
			}
			s.degraded.add("dense", err)
		} else {
			s.vector = vs[0]
		}
	}
	return s, nil
}

func isDense(c fusion.Channel) bool { return c == fusion.Vector || c == fusion.Context }

func spans(rs []timeword.Range) []fusion.Span {
	out := make([]fusion.Span, len(rs))
	for i, r := range rs {
		out[i] = fusion.Span{From: r.From, To: r.To, Day: r.Unit == timeword.Day}
	}
	return out
}

// kinds gathers the candidates of the kinds (empty: of all), side by side.
func (s *search) kinds(ctx context.Context, kinds []memtypes.Kind) ([]*found, error) {
	if len(kinds) == 0 {
		kinds = memtypes.Kinds()
	}
	kinds = slices.Compact(slices.Sorted(slices.Values(kinds)))
	all := make([]*found, len(kinds))
	g, ctx := errgroup.WithContext(ctx)
	for i, k := range kinds {
		g.Go(func() (err error) { all[i], err = s.kind(ctx, k); return err })
	}
	return all, g.Wait()
}

// found is what the channels and the ledger know of one kind.
type found struct {
	lists      map[fusion.Channel][]memtypes.Scored // each channel's own answer
	candidates []fusion.Candidate
}

// kind gathers the candidates of one kind: the union of what the channels
// propose, each with the scores of all channels, as the ledger has them now.
func (s *search) kind(ctx context.Context, kind memtypes.Kind) (*found, error) {
	filter := s.filter
	filter.Kinds = []memtypes.Kind{kind}
	f := &found{}
	var err error
	channels := s.profile.Needs(kind)
	f.lists, err = s.each(ctx, channels, func(fusion.Channel) (memtypes.Filter, int, bool) { return filter, s.depth, true })
	if err != nil {
		return nil, err
	}
	scores := map[memtypes.ID]*fusion.Scores{}
	for c, list := range f.lists {
		note(scores, c, list)
	}
	// What one channel proposed gets its scores from the others too, unless
	// those have said everything already.
	more, err := s.each(ctx, channels, func(c fusion.Channel) (memtypes.Filter, int, bool) {
		rest := filter
		rest.IDs = lacking(scores, c)
		return rest, len(rest.IDs), len(f.lists[c]) >= s.depth && len(rest.IDs) > 0
	})
	if err != nil {
		return nil, err
	}
	for c, list := range more {
		note(scores, c, list)
	}
	f.candidates, err = s.fetch(ctx, scores)
	return f, err
}

// lacking are the memories that c has not scored.
func lacking(scores map[memtypes.ID]*fusion.Scores, c fusion.Channel) []memtypes.ID {
	ids := []memtypes.ID{}
	for id, sc := range scores {
		if _, has := sc.Get(c); !has {
			ids = append(ids, id)
		}
	}
	return ids
}

// stats describes each channel's answer over all kinds together, so that a
// share of the best means the same for each of them.
func stats(all []*found) map[fusion.Channel]fusion.Stat {
	values := map[fusion.Channel][]float64{}
	for _, f := range all {
		for c, list := range f.lists {
			for _, x := range list {
				values[c] = append(values[c], x.Score)
			}
		}
	}
	out := map[fusion.Channel]fusion.Stat{}
	for c, vs := range values {
		slices.SortFunc(vs, func(a, b float64) int { return cmp.Compare(b, a) })
		out[c] = fusion.StatOf(vs)
	}
	return out
}

func note(scores map[memtypes.ID]*fusion.Scores, c fusion.Channel, list []memtypes.Scored) {
	for _, x := range list {
		if scores[x.ID] == nil {
			scores[x.ID] = &fusion.Scores{}
		}
		scores[x.ID].Set(c, x.Score)
	}
}

// fetch makes candidates of the memories that the ledger shows.
func (s *search) fetch(ctx context.Context, scores map[memtypes.ID]*fusion.Scores) ([]fusion.Candidate, error) {
	ids := slices.Sorted(maps.Keys(scores))
	mems := make(map[memtypes.ID]*memtypes.Memory, len(ids))
	missing, ticket := s.engine.shelf.take(ids, mems)
	for chunk := range slices.Chunk(missing, fetchBatch) {
		read, err := s.engine.parts.Ledger.Get(ctx, s.filter.Scope, chunk)
		if err != nil {
			return nil, err
		}
		for i := range read {
			mems[read[i].ID] = &read[i]
			s.engine.shelf.put(&read[i], ticket)
		}
	}
	out := make([]fusion.Candidate, 0, len(mems))
	for _, id := range ids {
		if m := mems[id]; m != nil && m.State == memtypes.Active && s.filter.Scope.Covers(m.Scope) {
			out = append(out, fusion.Candidate{Memory: *m, Scores: *scores[id]})
		}
	}
	return out, nil
}

// fetchBatch bounds one read of the ledger.
const fetchBatch = 512

// settle reads the first k hits from the ledger as it is now: one that is not
// active, not in scope or not there any more is left out, and the next one
// takes its place.
func (s *search) settle(ctx context.Context, hits []memtypes.Hit, k int) ([]memtypes.Hit, error) {
	out := make([]memtypes.Hit, 0, min(k, len(hits)))
	for len(out) < k && len(hits) > 0 {
		n := min(k-len(out), len(hits))
		ids := make([]memtypes.ID, n)
		for i := range ids {
			ids[i] = hits[i].Memory.ID
		}
		now, err := s.engine.parts.Ledger.Get(ctx, s.filter.Scope, ids)
		if err != nil {
			return nil, err
		}
		fresh := make(map[memtypes.ID]*memtypes.Memory, n)
		for i := range now {
			fresh[now[i].ID] = &now[i]
		}
		for _, h := range hits[:n] {
			if m := fresh[h.Memory.ID]; m != nil && m.State == memtypes.Active {
				h.Memory, h.Retention = *m, s.engine.retention(m, s.query.Now)
				out = append(out, h)
			}
		}
		hits = hits[n:]
	}
	return out, nil
}

// each asks every one of channels that plan wants asked, words and vectors side by
// side. An index that fails is degraded and left out; if both fail, or the
// only one, the recall is Unavailable, unless there are tails: see unanswered.
func (s *search) each(ctx context.Context, channels []fusion.Channel, plan func(fusion.Channel) (memtypes.Filter, int, bool)) (map[fusion.Channel][]memtypes.Scored, error) {
	out := map[fusion.Channel][]memtypes.Scored{}
	var mu sync.Mutex // guards out and what ask returns
	ask := func(want bool) (asked bool, failed error) {
		var wg sync.WaitGroup
		for _, c := range channels {
			f, k, ok := plan(c)
			if isDense(c) != want || !ok || want && s.vector == nil || !want && len(s.terms) == 0 {
				continue
			}
			one := func() {
				list, err := s.one(ctx, c, f, k)
				mu.Lock()
				defer mu.Unlock()
				if asked, failed = true, cmp.Or(failed, err); err == nil || s.tailed() {
					out[c] = list
				}
			}
			if s.tailed() { // a service is waited for, and not for one after the other
				wg.Go(one)
			} else if one(); failed != nil {
				break
			}
		}
		wg.Wait()
		return asked, failed
	}
	var denseAsked bool
	var denseErr error
	var wg sync.WaitGroup
	wg.Go(func() { denseAsked, denseErr = ask(true) })
	wordsAsked, wordsErr := ask(false)
	wg.Wait()
	return out, s.verdict(ctx, denseErr, wordsErr, denseAsked && denseErr == nil, wordsAsked && wordsErr == nil)
}

// tailed reports whether the indexes have tails, which find even while their
// services do not answer.
func (s *search) tailed() bool {
	_, ok := s.ix.sparse.(tailed)
	return ok
}

// verdict decides whether a recall can go on with what it has.
func (s *search) verdict(ctx context.Context, denseErr, wordsErr error, byDense, byWords bool) error {
	const op = "engine.Recall"
	if err := ctx.Err(); err != nil {
		return memtypes.Errorf(op, memtypes.Canceled, "%w", err)
	}
	if denseErr != nil {
		s.degraded.add("dense", denseErr)
	}
	if wordsErr != nil {
		s.degraded.add("sparse", wordsErr)
	}
	if byDense || byWords {
		s.answered.Store(true)
	}
	if s.tailed() {
		return nil
	}
	if (denseErr != nil || wordsErr != nil) && !byDense && !byWords {
		return memtypes.Errorf(op, memtypes.Unavailable, "no index answers: %w", cmp.Or(wordsErr, denseErr))
	}
	return nil
}

// unanswered is why a recall that found nothing is no answer: there are tails
// to look at, but no service said that there is nothing more.
func (s *search) unanswered() error {
	if !s.tailed() || s.answered.Load() {
		return nil
	}
	if why := s.degraded.any(); why != "" {
		return memtypes.Errorf("engine.Recall", memtypes.Unavailable, "no index answers: %s", why)
	}
	return nil
}

// one asks one channel.
func (s *search) one(ctx context.Context, c fusion.Channel, f memtypes.Filter, k int) ([]memtypes.Scored, error) {
	switch c {
	case fusion.Vector:
		return s.ix.dense.Search(ctx, dense.Query{Vector: s.vector, Space: dense.Text, K: k, Filter: f})
	case fusion.Context:
		return s.ix.dense.Search(ctx, dense.Query{Vector: s.vector, Space: dense.Context, K: k, Filter: f})
	}
	return s.ix.sparse.Search(ctx, sparse.Query{Field: fieldOf(c), Terms: s.terms, K: k, Filter: f})
}

func fieldOf(c fusion.Channel) sparse.Field {
	switch c {
	case fusion.Turn:
		return sparse.Turn
	case fusion.Window:
		return sparse.Window
	}
	return sparse.Text
}
