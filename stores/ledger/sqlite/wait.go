package sqlite

import (
	"context"
	"sync"
	"time"
)

// lookEvery is how often a waiter looks for changes of other processes: those
// of its own process wake it.
const lookEvery = 50 * time.Millisecond

// Wait returns when there is a change after seq; see ledger.Feed. It is
// Unavailable once the bank is closed, which it does not hold up.
func (db *DB) Wait(ctx context.Context, after uint64) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		rung := db.bell.listen() // before looking, or a change in between would be missed
		last, err := db.Head(ctx)
		if err != nil || last > after {
			return err
		}
		select {
		case <-rung:
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// bell wakes those who wait for the log to grow.
type bell struct {
	mu   sync.Mutex // guards all below
	last uint64     // of the newest change that it was rung for
	rung chan struct{}
}

// listen gives what is closed at the next change of this process.
func (b *bell) listen() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung == nil {
		b.rung = make(chan struct{})
	}
	return b.rung
}

// ring says that the log ends at last.
func (b *bell) ring(last uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rung != nil && last > b.last {
		close(b.rung)
		b.rung = nil
	}
	b.last = last
}
