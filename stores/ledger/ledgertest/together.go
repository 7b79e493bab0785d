package ledgertest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Writers that come at once must not lose, double or mix anything.
func concurrent(t *testing.T, b *bank) {
	const writers, each = 12, 25
	var wg sync.WaitGroup
	revs := make([][]uint64, writers)
	for w := range writers {
		wg.Go(func() {
			s := scope("tenant "+fmt.Sprint(w%3), fmt.Sprint("user ", w), "", "")
			for i := range each {
				m, n := note(memtypes.Draft{Text: fmt.Sprintf("%d/%d", w, i), Scope: s}, start), note(memtypes.Draft{Text: fmt.Sprintf("%d/%d b", w, i), Scope: s}, start)
				rs, err := b.Append(t.Context(), batch(at(i), edit(ledger.Insert, m), edit(ledger.Insert, n), edit(ledger.Recall, m)))
				if err != nil || rs[0].Outcome != ledger.Done || rs[1].Outcome != ledger.Done || rs[1].Rev != rs[0].Rev+1 {
					t.Errorf("writer %d: %+v, %v; want two done with revisions in a row", w, rs, err)
					return
				}
				if got, err := b.Get(t.Context(), s, []memtypes.ID{m.ID}); err != nil || len(got) != 1 || got[0].Text != m.Text {
					t.Errorf("writer %d does not read its own write: %q, %v", w, texts(got), err)
				}
				revs[w] = append(revs[w], rs[0].Rev, rs[1].Rev)
			}
		})
	}
	wg.Wait()
	seen := map[uint64]bool{}
	for w, list := range revs {
		for i, r := range list {
			if seen[r] || i > 0 && r <= list[i-1] {
				t.Errorf("writer %d got revision %d, want each once and rising", w, r)
			}
			seen[r] = true
		}
	}
	feed, _, err := b.Changes(t.Context(), 0, ledger.MaxLimit)
	if err != nil || len(feed) != 2*writers*each {
		t.Fatalf("the feed has %d changes, %v; want %d", len(feed), err, 2*writers*each)
	}
	if ms := b.pages(ledger.ListQuery{All: true, Limit: 64}); len(ms) != 2*writers*each {
		t.Errorf("List gave %d memories, want %d", len(ms), 2*writers*each)
	}
}

// One key, many callers at once: one memory, and all get the same answer.
func sameAtOnce(t *testing.T, b *bank) {
	var wg sync.WaitGroup
	results := make([]ledger.Result, 16)
	m := note(memtypes.Draft{Text: "once", Key: "k"}, start)
	for i := range results {
		wg.Go(func() {
			rs, err := b.Append(t.Context(), batch(at(i), edit(ledger.Insert, m)))
			if err != nil {
				t.Errorf("Append: %v", err)
				return
			}
			results[i] = rs[0]
		})
	}
	wg.Wait()
	done := 0
	for _, r := range results {
		if r.Outcome == ledger.Done {
			done++
		}
		if r.Rev != results[0].Rev || r.Outcome != ledger.Done && r.Outcome != ledger.Same {
			t.Errorf("result %+v, want done or same of revision %d", r, results[0].Rev)
		}
	}
	if done != 1 {
		t.Errorf("%d were done, want 1", done)
	}
}

// A caller that gave up learns it, and what it asked for is done or not at all.
func canceled(t *testing.T, b *bank) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := said("too late")
	_, err := b.Append(ctx, batch(at(0), edit(ledger.Insert, m)))
	b.code("Append", err, memtypes.Canceled)
	b.none(m)
	for name, f := range b.calls(ctx, m) {
		b.code(name, f(), memtypes.Canceled)
	}
	var wg sync.WaitGroup
	for i := range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			pair := []memtypes.Memory{said(fmt.Sprint("left ", i)), said(fmt.Sprint("right ", i))}
			_, err := b.Append(ctx, batch(at(0), edit(ledger.Insert, pair[0]), edit(ledger.Insert, pair[1])))
			if err != nil && memtypes.CodeOf(err) != memtypes.Canceled {
				t.Errorf("Append: %v, want success or code %q", err, memtypes.Canceled)
			}
			got, getErr := b.Get(t.Context(), ann(), idsOf(pair))
			if want := 2; getErr != nil || err == nil && len(got) != want || err != nil && len(got) != 0 {
				t.Errorf("Append gave %v, and %d of %d memories are there (%v)", err, len(got), want, getErr)
			}
		})
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 50 * time.Microsecond) // somewhere on the way
			cancel()
		})
	}
	wg.Wait()
}

// calls are all calls of a ledger but Append and Close.
func (b *bank) calls(ctx context.Context, m memtypes.Memory) map[string]func() error {
	return map[string]func() error{
		"Get":       func() error { _, err := b.Get(ctx, ann(), []memtypes.ID{m.ID}); return err },
		"List":      func() error { _, err := b.List(ctx, ledger.ListQuery{All: true}); return err },
		"Around":    func() error { _, err := b.Around(ctx, m.ID, 1); return err },
		"History":   func() error { _, err := b.History(ctx, ann(), m.ID); return err },
		"Audit":     func() error { _, err := b.Audit(ctx, "acme", 0, 1); return err },
		"Changes":   func() error { _, _, err := b.Changes(ctx, 0, 1); return err },
		"Head":      func() error { _, err := b.Head(ctx); return err },
		"Wait":      func() error { return b.Wait(ctx, 1<<40) },
		"Revs":      func() error { _, err := b.Revs(ctx, "", 1); return err },
		"Follow":    func() error { return b.Follow(ctx, "dense/a", 0) },
		"Unfollow":  func() error { return b.Unfollow(ctx, "dense/a") },
		"Followers": func() error { _, err := b.Followers(ctx, at(0)); return err },
		"Claim":     func() error { _, err := b.Claim(ctx, "dense/a", "h", at(0), time.Minute, 1); return err },
		"Settle":    func() error { return b.Settle(ctx, "dense/a", "h", nil) },
		"Dead":      func() error { _, err := b.Dead(ctx, "dense/a", 1); return err },
		"Revive":    func() error { _, err := b.Revive(ctx, "dense/a", nil); return err },
		"Acquire":   func() error { _, err := b.Acquire(ctx, "l", "h", at(0), time.Minute); return err },
		"Release":   func() error { return b.Release(ctx, ledger.Lease{Name: "l", Holder: "h", Fence: 1}) },
		"Run":       func() error { _, err := b.Run(ctx, "r"); return err },
		"Runs":      func() error { _, err := b.Runs(ctx, "", 1); return err },
		"Settings":  func() error { _, err := b.Settings(ctx); return err },
		"Set":       func() error { return b.Set(ctx, "a", "b") },
		"PutVectors": func() error {
			return b.PutVectors(ctx, "m", []memtypes.ID{m.ID}, []string{"h"}, []memtypes.Vector{{1}})
		},
		"GetVectors": func() error { _, err := b.GetVectors(ctx, "m", []memtypes.ID{m.ID}, []string{"h"}); return err },
	}
}

func closed(t *testing.T, b *bank) {
	m := said("before")
	b.fill(m)
	if err := b.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	_, err := b.Append(t.Context(), batch(at(1), edit(ledger.Pin, m)))
	b.code("Append", err, memtypes.Unavailable)
	for name, f := range b.calls(t.Context(), m) {
		b.code(name, f(), memtypes.Unavailable)
	}
	if err := b.Close(); err != nil {
		t.Errorf("Close again: %v, want nothing", err)
	}
}

// Close lets the writes that run end, each with a clear answer.
func closeWaits(t *testing.T, b *bank) {
	var wg sync.WaitGroup
	begun := make(chan struct{}, 64)
	for w := range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				_, err := b.Append(t.Context(), batch(at(i), edit(ledger.Insert, said(fmt.Sprintf("%d/%d", w, i)))))
				if err != nil {
					b.code("Append while closing", err, memtypes.Unavailable)
					return
				}
				select {
				case begun <- struct{}{}:
				default:
				}
			}
		})
	}
	for range 20 {
		<-begun
	}
	if err := b.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wg.Wait()
}
