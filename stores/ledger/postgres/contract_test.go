package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/ledgertest"
	"github.com/vimbank/vimbank/stores/ledger/postgres"
)

// Some banks have the partitions of a new one, some are spoken to as behind a
// pooler.
func TestContract(t *testing.T) {
	y := &yard{t: t, url: live.Postgres(t), free: map[int][]string{}}
	ledgertest.Run(t, y.open)
}

// yard lends schemas to tests, because to empty one takes far less time than
// to make one.
type yard struct {
	t   *testing.T
	url string

	mu   sync.Mutex // guards all below
	n    int
	free map[int][]string // by partitions
}

func (y *yard) open(t testing.TB) ledger.Ledger {
	o := &postgres.Options{Partitions: 2, MaxConns: 6}
	y.mu.Lock()
	y.n++
	switch {
	case y.n%7 == 0:
		o.Partitions = 8
	case y.n%3 == 0:
		o.Pooler, o.Poll = true, 20*time.Millisecond
	}
	if list := y.free[o.Partitions]; len(list) > 0 {
		o.Schema, y.free[o.Partitions] = list[len(list)-1], list[:len(list)-1]
	}
	y.mu.Unlock()
	if o.Schema == "" {
		o.Schema = schema(y.t, y.url)
	}
	u := y.url
	if o.Partitions != 8 {
		u += "&synchronous_commit=off" // not what these tests are about, and a slow disk makes them long
	}
	return &lent{DB: open(t, u, o), yard: y, o: o}
}

// lent is a bank whose schema goes back to the yard when it is closed.
type lent struct {
	*postgres.DB
	yard *yard
	o    *postgres.Options
	once sync.Once
}

func (l *lent) Close() error {
	err := l.DB.Close()
	l.once.Do(func() {
		empty(l.yard.t, l.yard.url, l.o.Schema)
		l.yard.mu.Lock()
		defer l.yard.mu.Unlock()
		l.yard.free[l.o.Partitions] = append(l.yard.free[l.o.Partitions], l.o.Schema)
	})
	return err
}

// empty makes a bank as it was when it was new.
func empty(t testing.TB, url, schema string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("SET synchronous_commit = off;")
	for _, table := range []string{"log", "memories", "vectors", "recalled", "replaced", "runs", "leases", "settings", "owed", "followers", "scopes", "tenants", "embedders"} {
		fmt.Fprintf(&b, "DELETE FROM %q.%s;", schema, table)
	}
	fmt.Fprintf(&b, "UPDATE %q.head SET seq = 0", schema)
	run(t, url, b.String())
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

// run runs statements, each in a transaction of its own, on a connection of its
// own, also after the test.
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
		if _, err := c.PgConn().Exec(ctx, s).ReadAll(); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// ask asks for one value.
func ask[T any](t testing.TB, url, query string, args ...any) (v T) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer c.Close(context.WithoutCancel(t.Context()))
	if err := c.QueryRow(t.Context(), query, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// hold runs a statement in a transaction that stays open until it is released.
func hold(t testing.TB, url, statement string) (release func()) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	if _, err := c.PgConn().Exec(t.Context(), "BEGIN; "+statement).ReadAll(); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return func() {
		if err := c.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}
