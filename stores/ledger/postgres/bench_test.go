package postgres_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/postgres"
)

// turn is as long as a turn of a dialogue mostly is.
func turn(i int64) memtypes.Memory {
	return said(fmt.Sprint("t", i%3), fmt.Sprintf("memory %d: the keys are under the mat, where they have been since Ann moved in last spring", i))
}

// BenchmarkAppend is of memories one by one, from some callers at once.
func BenchmarkAppend(b *testing.B) {
	for _, callers := range []int{1, 8, 32} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			db := open(b, live.Postgres(b), nil)
			defer db.Close()
			var n atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for range callers {
				wg.Go(func() {
					for i := n.Add(1); i <= int64(b.N); i = n.Add(1) {
						if _, err := db.Append(b.Context(), inserts(turn(i))); err != nil {
							b.Errorf("Append: %v", err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "memories/s")
		})
	}
}

// BenchmarkBulk is of 500 memories a batch.
func BenchmarkBulk(b *testing.B) {
	const each = 500
	db := open(b, live.Postgres(b), nil)
	defer db.Close()
	for n := range b.N {
		b.StopTimer()
		var ms []memtypes.Memory
		for i := range each {
			ms = append(ms, turn(int64(n*each+i)))
		}
		b.StartTimer()
		if _, err := db.Append(b.Context(), inserts(ms...)); err != nil {
			b.Fatalf("Append: %v", err)
		}
	}
	b.ReportMetric(float64(b.N*each)/b.Elapsed().Seconds(), "memories/s")
}

// BenchmarkRead is of what a recall asks.
func BenchmarkRead(b *testing.B) {
	db := open(b, live.Postgres(b), &postgres.Options{})
	defer db.Close()
	var ms []memtypes.Memory
	for i := range int64(10000) {
		ms = append(ms, turn(i))
	}
	must(b, db, inserts(ms...))
	ids := []memtypes.ID{ms[0].ID, ms[3].ID, ms[6].ID, ms[9].ID, ms[12].ID}
	for name, f := range map[string]func(int) error{
		"Head":   func(int) error { _, err := db.Head(b.Context()); return err },
		"Get":    func(int) error { _, err := db.Get(b.Context(), ms[0].Scope, ids); return err },
		"Around": func(i int) error { _, err := db.Around(b.Context(), ms[i%len(ms)].ID, 3); return err },
		"List":   func(int) error { _, err := db.List(b.Context(), ledger.ListQuery{All: true, Limit: 100}); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				if err := f(i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkClaim is of 500 intents, claimed and placed.
func BenchmarkClaim(b *testing.B) {
	const each = 500
	db := open(b, live.Postgres(b), nil)
	defer db.Close()
	if err := db.Follow(b.Context(), "a", 0); err != nil {
		b.Fatal(err)
	}
	for n := range b.N {
		b.StopTimer()
		var ms []memtypes.Memory
		for i := range each {
			ms = append(ms, turn(int64(n*each+i)))
		}
		must(b, db, inserts(ms...))
		b.StartTimer()
		got, err := db.Claim(b.Context(), "a", "h", start, time.Minute, each)
		if err != nil || len(got) != each {
			b.Fatalf("Claim = %d, %v; want %d", len(got), err, each)
		}
		settled := make([]ledger.Settled, each)
		for i := range got {
			settled[i] = ledger.Settled{Intent: got[i], Verdict: ledger.Placed}
		}
		if err := db.Settle(b.Context(), "a", "h", settled); err != nil {
			b.Fatalf("Settle: %v", err)
		}
	}
}
