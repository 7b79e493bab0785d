package engine

import (
	"context"

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
	if tells, ok := o.service.(sparse.Statistics); ok && !o.backend.spared() {
		_ = o.backend.search(ctx, o.limit, func(ctx context.Context) error {
			s, err := tells.Statistics(ctx, tenant, q.Field, tokens)
			if err == nil {
				add(&sum, s)
			}
			return err // the search that follows will say what is wrong
		})
	}
	return &sum, nil
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

// DocFreq counts in both; where the service does not tell, in the tail alone.
func (o *sparseOverlay) DocFreq(ctx context.Context, tenant string, f sparse.Field, tokens []string) ([]int, error) {
	sum := make([]int, len(tokens))
	count := func(in sparse.Index) func(context.Context) error {
		return func(ctx context.Context) error {
			tells, ok := in.(sparse.Frequencies)
			if !ok {
				return memtypes.Errorf("engine.DocFreq", memtypes.Internal, "%T does not count", in)
			}
			n, err := tells.DocFreq(ctx, tenant, f, tokens)
			for i := range n {
				sum[i] += n[i]
			}
			return err
		}
	}
	if _, err := o.tail.read(func(ix sparse.Index) error { return count(ix)(ctx) }); err != nil {
		return nil, err
	}
	_ = o.backend.search(ctx, o.limit, count(o.service)) // the search that follows will say what is wrong
	return sum, nil
}
