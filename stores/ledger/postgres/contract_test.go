package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/ledgertest"
	"github.com/vimbank/vimbank/stores/ledger/postgres"
)

// The bank of every third test has the partitions of a new one, and every third
// is spoken to as behind a pooler.
func TestContract(t *testing.T) {
	url := server(t)
	var opened atomic.Int64
	ledgertest.Run(t, func(t testing.TB) ledger.Ledger {
		o := &postgres.Options{Partitions: 2, MaxConns: 6}
		switch opened.Add(1) % 3 {
		case 0:
			o.Partitions = 0
		case 1:
			o.Pooler, o.Poll = true, 20*time.Millisecond
		}
		return open(t, url, o)
	})
}

// server is the URL of the server to test on.
func server(t testing.TB) string {
	t.Helper()
	url := os.Getenv("VIMBANK_TEST_POSTGRES")
	if url == "" && os.Getenv("VIMBANK_REQUIRE_SERVERS") != "" {
		t.Fatal("VIMBANK_TEST_POSTGRES is not set, want the URL of a PostgreSQL server, because VIMBANK_REQUIRE_SERVERS is set")
	}
	if url == "" {
		t.Skip("VIMBANK_TEST_POSTGRES is not set: no PostgreSQL server to test on")
	}
	return url
}

// open opens a bank, in a schema of its own where o names none; whoever asks
// closes it, and the schema is removed after the test.
func open(t testing.TB, url string, o *postgres.Options) *postgres.DB {
	t.Helper()
	v := postgres.Options{}
	if o != nil {
		v = *o
	}
	if v.Schema == "" {
		v.Schema = schema(t, url)
	}
	db, err := postgres.Open(t.Context(), url, &v)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return db
}

// schema names a schema that is removed after the test.
func schema(t testing.TB, url string) string {
	name := fmt.Sprintf("test_%016x", rand.Uint64())
	t.Cleanup(func() { run(t, url, `DROP SCHEMA IF EXISTS "`+name+`" CASCADE`) })
	return name
}

// run runs statements on a connection of its own, also after the test.
func run(t testing.TB, url string, statements ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Errorf("connect: %v", err)
		return
	}
	defer c.Close(ctx)
	for _, s := range statements {
		if _, err := c.Exec(ctx, s); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}
