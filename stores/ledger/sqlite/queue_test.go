package sqlite

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Whoever submits is served once or, if it gave up, never; one at a time leads.
func TestQueueServesOnce(t *testing.T) {
	var leaders, batches atomic.Int64
	served := map[*write]int{} // only the leader's
	q := newQueue(64, func(batch []*write, _ func() []*write) {
		if leaders.Add(1) > 1 {
			t.Error("two lead at once")
		}
		for _, r := range batch {
			served[r]++
		}
		batches.Add(1)
		leaders.Add(-1)
	})
	var mu sync.Mutex // guards want
	want := map[*write]int{}
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 300 {
				r := &write{}
				ctx, cancel := context.WithCancel(t.Context())
				if (g+i)%3 == 0 {
					go cancel()
				}
				err := q.submit(ctx, r)
				cancel()
				mu.Lock()
				if want[r] = 0; err == nil {
					want[r] = 1
				} else if !errors.Is(err, context.Canceled) {
					t.Errorf("submit: %v", err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for r, n := range want {
		if served[r] != n {
			t.Fatalf("a write was served %d times, want %d", served[r], n)
		}
	}
	if len(want) != 16*300 || q.led || len(q.waiting) > 0 {
		t.Errorf("%d submitted, led %v, %d wait; want %d, nobody", len(want), q.led, len(q.waiting), 16*300)
	}
	t.Logf("%d writes in %d batches", len(want), batches.Load())
}

// Who comes while others are served shares the next batch, and the error of
// one is its own.
func TestQueueShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		q := newQueue(64, func(batch []*write, _ func() []*write) {
			sizes = append(sizes, len(batch))
			time.Sleep(time.Second)
			for _, r := range batch {
				if r.do != nil {
					r.err = r.do(nil)
				}
			}
		})
		no := errors.New("no")
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				r := &write{}
				if i == 5 {
					r.do = func(*tx) error { return no }
				}
				if err := q.submit(t.Context(), r); err != r.err || (i == 5) != (err == no) {
					t.Errorf("submit %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if len(sizes) != 2 || sizes[0] != 1 || sizes[1] != 7 {
			t.Errorf("batches of %v, want 1 and 7", sizes)
		}
	})
}

// The line is bounded: who finds no place waits no longer than it likes.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(2, func([]*write, func() []*write) { time.Sleep(time.Minute) })
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _ = q.submit(t.Context(), &write{}) })
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.submit(ctx, &write{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("submit to a full line: %v, want %v", err, context.DeadlineExceeded)
		}
		wg.Wait()
	})
}

// Callers that come together and then stay away cost the others little: a
// leader that rested in vain rests less often.
func TestQueueRestsInVainSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const commit = 50 * time.Microsecond
		q := newQueue(64, func(_ []*write, more func() []*write) {
			for len(more()) > 0 {
			}
			time.Sleep(commit)
		})
		var rested time.Duration
		const pairs = 500
		for range pairs {
			var wg sync.WaitGroup
			wg.Go(func() { _ = q.submit(t.Context(), &write{}) })
			synctest.Wait()
			start := time.Now()
			_ = q.submit(t.Context(), &write{}) // while the other is served
			rested += time.Since(start) - 2*commit
			wg.Wait()
			time.Sleep(time.Second)
		}
		if most := pairs / 10 * maxRest; rested > most {
			t.Errorf("%d callers that were alone waited %v in vain, want at most %v", pairs, rested, most)
		}
	})
}

// Callers who come back from one batch are in the next one together, each taken
// as it comes, and no one leads before that is done.
func TestQueueTakesWhoComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		q := newQueue(64, func(batch []*write, more func() []*write) {
			n := 0
			for ; len(batch) > 0; batch = more() {
				n += len(batch)
				time.Sleep(time.Microsecond) // the work of each
			}
			sizes = append(sizes, n)
			time.Sleep(time.Millisecond) // the disk
		})
		const callers, rounds = 8, 5
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				for range rounds {
					if err := q.submit(t.Context(), &write{}); err != nil {
						t.Errorf("submit: %v", err)
					}
					time.Sleep(time.Duration(i) * time.Microsecond) // on its way
				}
			})
		}
		wg.Wait()
		full, sum := 0, 0
		for _, n := range sizes {
			if sum += n; n == callers {
				full++
			}
		}
		if sum != callers*rounds || full < rounds-1 {
			t.Errorf("batches of %v: got %d writes and %d batches of all %d, want %d and %d or more", sizes, sum, full, callers, callers*rounds, rounds-1)
		}
	})
}
