package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
)

// freezer stops an engine at a point, and from then on wherever it comes to
// one, as a process that is killed there or paused, until it is thawed.
type freezer struct {
	point   string
	armed   atomic.Bool
	reached chan struct{} // closed when it stands still
	stopped func()        // closes it
	thawed  chan struct{}
	thaw    func() // closes it
}

func newFreezer(point string) *freezer {
	f := &freezer{point: point, reached: make(chan struct{}), thawed: make(chan struct{})}
	f.stopped = sync.OnceFunc(func() { close(f.reached) })
	f.thaw = sync.OnceFunc(func() { close(f.thawed) })
	return f
}

func (f *freezer) at(point string) {
	if f.armed.Load() && point == f.point {
		f.stopped()
	}
	select {
	case <-f.reached:
		<-f.thawed
	default:
	}
}

// Wherever a process stops between ledger and indexes, for good or for longer
// than its claims hold, the others lose nothing and show nothing forgotten; and
// what it still does when it goes on changes nothing.
func TestSharedStoppedAnywhere(t *testing.T) {
	for _, point := range []string{"appended", "claimed", "dense written", "sparse written", "settled"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			c, f := newCluster(t), newFreezer(point)
			a := c.replica(t, how{options: engine.Options{At: f.at}})
			t.Cleanup(f.thaw) // before a is closed
			before := remember(t, a, said(t, "The red door is locked.", 0), said(t, "The blue door is open.", 1))
			c.settled(t, a)
			f.armed.Store(true)
			var writing sync.WaitGroup
			writing.Go(func() {
				for i := range 5 {
					draft := said(t, fmt.Sprintf("Green door number %d squeaks.", i), 2+i)
					if _, err := a.Remember(context.Background(), []memtypes.Draft{draft}, nil); err != nil {
						t.Errorf("Remember: %v", err)
					}
				}
			})
			<-f.reached
			b := c.replica(t, how{})
			if err := b.Forget(t.Context(), user(t, "ada"), "", before[1].ID); err != nil {
				t.Fatal(err)
			}
			text := "The red door is gone."
			if _, err := b.Update(t.Context(), user(t, "ada"), before[0].ID, engine.Change{Text: &text}); err != nil {
				t.Fatal(err)
			}
			id := remember(t, b, said(t, "The yellow window is broken.", 20))[0].ID
			check := func() {
				t.Helper()
				c.settled(t, b)
				finds(t, b, "yellow window", id)
				finds(t, b, "red door", before[0].ID)
				misses(t, b, "blue door", before[1].ID)
			}
			check()
			f.thaw() // and it goes on where it stood
			writing.Wait()
			check()
			misses(t, a, "blue door", before[1].ID)
			finds(t, a, "yellow window", id)
		})
	}
}
