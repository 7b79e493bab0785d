// Package llmtest is the contract of the ports of package llm, as tests: each
// backend calls it from its own tests.
package llmtest

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
)

// texts are all known to any model of English and Chinese.
func texts() []string {
	return []string{
		"The cat sleeps on the warm roof.",
		"A contract needs two signatures and a date.",
		"今天下雨，我们在家里看电影。",
		"the cat sleeps on the warm roof " + strings.Repeat("and dreams of fish ", 200),
	}
}

// Embedder checks the embedders that open makes.
func Embedder(t *testing.T, open func(testing.TB) llm.Embedder) {
	t.Run("UnitVectorsOfDim", func(t *testing.T) { unitVectors(t, open(t)) })
	t.Run("OrderAndBatches", func(t *testing.T) { orderAndBatches(t, open(t)) })
	t.Run("Nothing", func(t *testing.T) { nothing(t, open(t)) })
	t.Run("Queries", func(t *testing.T) { queries(t, open(t)) })
	t.Run("Concurrent", func(t *testing.T) { concurrent(t, open(t)) })
	t.Run("Canceled", func(t *testing.T) { canceled(t, open(t)) })
	t.Run("Fingerprint", func(t *testing.T) { fingerprint(t, open(t), open(t)) })
}

func embed(t *testing.T, e llm.Embedder, in []string) []memtypes.Vector {
	t.Helper()
	vs, err := e.Embed(t.Context(), in)
	if err != nil {
		t.Fatalf("Embed: %v", err)
	}
	if len(vs) != len(in) {
		t.Fatalf("got %d vectors, want %d", len(vs), len(in))
	}
	return vs
}

func dot(a, b memtypes.Vector) (s float64) {
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

func checkUnit(t *testing.T, e llm.Embedder, v memtypes.Vector) {
	t.Helper()
	if len(v) != e.Dim() || e.Dim() < 1 {
		t.Fatalf("got %d dimensions, want Dim() = %d", len(v), e.Dim())
	}
	if n := math.Sqrt(dot(v, v)); !(math.Abs(n-1) < 1e-3) {
		t.Errorf("got length %v, want 1", n)
	}
}

func unitVectors(t *testing.T, e llm.Embedder) {
	for _, v := range embed(t, e, texts()) {
		checkUnit(t, e, v)
	}
}

// orderAndBatches: a text has the same vector alone, in company, and in any place.
func orderAndBatches(t *testing.T, e llm.Embedder) {
	in := texts()
	together := embed(t, e, in)
	for i := range in {
		alone := embed(t, e, in[i:i+1])[0]
		if got := dot(alone, together[i]); got < .999 {
			t.Errorf("text %d: cosine alone and in a batch %v, want 1", i, got)
		}
		for j := range in[:i] {
			if got := dot(together[j], together[i]); got > .9999999 {
				t.Errorf("texts %d and %d have the same vector", j, i)
			}
		}
	}
	var many []string
	for range 25 {
		many = append(many, in[:3]...)
	}
	for i, v := range embed(t, e, many) {
		if got := dot(v, together[i%3]); got < .999 {
			t.Errorf("text %d of %d: cosine %v with the same text elsewhere, want 1", i, len(many), got)
		}
	}
}

// nothing: no text gives no vector, and a blank one gives nil.
func nothing(t *testing.T, e llm.Embedder) {
	embed(t, e, nil)
	vs := embed(t, e, []string{"", texts()[0], " \n"})
	if vs[0] != nil || vs[2] != nil {
		t.Errorf("blank texts: got %d and %d dimensions, want nil", len(vs[0]), len(vs[2]))
	}
	checkUnit(t, e, vs[1])
}

// queries: a question's vector compares with the vectors of passages.
func queries(t *testing.T, e llm.Embedder) {
	vs, err := llm.EmbedQuery(t.Context(), e, texts()[:2])
	if err != nil {
		t.Fatalf("EmbedQuery: %v", err)
	}
	passages := embed(t, e, texts()[:2])
	for i, v := range vs {
		checkUnit(t, e, v)
		if own, other := dot(v, passages[i]), dot(v, passages[1-i]); own <= other {
			t.Errorf("query %d: cosine %v with its own text and %v with another, want the first higher", i, own, other)
		}
	}
}

func concurrent(t *testing.T, e llm.Embedder) {
	in := texts()[:3]
	want := embed(t, e, in)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			vs, err := e.Embed(t.Context(), in)
			if err != nil || len(vs) != len(want) {
				t.Errorf("Embed side by side: %d vectors, %v", len(vs), err)
				return
			}
			for i, v := range vs {
				if got := dot(v, want[i]); got < .999 {
					t.Errorf("text %d side by side: cosine %v with its vector, want 1", i, got)
				}
			}
		})
	}
	wg.Wait()
}

func canceled(t *testing.T, e llm.Embedder) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, texts()); memtypes.CodeOf(err) != memtypes.Canceled {
		t.Errorf("got %v, want code %q", err, memtypes.Canceled)
	}
}

func fingerprint(t *testing.T, a, b llm.Embedder) {
	if a.Fingerprint() == "" || a.Fingerprint() != b.Fingerprint() {
		t.Errorf("fingerprints %q and %q of the same embedder opened twice, want one that is not empty", a.Fingerprint(), b.Fingerprint())
	}
}
