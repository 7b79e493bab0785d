package qdrant_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net"
	"strconv"
	"testing"

	qc "github.com/qdrant/go-client/qdrant"
	"go.uber.org/goleak"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/stores/dense/densetest"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/dense/qdrant/qdranttest"
)

// TestMain: whoever starts a goroutine waits for it, but for the proxy that
// breaks links, which leaves some that cannot send any more.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/Shopify/toxiproxy/v2/toxics.(*ToxicStub).Run"))
}

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
		t.Cleanup(func() { tidy(t, addr, o.Prefix) })
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

// client goes round the package.
func client(addr string) (*qc.Client, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, err
	}
	return qc.NewClient(&qc.Config{Host: host, Port: n, PoolSize: 1, SkipCompatibilityCheck: true})
}

// tidy drops all collections of a prefix, as far as the server is still there.
func tidy(t testing.TB, addr, prefix string) {
	c, err := client(addr)
	if err != nil {
		return
	}
	defer c.Close()
	ctx := context.WithoutCancel(t.Context())
	for _, name := range owned(t, c, prefix) {
		if err := c.DeleteCollection(ctx, name); err != nil {
			t.Errorf("left behind: %v", err)
		}
	}
}
