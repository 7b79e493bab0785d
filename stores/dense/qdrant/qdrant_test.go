package qdrant_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"testing"

	"go.uber.org/goleak"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/densetest"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/dense/qdrant/qdranttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// everywhere runs a test with the server of package qdranttest, and with the
// one that the environment names.
func everywhere(t *testing.T, test func(t *testing.T, addr string)) {
	t.Run("in process", func(t *testing.T) { test(t, qdranttest.New(t, nil).Addr) })
	t.Run("live", func(t *testing.T) { test(t, live.Qdrant(t)) })
}

// unique is a prefix that no other test has.
func unique() string {
	var b [6]byte
	rand.Read(b[:])
	return "test_" + hex.EncodeToString(b[:])
}

// open is a Store whose collections go with the test; o's Addr, Prefix and Dim
// are filled in where they are missing.
func open(t testing.TB, addr string, o qdrant.Options) *qdrant.Store {
	t.Helper()
	o.Addr = addr
	if o.Prefix == "" {
		o.Prefix = unique()
	}
	if o.Dim == 0 {
		o.Dim = densetest.Dim
	}
	s, err := qdrant.Open(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// generation is an empty index that goes with the test.
func generation(t testing.TB, addr string, o qdrant.Options) dense.Index {
	t.Helper()
	s := open(t, addr, o)
	ix, err := s.Open(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Drop(context.WithoutCancel(t.Context()), "one") })
	return ix
}
