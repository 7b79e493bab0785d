package bank_test

import (
	"testing"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/ledger/postgres"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// servers are three of a test's own.
type servers map[string]*live.Server

func ownServers(t testing.TB) servers {
	t.Helper()
	return servers{"ledger": live.Own(t, "postgres"), "dense": live.Own(t, "qdrant"), "sparse": live.Own(t, "elasticsearch")}
}

// options are those of a bank on them.
func (s servers) options(t testing.TB) *bank.Options {
	t.Helper()
	name := ours(t)
	return hasty(&bank.Options{Services: &bank.Services{
		Postgres: &bank.Postgres{URL: s["ledger"].Addr, Options: postgres.Options{Schema: name}},
		Qdrant:   &qdrant.Options{Addr: s["dense"].Addr, Prefix: name, Exact: true},
		Elastic:  &elastic.Options{URLs: []string{s["sparse"].Addr}, Prefix: name, Replicas: -1, Refresh: elastic.Now},
	}})
}

// Each server is killed under load and comes back with what it had on its disk.
func TestKilledServer(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts three servers")
	}
	t.Parallel()
	own := ownServers(t)
	o := own.options(t)
	e := open(t, "", o)
	w := newWitness(t)
	settles(t, e)
	for _, backend := range []string{"ledger", "dense", "sparse"} {
		t.Run(backend, func(t *testing.T) {
			f := wrongness{name: "killed"}
			seen := w.under(t, func() {
				time.Sleep(300 * time.Millisecond)
				w.wrong(t, func() { own[backend].Kill(t) }, func() {
					w.pace.Store(int64(300 * time.Millisecond)) // it may take a minute
					own[backend].Resume(t)
					w.pace.Store(int64(20 * time.Millisecond))
				})
			}, e)
			judge(t, seen, backend, f)
			recovers(t, e)
			look := open(t, "", patient(o))
			settles(t, look)
			w.check(t, look)
		})
	}
}
