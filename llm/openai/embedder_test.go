package openai_test

import (
	"context"
	"math"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/llm/llmtest"
	"github.com/vimbank/vimbank/llm/openai"
	"github.com/vimbank/vimbank/memtypes"
)

func openFake(t testing.TB, f *fake, o *openai.EmbedderOptions) *openai.Embedder {
	t.Helper()
	if o == nil {
		o = &openai.EmbedderOptions{Options: quick()}
	}
	e, err := openai.OpenEmbedder(t.Context(), f.URL, "model-x", o)
	if err != nil {
		t.Fatalf("OpenEmbedder: %v", err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func TestContractOverTheFake(t *testing.T) {
	llmtest.Embedder(t, func(t testing.TB) llm.Embedder { return openFake(t, newFake(t), nil) })
}

// TestContractOverARealModel asks a real embedding model, where one is up.
func TestContractOverARealModel(t *testing.T) {
	llmtest.Embedder(t, func(t testing.TB) llm.Embedder { return openReal(t) })
}

func openReal(t testing.TB) *openai.Embedder {
	t.Helper()
	url := os.Getenv("VIMBANK_TEST_EMBEDDER")
	if url == "" {
		if os.Getenv("VIMBANK_REQUIRE_SERVERS") == "1" {
			t.Fatal("VIMBANK_REQUIRE_SERVERS=1, but VIMBANK_TEST_EMBEDDER names no server")
		}
		t.Skip("no embedding server: set VIMBANK_TEST_EMBEDDER (see CONTRIBUTING.md)")
	}
	e, err := openai.OpenEmbedder(t.Context(), url, "e5-passage", &openai.EmbedderOptions{QueryModel: "e5-query"})
	if err != nil {
		t.Fatalf("OpenEmbedder: %v", err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func TestARealModelFindsWhatIsMeant(t *testing.T) {
	e := openReal(t)
	if got, want := e.Fingerprint(), "openai:e5-passage:384"; got != want {
		t.Errorf("fingerprint %q, want %q", got, want)
	}
	texts := []string{
		"My sister plays the cello in an orchestra in Vienna.",
		"The kitchen tap drips since Monday and the plumber has not called.",
		"我养了一只叫豆豆的橘猫，它最喜欢晒太阳。",
	}
	passages, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	questions := []string{"Which instrument does her sister play?", "What is broken in the house?", "他的宠物叫什么名字？"}
	queries, err := llm.EmbedQuery(t.Context(), e, questions)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range queries {
		best := 0
		for j := range passages {
			if dot(q, passages[j]) > dot(q, passages[best]) {
				best = j
			}
		}
		if best != i {
			t.Errorf("%q is nearest to %q, want %q", questions[i], texts[best], texts[i])
		}
	}
}

func dot(a, b memtypes.Vector) (s float64) {
	for i := range a {
		s += float64(a[i]) * float64(b[i])
	}
	return s
}

func TestEmbedKeepsTheOrderOfTexts(t *testing.T) {
	f := newFake(t)
	e := openFake(t, f, &openai.EmbedderOptions{Options: quick(), Batch: 2})
	texts := []string{"a", "bb", "ccc", " ", "dddd", "eeeee"}
	got, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			if got[i] != nil {
				t.Errorf("blank text: got %v, want nil", got[i])
			}
			continue
		}
		n, first := float64(len(text)), float64(text[0])
		norm := math.Sqrt(n*n + first*first + 1)
		want := memtypes.Vector{float32(n / norm), float32(first / norm), float32(1 / norm)}
		if !cmp.Equal(got[i], want) {
			t.Errorf("text %q: got %v, want %v", text, got[i], want)
		}
	}
	var sizes []int
	for _, c := range f.calls() {
		sizes = append(sizes, len(c["input"].([]any)))
	}
	if want := []int{1, 2, 2, 1}; !cmp.Equal(sizes, want) {
		t.Errorf("texts a request: got %v, want %v (the probe, then batches of two)", sizes, want)
	}
}

func TestEmbedBoundsARequest(t *testing.T) {
	f := newFake(t)
	e := openFake(t, f, &openai.EmbedderOptions{Options: quick(), Dim: fakeDim, MaxInput: 100 << 10})
	long := strings.Repeat("记", 40<<10) // 120 KiB: cut to below 100, so two fit into one request
	if _, err := e.Embed(t.Context(), []string{long, long, long}); err != nil {
		t.Fatal(err)
	}
	calls := f.calls()
	if len(calls) != 2 {
		t.Fatalf("got %d requests, want 2 of at most 256 KiB", len(calls))
	}
	sent := calls[0]["input"].([]any)[0].(string)
	if want := strings.Repeat("记", 100<<10/3); sent != want {
		t.Errorf("sent %d bytes, want %d: cut between characters", len(sent), len(want))
	}
}

func TestQueryAndPassageAreToldApart(t *testing.T) {
	f := newFake(t)
	e := openFake(t, f, &openai.EmbedderOptions{
		Options: quick(), Dim: fakeDim, QueryPrefix: "query: ", PassagePrefix: "passage: ", QueryModel: "model-q",
	})
	if _, err := e.Embed(t.Context(), []string{"x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := llm.EmbedQuery(t.Context(), e, []string{"x"}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range f.calls() {
		got = append(got, c["model"].(string)+"|"+c["input"].([]any)[0].(string))
	}
	if want := []string{"model-x|passage: x", "model-q|query: x"}; !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := e.Fingerprint(), `openai:model-x:3:"passage: "`; got != want {
		t.Errorf("fingerprint %s, want %s", got, want)
	}
}

func TestFingerprintHoldsNoAddressAndNoKey(t *testing.T) {
	o := quick()
	o.APIKey = "sk-secret"
	f := newFake(t)
	e := openFake(t, f, &openai.EmbedderOptions{Options: o})
	if got, want := e.Fingerprint(), "openai:model-x:3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := f.heads[0].Get("Authorization"); got != "Bearer sk-secret" {
		t.Errorf("Authorization %q, want the bearer token", got)
	}
}

// TestEmbedderFaults: each fault has its code; nothing of a bad answer gets out.
func TestEmbedderFaults(t *testing.T) {
	const ok = "[1,2,2]"
	for _, tt := range []struct {
		name  string
		fault http.HandlerFunc
		code  memtypes.Code
		calls int // tries in all, of at most 3
	}{
		{"500", says(500, "boom"), memtypes.Unavailable, 3},
		{"503 with a page", says(503, "<html>busy</html>"), memtypes.Unavailable, 3},
		{"429", says(429, `{"error":{"message":"slow down"}}`, "Retry-After-Ms", "5"), memtypes.Unavailable, 3},
		{"429 for an hour", says(429, "", "Retry-After", "3600"), memtypes.Unavailable, 1},
		{"429 without money", says(429, `{"error":{"message":"pay","code":"insufficient_quota"}}`), memtypes.Unavailable, 1},
		{"400", says(400, `{"error":{"message":"too many tokens"}}`), memtypes.Invalid, 1},
		{"413", says(413, ""), memtypes.Invalid, 1},
		{"422", says(422, `{"detail":"bad"}`), memtypes.Invalid, 1},
		{"401", says(401, ""), memtypes.Unavailable, 1},
		{"404", says(404, `{"error":"no such model"}`), memtypes.Unavailable, 1},
		{"501", says(501, ""), memtypes.Unavailable, 1},
		{"redirect", says(307, "", "Location", "http://127.0.0.1:1/v1/embeddings"), memtypes.Unavailable, 1},
		{"empty body", says(200, ""), memtypes.Unavailable, 3},
		{"empty object", says(200, "{}"), memtypes.Unavailable, 3},
		{"no JSON", says(200, "<html>"), memtypes.Unavailable, 3},
		{"cut JSON", cutOff, memtypes.Unavailable, 3},
		{"NaN", vectors([]int{0, 1}, "[NaN,1,2]"), memtypes.Unavailable, 3},
		{"numbers beyond float32", vectors([]int{0, 1}, "[1e300,1,2]"), memtypes.Unavailable, 3},
		{"zero vector", vectors([]int{0, 1}, "[0,0,0]"), memtypes.Incompatible, 1},
		{"nulls", vectors([]int{0, 1}, "[null,null,null]"), memtypes.Incompatible, 1},
		{"wrong dimension", vectors([]int{0, 1}, "[1,2]"), memtypes.Incompatible, 1},
		{"no vector", vectors([]int{0, 1}, "null"), memtypes.Incompatible, 1},
		{"too few", vectors([]int{0}, ok), memtypes.Unavailable, 3},
		{"too many", vectors([]int{0, 1, 2}, ok), memtypes.Unavailable, 3},
		{"index twice", vectors([]int{1, 1}, ok), memtypes.Unavailable, 3},
		{"index out of range", vectors([]int{1, 2}, ok), memtypes.Unavailable, 3},
		{"10 MB of JSON", says(200, `{"data":[`+strings.Repeat(" ", 10<<20)+`]}`), memtypes.Unavailable, 1},
		{"endless numbers", endless(`{"data":[{"embedding":[`), memtypes.Unavailable, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake(t, tt.fault)
			f.sticky = true
			e := openFake(t, f, &openai.EmbedderOptions{Options: quick(), Dim: fakeDim})
			got, err := e.Embed(t.Context(), []string{"one", "two"})
			wantCode(t, err, tt.code)
			if got != nil {
				t.Errorf("got vectors %v with an error, want none", got)
			}
			if n := len(f.calls()); n != tt.calls {
				t.Errorf("%d calls (%v), want %d", n, err, tt.calls)
			}
		})
	}
}

func TestEmbedRecovers(t *testing.T) {
	f := newFake(t, says(500, ""), says(429, "", "Retry-After", "0"))
	e := openFake(t, f, &openai.EmbedderOptions{Options: quick(), Dim: fakeDim})
	got, err := e.Embed(t.Context(), []string{"one"})
	if err != nil || len(got) != 1 || len(got[0]) != fakeDim {
		t.Errorf("got %v, %v, want one vector at the third try", got, err)
	}
}

func TestOneBadBatchFailsAll(t *testing.T) {
	f := newFake(t, nil, vectors([]int{0}, "[1,2]"))
	e := openFake(t, f, &openai.EmbedderOptions{Options: quick(), Dim: fakeDim, Batch: 1})
	got, err := e.Embed(t.Context(), []string{"one", "two"})
	wantCode(t, err, memtypes.Incompatible)
	if got != nil {
		t.Errorf("got %v, want nothing of a changed model", got)
	}
}

func TestOpenAsksForTheDimension(t *testing.T) {
	f := newFake(t)
	if got := openFake(t, f, nil).Dim(); got != fakeDim || len(f.calls()) != 1 {
		t.Errorf("dimension %d after %d calls, want %d after 1", got, len(f.calls()), fakeDim)
	}
	f = newFake(t)
	if got := openFake(t, f, &openai.EmbedderOptions{Dim: 77}).Dim(); got != 77 || len(f.calls()) != 0 {
		t.Errorf("dimension %d after %d calls, want 77 after none", got, len(f.calls()))
	}
	f = newFake(t, says(401, `{"error":{"message":"no key"}}`))
	_, err := openai.OpenEmbedder(t.Context(), f.URL, "model-x", nil)
	wantCode(t, err, memtypes.Unavailable)
	if !strings.Contains(err.Error(), "no key") {
		t.Errorf("got %q, want the server's words in it", err)
	}
}

func TestEmbedEndsWithItsCaller(t *testing.T) {
	arrived := make(chan struct{})
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) { close(arrived); hangs(w, r) })
	e := openFake(t, f, &openai.EmbedderOptions{Options: quick(), Dim: fakeDim})
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := e.Embed(ctx, []string{"x"})
		if memtypes.CodeOf(err) != memtypes.Canceled {
			t.Errorf("got %v, want code %q", err, memtypes.Canceled)
		}
	})
	<-arrived
	cancel()
	wg.Wait()
}
