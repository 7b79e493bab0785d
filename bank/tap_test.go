package bank_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
)

// tap stands before Elasticsearch and looks at bulk requests: it refuses some
// of their items, as a busy or picky server does, and keeps requests to send
// them again.
type tap struct {
	server string // behind it
	pass   *httputil.ReverseProxy

	mu     sync.Mutex
	refuse map[memtypes.ID]string // guarded by mu: the result of the items of a memory
	kept   []sent                 // guarded by mu
}

// sent is a bulk request.
type sent struct{ uri, body string }

// The results of items that a server refuses.
const (
	busy  = `{"status":429,"error":{"type":"es_rejected_execution_exception","reason":"rejected execution"}}`
	picky = `{"status":400,"error":{"type":"document_parsing_exception","reason":"failed to parse"}}`
)

// newTap begins one before the server, and gives its URL.
func newTap(t testing.TB, server string) (*tap, string) {
	t.Helper()
	up, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	x := &tap{server: server, pass: httputil.NewSingleHostReverseProxy(up), refuse: map[memtypes.ID]string{}}
	s := httptest.NewServer(x)
	t.Cleanup(s.Close)
	return x, s.URL
}

// accept takes back what is refused.
func (x *tap) accept() {
	x.mu.Lock()
	defer x.mu.Unlock()
	clear(x.refuse)
}

// requests are the bulk requests that came.
func (x *tap) requests() []sent {
	x.mu.Lock()
	defer x.mu.Unlock()
	return append([]sent(nil), x.kept...)
}

func (x *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/_bulk") {
		x.pass.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	rest, verdicts := x.look(r.URL.RequestURI(), body)
	results := httptest.NewRecorder()
	if len(rest) > 0 {
		again := r.Clone(r.Context())
		again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(rest)), int64(len(rest))
		again.Header.Del("Accept-Encoding")
		x.pass.ServeHTTP(results, again)
	} else {
		results.WriteString(`{}`)
	}
	for name, v := range results.Header() {
		if name != "Content-Length" {
			w.Header()[name] = v
		}
	}
	w.Header().Set("X-Elastic-Product", "Elasticsearch")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(results.Code)
	_, _ = w.Write(weave(results.Body.Bytes(), verdicts)) // whoever went away asks again
}

// look keeps a request and gives the part that is passed on, and for each item
// its result, or empty.
func (x *tap) look(uri string, body []byte) (rest []byte, verdicts []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.kept = append(x.kept, sent{uri, string(body)})
	lines := bytes.SplitAfter(body, []byte("\n"))
	for i := 0; i < len(lines) && len(lines[i]) > 0; {
		var action map[string]struct {
			ID memtypes.ID `json:"_id"`
		}
		if json.Unmarshal(lines[i], &action) != nil {
			return body, nil
		}
		n := 2
		verdict := ""
		for op, a := range action {
			if op == "delete" {
				n = 1
			}
			verdict = x.refuse[a.ID]
		}
		if verdicts = append(verdicts, verdict); verdict == "" {
			rest = append(rest, bytes.Join(lines[i:i+n], nil)...)
		}
		i += n
	}
	return rest, verdicts
}

// weave puts verdicts between the results of an answer.
func weave(answer []byte, verdicts []string) []byte {
	var a struct {
		Items []json.RawMessage `json:"items"`
	}
	if json.Unmarshal(answer, &a) != nil {
		return answer
	}
	var out []string
	for _, v := range verdicts {
		switch {
		case v != "":
			out = append(out, `{"index":`+v+`}`)
		case len(a.Items) == 0:
			return answer // an error of the whole request
		default:
			out = append(out, string(a.Items[0]))
			a.Items = a.Items[1:]
		}
	}
	return []byte(`{"items":[` + strings.Join(out, ",") + `]}`)
}

// replay sends requests again, to the server itself; what becomes of them is
// the server's to say.
func (x *tap) replay(t testing.TB, requests []sent) {
	t.Helper()
	for _, r := range requests {
		live.HTTP(t, http.MethodPost, x.server+r.uri, r.body)
	}
}
