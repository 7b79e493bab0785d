package engine

import (
	"context"
	"sync"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// reinforceQueue bounds how many recalls may wait to be written down.
const reinforceQueue = 256

// reinforcer writes recalls to the ledger off the path of the answer. When its
// queue is full a recall strengthens nothing, which is counted: answering is
// worth more than remembering that one has answered.
type reinforcer struct {
	engine *Engine
	queue  chan ledger.Batch
	done   chan struct{}

	mu     sync.RWMutex
	closed bool // guarded by mu: no send after the queue is closed
}

func startReinforcer(e *Engine) *reinforcer {
	r := &reinforcer{engine: e, queue: make(chan ledger.Batch, reinforceQueue), done: make(chan struct{})}
	go r.run()
	return r
}

// add queues the strengthening of hits, as of now.
func (r *reinforcer) add(hits []memtypes.Hit, now time.Time) {
	if len(hits) == 0 {
		return
	}
	b := ledger.Batch{Now: now, Actor: r.engine.opts.Actor}
	for i := range hits {
		m := &hits[i].Memory
		b.Edits = append(b.Edits, ledger.Edit{Op: ledger.Recall, Memory: memtypes.Memory{ID: m.ID, Scope: m.Scope}})
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		return
	}
	select {
	case r.queue <- b:
	default:
		r.engine.counts.lost.Add(int64(len(hits)))
	}
}

func (r *reinforcer) run() {
	defer close(r.done)
	for b := range r.queue {
		// A recall that cannot be written down (a read-only bank) is lost, and counted.
		if _, err := r.engine.parts.Ledger.Append(context.Background(), b); err != nil {
			r.engine.counts.lost.Add(int64(len(b.Edits)))
			continue
		}
		r.engine.counts.reinforced.Add(int64(len(b.Edits)))
	}
}

// stop writes down what is queued and returns when it is done, or ctx is.
func (r *reinforcer) stop(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	r.mu.Unlock()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return memtypes.Errorf("engine.Close", memtypes.Canceled, "recalls are still being written down: %w", ctx.Err())
	}
}
