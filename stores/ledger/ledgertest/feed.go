package ledgertest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// patience is how long a test waits for what takes moments.
const patience = 20 * time.Second

func wait(t *testing.T, b *bank) {
	b.fill(said("before"))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := b.Wait(ctx, 0); err != nil {
		t.Errorf("Wait for a change that was: %v", err)
	}
	// until waits as often as it must for a change after seq.
	until := func(ctx context.Context, seq uint64) <-chan error {
		done := make(chan error, 1)
		go func() {
			for {
				err := b.Wait(ctx, seq)
				if n, headErr := b.Head(ctx); err != nil || headErr != nil || n > seq {
					done <- err
					return
				}
			}
		}()
		return done
	}
	waiters := []<-chan error{until(ctx, 1), until(ctx, 1), until(ctx, 2)}
	b.do(at(1), edit(ledger.Insert, said("one")), ledger.Done)
	b.do(at(2), edit(ledger.Insert, said("two")), ledger.Done)
	for i, done := range waiters {
		if err := <-done; err != nil {
			t.Errorf("waiter %d: %v, want the change", i, err)
		}
	}
	brief, stop := context.WithCancel(t.Context())
	done := until(brief, 3)
	stop()
	b.code("Wait that was cancelled", <-done, memtypes.Canceled)
	done = until(ctx, 3)
	time.Sleep(10 * time.Millisecond) // so that it mostly waits by now
	if err := b.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	b.code("Wait while the ledger is closed", <-done, memtypes.Unavailable)
}

// Revs names exactly the active memories, page by page, in the order of IDs.
func revs(t *testing.T, b *bank) {
	ms := numbered(30, "note", memtypes.Draft{})
	ms = append(ms, numbered(10, "note", memtypes.Draft{Scope: scope("other", "bob", "bot", "")})...)
	b.fill(ms...)
	b.do(at(100), edit(ledger.Retire, ms[3]), ledger.Done)
	b.do(at(100), edit(ledger.Purge, ms[4]), ledger.Done)
	b.do(at(100), edit(ledger.Pin, ms[5]), ledger.Done)
	b.do(at(100), edit(ledger.Retire, ms[6]), ledger.Done)
	b.do(at(101), edit(ledger.Restore, ms[6]), ledger.Done)
	b.do(at(100), edit(ledger.Purge, ms[7]), ledger.Done)
	b.do(at(101), edit(ledger.Insert, ms[7]), ledger.Done)
	want := b.held()
	if len(want) != 38 {
		t.Fatalf("List gave %d memories, want 38", len(want))
	}
	for _, limit := range []int{1, 7, 38, ledger.MaxLimit + 1} {
		var got []ledger.Held
		after := memtypes.ID("")
		for {
			page, err := b.Revs(t.Context(), after, limit)
			if err != nil {
				t.Fatalf("Revs: %v", err)
			}
			if len(page) > limit {
				t.Fatalf("Revs gave %d, want at most %d", len(page), limit)
			}
			if len(page) == 0 {
				break
			}
			got, after = append(got, page...), page[len(page)-1].ID
		}
		same(t, "all revisions", got, want)
	}
	_, err := b.Revs(t.Context(), "", 0)
	b.code("Revs of none", err, memtypes.Invalid)
	_, err = b.Revs(t.Context(), "x", 1)
	b.code("Revs after no ID", err, memtypes.Invalid)
}

// held is what Revs must say, by what List says.
func (b *bank) held() (want []ledger.Held) {
	b.t.Helper()
	for _, m := range b.pages(ledger.ListQuery{All: true}) {
		want = append(want, ledger.Held{ID: m.ID, Rev: m.Rev, Tenant: m.Scope.Tenant()})
	}
	slices.SortFunc(want, func(x, y ledger.Held) int { return strings.Compare(string(x.ID), string(y.ID)) })
	return want
}
