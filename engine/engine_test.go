package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/llm/local"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
	"github.com/vimbank/vimbank/stores/sparse"
)

var noon = time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)

// open opens the bank in dir at noon, and closes it with the test.
func open(t testing.TB, dir string, o *bank.Options) *engine.Engine {
	t.Helper()
	if o == nil {
		o = &bank.Options{}
	}
	if o.Engine.Clock == nil {
		o.Engine.Clock = func() time.Time { return noon }
	}
	e, err := bank.Open(t.Context(), dir, o)
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

func user(t testing.TB, name string) memtypes.Scope {
	t.Helper()
	s, err := memtypes.NewScope("", name, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// said makes a turn of Ada's talk, i half minutes after noon the day before.
func said(t testing.TB, text string, i int) memtypes.Draft {
	return memtypes.Draft{Scope: user(t, "ada"), Kind: memtypes.Dialogue, Text: text,
		Talk: memtypes.Talk{Session: "s1", Speaker: "Ada"}, Event: noon.Add(-24*time.Hour + time.Duration(i)*30*time.Second)}
}

func remember(t testing.TB, e *engine.Engine, drafts ...memtypes.Draft) []engine.Remembered {
	t.Helper()
	r, err := e.Remember(t.Context(), drafts, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Pending) > 0 {
		t.Fatalf("pending = %v, want everything indexed", r.Pending)
	}
	return r.Results
}

func recall(t testing.TB, e *engine.Engine, scope memtypes.Scope, text string) *engine.Answer {
	t.Helper()
	a, err := e.Recall(t.Context(), memtypes.Query{Scope: scope, Text: text, Quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func found(a *engine.Answer, id memtypes.ID) bool {
	return slices.ContainsFunc(a.Hits, func(h memtypes.Hit) bool { return h.Memory.ID == id })
}

func TestRememberThenRecall(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	rs := remember(t, e,
		said(t, "I adopted a grey kitten called Miso last week.", 0),
		said(t, "The train to Hamburg was two hours late.", 1),
		memtypes.Draft{Scope: user(t, "ada"), Kind: memtypes.Knowledge, Title: "Photosynthesis", Text: "Plants turn light into sugar."},
		memtypes.Draft{Scope: user(t, "ada"), Kind: memtypes.TaskKind, Text: "put a clean mug on the desk",
			Task: &memtypes.Task{Name: "pick_clean_then_place", Object: "Mug", Place: "Desk", Outcome: memtypes.Success}},
		memtypes.Draft{Scope: user(t, "ada"), Kind: memtypes.Dialogue, Text: "我上个月搬到了柏林。"})
	for i, question := range []string{"What is the name of Ada's cat?", "Was the train on time?", "How do plants make sugar?", "clean a mug and put it on a desk", "她搬到哪里去了？柏林吗？"} {
		a := recall(t, e, user(t, "ada"), question)
		if len(a.Hits) == 0 || a.Hits[0].Memory.ID != rs[i].ID {
			t.Errorf("%q: first hit = %+v, want %s", question, a.Hits, rs[i].ID)
			continue
		}
		sum := 0.0
		for _, r := range a.Hits[0].Reasons {
			sum += r.Points
		}
		if h := a.Hits[0]; h.Score < 0 || h.Score > 1 || sum-h.Score > 1e-9 || h.Score-sum > 1e-9 {
			t.Errorf("%q: score %v is not the sum of its reasons %v, or not in [0,1]", question, h.Score, sum)
		}
		if len(a.Degraded) > 0 {
			t.Errorf("%q: degraded = %v", question, a.Degraded)
		}
	}
}

func TestScopesStayApart(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	other, err := memtypes.NewScope("rival", "ada", "", "")
	if err != nil {
		t.Fatal(err)
	}
	d := said(t, "The launch code is violet sunrise.", 0)
	bo := d
	bo.Scope = user(t, "bo")
	rs := remember(t, e, d, bo)
	if rs[0].ID == rs[1].ID {
		t.Error("two users' memories share an ID")
	}
	for _, scope := range []memtypes.Scope{other, user(t, "eve")} {
		if a := recall(t, e, scope, "launch code violet sunrise"); len(a.Hits) != 0 || a.Candidates != 0 {
			t.Errorf("%v sees %d hits of %d candidates, want none", scope, len(a.Hits), a.Candidates)
		}
		if _, err := e.Get(t.Context(), scope, rs[0].ID); memtypes.CodeOf(err) != memtypes.NotFound {
			t.Errorf("Get from %v: %v, want NotFound", scope, err)
		}
		if err := e.Forget(t.Context(), scope, "", rs[0].ID); memtypes.CodeOf(err) != memtypes.NotFound {
			t.Errorf("Forget from %v: %v, want NotFound", scope, err)
		}
	}
	if a := recall(t, e, user(t, "ada"), "launch code"); len(a.Hits) != 1 || a.Hits[0].Memory.ID != rs[0].ID {
		t.Errorf("ada's hits = %v, want hers alone", a.Hits)
	}
}

func TestSameContentIsOneMemory(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	d := said(t, "My sister Mia plays the cello.", 0)
	first := remember(t, e, d)[0]
	if again := remember(t, e, d)[0]; again.ID != first.ID || again.Status != engine.Known {
		t.Errorf("again = %+v, want %s known", again, first.ID)
	}
	d.Key = "k1"
	remember(t, e, d)
	d.Text = "Something else."
	if r := remember(t, e, d)[0]; r.Status != engine.Refused || r.Code != engine.KeyReused || r.Of == "" {
		t.Errorf("a key with other content: %+v, want a refusal that names the memory", r)
	}
}

func TestInvalidDraftKeepsNothing(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	_, err := e.Remember(t.Context(), []memtypes.Draft{said(t, "This one is fine.", 0), said(t, " ", 1)}, nil)
	if memtypes.CodeOf(err) != memtypes.Invalid {
		t.Fatalf("err = %v, want Invalid", err)
	}
	if a := recall(t, e, user(t, "ada"), "this one is fine"); len(a.Hits) != 0 {
		t.Errorf("half of a refused call was kept: %v", a.Hits)
	}
}

func TestSecretsAreRefusedAloud(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	rs := remember(t, e, said(t, "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq9\n-----END RSA PRIVATE KEY-----", 0), said(t, "We had soup.", 1))
	if rs[0].Status != engine.Refused || rs[0].Code == "" || rs[0].Reason == "" {
		t.Errorf("secret: %+v, want a refusal with its code and reason", rs[0])
	}
	if strings.Contains(rs[0].Reason, "MIIEp") {
		t.Errorf("the reason repeats the secret: %q", rs[0].Reason)
	}
	if rs[1].Status != engine.Stored {
		t.Errorf("the other draft: %+v, want stored", rs[1])
	}
	if got := e.Stats().Verdicts[rs[0].Code]; got != 1 {
		t.Errorf("counted %d refusals of %s, want 1", got, rs[0].Code)
	}
}

func TestEchoIsRefused(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	text := "Grandmother's recipe wants three eggs, a cup of sugar and the zest of two lemons."
	remember(t, e, said(t, text, 0))
	if _, err := e.Recall(t.Context(), memtypes.Query{Scope: user(t, "ada"), Text: "grandmother's recipe"}); err != nil {
		t.Fatal(err)
	}
	d := said(t, text, 0)
	d.Event, d.Talk = noon, memtypes.Talk{Session: "s2", Speaker: "assistant"}
	if r := remember(t, e, d)[0]; r.Status != engine.Refused {
		t.Errorf("echo: %+v, want refused", r)
	}
}

func TestForgetRestoreErase(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	ada := user(t, "ada")
	rs := remember(t, e, said(t, "Good morning!", 0), said(t, "The password hint is zanzibar.", 1), said(t, "See you later.", 2))
	id := rs[1].ID
	if err := e.Forget(t.Context(), ada, "asked to", id); err != nil {
		t.Fatal(err)
	}
	if a := recall(t, e, ada, "zanzibar"); found(a, id) {
		t.Error("a forgotten memory was recalled")
	}
	if err := e.Restore(t.Context(), ada, id); err != nil {
		t.Fatal(err)
	}
	if a := recall(t, e, ada, "zanzibar"); !found(a, id) {
		t.Error("a restored memory was not recalled")
	}
	if err := e.Erase(t.Context(), ada, "asked to", id); err != nil {
		t.Fatal(err)
	}
	if a := recall(t, e, ada, "zanzibar"); len(a.Hits) > 0 && a.Hits[0].Score > .5 {
		t.Errorf("the words of an erased turn still find its neighbours: %+v", a.Hits[0])
	}
	if _, err := e.Get(t.Context(), ada, id); memtypes.CodeOf(err) != memtypes.NotFound {
		t.Errorf("Get of an erased memory: %v, want NotFound", err)
	}
	drifts, err := e.Reconcile(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range drifts {
		if !d.OK() || d.Held != 2 {
			t.Errorf("index %s drifted: %+v, want 2 held", d.Index, d)
		}
	}
}

func TestUpdate(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	ada := user(t, "ada")
	id := remember(t, e, said(t, "I live in Paris.", 0))[0].ID
	before, err := e.Get(t.Context(), ada, id)
	if err != nil {
		t.Fatal(err)
	}
	text := "I live in Lisbon."
	after, err := e.Update(t.Context(), ada, id, engine.Change{Text: &text, IfRev: before.Rev})
	if err != nil || after.Text != text || after.Rev <= before.Rev {
		t.Fatalf("Update = %+v, %v", after, err)
	}
	if _, err := e.Update(t.Context(), ada, id, engine.Change{Text: &text, IfRev: before.Rev}); memtypes.CodeOf(err) != memtypes.Conflict {
		t.Errorf("an update of an old revision: %v, want Conflict", err)
	}
	if a := recall(t, e, ada, "Lisbon"); !found(a, id) {
		t.Error("the new text is not found")
	}
	revs, err := e.History(t.Context(), ada, id)
	if err != nil || len(revs) != 2 || revs[0].Memory.Text != "I live in Paris." {
		t.Errorf("history = %+v, %v, want both texts", revs, err)
	}
	blank := " "
	if _, err := e.Update(t.Context(), ada, id, engine.Change{Text: &blank}); memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf("a blank text: %v, want Invalid", err)
	}
}

func TestTwoEnginesOneBank(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, nil), open(t, dir, nil)
	id := remember(t, a, said(t, "The ferry leaves at nine.", 0))[0].ID
	if !found(recall(t, b, user(t, "ada"), "when does the ferry leave"), id) {
		t.Error("the other engine does not see the memory")
	}
	if err := b.Forget(t.Context(), user(t, "ada"), "", id); err != nil {
		t.Fatal(err)
	}
	if found(recall(t, a, user(t, "ada"), "when does the ferry leave"), id) {
		t.Error("the first engine still sees the memory")
	}
}

func TestReopenFromSnapshot(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, nil)
	var drafts []memtypes.Draft
	for i := range 100 {
		drafts = append(drafts, said(t, "Note number "+strings.Repeat("x", i)+" about gardening.", i))
	}
	rs := remember(t, e, drafts...)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m, _ := filepath.Glob(filepath.Join(dir, "*.snapshot")); len(m) != 2 {
		t.Fatalf("snapshots = %v, want two", m)
	}
	again := open(t, dir, nil)
	if s := again.Stats(); s.Dense != 100 || s.Sparse != 100 {
		t.Errorf("after reopening: %+v, want 100 in each index", s)
	}
	if !found(recall(t, again, user(t, "ada"), "gardening"), rs[99].ID) && len(recall(t, again, user(t, "ada"), "gardening").Hits) != 10 {
		t.Error("nothing is found after reopening")
	}
}

func TestReconcileRepairs(t *testing.T) {
	parts, cleanup := partsIn(t)
	defer cleanup()
	e := openParts(t, parts, nil)
	rs := remember(t, e, said(t, "Alpha beta gamma.", 0), said(t, "Delta epsilon.", 1))
	if err := parts.Sparse.Delete(t.Context(), []memtypes.Gone{{ID: rs[0].ID, Rev: rs[0].Rev}}); err != nil {
		t.Fatal(err)
	}
	ghost := sparse.Doc{ID: "00000000-0000-8000-8000-000000000001", Rev: 1, Facets: memtypes.Facets{Scope: user(t, "ada"), Kind: memtypes.Dialogue, Layer: memtypes.Raw},
		Fields: map[sparse.Field][]string{sparse.Text: {"alpha"}}}
	if err := parts.Sparse.Upsert(t.Context(), []sparse.Doc{ghost}); err != nil {
		t.Fatal(err)
	}
	drifts, err := e.Reconcile(t.Context(), true)
	if err != nil || len(drifts[0].Missing) != 1 || len(drifts[0].Ghosts) != 1 {
		t.Fatalf("drift = %+v, %v, want one missing and one ghost", drifts, err)
	}
	drifts, err = e.Reconcile(t.Context(), false)
	if err != nil || !drifts[0].OK() || !drifts[1].OK() {
		t.Errorf("after repair: %+v, %v, want agreement", drifts, err)
	}
}

// partsIn makes the parts of an embedded bank, to be tampered with.
func partsIn(t testing.TB) (engine.Parts, func()) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	emb, err := local.Open()
	if err != nil {
		t.Fatal(err)
	}
	d, derr := dense.Open(emb.Dim(), nil)
	s, serr := sparse.Open(nil)
	if err := errors.Join(derr, serr); err != nil {
		t.Fatal(err)
	}
	return engine.Parts{Ledger: db, Embedder: emb, Dense: d, Sparse: s, Analyzer: sparse.NewAnalyzer(nil),
		Fresh: func(context.Context) (dense.Index, sparse.Index, error) {
			d, derr := dense.Open(emb.Dim(), nil)
			s, serr := sparse.Open(nil)
			return d, s, errors.Join(derr, serr)
		}}, func() {}
}

func openParts(t testing.TB, p engine.Parts, o *engine.Options) *engine.Engine {
	t.Helper()
	if o == nil {
		o = &engine.Options{}
	}
	o.Clock = func() time.Time { return noon }
	e, err := engine.Open(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(context.Background()) })
	return e
}

// flaky is an embedder, and an index of each kind, that can be switched off.
type flaky struct {
	off atomic.Bool
	llm.Embedder
}

var errOff = memtypes.Errorf("test", memtypes.Unavailable, "switched off")

func (f *flaky) Embed(ctx context.Context, texts []string) ([]memtypes.Vector, error) {
	if f.off.Load() {
		return nil, errOff
	}
	return f.Embedder.Embed(ctx, texts)
}

type flakySparse struct {
	off atomic.Bool
	sparse.Index
}

func (f *flakySparse) Search(ctx context.Context, q sparse.Query) ([]memtypes.Scored, error) {
	if f.off.Load() {
		return nil, errOff
	}
	return f.Index.Search(ctx, q)
}

func TestDegradedNeverSilent(t *testing.T) {
	parts, cleanup := partsIn(t)
	defer cleanup()
	emb, words := &flaky{Embedder: parts.Embedder}, &flakySparse{Index: parts.Sparse}
	parts.Embedder, parts.Sparse = emb, words
	e := openParts(t, parts, nil)
	ada := user(t, "ada")
	first := remember(t, e, said(t, "The blue bicycle has a flat tyre.", 0))[0].ID

	emb.off.Store(true)
	r, err := e.Remember(t.Context(), []memtypes.Draft{said(t, "The red bicycle was stolen.", 1)}, nil)
	if err != nil || !slices.Equal(r.Pending, []string{"dense"}) {
		t.Fatalf("with the embedder down: %+v, %v, want stored with dense pending", r, err)
	}
	a := recall(t, e, ada, "which bicycle was stolen")
	if !found(a, r.Results[0].ID) || a.Degraded["dense"] == "" {
		t.Errorf("words do not answer, or it is not said: %v, degraded %v", a.Hits, a.Degraded)
	}
	words.off.Store(true)
	if _, err := e.Recall(t.Context(), memtypes.Query{Scope: ada, Text: "bicycle"}); memtypes.CodeOf(err) != memtypes.Unavailable {
		t.Errorf("both down: %v, want Unavailable", err)
	}
	emb.off.Store(false)
	a = recall(t, e, ada, "bicycle with a flat tyre")
	if !found(a, first) || !found(a, r.Results[0].ID) || a.Degraded["sparse"] == "" || a.Degraded["dense"] != "" {
		t.Errorf("vectors alone: %v, degraded %v, want both memories (the embedder's debt paid) and sparse named", a.Hits, a.Degraded)
	}
}

// failsOnce is an embedder whose first batch of many texts fails.
type failsOnce struct {
	failed atomic.Bool
	llm.Embedder
}

func (f *failsOnce) Embed(ctx context.Context, texts []string) ([]memtypes.Vector, error) {
	if len(texts) > 1 && !f.failed.Swap(true) {
		return nil, errOff
	}
	return f.Embedder.Embed(ctx, texts)
}

// What a late index missed is not skipped when the feed goes on without it.
func TestALateIndexMissesNothing(t *testing.T) {
	parts, cleanup := partsIn(t)
	defer cleanup()
	parts.Embedder = &failsOnce{Embedder: parts.Embedder}
	e := openParts(t, parts, nil)
	var drafts []memtypes.Draft
	for i := range 1200 { // several batches of the feed
		d := said(t, "Line "+strconv.Itoa(i)+" of a long day.", i)
		d.Talk.Session = strconv.Itoa(i / 10)
		drafts = append(drafts, d)
	}
	r, err := e.Remember(t.Context(), drafts, nil)
	if err != nil || !slices.Equal(r.Pending, []string{"dense"}) {
		t.Fatalf("pending = %v, %v, want dense", r.Pending, err)
	}
	recall(t, e, user(t, "ada"), "a long day")
	drifts, err := e.Reconcile(t.Context(), false)
	if err != nil || len(drifts) != 2 {
		t.Fatalf("drifts = %v, %v", drifts, err)
	}
	for _, d := range drifts {
		if !d.OK() || d.Held != 1200 {
			t.Errorf("index %s holds %d, misses %d, want all 1200", d.Index, d.Held, len(d.Missing))
		}
	}
}

// other is the same embedder under another name.
type other struct{ llm.Embedder }

func (o other) Fingerprint() string { return "other-model/256" }

func TestAnotherEmbedderIsRefusedUntilRebuilt(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, nil)
	id := remember(t, e, said(t, "The museum opens on Mondays.", 0))[0].ID
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	table, err := local.Open()
	if err != nil {
		t.Fatal(err)
	}
	_, err = bank.Open(t.Context(), dir, &bank.Options{Embedder: other{table}})
	if memtypes.CodeOf(err) != memtypes.Incompatible || !strings.Contains(err.Error(), "rebuild") {
		t.Fatalf("err = %v, want Incompatible that says how to rebuild", err)
	}
	adopted := open(t, dir, &bank.Options{Embedder: other{table}, Engine: engine.Options{Adopt: true}})
	if a := recall(t, adopted, user(t, "ada"), "museum"); !found(a, id) || a.Degraded["dense"] == "" {
		t.Errorf("before the rebuild: %v, degraded %v, want words to answer and dense named", a.Hits, a.Degraded)
	}
	if err := adopted.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if a := recall(t, adopted, user(t, "ada"), "museum"); !found(a, id) || len(a.Degraded) > 0 {
		t.Errorf("after the rebuild: %v, degraded %v", a.Hits, a.Degraded)
	}
	if err := adopted.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	open(t, dir, &bank.Options{Embedder: other{table}})
}

func TestDecay(t *testing.T) {
	now := noon
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	e := open(t, t.TempDir(), &bank.Options{Engine: engine.Options{Clock: clock}})
	ada := user(t, "ada")
	var drafts []memtypes.Draft
	for i := range 10 {
		drafts = append(drafts, said(t, "Small talk about the weather, day "+strings.Repeat("i", i+1)+".", i))
	}
	drafts[3].Pinned = true
	rs := remember(t, e, drafts...)
	mu.Lock()
	now = noon.Add(60 * 24 * time.Hour)
	mu.Unlock()

	preview, err := e.Decay(t.Context(), engine.DecayRequest{})
	if err != nil || len(preview.Plans) != 1 || len(preview.Plans[0].Retire) != 9 {
		t.Fatalf("preview = %+v, %v, want nine of ten due", preview, err)
	}
	if a := recall(t, e, ada, "weather"); len(a.Hits) != 10 {
		t.Errorf("a preview changed something: %d hits", len(a.Hits))
	}
	if _, err := e.Decay(t.Context(), engine.DecayRequest{Apply: true}); memtypes.CodeOf(err) != memtypes.Refused {
		t.Fatalf("the breaker did not stop a run over 90 %% of a bank: %v", err)
	}
	run, err := e.Decay(t.Context(), engine.DecayRequest{Apply: true, Confirm: true})
	if err != nil || run.Retired != 9 {
		t.Fatalf("run = %+v, %v, want nine retired", run, err)
	}
	if a := recall(t, e, ada, "weather"); len(a.Hits) != 1 || a.Hits[0].Memory.ID != rs[3].ID {
		t.Errorf("hits = %v, want only the pinned one", a.Hits)
	}
	again, err := e.Decay(t.Context(), engine.DecayRequest{Apply: true, Confirm: true})
	if err != nil || again.Retired != 0 {
		t.Errorf("again = %+v, %v, want nothing left to do", again, err)
	}
	if n, err := e.Undo(t.Context(), run.RunID); err != nil || n != 9 {
		t.Errorf("Undo = %d, %v, want 9", n, err)
	}
	if a := recall(t, e, ada, "weather"); len(a.Hits) != 10 {
		t.Errorf("after undo %d hits, want 10", len(a.Hits))
	}
	if _, err := e.Undo(t.Context(), "decay-nowhere"); memtypes.CodeOf(err) != memtypes.NotFound {
		t.Errorf("Undo of nothing: %v, want NotFound", err)
	}
}

func TestPurgeAfterGrace(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	ada := user(t, "ada")
	id := remember(t, e, said(t, "A passing remark.", 0), said(t, "Another remark.", 1))[0].ID
	if err := e.Forget(t.Context(), ada, "", id); err != nil {
		t.Fatal(err)
	}
	at := func(d time.Duration) *engine.DecayReport {
		t.Helper()
		r, err := e.Decay(t.Context(), engine.DecayRequest{Now: noon.Add(d), Apply: true, Purge: true, Confirm: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := at(6 * 24 * time.Hour); r.Purged != 0 {
		t.Errorf("purged %d within the grace", r.Purged)
	}
	if r := at(8 * 24 * time.Hour); r.Purged != 1 {
		t.Errorf("purged %d after the grace, want 1", r.Purged)
	}
	if _, err := e.Get(t.Context(), ada, id); memtypes.CodeOf(err) != memtypes.NotFound {
		t.Errorf("Get of a purged memory: %v, want NotFound", err)
	}
}

func TestRecallStrengthens(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, nil)
	ada := user(t, "ada")
	id := remember(t, e, said(t, "The wifi network is called Nebula.", 0))[0].ID
	for range 3 {
		if _, err := e.Recall(t.Context(), memtypes.Query{Scope: ada, Text: "wifi network"}); err != nil {
			t.Fatal(err)
		}
	}
	recall(t, e, ada, "wifi network") // quiet
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	m, err := open(t, dir, nil).Get(t.Context(), ada, id)
	if err != nil || m.Strength.Recalls != 3 || !m.Strength.LastRecall.Equal(noon) {
		t.Errorf("strength = %+v, %v, want 3 recalls at noon", m.Strength, err)
	}
}

func TestClosed(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	if err := errors.Join(e.Close(t.Context()), e.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Recall(t.Context(), memtypes.Query{Scope: user(t, "ada"), Text: "x"}); memtypes.CodeOf(err) != memtypes.Unavailable {
		t.Errorf("Recall after Close: %v, want Unavailable", err)
	}
	if _, err := e.Remember(t.Context(), nil, nil); memtypes.CodeOf(err) != memtypes.Unavailable {
		t.Errorf("Remember after Close: %v, want Unavailable", err)
	}
}

func TestConcurrentWritersAndReaders(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	ada := user(t, "ada")
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 10 {
				d := said(t, "Writer "+strings.Repeat("w", w+1)+" wrote line "+strings.Repeat("l", i+1)+".", w*100+i)
				if _, err := e.Remember(context.Background(), []memtypes.Draft{d}, nil); err != nil {
					t.Error(err)
				}
				if _, err := e.Recall(context.Background(), memtypes.Query{Scope: ada, Text: "writer wrote"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	drifts, err := e.Reconcile(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range drifts {
		if !d.OK() || d.Held != 80 {
			t.Errorf("index %s: %d held, drift %+v, want 80 and none", d.Index, d.Held, d)
		}
	}
}
