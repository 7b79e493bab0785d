package qdrant_test

import (
	"slices"
	"strings"
	"testing"

	qc "github.com/qdrant/go-client/qdrant"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/dense/qdrant/qdranttest"
)

func TestInspect(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		prefix, c := unique(), raw(t, addr)
		t.Cleanup(func() { tidy(t, addr, prefix) })
		o := qdrant.Options{Prefix: prefix, Fingerprint: "e5"}
		s := open(t, addr, o)
		wantBad(t, s, "alias", prefix+" leads nowhere", "vimbank rebuild")
		ix := made(t, s, "one")
		must(t, s.Switch(t.Context(), "one"))
		must(t, ix.Upsert(t.Context(), docs(t, 3)))
		healthy := s.Inspect(t.Context())
		var checks []string
		for _, f := range healthy {
			checks = append(checks, f.Check)
			if !f.OK || f.Part != "dense" || f.Found == "" || f.Wanted != "" || f.Mend != "" {
				t.Errorf("%+v, want it well", f)
			}
		}
		if want := []string{"reachable", "version", "alias", "settings", "tuning", "mapping", "collection", "permissions"}; !slices.Equal(checks, want) {
			t.Errorf("looked at %q, want %q", checks, want)
		}
		wantLen(t, ix, 3)

		_, err := c.DeleteFieldIndex(t.Context(), &qc.DeleteFieldIndexCollection{CollectionName: prefix + ".one", FieldName: "session", Wait: new(true)})
		must(t, err)
		wantBad(t, s, "mapping", "session", "restart")
		o.HNSW.M = 64
		wantBad(t, open(t, addr, o), "tuning", "m 16", "dense.hnsw")
		o.Fingerprint = "bge"
		wantBad(t, open(t, addr, o), "settings", "embedder: e5", "vimbank rebuild")
		must(t, c.DeleteCollection(t.Context(), prefix+".one"))
		wantBad(t, s, "alias", "leads nowhere", "vimbank rebuild")
	})
}

func TestInspectServer(t *testing.T) {
	server := qdranttest.New(t, nil)
	s := open(t, server.Addr, qdrant.Options{Retry: never})
	made(t, s, "one")
	must(t, s.Switch(t.Context(), "one"))
	server.Set(qdranttest.Faults{ReadOnly: true})
	wantBad(t, s, "permissions", "Insufficient storage", "room on its disk")
	server.Set(qdranttest.Faults{})
	must(t, s.Close())
	wantBad(t, s, "reachable", "closed", "open")
	wantBad(t, open(t, qdranttest.New(t, &qdranttest.Options{Version: "1.9.0"}).Addr, qdrant.Options{}), "version", "1.9.0", "replace")
	nobody := qdrant.Options{Addr: "127.0.0.1:1", Dim: 8, Retry: never}
	away, err := qdrant.Open(t.Context(), &nobody)
	must(t, err)
	t.Cleanup(func() { away.Close() })
	wantBad(t, away, "reachable", "connection refused", "dense.addr")
}

// wantBad looks for the finding that is not well.
func wantBad(t *testing.T, s *qdrant.Store, check, found, mend string) {
	t.Helper()
	all := s.Inspect(t.Context())
	i := slices.IndexFunc(all, func(f memtypes.Finding) bool { return !f.OK && f.Check == check })
	if i < 0 {
		t.Errorf("%+v, want %s not to be well", all, check)
		return
	}
	if f := all[i]; !strings.Contains(f.Found, found) || f.Wanted == "" || !strings.Contains(f.Mend, mend) {
		t.Errorf("%+v, want one that found %q and is mended by %q", f, found, mend)
	}
}
