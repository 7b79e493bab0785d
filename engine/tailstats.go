package engine

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// statistics are those of the service and the tail together, for the words of
// q: so what both find is scored on one scale. A memory that both hold counts
// twice, which moves the rarity of no word by much. While the service does not
// tell, the tail's stand alone.
func (o *sparseOverlay) statistics(ctx context.Context, q *sparse.Query) (*sparse.Stats, error) {
	tenant, tokens := q.Filter.Scope.Tenant(), tokensOf(q.Terms)
	var sum sparse.Stats
	_, err := o.tail.read(func(ix sparse.Index) error {
		s, err := ix.(sparse.Statistics).Statistics(ctx, tenant, q.Field, tokens)
		add(&sum, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	if s, err := o.told.of(tenant, q.Field, tokens, func() (sparse.Stats, error) { return o.statsOfService(ctx, tenant, q.Field, tokens) }); err == nil {
		add(&sum, s) // else the search that follows will say what is wrong
	}
	return &sum, nil
}

// statsOfService asks the service; one that keeps no statistics tells nothing.
func (o *sparseOverlay) statsOfService(ctx context.Context, tenant string, f sparse.Field, tokens []string) (s sparse.Stats, err error) {
	tells, ok := o.service.(sparse.Statistics)
	if !ok {
		return s, nil
	}
	err = o.backend.search(ctx, o.limit, func(ctx context.Context) (err error) {
		s, err = tells.Statistics(ctx, tenant, f, tokens)
		return err
	})
	return s, err
}

// toldStats remembers for a moment what a service told of a field: one recall
// asks the same for each kind of memory, and twice.
type toldStats struct {
	mu   sync.Mutex
	told map[string]toldStat // guarded by mu
}

type toldStat struct {
	stats sparse.Stats
	until time.Time
}

const (
	toldLasts = time.Second
	toldKept  = 64
)

// of gives what is remembered, or asks.
func (t *toldStats) of(tenant string, f sparse.Field, tokens []string, ask func() (sparse.Stats, error)) (sparse.Stats, error) {
	key, now := strings.Join(append([]string{tenant, string(f)}, tokens...), "\x00"), time.Now()
	t.mu.Lock()
	have, ok := t.told[key]
	t.mu.Unlock()
	if ok && now.Before(have.until) {
		return have.stats, nil
	}
	s, err := ask()
	if err != nil {
		return s, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.told == nil || len(t.told) >= toldKept {
		t.told = map[string]toldStat{}
	}
	t.told[key] = toldStat{s, now.Add(toldLasts)}
	return s, nil
}

func add(sum *sparse.Stats, s sparse.Stats) {
	if sum.DocFreq == nil {
		sum.DocFreq = map[string]int{}
	}
	sum.Docs, sum.Tokens = sum.Docs+s.Docs, sum.Tokens+s.Tokens
	for token, n := range s.DocFreq {
		sum.DocFreq[token] += n
	}
}

// tokensOf are all that terms ask for, each once.
func tokensOf(terms []sparse.Term) []string {
	var out []string
	seen := map[string]bool{}
	note := func(token string) {
		if !seen[token] {
			seen[token] = true
			out = append(out, token)
		}
	}
	for i := range terms {
		note(terms[i].Token)
		for _, n := range terms[i].Near {
			note(n.Token)
		}
	}
	return out
}

// DocFreq counts in both. With an error, the service's, comes what the tail counts.
func (o *sparseOverlay) DocFreq(ctx context.Context, tenant string, f sparse.Field, tokens []string) ([]int, error) {
	sum, err := o.countTail(ctx, tenant, f, tokens)
	if err != nil {
		return nil, err
	}
	n, err := o.countService(ctx, tenant, f, tokens)
	for i := range n {
		sum[i] += n[i]
	}
	return sum, err
}

func (o *sparseOverlay) countTail(ctx context.Context, tenant string, f sparse.Field, tokens []string) ([]int, error) {
	sum := make([]int, len(tokens))
	_, err := o.tail.read(func(ix sparse.Index) error {
		n, err := ix.(sparse.Frequencies).DocFreq(ctx, tenant, f, tokens)
		for i := range n {
			sum[i] += n[i]
		}
		return err
	})
	return sum, err
}

// countService counts in the service; one that cannot count has none.
func (o *sparseOverlay) countService(ctx context.Context, tenant string, f sparse.Field, tokens []string) (n []int, err error) {
	tells, ok := o.service.(sparse.Frequencies)
	if !ok {
		return nil, memtypes.Errorf("engine.DocFreq", memtypes.Internal, "%T does not count", o.service)
	}
	err = o.backend.search(ctx, o.limit, func(ctx context.Context) (err error) {
		n, err = tells.DocFreq(ctx, tenant, f, tokens)
		return err
	})
	return n, err
}
