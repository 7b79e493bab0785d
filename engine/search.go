package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/timeword"
)

// depth is how many memories each channel proposes, at least.
const depth = 200

// search is one query on its way through the indexes.
type search struct {
	engine   *Engine
	ix       *indexes
	query    fusion.Query
	filter   memtypes.Filter
	channels []fusion.Channel
	terms    []sparse.Term   // of the query's words
	vector   memtypes.Vector // nil: the dense channels are left out
	depth    int
	degraded *degraded
}

// degraded collects what went wrong without stopping the recall.
type degraded struct {
	mu    sync.Mutex
	cause map[string]string // guarded by mu; shared with the Answer
	err   error             // the last cause
}

func (d *degraded) add(name string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cause[name], d.err = err.Error(), err
}

// prepare turns q into terms and a vector.
func (e *Engine) prepare(ctx context.Context, q memtypes.Query, p fusion.Profile, a *Answer) (*search, error) {
	s := &search{
		engine: e, ix: e.indexes.Load(), channels: p.Needs(), depth: max(depth, 2*cmp.Or(q.K, 10)),
		query:    fusion.Query{Text: q.Text, Now: a.Now, Spans: spans(a.Times)},
		filter:   memtypes.Filter{Scope: q.Scope, Session: q.Session, From: q.From, To: q.To},
		degraded: &degraded{cause: a.Degraded},
	}
	if err := e.terms(ctx, s, p); err != nil {
		return nil, err
	}
	if !e.withoutDense() && slices.ContainsFunc(s.channels, isDense) {
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

// kindFound is what the indexes and the ledger know of one kind.
type kindFound struct {
	query      fusion.Query
	candidates []fusion.Candidate
}

// kind gathers the candidates of one kind: the union of what the channels
// propose, each with the scores of all channels, as the ledger has them now.
func (s *search) kind(ctx context.Context, kind memtypes.Kind) (*kindFound, error) {
	filter := s.filter
	filter.Kinds = []memtypes.Kind{kind}
	lists, err := s.each(ctx, func(fusion.Channel) (memtypes.Filter, int, bool) { return filter, s.depth, true })
	if err != nil {
		return nil, err
	}
	found := &kindFound{query: s.query}
	found.query.Stats = map[fusion.Channel]fusion.Stat{}
	scores := map[memtypes.ID]*fusion.Scores{}
	for c, list := range lists {
		found.query.Stats[c] = statOf(list)
		note(scores, c, list)
	}
	// What one channel proposed gets its scores from the others too.
	lists, err = s.each(ctx, func(c fusion.Channel) (memtypes.Filter, int, bool) {
		f := filter
		f.IDs = []memtypes.ID{}
		for id, sc := range scores {
			if _, has := sc.Get(c); !has {
				f.IDs = append(f.IDs, id)
			}
		}
		_, answered := found.query.Stats[c]
		return f, len(f.IDs), answered && len(f.IDs) > 0 && len(lists[c]) >= s.depth
	})
	if err != nil {
		return nil, err
	}
	for c, list := range lists {
		note(scores, c, list)
	}
	return found, s.fetch(ctx, scores, found)
}

func statOf(list []memtypes.Scored) fusion.Stat {
	values := make([]float64, len(list))
	for i, x := range list {
		values[i] = x.Score
	}
	return fusion.StatOf(values)
}

func note(scores map[memtypes.ID]*fusion.Scores, c fusion.Channel, list []memtypes.Scored) {
	for _, x := range list {
		if scores[x.ID] == nil {
			scores[x.ID] = &fusion.Scores{}
		}
		scores[x.ID].Set(c, x.Score)
	}
}

// fetch makes candidates of the memories that the ledger still shows.
func (s *search) fetch(ctx context.Context, scores map[memtypes.ID]*fusion.Scores, found *kindFound) error {
	ids := slices.Sorted(maps.Keys(scores))
	mems, err := s.engine.parts.Ledger.Get(ctx, s.filter.Scope, ids)
	if err != nil {
		return err
	}
	for _, m := range mems {
		if m.State == memtypes.Active {
			found.candidates = append(found.candidates, fusion.Candidate{
				Memory: m, Scores: *scores[m.ID], Retention: s.engine.retention(&m, s.query.Now)})
		}
	}
	return nil
}

// each asks every channel that plan wants asked, words and vectors side by
// side. An index that fails is degraded and left out; if both fail, or the
// only one, the recall is Unavailable.
func (s *search) each(ctx context.Context, plan func(fusion.Channel) (memtypes.Filter, int, bool)) (map[fusion.Channel][]memtypes.Scored, error) {
	out := map[fusion.Channel][]memtypes.Scored{}
	var mu sync.Mutex // guards out
	ask := func(want bool) (asked bool, err error) {
		for _, c := range s.channels {
			f, k, ok := plan(c)
			if isDense(c) != want || !ok || want && s.vector == nil || !want && len(s.terms) == 0 {
				continue
			}
			list, err := s.one(ctx, c, f, k)
			if err != nil {
				return true, err
			}
			asked = true
			mu.Lock()
			out[c] = list
			mu.Unlock()
		}
		return asked, nil
	}
	var denseAsked bool
	var denseErr error
	var wg sync.WaitGroup
	wg.Go(func() { denseAsked, denseErr = ask(true) })
	wordsAsked, wordsErr := ask(false)
	wg.Wait()
	return out, s.verdict(ctx, denseErr, wordsErr, denseAsked && denseErr == nil, wordsAsked && wordsErr == nil)
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
	if (denseErr != nil || wordsErr != nil) && !byDense && !byWords {
		return memtypes.Errorf(op, memtypes.Unavailable, "no index answers: %w", s.degraded.err)
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
