package sparse_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/sparsetest"
)

// TestTenants: nothing of one tenant is seen by another.
func TestTenants(t *testing.T) {
	seed, ops := live.Operations(t, 100_000)
	sparsetest.Tenants(t, opener(nil), seed, ops, nil)
}

// TestTenantsLeak: what looks for leaks sees them.
func TestTenantsLeak(t *testing.T) {
	for _, tt := range []struct {
		name string
		leak leaky
		want string
	}{
		{"one shard", leaky{mixed: true}, "is not its own"},
		{"statistics", leaky{common: true}, "does not find what it would alone"},
		{"a word of another", leaky{counts: true}, `memories with "of-`},
		{"how many memories", leaky{more: 1}, "the statistics of"},
		{"in all", leaky{extra: 1}, "of both tenants"},
	} {
		tt.leak.Inverted = opener(nil)(t).(*sparse.Inverted)
		err := sparsetest.CheckTenants(t.Context(), &tt.leak, 1, 3000, nil)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error = %v, want one that says %s", tt.name, err, tt.want)
		}
		if err := tt.leak.Close(); err != nil {
			t.Error(err)
		}
	}
}

// leaky is an index with a fault.
type leaky struct {
	*sparse.Inverted
	mixed  bool // all tenants are one
	common bool // scores are by the statistics of both
	counts bool // the frequencies of words are of both
	more   int  // memories too many in the statistics
	extra  int  // memories too many in all
}

func one(s memtypes.Scope) memtypes.Scope {
	s, _ = memtypes.NewScope("one", s.User(), s.Agent(), s.Run())
	return s
}

func other(tenant string) string {
	if tenant == "acme" {
		return "globex"
	}
	return "acme"
}

func (x *leaky) Upsert(ctx context.Context, docs []sparse.Doc) error {
	if x.mixed {
		docs = slices.Clone(docs)
		for i := range docs {
			docs[i].Facets.Scope = one(docs[i].Facets.Scope)
		}
	}
	return x.Inverted.Upsert(ctx, docs)
}

func (x *leaky) Search(ctx context.Context, q sparse.Query) ([]memtypes.Scored, error) {
	tenant := q.Filter.Scope.Tenant()
	if x.mixed {
		q.Filter.Scope = one(q.Filter.Scope)
	}
	if x.common {
		var tokens []string
		for _, t := range q.Terms {
			tokens = append(tokens, t.Token)
			for _, n := range t.Near {
				tokens = append(tokens, n.Token)
			}
		}
		mine, err := x.Inverted.Statistics(ctx, tenant, q.Field, tokens)
		if err != nil {
			return nil, err
		}
		others, err := x.Inverted.Statistics(ctx, other(tenant), q.Field, tokens)
		if err != nil {
			return nil, err
		}
		q.Stats = &sparse.Stats{Docs: mine.Docs + others.Docs, Tokens: mine.Tokens + others.Tokens, DocFreq: map[string]int{}}
		for _, t := range tokens {
			q.Stats.DocFreq[t] = mine.DocFreq[t] + others.DocFreq[t]
		}
	}
	return x.Inverted.Search(ctx, q)
}

func (x *leaky) DocFreq(ctx context.Context, tenant string, f sparse.Field, tokens []string) ([]int, error) {
	df, err := x.Inverted.DocFreq(ctx, tenant, f, tokens)
	if err != nil || !x.counts {
		return df, err
	}
	more, err := x.Inverted.DocFreq(ctx, other(tenant), f, tokens)
	for i, t := range tokens {
		if strings.HasPrefix(t, "of-") {
			df[i] += more[i]
		}
	}
	return df, err
}

func (x *leaky) Statistics(ctx context.Context, tenant string, f sparse.Field, tokens []string) (sparse.Stats, error) {
	s, err := x.Inverted.Statistics(ctx, tenant, f, tokens)
	s.Docs += x.more
	return s, err
}

func (x *leaky) Len(ctx context.Context) (int, error) {
	n, err := x.Inverted.Len(ctx)
	return n + x.extra, err
}
