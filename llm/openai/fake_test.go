package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/llm/openai"
	"github.com/vimbank/vimbank/memtypes"
)

// fake is a server that speaks the protocol over a real connection. Its
// vectors tell the length of a text and its first byte; a fault, if there is
// one, answers instead.
type fake struct {
	URL string

	mu     sync.Mutex // guards what follows
	bodies []map[string]any
	heads  []http.Header
	faults []http.HandlerFunc // for the first calls; the last one stays if sticky
	sticky bool
}

const fakeDim = 3

func newFake(t testing.TB, faults ...http.HandlerFunc) *fake {
	f := &fake{faults: faults}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	f.URL = s.URL + "/v1"
	return f
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	f.bodies, f.heads = append(f.bodies, body), append(f.heads, r.Header)
	var fault http.HandlerFunc
	if len(f.faults) > 0 {
		fault = f.faults[0]
		if !f.sticky {
			f.faults = f.faults[1:]
		}
	}
	f.mu.Unlock()
	switch {
	case fault != nil:
		fault(w, r)
	case strings.HasSuffix(r.URL.Path, "/v1/embeddings"):
		reply(w, f.embeddings(body))
	case strings.HasSuffix(r.URL.Path, "/v1/chat/completions"):
		reply(w, chat("fine", "stop"))
	default:
		http.NotFound(w, r)
	}
}

func (f *fake) embeddings(body map[string]any) map[string]any {
	var data []map[string]any
	for i, in := range body["input"].([]any) {
		s := in.(string)
		data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": []float64{float64(len(s)), float64(s[0]), 1}})
	}
	slices.Reverse(data) // a server may answer in any order: the index counts
	return map[string]any{"object": "list", "model": body["model"], "data": data, "usage": map[string]int{"prompt_tokens": 1}}
}

// calls gives the bodies of all requests so far.
func (f *fake) calls() []map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.bodies)
}

func chat(text, finish string) map[string]any {
	return map[string]any{
		"object": "chat.completion", "usage": map[string]int{"prompt_tokens": 7, "completion_tokens": 2},
		"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": map[string]any{"role": "assistant", "content": text}}},
	}
}

func reply(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// says answers with a status, a body and headers (name, value, name, value).
func says(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hangs answers nothing until the client leaves.
func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// endless writes prefix and then goes on until the client leaves.
func endless(prefix string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, err := io.WriteString(w, prefix)
		for chunk := strings.Repeat("1,", 32<<10); err == nil; {
			_, err = io.WriteString(w, chunk)
		}
	}
}

// drips writes a byte now and then until the client leaves: never idle, never done.
func drips(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, " ")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(time.Millisecond)
	}
}

// cutOff promises more bytes than it sends.
func cutOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[1,`)
}

// vectors answers with one vector an index.
func vectors(indexes []int, vector string) http.HandlerFunc {
	var rows []string
	for _, i := range indexes {
		rows = append(rows, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, vector))
	}
	return says(http.StatusOK, `{"object":"list","data":[`+strings.Join(rows, ",")+`]}`)
}

// quick retries without long waits.
func quick() openai.Options {
	return openai.Options{Timeout: 10 * time.Second, Retry: &llm.RetryOptions{Tries: 3, First: time.Millisecond, Longest: time.Second}}
}

func wantCode(t *testing.T, err error, want memtypes.Code) {
	t.Helper()
	if err == nil || memtypes.CodeOf(err) != want {
		t.Fatalf("got error %v, want code %q", err, want)
	}
}
