package ledgertest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// holders is who was given what, as the claimers themselves see it.
type holders struct {
	*bank
	mu    sync.Mutex // guards given
	given map[ledger.Intent]string
}

// take notes that holder was given intents, and settles them as placed. None
// may be given twice: a claim lasts for longer than the test, and what is owed
// again has another number.
func (h *holders) take(holder string, intents []ledger.Intent) (settled []ledger.Settled) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, i := range intents {
		if other := h.given[i]; other != "" {
			h.t.Errorf("%s was given %+v, which %s was given before", holder, i, other)
		}
		h.given[i] = holder
		settled = append(settled, ledger.Settled{Intent: i, Verdict: ledger.Placed})
	}
	return settled
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
		if err := h.Settle(h.t.Context(), "dense/a", holder, h.take(holder, got)); err != nil {
			h.t.Errorf("Settle: %v", err)
			return
		}
	}
}

// Claimers at once, beside writers, are never given one thing twice, and
// place all in the end.
func claimersAtOnce(t *testing.T, b *bank) {
	const claimers, memories = 4, 3000
	b.follow("dense/a", 0)
	ms := numbered(memories, "note", memtypes.Draft{})
	h := &holders{bank: b, given: map[ledger.Intent]string{}}
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
	last := b.claim("h", 1, ledger.MaxLimit) // what came back after the last look
	h.take("h", last)
	b.settle("h", placed(), last...)
	if f := b.state(1); f.Owed != 0 || f.Mark != b.newest() {
		t.Errorf("Followers = %+v, want nothing owed and mark %d", f, b.newest())
	}
	seen := map[memtypes.ID]bool{}
	for i := range h.given {
		seen[i.ID] = true
	}
	if len(seen) != memories {
		t.Errorf("%d memories were placed, want %d", len(seen), memories)
	}
}
