package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/internal/faults"
	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/llm/local"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
	"github.com/vimbank/vimbank/stores/sparse"
)

// patience is how long a test waits for what must happen by itself.
const patience = time.Minute

// cluster is one ledger and two services that several engines share.
type cluster struct {
	dir    string
	ledger ledger.Ledger // to look at
	dense  faults.Dense
	sparse faults.Sparse
	table  llm.Embedder
}

func newCluster(t testing.TB) *cluster {
	t.Helper()
	table, err := local.Open()
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{dir: t.TempDir(), dense: faults.NewDense(table.Dim()), sparse: faults.NewSparse(), table: table}
	c.ledger = c.open(t)
	t.Cleanup(func() { c.ledger.Close() })
	return c
}

func (c *cluster) open(t testing.TB) ledger.Ledger {
	t.Helper()
	db, err := sqlite.Open(t.Context(), c.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// quick are bounds under which faults heal within a test.
func quick() engine.Shared {
	return engine.Shared{Hold: 3 * time.Second, Search: 500 * time.Millisecond, Failures: 3, Pause: 100 * time.Millisecond,
		Refresh: 20 * time.Millisecond, Retry: 10 * time.Millisecond, MaxRetry: 300 * time.Millisecond}
}

// how a replica is opened; the zero value is how most are.
type how struct {
	shared   func(*engine.Shared)
	options  engine.Options
	embedder llm.Embedder
}

// replica opens one more engine on the cluster, and closes it with the test.
func (c *cluster) replica(t testing.TB, h how) *engine.Engine {
	t.Helper()
	e, err := c.tryReplica(t, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return e
}

func (c *cluster) tryReplica(t testing.TB, h how) (*engine.Engine, error) {
	t.Helper()
	s := quick()
	s.Dense, s.Sparse = c.dense, c.sparse
	if h.shared != nil {
		h.shared(&s)
	}
	if h.embedder == nil {
		h.embedder = c.table
	}
	db := c.open(t)
	e, err := engine.Open(t.Context(), engine.Parts{Ledger: db, Embedder: h.embedder, Analyzer: sparse.NewAnalyzer(nil), Shared: &s}, &h.options)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return e, nil
}

// eventually waits until what holds.
func eventually(t testing.TB, what func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err = what(); err == nil {
			return
		}
	}
	t.Fatalf("after %v: %v", patience, err)
}

// settled waits until the services have everything, and checks that ledger and
// services agree, memory by memory.
func (c *cluster) settled(t testing.TB, e *engine.Engine) {
	t.Helper()
	c.drained(t, e)
	want, inDense, inSparse := c.revs(t)
	if d := gocmp.Diff(want, inDense); d != "" {
		t.Errorf("ledger and dense service differ (-ledger +service):\n%s", d)
	}
	if d := gocmp.Diff(want, inSparse); d != "" {
		t.Errorf("ledger and sparse service differ (-ledger +service):\n%s", d)
	}
}

// drained waits until nothing is owed and both indexes are live.
func (c *cluster) drained(t testing.TB, e *engine.Engine) {
	t.Helper()
	eventually(t, func() error {
		h, err := e.Health(t.Context())
		if err != nil {
			return err
		}
		live := 0
		for _, ix := range h.Indexes {
			if ix.Live {
				live++
			}
			if ix.Owed > 0 || ix.Lag > 0 {
				return fmt.Errorf("%s/%s owes %d, lags %d: %s", ix.Index, ix.Generation, ix.Owed, ix.Lag, ix.Error)
			}
		}
		if live != 2 {
			return fmt.Errorf("%d live indexes in %+v, want 2", live, h)
		}
		return nil
	})
}

// revs is what the ledger says and both services hold.
func (c *cluster) revs(t testing.TB) (want, inDense, inSparse map[memtypes.ID]uint64) {
	t.Helper()
	want, inDense, inSparse = map[memtypes.ID]uint64{}, map[memtypes.ID]uint64{}, map[memtypes.ID]uint64{}
	for after := memtypes.ID(""); ; {
		page, err := c.ledger.Revs(t.Context(), after, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, h := range page {
			want[h.ID], after = h.Rev, h.ID
		}
	}
	for h, err := range c.dense.Serving().Revs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		inDense[h.ID] = h.Rev
	}
	for h, err := range c.sparse.Serving().Revs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		inSparse[h.ID] = h.Rev
	}
	return want, inDense, inSparse
}

// finds fails unless text finds id.
func finds(t testing.TB, e *engine.Engine, text string, id memtypes.ID) *engine.Answer {
	t.Helper()
	a := recall(t, e, user(t, "ada"), text)
	if !found(a, id) {
		t.Errorf("%q does not find %s among %d hits, degraded %v", text, id, len(a.Hits), a.Degraded)
	}
	return a
}

// missesAll fails if text finds id.
func misses(t testing.TB, e *engine.Engine, text string, id memtypes.ID) {
	t.Helper()
	if a := recall(t, e, user(t, "ada"), text); found(a, id) {
		t.Errorf("%q finds %s, which is forgotten", text, id)
	}
}

func TestSharedRememberThenRecall(t *testing.T) {
	c := newCluster(t)
	a, b := c.replica(t, how{}), c.replica(t, how{})
	rs := remember(t, a, said(t, "I adopted a grey kitten called Miso last week.", 0), said(t, "The train to Hamburg was two hours late.", 1))
	for _, e := range []*engine.Engine{a, b} { // each by its own tail, or by the services
		if got := finds(t, e, "What is the name of the kitten?", rs[0].ID); len(got.Degraded) > 0 {
			t.Errorf("degraded = %v", got.Degraded)
		}
	}
	c.settled(t, a)
	finds(t, b, "train to Hamburg", rs[1].ID)
	if err := b.Forget(t.Context(), user(t, "ada"), "", rs[0].ID); err != nil {
		t.Fatal(err)
	}
	misses(t, a, "grey kitten", rs[0].ID)
	c.settled(t, a)
	misses(t, b, "grey kitten", rs[0].ID)
	untailed(t, a)
}

// untailed waits until the tails of e are empty, because the services have all.
func untailed(t testing.TB, e *engine.Engine) {
	t.Helper()
	eventually(t, func() error {
		if s := e.Stats(); s.Dense+s.Sparse > 0 {
			return fmt.Errorf("the tails hold %d and %d, want nothing", s.Dense, s.Sparse)
		}
		return nil
	})
}

// What the services lack is found all the same, and ranked as where everything is in one process.
func TestSharedRanksAsEmbedded(t *testing.T) {
	var drafts []memtypes.Draft
	for i := range 300 {
		d := said(t, fmt.Sprintf("On day %d we %s the %s in the %s.", i, []string{"painted", "sold", "repaired", "found"}[i%4],
			[]string{"boat", "lamp", "piano", "garden", "fence", "clock", "kettle"}[i%7], []string{"harbour", "attic", "market"}[i%3]), i)
		d.Talk.Session = fmt.Sprintf("s%d", i/20)
		drafts = append(drafts, d)
	}
	embedded := open(t, t.TempDir(), nil)
	remember(t, embedded, drafts...)
	c := newCluster(t)
	e := c.replica(t, how{})
	c.drained(t, e)
	keep := func(drafts []memtypes.Draft) {
		t.Helper()
		if r, err := e.Remember(t.Context(), drafts, &engine.RememberOptions{Now: noon}); err != nil || len(r.Pending) > 0 {
			t.Fatalf("Remember: %v, %v", r, err)
		}
	}
	same := func(when string, show func(score float64, text string) string) {
		t.Helper()
		for _, q := range []string{"Who repaired the piano?", "the clock in the attic", "What was sold at the market on day 77?", "lamp"} {
			query := memtypes.Query{Scope: user(t, "ada"), Text: q, Now: noon, Quiet: true}
			want, err := embedded.Recall(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Recall(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Degraded) > 0 {
				t.Errorf("%s, %q: degraded = %v, want nothing", when, q, got.Degraded)
			}
			if d := gocmp.Diff(ranking(want, show), ranking(got, show)); d != "" {
				t.Errorf("%s, %q (-embedded +shared):\n%s", when, q, d)
			}
		}
	}
	keep(drafts[:150])
	c.settled(t, e)
	c.dense.Deaf(true)
	c.sparse.Deaf(true)
	keep(drafts[150:])
	// The service scores by the statistics of its half, so near ties change places.
	same("half of it in the tail", func(_ float64, text string) string { return text })
	c.dense.Deaf(false)
	c.sparse.Deaf(false)
	c.settled(t, e)
	same("all in the services", func(score float64, text string) string { return fmt.Sprintf("%.9f %s", score, text) })
}

// ranking is the hits of an answer as show has their scores and texts, sorted.
func ranking(a *engine.Answer, show func(float64, string) string) (out []string) {
	for _, h := range a.Hits {
		out = append(out, show(h.Score, h.Memory.Text))
	}
	slices.Sort(out)
	return out
}

func TestSharedServiceDown(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	first := remember(t, e, said(t, "The blue bicycle has a flat tyre.", 0))[0].ID
	c.settled(t, e)

	c.dense.Down(true)
	second := remember(t, e, said(t, "The red bicycle was stolen.", 1))[0].ID
	a := finds(t, e, "which bicycle was stolen", second)
	if a.Degraded["dense"] == "" || a.Degraded["sparse"] != "" {
		t.Errorf("degraded = %v, want dense alone", a.Degraded)
	}
	finds(t, e, "flat tyre", first)

	c.sparse.Down(true)
	third := remember(t, e, said(t, "The green scooter is for sale.", 2))[0].ID
	if a := finds(t, e, "green scooter", third); a.Degraded["dense"] == "" || a.Degraded["sparse"] == "" {
		t.Errorf("degraded = %v, want both", a.Degraded)
	}
	if err := e.Forget(t.Context(), user(t, "ada"), "", second); err != nil {
		t.Errorf("Forget while both are down: %v", err)
	}
	misses(t, e, "red bicycle stolen", second)

	c.dense.Down(false)
	c.sparse.Down(false)
	c.settled(t, e)
	eventually(t, func() error {
		if a := recall(t, e, user(t, "ada"), "green scooter"); len(a.Degraded) > 0 || !found(a, third) {
			return fmt.Errorf("degraded = %v", a.Degraded)
		}
		return nil
	})
	misses(t, e, "red bicycle stolen", second)
}

func TestSharedBothDownAndNothingKnown(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	remember(t, e, said(t, "The blue bicycle has a flat tyre.", 0))
	c.settled(t, e)
	untailed(t, e)
	c.dense.Down(true)
	c.sparse.Down(true)
	if _, err := e.Recall(t.Context(), memtypes.Query{Scope: user(t, "ada"), Text: "bicycle"}); memtypes.CodeOf(err) != memtypes.Unavailable {
		t.Errorf("err = %v, want Unavailable", err)
	}
}

func TestSharedItemsRefusedByOnes(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	drafts := []memtypes.Draft{}
	for i := range 12 {
		drafts = append(drafts, memtypes.Draft{Scope: user(t, "ada"), Kind: memtypes.Knowledge, Text: fmt.Sprintf("Note number %d.", i)})
	}
	rs := remember(t, e, drafts[:6]...)
	c.settled(t, e)
	for _, d := range drafts[6:] {
		m, err := memtypes.New(d, noon)
		if err != nil {
			t.Fatal(err)
		}
		switch m.Text {
		case "Note number 7.":
			c.sparse.Refuse(m.ID, memtypes.Unavailable)
		case "Note number 9.":
			c.dense.Refuse(m.ID, memtypes.Invalid)
		}
	}
	rs = append(rs, remember(t, e, drafts[6:]...)...)
	var dead []engine.DeadLetter
	eventually(t, func() (err error) {
		if dead, err = e.DeadLetters(t.Context(), "dense", 10); err == nil && len(dead) != 1 {
			err = fmt.Errorf("%d dead letters, want 1", len(dead))
		}
		return err
	})
	if dead[0].ID != rs[9].ID || !strings.Contains(dead[0].Reason, "refused") || !strings.HasPrefix(dead[0].Index, "dense/") {
		t.Errorf("dead letter = %+v, want of %s", dead[0], rs[9].ID)
	}
	eventually(t, func() error { // all others are there
		want, inDense, inSparse := c.revs(t)
		if len(inDense) != len(want)-1 || len(inSparse) != len(want)-1 {
			return fmt.Errorf("%d in dense, %d in sparse, want all but one of %d", len(inDense), len(inSparse), len(want))
		}
		return nil
	})
	if letters, err := e.DeadLetters(t.Context(), "sparse", 10); err != nil || len(letters) != 0 {
		t.Errorf("sparse: %v, %v, want what is refused for now to be tried again, not given up", letters, err)
	}
	c.sparse.Accept(rs[7].ID)
	c.dense.Accept(rs[9].ID)
	if n, err := e.RetryDead(t.Context(), "dense", []memtypes.ID{rs[9].ID}); n != 1 || err != nil {
		t.Errorf("RetryDead = %d, %v, want 1", n, err)
	}
	c.settled(t, e)
}

func TestSharedLostAcknowledgement(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	c.dense.Lose(2)
	c.sparse.Lose(2)
	rs := remember(t, e, said(t, "One.", 0), said(t, "Two.", 1), said(t, "Three.", 2))
	if err := e.Forget(t.Context(), user(t, "ada"), "", rs[1].ID); err != nil {
		t.Fatal(err)
	}
	c.settled(t, e)
	misses(t, e, "two", rs[1].ID)
}

// A write that comes a second time, long after, changes nothing: neither what
// was revised nor what was forgotten since.
func TestSharedLateDuplicate(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	c.drained(t, e)
	c.dense.Record()
	c.sparse.Record()
	rs := remember(t, e, said(t, "The safe's code is 4711.", 0), said(t, "The garage's code is 1234.", 1))
	c.settled(t, e)
	if err := e.Erase(t.Context(), user(t, "ada"), "", rs[0].ID); err != nil {
		t.Fatal(err)
	}
	text := "The garage has no code."
	if _, err := e.Update(t.Context(), user(t, "ada"), rs[1].ID, engine.Change{Text: &text}); err != nil {
		t.Fatal(err)
	}
	c.settled(t, e)
	if err := errors.Join(c.dense.Replay(), c.sparse.Replay()); err != nil {
		t.Fatal(err)
	}
	c.settled(t, e)
	misses(t, e, "code of the safe 4711", rs[0].ID)
	finds(t, e, "garage without a code", rs[1].ID)
}

func TestSharedRestoredFromAnOldState(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	rs := remember(t, e, said(t, "The old dog sleeps.", 0), said(t, "The parrot talks.", 1))
	c.settled(t, e)
	then, words := c.dense.Snapshot(), c.sparse.Snapshot()
	if err := e.Forget(t.Context(), user(t, "ada"), "", rs[0].ID); err != nil {
		t.Fatal(err)
	}
	late := remember(t, e, said(t, "The tortoise hides.", 2))[0].ID
	c.settled(t, e)
	if err := errors.Join(c.dense.Restore(then), c.sparse.Restore(words)); err != nil {
		t.Fatal(err)
	}
	misses(t, e, "old dog", rs[0].ID)
	drifts, err := e.Reconcile(t.Context(), true)
	if err != nil || len(drifts) != 2 {
		t.Fatalf("Reconcile = %+v, %v", drifts, err)
	}
	for _, d := range drifts {
		if len(d.Missing) != 1 || len(d.Ghosts) != 1 {
			t.Errorf("%s: %+v, want one missing and one ghost", d.Index, d)
		}
	}
	c.settled(t, e)
	finds(t, e, "tortoise", late)
	misses(t, e, "old dog", rs[0].ID)
}

// An index that somebody deleted comes back by itself.
func TestSharedDeletedUnderLoad(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	remember(t, e, said(t, "One.", 0), said(t, "Two.", 1))
	c.settled(t, e)
	c.dense.Wipe()
	remember(t, e, said(t, "Three.", 2))
	c.settled(t, e)
}

func TestSharedFull(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{shared: func(s *engine.Shared) { s.MaxOwed = 10 }})
	ada := user(t, "ada")
	c.drained(t, e)
	c.dense.Down(true)
	var ids []memtypes.ID
	var err error
	for i := 0; i < 30 && err == nil; i++ {
		var r *engine.Receipt
		if r, err = e.Remember(t.Context(), []memtypes.Draft{said(t, fmt.Sprintf("Line %d.", i), i)}, nil); err == nil {
			ids = append(ids, r.Results[0].ID)
		}
	}
	if memtypes.CodeOf(err) != memtypes.Full || !strings.Contains(err.Error(), "dense/") || len(ids) < 5 || len(ids) > 12 {
		t.Fatalf("after %d memories: %v, want Full that names the index after about 10", len(ids), err)
	}
	text := "Another line."
	if _, err := e.Update(t.Context(), ada, ids[0], engine.Change{Text: &text}); memtypes.CodeOf(err) != memtypes.Full {
		t.Errorf("Update: %v, want Full", err)
	}
	if _, err := e.Load(t.Context(), []memtypes.Memory{{ID: "x", Scope: ada, Created: noon}}, ""); memtypes.CodeOf(err) != memtypes.Full {
		t.Errorf("Load: %v, want Full", err)
	}
	if err := e.Forget(t.Context(), ada, "", ids[0]); err != nil {
		t.Errorf("Forget: %v, want it never to be refused", err)
	}
	c.dense.Down(false)
	c.settled(t, e)
	remember(t, e, said(t, "There is room again.", 99))
	c.settled(t, e)
}

// A service that hangs holds nobody up for longer than its bound, and a process
// that ends meanwhile leaves its work to the others.
func TestSharedHangs(t *testing.T) {
	c := newCluster(t)
	a, b := c.replica(t, how{}), c.replica(t, how{})
	c.drained(t, a)
	release := c.sparse.Hang()
	id := remember(t, a, said(t, "The kiln is at a thousand degrees.", 0))[0].ID
	if got := finds(t, b, "kiln", id); got.Degraded["sparse"] == "" {
		t.Errorf("degraded = %v, want sparse", got.Degraded)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := a.Close(ctx); err != nil && memtypes.CodeOf(err) != memtypes.Canceled {
		t.Errorf("Close: %v", err)
	}
	release()
	c.settled(t, b)
}

// What is erased leaves its neighbours' context, too, even if the services
// learn of it only when the ledger does not know its place any more.
func TestSharedErasedFromContext(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	var drafts []memtypes.Draft
	for i, text := range []string{"Shall we meet?", "At the lighthouse, by midnight.", "Fine.", "Bring a lamp."} {
		drafts = append(drafts, said(t, text, i))
	}
	rs := remember(t, e, drafts...)
	c.settled(t, e)
	c.dense.Down(true)
	c.sparse.Down(true)
	if err := e.Erase(t.Context(), user(t, "ada"), "", rs[1].ID); err != nil {
		t.Fatal(err)
	}
	c.dense.Down(false)
	c.sparse.Down(false)
	c.settled(t, e)
	for id, doc := range c.sparse.Docs() {
		for field, tokens := range doc.Fields {
			if slices.Contains(tokens, "lighthous") {
				t.Errorf("field %s of %s still has the words of what was erased: %v", field, id, tokens)
			}
		}
	}
	s := &story{cluster: c, t: t, engines: []*engine.Engine{e}}
	s.afresh()
}

// A process that ends finishes the batch in flight: nothing that it claimed is
// left to others.
func TestSharedCloseDrains(t *testing.T) {
	c := newCluster(t)
	a, err := c.tryReplica(t, how{shared: func(s *engine.Shared) { s.Hold, s.Search = time.Minute, time.Minute }})
	if err != nil {
		t.Fatal(err)
	}
	c.drained(t, a)
	c.dense.Slow(300 * time.Millisecond)
	calls := c.dense.Calls()
	if _, err := a.Remember(t.Context(), notes(t, 0, 20), nil); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if c.dense.Calls() < calls+2 {
			return errors.New("no batch is in flight")
		}
		return nil
	})
	if err := a.Close(t.Context()); err != nil {
		t.Fatalf("Close: %v", err)
	}
	c.dense.Slow(0)
	c.settled(t, c.replica(t, how{})) // within the minute that a claim would hold
}

// What a service has yet to take is no drift; what it lost is.
func TestSharedReconcileCountsNoDebts(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	rs := remember(t, e, notes(t, 0, 50)...)
	c.settled(t, e)
	c.dense.Deaf(true)
	c.sparse.Deaf(true)
	remember(t, e, notes(t, 100, 30)...)
	if err := e.Forget(t.Context(), user(t, "ada"), "", rs[0].ID, rs[1].ID); err != nil {
		t.Fatal(err)
	}
	drifts, err := e.Reconcile(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range drifts {
		if !d.OK() || d.Held != 50 {
			t.Errorf("%+v, want 50 held and no drift", d)
		}
	}
	c.dense.Deaf(false)
	c.sparse.Deaf(false)
	c.settled(t, e)
}

// An embedder that is away holds the vectors up and nothing else, and a text
// that it refuses is a dead letter by itself.
func TestSharedEmbedder(t *testing.T) {
	c := newCluster(t)
	emb := &fussy{flaky: flaky{Embedder: c.table}}
	e := c.replica(t, how{embedder: emb})
	c.drained(t, e)
	emb.off.Store(true)
	r, err := e.Remember(t.Context(), notes(t, 0, 3), nil)
	if err != nil || !slices.Equal(r.Pending, []string{"dense"}) {
		t.Fatalf("Remember: %+v, %v, want dense pending", r, err)
	}
	eventually(t, func() error {
		if _, _, inSparse := c.revs(t); len(inSparse) != 3 {
			return fmt.Errorf("%d in sparse, want 3", len(inSparse))
		}
		return nil
	})
	emb.off.Store(false)
	c.settled(t, e)
	bad := notes(t, 10, 3)
	bad[1].Text = "Unspeakable things."
	rs, err := e.Remember(t.Context(), bad, nil)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		dead, err := e.DeadLetters(t.Context(), "dense", 10)
		if err != nil || len(dead) != 1 || dead[0].ID != rs.Results[1].ID || strings.Contains(dead[0].Reason, "Unspeakable") {
			return fmt.Errorf("dead letters %+v, %v, want one that does not quote", dead, err)
		}
		return nil
	})
	finds(t, e, "unspeakable things", rs.Results[1].ID) // by its words
	finds(t, e, "qx012z", rs.Results[2].ID)
}

// fussy is an embedder that refuses some texts, and every batch that has one.
type fussy struct{ flaky }

func (f *fussy) Embed(ctx context.Context, texts []string) ([]memtypes.Vector, error) {
	for _, text := range texts {
		if strings.Contains(text, "Unspeakable") {
			return nil, memtypes.BadField("test.Embed", "text", memtypes.Remark("something unspeakable"), "something else")
		}
	}
	return f.flaky.Embed(ctx, texts)
}

// A word that occurs in the tail alone widens queries at once, and what a
// service could not tell while it was away is asked again when it is back.
func TestSharedNearWords(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	kitten := remember(t, e, memtypes.Draft{Scope: user(t, "ada"), Kind: memtypes.Knowledge, Text: "The kitten sleeps on the sofa."})[0].ID
	c.settled(t, e)
	untailed(t, e)
	byWords := func(text string, id memtypes.ID) error {
		a, err := e.Recall(t.Context(), memtypes.Query{Scope: user(t, "ada"), Text: text, Quiet: true})
		if err == nil && !found(a, id) {
			err = fmt.Errorf("%q, a word near it, does not find %s: %d hits, degraded %v", text, id, len(a.Hits), a.Degraded)
		}
		return err
	}
	c.dense.Down(true) // words alone answer
	c.sparse.Down(true)
	if _, err := e.Recall(t.Context(), memtypes.Query{Scope: user(t, "ada"), Text: "cat"}); memtypes.CodeOf(err) != memtypes.Unavailable {
		t.Errorf("both down: %v, want Unavailable", err)
	}
	c.sparse.Down(false)
	eventually(t, func() error { return byWords("cat", kitten) })
	c.sparse.Deaf(true)
	boat := remember(t, e, memtypes.Draft{Scope: user(t, "ada"), Kind: memtypes.Knowledge, Text: "The yacht is moored."})[0].ID
	if err := byWords("boat", boat); err != nil {
		t.Error(err)
	}
}

// Admission knows duplicates of a whole call by a service as it does embedded.
func TestSharedDuplicatesInBulk(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	first := notes(t, 0, 100)
	rs := remember(t, e, first...)
	c.settled(t, e)
	again := notes(t, 50, 100) // half of them known, with other keys
	for i := range again {
		again[i].Key = fmt.Sprintf("key %d", i)
	}
	r, err := e.Remember(t.Context(), append(again, again[99]), nil)
	if err != nil {
		t.Fatal(err)
	}
	duplicates := 0
	for i, res := range r.Results {
		if res.Of != "" {
			duplicates++
			if i < 50 && res.Of != rs[50+i].ID {
				t.Errorf("draft %d repeats %s, want %s", i, res.Of, rs[50+i].ID)
			}
		}
	}
	embedded := open(t, t.TempDir(), nil)
	remember(t, embedded, first...)
	want, err := embedded.Remember(t.Context(), append(again, again[99]), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Results {
		if got := r.Results[i]; got.Status != want.Results[i].Status || got.Code != want.Results[i].Code || got.Of != want.Results[i].Of {
			t.Errorf("draft %d: %+v, want as embedded: %+v", i, got, want.Results[i])
		}
	}
	if duplicates == 0 {
		t.Error("nothing is a duplicate: the test compares nothing")
	}
}

// Services that are away from the very start are no obstacle to starting, nor
// to what the tails hold; and the tails are bounded.
func TestSharedAwayFromTheStart(t *testing.T) {
	c := newCluster(t)
	c.dense.Down(true)
	c.sparse.Down(true)
	e := c.replica(t, how{shared: func(s *engine.Shared) { s.MaxOwed = 20 }})
	id := remember(t, e, notes(t, 0, 1)...)[0].ID
	if a := finds(t, e, "qx000z", id); a.Degraded["dense"] == "" || a.Degraded["sparse"] == "" {
		t.Errorf("degraded = %v, want both", a.Degraded)
	}
	var err error
	n := 1
	for ; n < 60 && err == nil; n++ {
		_, err = e.Remember(t.Context(), notes(t, n, 1), nil)
	}
	if memtypes.CodeOf(err) != memtypes.Full || n < 15 {
		t.Errorf("after %d: %v, want Full at about 20", n, err)
	}
	c.dense.Down(false)
	c.sparse.Down(false)
	c.settled(t, e)
	finds(t, e, "qx000z", id)
}

// A process that may not write finds what the others write, and pumps nothing.
func TestSharedReadOnly(t *testing.T) {
	c := newCluster(t)
	a := c.replica(t, how{})
	id := remember(t, a, notes(t, 0, 1)...)[0].ID
	c.settled(t, a)
	db, err := sqlite.Open(t.Context(), c.dir, &sqlite.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	s := quick()
	s.Dense, s.Sparse = c.dense, c.sparse
	b, err := engine.Open(t.Context(), engine.Parts{Ledger: db, Embedder: c.table, Analyzer: sparse.NewAnalyzer(nil), Shared: &s}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close(context.Background())
	finds(t, b, "qx000z", id)
	late := remember(t, a, notes(t, 1, 1)...)[0].ID
	if got := finds(t, b, "qx001z", late); len(got.Degraded) > 0 {
		t.Errorf("degraded = %v", got.Degraded)
	}
	if _, err := b.Remember(t.Context(), notes(t, 2, 1), nil); memtypes.CodeOf(err) != memtypes.ReadOnly {
		t.Errorf("Remember: %v, want ReadOnly", err)
	}
	c.settled(t, a)
}

// Without the words of the service a duplicate is let in, and that is counted.
func TestSharedDuplicateUnchecked(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	remember(t, e, notes(t, 0, 3)...)
	c.settled(t, e)
	c.sparse.Down(true)
	again := notes(t, 0, 3)
	for i := range again {
		again[i].Key = fmt.Sprintf("key %d", i)
	}
	for _, r := range remember(t, e, again...) {
		if r.Status != engine.Stored {
			t.Errorf("a draft is %s: %s, want it stored", r.Status, r.Reason)
		}
	}
	if n := e.Stats().Verdicts[engine.Unchecked]; n != 3 {
		t.Errorf("%d drafts counted as unchecked, want 3", n)
	}
	c.sparse.Down(false)
	c.settled(t, e)
}
