package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
)

// notes are memories that stand for themselves.
func notes(t testing.TB, from, n int) []memtypes.Draft {
	out := make([]memtypes.Draft, n)
	for i := range out {
		out[i] = memtypes.Draft{Scope: user(t, "ada"), Kind: memtypes.Knowledge, Text: fmt.Sprintf("Shelf %d holds the qx%03dz jars.", from+i, from+i)}
	}
	return out
}

// live names the live generations.
func (c *cluster) live(t testing.TB) (dense, sparse string) {
	t.Helper()
	dense, err := c.dense.Live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sparse, err = c.sparse.Live(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return dense, sparse
}

// alone fails unless nothing but the live generations is left.
func (c *cluster) alone(t testing.TB) {
	t.Helper()
	d, s := c.live(t)
	eventually(t, func() error {
		inDense, err := c.dense.List(t.Context())
		inSparse, serr := c.sparse.List(t.Context())
		followers, ferr := c.ledger.Followers(t.Context(), noon)
		if err := errors.Join(err, serr, ferr); err != nil {
			return err
		}
		if len(inDense) != 1 || len(inSparse) != 1 || len(followers) != 2 || followers[0].Name != "dense/"+d || followers[1].Name != "sparse/"+s {
			return fmt.Errorf("generations %v and %v, followers %v, want %s and %s alone", inDense, inSparse, followers, d, s)
		}
		return nil
	})
}

func TestSharedRebuildWhileServing(t *testing.T) {
	c := newCluster(t)
	a, b := c.replica(t, how{}), c.replica(t, how{})
	rs := remember(t, a, notes(t, 0, 1200)...)
	c.settled(t, a)
	oldDense, oldSparse := c.live(t)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Go(func() { // b writes, forgets and finds meanwhile
		for i := 2000; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			r, err := b.Remember(context.Background(), notes(t, i, 1), nil)
			if err != nil {
				t.Error(err)
				return
			}
			a, err := b.Recall(context.Background(), memtypes.Query{Scope: user(t, "ada"), Text: fmt.Sprintf("qx%03dz", i), Quiet: true})
			if err != nil || !found(a, r.Results[0].ID) {
				t.Errorf("during the rebuild %d is not found: %v", i, err)
			}
			if i%3 == 0 {
				if err := b.Forget(context.Background(), user(t, "ada"), "", rs[i%1000].ID); err != nil {
					t.Error(err)
				}
			}
		}
	})
	last := 0
	err := a.Rebuild(t.Context(), func(done, _ int) { last = done })
	close(stop)
	wg.Wait()
	if err != nil || last < 1200 {
		t.Fatalf("Rebuild: %v after %d, want all", err, last)
	}
	newDense, newSparse := c.live(t)
	if newDense == oldDense || newSparse == oldSparse {
		t.Errorf("live: %s and %s as before", newDense, newSparse)
	}
	c.settled(t, b)
	c.alone(t)
	finds(t, b, "qx1111z", rs[1111].ID)
}

// A rebuild whose process ends in the middle is carried on by another one, from
// the page where it was.
func TestSharedRebuildGoesOnElsewhere(t *testing.T) {
	c := newCluster(t)
	reached, hold := make(chan struct{}), make(chan struct{})
	var once sync.Once
	pages := 0
	a, err := c.tryReplica(t, how{options: engine.Options{At: func(point string) {
		if point == "filled a page" {
			if pages++; pages == 2 {
				once.Do(func() { close(reached); <-hold })
			}
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	remember(t, a, notes(t, 0, 1600)...)
	c.settled(t, a)
	oldDense, _ := c.live(t)
	ended := make(chan error, 1)
	ctx, kill := context.WithCancel(context.Background())
	go func() { ended <- a.Rebuild(ctx, nil) }()
	<-reached
	kill()
	close(hold)
	if err := <-ended; err == nil {
		t.Fatal("Rebuild did not end with its context")
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if err := a.Close(gone); err != nil && memtypes.CodeOf(err) != memtypes.Canceled {
		t.Errorf("Close: %v", err)
	}
	b := c.replica(t, how{})
	eventually(t, func() error {
		if now, _ := c.live(t); now == oldDense {
			return errors.New("the old generation is live")
		}
		return nil
	})
	c.settled(t, b)
	c.alone(t)
	runs, err := b.Runs(t.Context(), engine.RebuildJob, 10)
	if err != nil || len(runs) != 1 {
		t.Fatalf("runs = %+v, %v, want one", runs, err)
	}
	eventually(t, func() error {
		runs, err := b.Runs(t.Context(), engine.RebuildJob, 10)
		if err != nil || runs[0].Status != "done" || runs[0].Counts["done"] < 1600 || runs[0].Counts["done"] > 1600+512 {
			return fmt.Errorf("runs = %+v, %v, want one that is done, with no page filled again but the last", runs, err)
		}
		return nil
	})
}

func TestSharedChangeOfEmbedder(t *testing.T) {
	c := newCluster(t)
	a := c.replica(t, how{})
	id := remember(t, a, said(t, "The museum opens on Mondays.", 0))[0].ID
	c.settled(t, a)
	if _, err := c.tryReplica(t, how{embedder: other{c.table}}); memtypes.CodeOf(err) != memtypes.Incompatible || !strings.Contains(err.Error(), "rebuild") {
		t.Fatalf("err = %v, want Incompatible that says how to rebuild", err)
	}
	b := c.replica(t, how{embedder: other{c.table}, options: engine.Options{Adopt: true}})
	if a := finds(t, b, "museum", id); a.Degraded["dense"] == "" {
		t.Errorf("degraded = %v, want dense", a.Degraded)
	}
	late := remember(t, a, said(t, "The gallery is closed.", 1))[0].ID
	if err := b.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	c.settled(t, b)
	c.alone(t)
	if a := finds(t, b, "gallery closed", late); len(a.Degraded) > 0 {
		t.Errorf("degraded = %v after the rebuild", a.Degraded)
	}
	// A replica of the old embedder notices, and answers by words.
	eventually(t, func() error {
		if a := recall(t, a, user(t, "ada"), "museum"); !found(a, id) || a.Degraded["dense"] == "" {
			return fmt.Errorf("%d hits, degraded %v", len(a.Hits), a.Degraded)
		}
		return nil
	})
}

// A bank that was filled before it had services gets its indexes by itself.
func TestSharedFirstStartOfAFullBank(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	rs := remember(t, e, notes(t, 0, 700)...)
	c.settled(t, e)
	c.dense.Wipe()
	c.sparse.Wipe()
	few := func(s *engine.Shared) { s.MaxOwed = 200 } // too many to be owed at once
	again := c.replica(t, how{shared: few})
	c.settled(t, again)
	c.alone(t)
	finds(t, again, "qx555z", rs[555].ID)
}

func TestSharedSeveralStartAtOnce(t *testing.T) {
	c := newCluster(t)
	var wg sync.WaitGroup
	engines := make([]*engine.Engine, 4)
	for i := range engines {
		wg.Go(func() { engines[i], _ = c.tryReplica(t, how{}) })
	}
	wg.Wait()
	for i, e := range engines {
		if e == nil {
			t.Fatalf("replica %d does not start", i)
		}
		defer e.Close(context.Background())
	}
	for i, e := range engines {
		wg.Go(func() {
			for n := range 20 {
				r, err := e.Remember(context.Background(), notes(t, 1000*i+n, 1), nil)
				if err != nil {
					t.Error(err)
					return
				}
				if n%4 == 0 {
					if err := engines[(i+1)%4].Forget(context.Background(), user(t, "ada"), "", r.Results[0].ID); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	c.settled(t, engines[0])
	c.alone(t)
	drifts, err := engines[1].Reconcile(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range drifts {
		if !d.OK() || d.Held != 60 {
			t.Errorf("%+v, want 60 and no drift", d)
		}
	}
}

// A writer that was late may make again what a rebuild has dropped: it goes.
func TestSharedLeftoverIsDropped(t *testing.T) {
	c := newCluster(t)
	e := c.replica(t, how{})
	id := remember(t, e, notes(t, 1, 1)...)[0].ID
	c.settled(t, e)
	live, _ := c.live(t)
	left := live[:strings.LastIndexByte(live, '-')] + "-9"
	if _, err := c.dense.Open(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	if _, err := c.sparse.Open(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	c.alone(t)
	finds(t, e, "qx001z", id)
}
