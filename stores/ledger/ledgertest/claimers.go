package ledgertest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// holders is who holds what, as the claimers themselves see it.
type holders struct {
	*bank
	mu   sync.Mutex // guards all below
	held map[memtypes.ID]string
	seen map[memtypes.ID]uint64
}

// take notes that holder was given intents, and settles them as placed.
func (h *holders) take(holder string, intents []ledger.Intent) (settled []ledger.Settled) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, i := range intents {
		if other := h.held[i.ID]; other != "" {
			h.t.Errorf("%s was given what %s holds", holder, other)
		}
		h.held[i.ID] = holder
		settled = append(settled, ledger.Settled{Intent: i, Verdict: ledger.Placed})
	}
	return settled
}

// give notes that nobody holds what is settled. It comes before the settlement:
// another may have a memory as soon as that is done.
func (h *holders) give(settled []ledger.Settled) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range settled {
		delete(h.held, s.ID)
		h.seen[s.ID] = max(h.seen[s.ID], s.Seq)
	}
}

// pump claims and settles until nothing was left once written was closed.
func (h *holders) pump(holder string, written <-chan struct{}) {
	for last := false; ; {
		got, err := h.Claim(h.t.Context(), "dense/a", holder, at(1), time.Hour, 70)
		if err != nil {
			h.t.Errorf("Claim: %v", err)
			return
		}
		if len(got) == 0 && last {
			return
		}
		select {
		case <-written:
			last = len(got) == 0 // and once more: what is settled meanwhile may be owed again
		default:
		}
		settled := h.take(holder, got)
		h.give(settled)
		if err := h.Settle(h.t.Context(), "dense/a", holder, settled); err != nil {
			h.t.Errorf("Settle: %v", err)
			return
		}
	}
}

// Claimers at once, beside writers, never have one memory at the same time, and
// place all in the end.
func claimersAtOnce(t *testing.T, b *bank) {
	const claimers, memories = 4, 3000
	b.follow("dense/a", 0)
	ms := numbered(memories, "note", memtypes.Draft{})
	h := &holders{bank: b, held: map[memtypes.ID]string{}, seen: map[memtypes.ID]uint64{}}
	written := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(written)
		for i := 0; i < memories; i += 50 {
			x := batch(at(0))
			for _, m := range ms[i : i+50] {
				x.Edits = append(x.Edits, edit(ledger.Insert, m))
			}
			x.Edits = append(x.Edits, edit(ledger.Pin, ms[i]), edit(ledger.Pin, ms[i/2]))
			if _, err := b.Append(t.Context(), x); err != nil {
				t.Errorf("Append: %v", err)
			}
		}
	})
	for c := range claimers {
		wg.Go(func() { h.pump(fmt.Sprint("h", c), written) })
	}
	wg.Wait()
	b.settle("h", placed(), b.claim("h", 1, ledger.MaxLimit)...) // what came back after the last look
	if f := b.state(1); f.Owed != 0 || f.Mark != b.newest() {
		t.Errorf("Followers = %+v, want nothing owed and mark %d", f, b.newest())
	}
	if len(h.seen) != memories {
		t.Errorf("%d memories were placed, want %d", len(h.seen), memories)
	}
}
