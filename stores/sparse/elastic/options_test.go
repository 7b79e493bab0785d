package elastic_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

func TestBadOptions(t *testing.T) {
	for name, o := range map[string]elastic.Options{
		"urls: none":           {},
		"urls: no scheme":      {URLs: []string{"127.0.0.1:9200"}},
		"urls: ftp":            {URLs: []string{"ftp://a"}},
		"urls: password":       {URLs: []string{"http://ann:hunter2@a:9200"}},
		"urls: query":          {URLs: []string{"http://a:9200?x=hunter2"}},
		"urls: mixed":          {URLs: []string{"http://a:9200", "https://b:9200"}},
		"urls: plain with CA":  {URLs: []string{"http://a"}, CAFile: "x"},
		"api_key: and a user":  {URLs: []string{"http://a"}, APIKey: "hunter2", Username: "u", Password: "p"},
		"user: no password":    {URLs: []string{"http://a"}, Username: "u"},
		"user: only password":  {URLs: []string{"http://a"}, Password: "hunter2"},
		"ca_file: twice":       {URLs: []string{"https://a"}, CAFile: "x", CertFingerprint: strings.Repeat("a", 64)},
		"cert_fingerprint":     {URLs: []string{"https://a"}, CertFingerprint: "xyz"},
		"prefix: dot":          {URLs: []string{"http://a"}, Prefix: "a.b"},
		"prefix: upper case":   {URLs: []string{"http://a"}, Prefix: "A"},
		"prefix: wildcard":     {URLs: []string{"http://a"}, Prefix: "a*"},
		"tenancy":              {URLs: []string{"http://a"}, Tenancy: "none"},
		"shards":               {URLs: []string{"http://a"}, Shards: -1},
		"refresh":              {URLs: []string{"http://a"}, Refresh: "soon"},
		"gc_deletes":           {URLs: []string{"http://a"}, GCDeletes: -1},
		"max_k":                {URLs: []string{"http://a"}, MaxK: -1},
		"timeout":              {URLs: []string{"http://a"}, Timeout: -1},
		"batch_docs":           {URLs: []string{"http://a"}, BatchDocs: -1},
		"batch_bytes":          {URLs: []string{"http://a"}, BatchBytes: -1},
		"conns":                {URLs: []string{"http://a"}, Conns: -1},
		"ca_file: not there":   {URLs: []string{"https://a"}, CAFile: filepath.Join(t.TempDir(), "none")},
		"ca_file: not a cert.": {URLs: []string{"https://a"}, CAFile: os.Args[0]},
	} {
		s, err := elastic.Open(t.Context(), &o)
		if err == nil {
			s.Close()
		}
		code(t, name, err, memtypes.Invalid)
		field, _, _ := strings.Cut(name, ":")
		if !strings.Contains(err.Error(), field) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want the setting named and no secret", name, err)
		}
	}
	if _, err := elastic.Open(t.Context(), nil); memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf("Open without options: %v, want Invalid", err)
	}
}

// TestCertificates: whom a connection trusts.
func TestCertificates(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		say(w, 404, `{"error": "alias [vimbank] missing", "status": 404}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of those who do not trust it
	server.StartTLS()
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(server.Certificate().Raw)
	pin := strings.ToUpper(hex.EncodeToString(sum[:]))
	wrongName := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	for _, tt := range []struct {
		name  string
		o     elastic.Options
		words string // of the error; empty: none
	}{
		{"the authority", elastic.Options{URLs: []string{server.URL}, CAFile: ca}, ""},
		{"the fingerprint", elastic.Options{URLs: []string{server.URL}, CertFingerprint: pin}, ""},
		{"the fingerprint, with colons", elastic.Options{URLs: []string{server.URL}, CertFingerprint: pin[:2] + ":" + pin[2:]}, ""},
		{"the fingerprint, and another name", elastic.Options{URLs: []string{wrongName}, CertFingerprint: pin}, ""},
		{"the machine's authorities", elastic.Options{URLs: []string{server.URL}}, "sparse.ca_file"},
		{"another name", elastic.Options{URLs: []string{wrongName}, CAFile: ca}, "sparse.urls"},
		{"another fingerprint", elastic.Options{URLs: []string{server.URL}, CertFingerprint: strings.Repeat("a", 64)}, "sparse.cert_fingerprint"},
		{"plain at TLS", elastic.Options{URLs: []string{strings.Replace(server.URL, "https", "http", 1)}}, "sparse.urls"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Retry.Max = -1
			s, err := elastic.Open(t.Context(), &tt.o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			name, err := s.Live(t.Context())
			if tt.words == "" {
				if name != "" || err != nil {
					t.Errorf("Live = %q, %v, want none", name, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("got %v, want an error with %q", err, tt.words)
			}
		})
	}
}

// TestTLSAtPlain: https to a server that does not encrypt says so.
func TestTLSAtPlain(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	s, err := elastic.Open(t.Context(), &elastic.Options{URLs: []string{strings.Replace(server.URL, "http", "https", 1)}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, err = s.Live(t.Context())
	code(t, "Live", err, memtypes.Unavailable)
	if !strings.Contains(err.Error(), "wanted http://") {
		t.Errorf("got %v, want a hint", err)
	}
}

// TestClosed: a closed Store, index or serving is Unavailable.
func TestClosed(t *testing.T) {
	s, err := elastic.Open(t.Context(), &elastic.Options{URLs: []string{"http://127.0.0.1:1"}, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	serving := s.Serving()
	for range 2 {
		if err := serving.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err = serving.Search(t.Context(), query(t, "a", "x"))
	code(t, "Search", err, memtypes.Unavailable)
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.Live(t.Context())
	code(t, "Live", err, memtypes.Unavailable)
	if !strings.Contains(err.Error(), "closed") {
		t.Errorf("got %v, want that it is closed", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = elastic.Open(ctx, &elastic.Options{URLs: []string{"http://a"}})
	code(t, "Open", err, memtypes.Canceled)
}
