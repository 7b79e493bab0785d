package bank_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
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

// Each server is killed under load and comes back with what it had on its disk;
// and each comes back as it was long before, as from a backup.
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
	old := w.tells(t, e, 8) // that every state kept below has
	settles(t, e)
	checked := func(t *testing.T) {
		recovers(t, e)
		look := open(t, "", patient(o))
		settles(t, look)
		w.check(t, look)
	}
	dir := t // what is kept outlives the subtest that keeps it
	for _, backend := range []string{"ledger", "dense", "sparse"} {
		t.Run(backend, func(t *testing.T) {
			seen := w.under(t, func() {
				time.Sleep(300 * time.Millisecond)
				w.wrong(t, func() { own[backend].Kill(t) }, func() {
					w.pace.Store(int64(time.Second)) // it may take a minute
					own[backend].Keep(dir)
					own[backend].Resume(t)
					w.pace.Store(int64(20 * time.Millisecond))
				})
			}, e)
			judge(t, seen, backend, wrongness{name: "killed"})
			checked(t)
		})
	}
	for i, backend := range []string{"dense", "sparse"} {
		t.Run(backend+" from an old state", func(t *testing.T) {
			ids, gone, changed := w.tells(t, e, 5), old[4*i:4*i+2], old[4*i+2:4*i+4]
			for j := range gone {
				if err := errors.Join(w.forget(e, gone[j]), w.update(e, changed[j])); err != nil {
					t.Fatal(err)
				}
			}
			settles(t, e)
			restore(t, own[backend])
			answers(t, e)
			drifts, err := e.Reconcile(t.Context(), true)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range drifts {
				switch {
				case d.Index != backend && !d.OK():
					t.Errorf("index %s: %+v, want no drift", d.Index, d)
				case d.Index == backend && !(within(ids, d.Missing) && within(changed, d.Stale) && within(gone, d.Ghosts)):
					t.Errorf("index %s: %+v, want missing %v, stale %v and ghosts %v among them", d.Index, d, ids, changed, gone)
				}
				t.Logf("%s: %d missing, %d stale, %d ghosts", d.Index, len(d.Missing), len(d.Stale), len(d.Ghosts))
			}
			checked(t)
		})
	}
	t.Run("ledger from an old state", func(t *testing.T) {
		then := maps.Clone(w.may) // as the last check has it: one way each
		own["ledger"].Kill(t)
		own["ledger"].Keep(t)
		own["ledger"].Resume(t)
		recovers(t, e)
		w.tells(t, e, 20)
		settles(t, e)
		restore(t, own["ledger"])
		again := open(t, "", o)
		// What the indexes hold of a time that the ledger knows nothing of.
		if _, err := again.Reconcile(t.Context(), false); memtypes.CodeOf(err) != memtypes.Incompatible || !strings.Contains(err.Error(), "vimbank rebuild") {
			t.Errorf("Reconcile: %v, want Incompatible that names `vimbank rebuild`", err)
		}
		if err := again.Rebuild(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		w.may = then
		for id := range w.touched {
			if then[id] == nil {
				w.may[id] = []string{""} // lost with the state of the ledger, and found by nobody
			}
		}
		checked(t)
	})
}

// within reports whether all of some are in all.
func within(some, all []memtypes.ID) bool {
	return !slices.ContainsFunc(some, func(id memtypes.ID) bool { return !slices.Contains(all, id) })
}

// restore has a server come back with what was kept of it.
func restore(t testing.TB, s *live.Server) {
	t.Helper()
	s.Kill(t)
	s.Rewind(t)
	s.Resume(t)
}
