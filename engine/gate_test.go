package engine_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/llm/local"
	"github.com/vimbank/vimbank/memtypes"
)

// held is the built-in embedder, which stands still while it is closed.
type held struct {
	*local.Embedder
	shut    atomic.Bool
	waiting chan struct{} // told when a text waits
	open    chan struct{} // closed: all go on
}

func (h *held) Embed(ctx context.Context, texts []string) ([]memtypes.Vector, error) {
	if h.shut.Load() {
		h.waiting <- struct{}{}
		select {
		case <-h.open:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return h.Embedder.Embed(ctx, texts)
}

// Cheap: its vectors are not kept, so a rebuild asks for them again.
func (*held) Cheap() bool { return true }

// EmbedQuery never waits: only the rebuild stands still.
func (h *held) EmbedQuery(ctx context.Context, texts []string) ([]memtypes.Vector, error) {
	return h.Embedder.Embed(ctx, texts)
}

// While a rebuild goes on, memories are taken in and found: by the old indexes
// at once what they hold, the rest when the new ones have followed.
func TestRebuildStopsNobody(t *testing.T) {
	table, err := local.Open()
	if err != nil {
		t.Fatal(err)
	}
	slow := &held{Embedder: table, waiting: make(chan struct{}, 100), open: make(chan struct{})}
	e := open(t, t.TempDir(), &bank.Options{Embedder: slow})
	ada := user(t, "ada")
	old := remember(t, e, said(t, "The lighthouse blinks twice.", 0))[0].ID

	slow.shut.Store(true)
	rebuilt := make(chan error, 1)
	go func() { rebuilt <- e.Rebuild(t.Context(), nil) }()
	<-slow.waiting

	r, err := e.Remember(t.Context(), []memtypes.Draft{said(t, "The harbour has two piers.", 1)}, &engine.RememberOptions{NoWait: true})
	if err != nil || r.Results[0].Status != engine.Stored {
		t.Fatalf("Remember during a rebuild: %+v, %v, want it stored", r, err)
	}
	a := recall(t, e, ada, "lighthouse")
	if !found(a, old) || a.Degraded["indexes"] == "" {
		t.Errorf("Recall during a rebuild: %d hits, degraded %v, want the old memory, and a word that the indexes are behind", len(a.Hits), a.Degraded)
	}

	slow.shut.Store(false)
	close(slow.open)
	if err := <-rebuilt; err != nil {
		t.Fatal(err)
	}
	a = recall(t, e, ada, "harbour")
	if !found(a, r.Results[0].ID) || len(a.Degraded) != 0 {
		t.Errorf("Recall after it: %d hits, degraded %v, want what was remembered meanwhile", len(a.Hits), a.Degraded)
	}
	if drifts, err := e.Reconcile(t.Context(), false); err != nil || !drifts[0].OK() || !drifts[1].OK() {
		t.Errorf("Reconcile = %+v, %v, want no drift", drifts, err)
	}
}

// A rebuild that is called off leaves the indexes as they were, and the lock free.
func TestRebuildCanBeCalledOff(t *testing.T) {
	table, err := local.Open()
	if err != nil {
		t.Fatal(err)
	}
	slow := &held{Embedder: table, waiting: make(chan struct{}, 100), open: make(chan struct{})}
	e := open(t, t.TempDir(), &bank.Options{Embedder: slow})
	id := remember(t, e, said(t, "The lighthouse blinks twice.", 0))[0].ID
	slow.shut.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	rebuilt := make(chan error, 1)
	go func() { rebuilt <- e.Rebuild(ctx, nil) }()
	<-slow.waiting
	cancel()
	if err := <-rebuilt; err == nil {
		t.Error("a rebuild that was called off: got no error, want one")
	}
	slow.shut.Store(false)
	if a := recall(t, e, user(t, "ada"), "lighthouse"); !found(a, id) || len(a.Degraded) != 0 {
		t.Errorf("afterwards: %d hits, degraded %v, want all as before", len(a.Hits), a.Degraded)
	}
}
