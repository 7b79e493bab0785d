package engine

import (
	"context"

	"github.com/vimbank/vimbank/memtypes"
)

// gate is a lock that is waited for no longer than a context lasts.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

// enter takes the lock, or fails with Canceled when ctx ends first.
func (g gate) enter(ctx context.Context) error {
	if g.tryEnter() {
		return nil
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return memtypes.Errorf("engine", memtypes.Canceled, "the indexes are in use by a rebuild or another writer: %w", ctx.Err())
	}
}

// tryEnter takes the lock if it is free.
func (g gate) tryEnter() bool {
	select {
	case g <- struct{}{}:
		return true
	default:
		return false
	}
}

func (g gate) leave() { <-g }
