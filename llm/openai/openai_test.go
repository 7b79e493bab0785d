package openai_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/llm/openai"
	"github.com/vimbank/vimbank/memtypes"
)

func TestSettingsAreChecked(t *testing.T) {
	for _, tt := range []struct{ name, url, model, key string }{
		{"no address", "", "m", ""},
		{"no scheme", "127.0.0.1:8080/v1", "m", ""},
		{"another scheme", "file:///etc/passwd", "m", ""},
		{"no host", "http:///v1", "m", ""},
		{"a password", "http://me:hunter2@host/v1", "m", ""},
		{"a broken address with a password", "http://me:hunter2@ho st/%zz", "m", ""},
		{"a query", "http://host/v1?key=hunter2", "m", ""},
		{"a fragment", "http://host/v1#x", "m", ""},
		{"no model", "http://host/v1", " ", ""},
		{"a key with a line end", "http://host/v1", "m", "hunter2\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := openai.Options{APIKey: tt.key}
			_, err := openai.NewCompleter(tt.url, tt.model, &o)
			wantCode(t, err, memtypes.Invalid)
			if strings.Contains(err.Error(), "hunter2") && tt.name != "a query" {
				t.Errorf("the error shows a secret: %v", err)
			}
			_, err = openai.OpenEmbedder(t.Context(), tt.url, tt.model, &openai.EmbedderOptions{Options: o})
			wantCode(t, err, memtypes.Invalid)
		})
	}
	_, err := openai.OpenEmbedder(t.Context(), "http://host/v1", "m", &openai.EmbedderOptions{Dim: -1})
	wantCode(t, err, memtypes.Invalid)
}

func TestNoWayOfPrintingShowsTheKey(t *testing.T) {
	o := openai.EmbedderOptions{Options: openai.Options{APIKey: "sk-secret"}}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		for _, v := range []any{o, &o, o.Options, &o.Options} {
			if got := fmt.Sprintf(format, v); strings.Contains(got, "sk-secret") || !strings.Contains(got, "***") {
				t.Errorf("%s of %T gives %q, want the key as ***", format, v, got)
			}
		}
	}
}

// A server's words are passed on, shortened, and without the key it was given.
func TestErrorsHoldTheServersWordsButNoKey(t *testing.T) {
	o := quick()
	o.APIKey = "sk-secret"
	f := newFake(t, says(401, `{"error":{"message":"wrong key sk-secret `+strings.Repeat("x", 5000)+`"}}`))
	c, err := openai.NewCompleter(f.URL, "m", &o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Complete(t.Context(), llm.Request{Prompt: "x"})
	if got := err.Error(); !strings.Contains(got, "401 Unauthorized: wrong key ***") || strings.Contains(got, "sk-secret") || len(got) > 400 {
		t.Errorf("got %q, want status and words, shortened, the key taken out", got)
	}
}

func TestTimeoutIsOfOneTryBodyIncluded(t *testing.T) {
	for name, fault := range map[string]http.HandlerFunc{"no answer": hangs, "an answer that drips": drips} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, fault)
			o := quick()
			o.Timeout = 200 * time.Millisecond
			e := openFake(t, f, &openai.EmbedderOptions{Options: o, Dim: fakeDim})
			if _, err := e.Embed(t.Context(), []string{"x"}); err != nil {
				t.Errorf("got %v, want the second try to answer", err)
			}
		})
	}
}

func TestBreakerSparesADeadServer(t *testing.T) {
	f := newFake(t, says(500, ""))
	f.sticky = true
	o := quick()
	o.Breaker = &llm.BreakerOptions{Failures: 2, Pause: time.Hour}
	e := openFake(t, f, &openai.EmbedderOptions{Options: o, Dim: fakeDim})
	for range 5 {
		_, err := e.Embed(t.Context(), []string{"x"})
		wantCode(t, err, memtypes.Unavailable)
	}
	if n := len(f.calls()); n != 2 {
		t.Errorf("%d calls reached the server, want 2", n)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	target := newFake(t)
	f := newFake(t, says(308, "", "Location", target.URL+"/embeddings"))
	e := openFake(t, f, &openai.EmbedderOptions{Options: quick(), Dim: fakeDim})
	_, err := e.Embed(t.Context(), []string{"x"})
	wantCode(t, err, memtypes.Unavailable)
	if n := len(target.calls()); n != 0 || !strings.Contains(err.Error(), "redirects") {
		t.Errorf("%d calls at the redirect's target (%v), want none and a word about it", n, err)
	}
}

func TestNobodyListens(t *testing.T) {
	o := quick()
	_, err := openai.OpenEmbedder(t.Context(), "http://127.0.0.1:1/v1", "m", &openai.EmbedderOptions{Options: o})
	wantCode(t, err, memtypes.Unavailable)
}
