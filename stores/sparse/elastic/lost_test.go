package elastic_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// TestLostAnswers: a real server does what is asked, and its answer is lost: the
// next attempt changes nothing.
func TestLostAnswers(t *testing.T) {
	o := options(t)
	up, err := url.Parse(live.Elasticsearch(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(up)
	proxy.ModifyResponse = func(res *http.Response) error {
		if res.Request.Method != http.MethodGet && asked.Add(1)%2 == 1 {
			io.Copy(io.Discard, res.Body)
			return errors.New("lost")
		}
		return nil
	}
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	direct := store(t, o)
	through := *o
	through.URLs = []string{server.URL}
	s, err := elastic.Open(t.Context(), &through)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ix := generation(t, s, "g")
	if err := s.Switch(t.Context(), "g"); err != nil {
		t.Fatalf("Switch: %v", err)
	}
	upsert(t, ix, doc(t, "acme", 1, 1, "cat"), doc(t, "acme", 2, 1, "cat"))
	remove(t, ix, "acme", 5, 2)
	finds(t, direct.Serving(), query(t, "acme", "cat"), 1)
	if err := s.Switch(t.Context(), "g"); err != nil {
		t.Fatalf("Switch: %v", err)
	}
	generation(t, s, "h")
	if err := s.Drop(t.Context(), "h"); err != nil {
		t.Fatalf("Drop: %v", err)
	}
	list(t, direct, "g")
	if asked.Load() < 10 {
		t.Errorf("%d requests came through, want each to have lost its first answer", asked.Load())
	}
}
