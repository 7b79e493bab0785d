package elastic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// scripted is a generation at a server that answers as told, for what a real one
// does not do on demand. The answers are those of Elasticsearch 8.19.
func scripted(t *testing.T, edit func(*elastic.Options), answer http.HandlerFunc) *elastic.Index {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.Header().Set("Content-Type", "application/json")
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	o := &elastic.Options{URLs: []string{server.URL}, Timeout: 5 * time.Second, Retry: elastic.Retry{Base: time.Millisecond, Cap: 2 * time.Millisecond}}
	if edit != nil {
		edit(o)
	}
	s, err := elastic.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Generation("g")
}

func say(w http.ResponseWriter, status int, body string) {
	w.WriteHeader(status)
	io.WriteString(w, body)
}

const (
	taken = `{"index": {"status": 201}}`
	gone  = `{"index": {"status": 404, "error": {"type": "index_not_found_exception", "reason": "no such index [x]"}}}`
)

func item(status int, kind, reason string) string {
	return fmt.Sprintf(`{"index": {"status": %d, "error": {"type": %q, "reason": %q}}}`, status, kind, reason)
}

// TestItems: what becomes of each item of a bulk request is decided by itself.
func TestItems(t *testing.T) {
	for _, tt := range []struct {
		name  string
		item  string
		item2 memtypes.Code // of the second memory; empty: done
		whole memtypes.Code // of the call, where no memory is blamed
		words string
	}{
		{name: "done", item: taken},
		{name: "a newer one is there", item: item(409, "version_conflict_engine_exception", "[2]: version conflict, current version [9] is higher")},
		{name: "queue full", item: item(429, "es_rejected_execution_exception", "rejected execution of coordinating operation"), item2: memtypes.Unavailable},
		{name: "breaker", item: item(429, "circuit_breaking_exception", "[parent] Data too large"), item2: memtypes.Unavailable},
		{name: "no primary", item: item(503, "unavailable_shards_exception", "primary shard is not active"), item2: memtypes.Unavailable},
		{name: "a broken shard", item: item(500, "illegal_state_exception", "shard failed"), item2: memtypes.Unavailable},
		{name: "poison", item: item(400, "document_parsing_exception", "failed to parse"), item2: memtypes.Invalid},
		{name: "poison inside", item: `{"index": {"status": 400, "error": {"type": "illegal_argument_exception", "reason": "a", "caused_by": {"type": "max_bytes_length_exceeded_exception", "reason": "bytes can be at most 32766"}}}}`,
			item2: memtypes.Invalid, words: "32766"},
		{name: "a mapping of another's", item: item(400, "strict_dynamic_mapping_exception", "[1:5] mapping set to strict"), whole: memtypes.Incompatible, words: "vimbank rebuild"},
		{name: "disk full", item: item(429, "cluster_block_exception", "index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block];"),
			whole: memtypes.Full, words: "free space"},
		{name: "read only", item: item(403, "cluster_block_exception", "index [x] blocked by: [FORBIDDEN/5/index read-only (api)];"), whole: memtypes.Unavailable, words: "index.blocks"},
		{name: "no permission", item: item(403, "security_exception", "action [indices:data/write/bulk[s]] is unauthorized for user [u]"), whole: memtypes.Unavailable, words: "sparse.api_key"},
		{name: "no words", item: `{"index": {"status": 400}}`, item2: memtypes.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ix := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) {
				say(w, 200, `{"items": [`+taken+`, `+tt.item+`, `+taken+`]}`)
			})
			err := ix.Upsert(t.Context(), []sparse.Doc{doc(t, "a", 1, 1, "x"), doc(t, "a", 2, 1, "x"), doc(t, "a", 3, 1, "x")})
			r, some := errors.AsType[*memtypes.Rejected](err)
			switch {
			case tt.whole != "":
				code(t, "Upsert", err, tt.whole)
				if some {
					t.Errorf("got %v, want no memory blamed", err)
				}
			case tt.item2 != "":
				if !some || len(r.Items) != 1 || memtypes.CodeOf(r.Items[id(2)]) != tt.item2 {
					t.Errorf("got %v, want the second refused as %s", err, tt.item2)
				}
				code(t, "Upsert", err, tt.item2)
			case err != nil:
				t.Errorf("got %v, want no error", err)
			}
			if tt.words != "" && !strings.Contains(err.Error(), tt.words) {
				t.Errorf("got %v, want %q in it", err, tt.words)
			}
		})
	}
}

// TestShortAnswer: an answer about fewer documents than were sent is no success.
func TestShortAnswer(t *testing.T) {
	ix := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) { say(w, 200, `{"items": [`+taken+`]}`) })
	err := ix.Upsert(t.Context(), []sparse.Doc{doc(t, "a", 1, 1, "x"), doc(t, "a", 2, 1, "x")})
	code(t, "Upsert", err, memtypes.Unavailable)
}

// TestLostIndexIsNotMadeAgain: an index that is gone, of a tenant in the list, is
// an error, and nothing is made.
func TestLostIndexIsNotMadeAgain(t *testing.T) {
	ix := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/_bulk"):
			say(w, 200, `{"items": [`+gone+`]}`)
		case strings.Contains(r.URL.Path, "/_doc/"):
			say(w, 200, `{"found": true}`)
		case r.Method == http.MethodGet:
			say(w, 404, `{"error": {"type": "index_not_found_exception", "reason": "no such index"}, "status": 404}`)
		default:
			t.Errorf("%s %s, want nothing made", r.Method, r.URL.Path)
		}
	})
	err := ix.Upsert(t.Context(), []sparse.Doc{doc(t, "a", 1, 1, "x")})
	code(t, "Upsert", err, memtypes.Unavailable)
	if !strings.Contains(err.Error(), "vimbank rebuild") {
		t.Errorf("got %v, want `vimbank rebuild` named", err)
	}
}

// TestWholeCalls: what a failed request means, how often it is sent, and that no
// secret is in the error.
func TestWholeCalls(t *testing.T) {
	const html = "<html><body>502 Bad Gateway nginx</body></html>"
	for _, tt := range []struct {
		name  string
		fail  func(http.ResponseWriter)
		code  memtypes.Code
		sent  int64
		words string
	}{
		{"too many requests", func(w http.ResponseWriter) {
			say(w, 429, `{"error": {"type": "es_rejected_execution_exception", "reason": "rejected"}, "status": 429}`)
		}, memtypes.Unavailable, 3, "takes in no more"},
		{"no shards", func(w http.ResponseWriter) {
			say(w, 503, `{"error": {"root_cause": [{"type": "no_shard_available_action_exception", "reason": "shard 0 is nowhere"}], "type": "search_phase_execution_exception", "reason": "all shards failed"}, "status": 503}`)
		}, memtypes.Unavailable, 3, "shard 0 is nowhere"},
		{"a proxy's page", func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/html"); say(w, 502, html) }, memtypes.Unavailable, 3, "is a proxy in between"},
		{"a page instead of an answer", func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/html"); say(w, 200, html) }, memtypes.Unavailable, 3, "sparse.urls"},
		{"no JSON", func(w http.ResponseWriter) { say(w, 200, `{"items": [`) }, memtypes.Unavailable, 3, "JSON"},
		{"cut off", func(w http.ResponseWriter) { w.Header().Set("Content-Length", "500"); say(w, 200, `{"items": [`) }, memtypes.Unavailable, 3, "EOF"},
		{"reset", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, memtypes.Unavailable, 3, "EOF"},
		{"wrong key", func(w http.ResponseWriter) {
			say(w, 401, `{"error": {"type": "security_exception", "reason": "unable to authenticate with provided credentials"}, "status": 401}`)
		}, memtypes.Unavailable, 1, "an API key"},
		{"not allowed", func(w http.ResponseWriter) {
			say(w, 403, `{"error": {"type": "security_exception", "reason": "unauthorized"}, "status": 403}`)
		}, memtypes.Unavailable, 1, "sparse.api_key"},
		{"full", func(w http.ResponseWriter) {
			say(w, 429, `{"error": {"type": "cluster_block_exception", "reason": "disk usage exceeded flood-stage watermark"}, "status": 429}`)
		}, memtypes.Full, 1, "free space"},
		{"too many shards", func(w http.ResponseWriter) {
			say(w, 400, `{"error": {"type": "validation_exception", "reason": "this cluster currently has [1000]/[1000] maximum normal shards open"}, "status": 400}`)
		}, memtypes.Full, 1, "cluster.max_shards_per_node"},
		{"no such address", func(w http.ResponseWriter) { say(w, 405, `{"error": "Incorrect HTTP method", "status": 405}`) }, memtypes.Incompatible, 1, "Elasticsearch 8"},
		{"bad request", func(w http.ResponseWriter) {
			say(w, 400, `{"error": {"type": "parsing_exception", "reason": "no"}, "status": 400}`)
		}, memtypes.Invalid, 1, "parsing_exception"},
		{"a bug there", func(w http.ResponseWriter) {
			say(w, 500, `{"error": {"type": "null_pointer_exception", "reason": "x"}, "status": 500}`)
		}, memtypes.Unavailable, 1, "null_pointer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sent atomic.Int64
			ix := scripted(t, func(o *elastic.Options) { o.APIKey = "c2VjcmV0LWtleQ==" }, func(w http.ResponseWriter, r *http.Request) {
				sent.Add(1)
				if got := r.Header.Get("Authorization"); got != "APIKey c2VjcmV0LWtleQ==" {
					t.Errorf("Authorization is %q", got)
				}
				tt.fail(w)
			})
			err := ix.Upsert(t.Context(), []sparse.Doc{doc(t, "a", 1, 1, "x"), doc(t, "a", 2, 1, "x")})
			code(t, "Upsert", err, tt.code)
			if _, some := errors.AsType[*memtypes.Rejected](err); some {
				t.Errorf("got %v, want no memory blamed", err)
			}
			if got := sent.Load(); got != tt.sent {
				t.Errorf("sent %d times, want %d", got, tt.sent)
			}
			for _, w := range []string{tt.words, "elasticsearch at http://127.0.0.1"} {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("got %v, want %q in it", err, w)
				}
			}
			if strings.Contains(err.Error(), "c2Vjcm") {
				t.Errorf("a secret in the error: %v", err)
			}
			_, err = ix.Search(t.Context(), query(t, "a", "x"))
			code(t, "Search", err, tt.code)
		})
	}
}

// TestComesBack: a request that is refused at first is done with the next.
func TestComesBack(t *testing.T) {
	var sent atomic.Int64
	ix := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if n := strings.Count(string(body), "\n"); n != 2 {
			t.Errorf("got %d lines, want 2", n)
		}
		if sent.Add(1) < 3 {
			w.Header().Set("Retry-After", "0")
			say(w, 429, `{"error": {"type": "es_rejected_execution_exception", "reason": "rejected"}, "status": 429}`)
			return
		}
		say(w, 200, `{"items": [`+taken+`]}`)
	})
	upsert(t, ix, doc(t, "a", 1, 1, "x"))
}

// TestRetryAfter: a server that asks for more rest than there is time gets no
// further request.
func TestRetryAfter(t *testing.T) {
	var sent atomic.Int64
	ix := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) {
		sent.Add(1)
		w.Header().Set("Retry-After", "3600")
		say(w, 503, `{"error": {"type": "x", "reason": "y"}, "status": 503}`)
	})
	code(t, "Upsert", ix.Upsert(t.Context(), docs1(t, "a")), memtypes.Unavailable)
	if sent.Load() != 1 {
		t.Errorf("sent %d times, want once", sent.Load())
	}
}

// TestTooLarge: a batch that the server finds too large is sent in parts, and a
// document that is too large by itself is refused.
func TestTooLarge(t *testing.T) {
	var mu sync.Mutex
	stored := map[string]bool{}
	ix := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if len(body) > 2000 {
			w.Header().Del("Content-Type")
			say(w, 413, "")
			return
		}
		var items []string
		for i, line := range bytes.Split(bytes.TrimSpace(body), []byte("\n")) {
			var d struct{ ID string }
			if err := json.Unmarshal(line, &d); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			if i%2 == 1 {
				mu.Lock()
				stored[d.ID] = true
				mu.Unlock()
				items = append(items, taken)
			}
		}
		say(w, 200, `{"items": [`+strings.Join(items, ",")+`]}`)
	})
	var docs []sparse.Doc
	for n := range 40 {
		docs = append(docs, doc(t, "a", n, 1, "x"))
	}
	docs[17] = doc(t, "a", 17, 1, strings.Fields(strings.Repeat("y ", 3000))...)
	err := ix.Upsert(t.Context(), docs)
	r, ok := errors.AsType[*memtypes.Rejected](err)
	if !ok || len(r.Items) != 1 || memtypes.CodeOf(r.Items[id(17)]) != memtypes.Invalid || !strings.Contains(err.Error(), "http.max_content_length") {
		t.Errorf("got %v, want one memory refused, and the setting named", err)
	}
	if len(stored) != 39 || stored[string(id(17))] {
		t.Errorf("stored %d memories, want the other 39", len(stored))
	}
}

// TestNoAnswer: a server that is silent is Unavailable after the time of one
// request, and a caller who gives up is told so at once.
func TestNoAnswer(t *testing.T) {
	end := make(chan struct{})
	ix := scripted(t, func(o *elastic.Options) { o.Timeout = 200 * time.Millisecond }, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-end:
		case <-r.Context().Done():
		}
	})
	defer close(end)
	err := ix.Upsert(t.Context(), docs1(t, "a"))
	code(t, "Upsert", err, memtypes.Unavailable)
	if !strings.Contains(err.Error(), "no answer within 200ms (sparse.timeout)") {
		t.Errorf("got %v, want the time and its setting", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = ix.Search(ctx, query(t, "a", "x"))
	code(t, "Search", err, memtypes.Canceled)
}

// TestPartOfTheShards: an answer without some shards is no answer.
func TestPartOfTheShards(t *testing.T) {
	ix := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/_doc/") {
			say(w, 200, `{"found": true}`)
			return
		}
		say(w, 200, `{"count": 3, "_shards": {"total": 3, "failed": 1}, "hits": {"hits": []}, "aggregations": {}}`)
	})
	_, err := ix.Search(t.Context(), query(t, "a", "x"))
	code(t, "Search", err, memtypes.Unavailable)
	_, err = ix.Len(t.Context())
	code(t, "Len", err, memtypes.Unavailable)
	_, err = ix.Statistics(t.Context(), "a", sparse.Text, nil)
	code(t, "Statistics", err, memtypes.Unavailable)
}

// TestBeingMade: an index that another process is making has no memories yet,
// and an answer about it that is not Elasticsearch's says nothing.
func TestBeingMade(t *testing.T) {
	for list, want := range map[string]memtypes.Code{
		`{"_index": "vimbank.g", "_id": "x", "found":false}`: "",
		`{"_index": "vimbank.g", "_id": "x", "found":true}`:  memtypes.Unavailable,
		"<html>404 Not Found</html>":                         memtypes.Unavailable,
	} {
		ix := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case !strings.Contains(r.URL.Path, "/_doc/"):
				say(w, 503, `{"error": {"type": "search_phase_execution_exception", "reason": "Search rejected due to missing shards"}, "status": 503}`)
			case strings.Contains(list, "true"):
				say(w, 200, list)
			default:
				say(w, 404, list)
			}
		})
		hits, err := ix.Search(t.Context(), query(t, "a", "x"))
		_, serr := ix.Statistics(t.Context(), "a", sparse.Text, []string{"x"})
		if want == "" && (err != nil || serr != nil || len(hits) != 0) {
			t.Errorf("%s: got %v, %v, %v, want nothing and no error", list, hits, err, serr)
		}
		if want != "" {
			code(t, "Search: "+list, err, want)
			code(t, "Statistics: "+list, serr, want)
		}
	}
}

// TestNoAliasOrNoAnswer: only Elasticsearch can say that no generation is live.
func TestNoAliasOrNoAnswer(t *testing.T) {
	for answer, want := range map[string]memtypes.Code{
		`{"error":"alias [vimbank] missing","status":404}`: "",
		"<html>404 Not Found</html>":                       memtypes.Incompatible,
	} {
		ix := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) { say(w, 404, answer) })
		name, err := ix.Store().Live(t.Context())
		if want == "" && (name != "" || err != nil) {
			t.Errorf("Live = %q, %v, want none", name, err)
		}
		if want != "" {
			code(t, "Live: "+answer, err, want)
		}
	}
}

// TestVersion: another major version is refused before anything is made.
func TestVersion(t *testing.T) {
	for _, version := range []string{"7.17.28", "9.1.0", ""} {
		ix := scripted(t, nil, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				t.Errorf("%s %s, want nothing made", r.Method, r.URL.Path)
			}
			say(w, 200, `{"nodes": {"a": {"version": "8.19.1"}, "b": {"version": "`+version+`"}}}`)
		})
		_, err := ix.Store().Open(t.Context(), "g")
		code(t, "Open", err, memtypes.Incompatible)
	}
}

// TestFailover: of several nodes, one that is down costs an attempt, not a write.
func TestFailover(t *testing.T) {
	var sent atomic.Int64
	ix := scripted(t, func(o *elastic.Options) {
		o.URLs = append(o.URLs, "http://127.0.0.1:1", "http://127.0.0.1:2")
	}, func(w http.ResponseWriter, r *http.Request) {
		sent.Add(1)
		say(w, 200, `{"items": [`+taken+`]}`)
	})
	for range 6 {
		upsert(t, ix, doc(t, "a", 1, 1, "x"))
	}
	if sent.Load() != 6 {
		t.Errorf("the node that is up got %d writes, want 6", sent.Load())
	}
}

// TestUnreachable: nobody there is Unavailable and says which setting to look
// at, and Inspect says so too.
func TestUnreachable(t *testing.T) {
	s, err := elastic.Open(t.Context(), &elastic.Options{URLs: []string{"http://127.0.0.1:1"}, Retry: elastic.Retry{Max: -1}})
	if err != nil {
		t.Fatalf("Open asks nobody, but: %v", err)
	}
	defer s.Close()
	_, err = s.Serving().Search(t.Context(), query(t, "a", "x"))
	code(t, "Search", err, memtypes.Unavailable)
	if !strings.Contains(err.Error(), "is it running, and is sparse.urls right?") {
		t.Errorf("got %v, want a hint", err)
	}
	if f := s.Inspect(t.Context()); len(f) != 1 || f[0].OK || f[0].Check != "reachable" {
		t.Errorf("Inspect gives %+v, want one finding: not reachable", f)
	}
}
