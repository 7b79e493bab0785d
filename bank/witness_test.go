package bank_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// patience bounds what must happen by itself, also on a machine with much to do.
const patience = 3 * time.Minute

// witness knows what was said to a bank and what of it was acknowledged.
type witness struct {
	scope memtypes.Scope
	fault atomic.Int64 // odd while something is wrong, one more with each beginning and end
	pace  atomic.Int64 // between two calls of one goroutine, a time.Duration

	mu      sync.Mutex
	said    int                      // guarded by mu
	may     map[memtypes.ID][]string // guarded by mu: the texts that a memory may have, "" for: it is not there; one, if its last change was acknowledged
	texts   map[memtypes.ID]string   // guarded by mu: the last text that was said of it
	touched map[memtypes.ID]bool     // guarded by mu: since the last check
	seen    []outcome                // guarded by mu
}

// outcome is what came of one call.
type outcome struct {
	op       string
	within   bool // it began and ended while something was wrong
	err      error
	degraded map[string]string
	took     time.Duration
}

func newWitness(t testing.TB) *witness {
	t.Helper()
	w := &witness{scope: ada(t), may: map[memtypes.ID][]string{}, texts: map[memtypes.ID]string{}, touched: map[memtypes.ID]bool{}}
	w.pace.Store(int64(20 * time.Millisecond))
	return w
}

// plain are words that every embedder knows, so that each text has a direction of its own.
var plain = strings.Fields(`apple river window doctor music garden winter money horse bridge paper mountain kitchen letter
	ocean teacher engine forest ticket market summer dragon hospital pencil island castle blanket rocket candle desert
	violin butter prison camera thunder wallet harvest mirror pirate school tunnel coffee planet needle jacket battle`)

// say makes a text that nobody has said, with a word that no other has.
func (w *witness) say() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said++
	n := len(plain)
	var words []string
	for i, rest := 0, w.said*7919; i < 5; i, rest = i+1, rest/n+w.said*(i+3) {
		words = append(words, plain[rest%n])
	}
	return fmt.Sprintf("The %s of %s.", thing(w.said), strings.Join(words, " "))
}

// note says how a memory may stand after a call that would make it text, or
// after an empty one would take it away.
func (w *witness) note(id memtypes.ID, text string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	was := w.may[id]
	if was == nil {
		was = []string{""}
	}
	if err != nil {
		w.may[id] = append(slices.Clone(was), text) // it may have been done all the same
	} else {
		w.may[id] = []string{text}
	}
	if text != "" {
		w.texts[id] = text
	}
	w.touched[id] = true
}

// longest bounds one call: what the settings of the tests allow is less.
const longest = 30 * time.Second

// call does one call and notes what came of it.
func (w *witness) call(op string, do func(context.Context) (map[string]string, error)) error {
	before, began := w.fault.Load(), time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	degraded, err := do(ctx)
	o := outcome{op: op, within: before%2 == 1 && w.fault.Load() == before, err: err, degraded: degraded, took: time.Since(began)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, o)
	return err
}

// remember says something new, and gives its id if it was acknowledged.
func (w *witness) remember(e *engine.Engine) (memtypes.ID, error) {
	d := memtypes.Draft{Scope: w.scope, Kind: memtypes.Knowledge, Text: w.say()}
	m, err := memtypes.New(d, time.Now())
	if err != nil {
		return "", err
	}
	err = w.call("remember", func(ctx context.Context) (map[string]string, error) {
		r, err := e.Remember(ctx, []memtypes.Draft{d}, nil)
		if err == nil && (r.Results[0].Status != engine.Stored || r.Results[0].ID != m.ID) {
			err = fmt.Errorf("receipt %+v, want %s stored", r.Results[0], m.ID)
		}
		return nil, err
	})
	w.note(m.ID, d.Text, err)
	return m.ID, err
}

func (w *witness) update(e *engine.Engine, id memtypes.ID) error {
	text := w.say()
	err := w.call("update", func(ctx context.Context) (map[string]string, error) {
		_, err := e.Update(ctx, w.scope, id, engine.Change{Text: &text})
		return nil, err
	})
	w.note(id, text, err)
	return err
}

func (w *witness) forget(e *engine.Engine, id memtypes.ID) error {
	err := w.call("forget", func(ctx context.Context) (map[string]string, error) {
		return nil, e.Forget(ctx, w.scope, "test", id)
	})
	w.note(id, "", err)
	return err
}

// write remembers, updates and forgets until ctx ends, one call after the
// other. What a call that failed was about is not touched again.
func (w *witness) write(ctx context.Context, e *engine.Engine) {
	var mine []memtypes.ID
	for n := 0; ctx.Err() == nil; n++ {
		last := len(mine) - 1
		switch {
		case n%5 == 3 && last >= 0:
			if w.update(e, mine[last]) != nil {
				mine = mine[:last]
			}
		case n%5 == 4 && last >= 0:
			_ = w.forget(e, mine[last]) // noted
			mine = mine[:last]
		default:
			if id, err := w.remember(e); err == nil {
				mine = append(mine, id)
			}
		}
		time.Sleep(time.Duration(w.pace.Load()))
	}
}

// recall asks for what was said, until ctx ends.
func (w *witness) recall(ctx context.Context, e *engine.Engine) {
	for n := 0; ctx.Err() == nil; n++ {
		q := memtypes.Query{Scope: w.scope, Text: w.any(n), Quiet: true}
		_ = w.call("recall", func(ctx context.Context) (map[string]string, error) {
			a, err := e.Recall(ctx, q)
			if err != nil {
				return nil, err
			}
			return a.Degraded, nil
		}) // noted
		time.Sleep(time.Duration(w.pace.Load()))
	}
}

// any is one of the texts that were said.
func (w *witness) any(n int) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ids := slices.Sorted(maps.Keys(w.texts)); len(ids) > 0 {
		return w.texts[ids[n*31%len(ids)]]
	}
	return "The river."
}

// under has each of engines written to and asked while do runs, and gives what
// came of it.
func (w *witness) under(t testing.TB, do func(), engines ...*engine.Engine) []outcome {
	t.Helper()
	w.mu.Lock()
	w.seen = nil
	w.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for _, e := range engines {
		all.Go(func() { w.write(ctx, e) })
		all.Go(func() { w.write(ctx, e) })
		all.Go(func() { w.recall(ctx, e) })
	}
	defer func() { cancel(); all.Wait() }() // also when do ends the test
	do()
	cancel()
	all.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

// wrong lets something be wrong between begin and end, for about a second and
// until some calls of each sort have seen nothing else.
func (w *witness) wrong(t testing.TB, begin, end func()) {
	t.Helper()
	begin()
	w.fault.Add(1)
	defer func() { w.fault.Add(1); end() }()
	time.Sleep(time.Second)
	eventually(t, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		recalls, writes := 0, 0
		for _, o := range w.seen {
			switch {
			case !o.within:
			case o.op == "recall":
				recalls++
			default:
				writes++
			}
		}
		if recalls < 2 || writes < 2 {
			return fmt.Errorf("%d recalls and %d writes came to an end, want 2 of each", recalls, writes)
		}
		return nil
	})
}

// eventually waits until what holds.
func eventually(t testing.TB, what func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = what(); err == nil {
			return
		}
	}
	t.Fatalf("after %v: %v", patience, err)
}

// check looks with an engine of its own, e, whether the bank is what was said to
// it: in the ledger word by word, in both indexes by id and revision, and in
// what recalls find. What could not be known before is known afterwards.
func (w *witness) check(t testing.TB, e *engine.Engine) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	there := w.listed(t, e)
	for id, text := range there {
		if w.may[id] == nil {
			t.Errorf("invented: %s %q, which nobody said", id, text)
		}
	}
	for id, may := range w.may {
		if !slices.Contains(may, there[id]) {
			t.Errorf("%s is %q, want one of %q", id, there[id], may)
		}
		w.may[id] = []string{there[id]}
	}
	drifts, err := e.Reconcile(t.Context(), false)
	if err != nil || len(drifts) != 2 {
		t.Fatalf("Reconcile: %v, %v, want two indexes", drifts, err)
	}
	for _, d := range drifts {
		if !d.OK() || d.Held != len(there) {
			t.Errorf("index %s holds %d of %d: missing %v, stale %v, ghosts %v", d.Index, d.Held, len(there), d.Missing, d.Stale, d.Ghosts)
		}
	}
	for id := range w.touched {
		w.recalled(t, e, id, there[id])
	}
	clear(w.touched)
}

// listed is what is active in the scope, by id.
func (w *witness) listed(t testing.TB, e *engine.Engine) map[memtypes.ID]string {
	t.Helper()
	there := map[memtypes.ID]string{}
	q := ledger.ListQuery{Filter: memtypes.Filter{Scope: w.scope}, Limit: 1000}
	for {
		page, err := e.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range page.Memories {
			there[page.Memories[i].ID] = page.Memories[i].Text
		}
		if q.Cursor = page.Next; page.Next == "" {
			return there
		}
	}
}

// recalled asks each index for id, which has text or, if that is empty, is gone.
func (w *witness) recalled(t testing.TB, e *engine.Engine, id memtypes.ID, text string) {
	t.Helper()
	for _, profile := range []string{"bm25", "dense"} {
		asked := text
		if text == "" {
			asked = w.texts[id]
		}
		a, err := e.Recall(t.Context(), memtypes.Query{Scope: w.scope, Text: asked, Profile: profile, Quiet: true})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(a.Hits, func(h memtypes.Hit) bool { return h.Memory.ID == id })
		switch {
		case len(a.Degraded) > 0:
			t.Errorf("profile %s: degraded %v, want nothing wrong any more", profile, a.Degraded)
		case text == "" && at >= 0:
			t.Errorf("profile %s finds %s, which is forgotten", profile, id)
		case text != "" && (at < 0 || a.Hits[at].Memory.Text != text):
			t.Errorf("profile %s does not find %s by its own text %q among %d hits", profile, id, text, len(a.Hits))
		}
	}
}
