package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/internal/faults"
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

// childDir is the environment's name of the bank of a child that is to be killed.
const childDir = "VIMBANK_TEST_KILLED_IN"

// TestKilledChild is the process that TestSharedKilled kills.
func TestKilledChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("it is started by TestSharedKilled")
	}
	at, err := faults.KillAt(os.Getenv("VIMBANK_FAILPOINT"))
	if err != nil {
		t.Fatal(err)
	}
	c := newCluster(t)
	c.dir = dir
	e := c.replica(t, how{options: engine.Options{At: at}})
	for i := range 1000 { // until it is killed
		r := remember(t, e, notes(t, i, 1)...)
		fmt.Printf("acknowledged %s\n", r[0].ID)
	}
}

// A process that is killed with signal 9, wherever it is, loses nothing that it
// acknowledged, and what it had claimed is done by the next one.
func TestSharedKilled(t *testing.T) {
	for _, point := range []string{"appended", "claimed", "dense written", "sparse written", "settled"} {
		t.Run(point, func(t *testing.T) {
			c := newCluster(t)
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledChild$", "-test.v")
			child.Env = append(os.Environ(), childDir+"="+c.dir, "VIMBANK_FAILPOINT="+point+":kill")
			out, err := child.Output()
			if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.Exited() {
				t.Fatalf("the child ended with %v, want it killed:\n%s", err, out)
			}
			e := c.replica(t, how{})
			c.settled(t, e)
			want, _, _ := c.revs(t)
			for line := range strings.Lines(string(out)) {
				if id, ok := strings.CutPrefix(strings.TrimSpace(line), "acknowledged "); ok && want[memtypes.ID(id)] == 0 {
					t.Errorf("%s was acknowledged, and is not there", id)
				}
			}
		})
	}
}
