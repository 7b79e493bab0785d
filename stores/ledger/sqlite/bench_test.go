package sqlite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

// The yardstick of BenchmarkAppend: what the disk itself takes.
func BenchmarkRawAppendSync(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "raw"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	record := []byte(strings.Repeat("x", 512))
	for b.Loop() {
		if _, err := f.Write(record); err != nil {
			b.Fatal(err)
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAppend times a durable write of one memory, by callers that each
// wait for theirs. 8 writers must reach 4 times the rate of one.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 8} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			db, err := sqlite.Open(context.Background(), b.TempDir(), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			defer reportCPU(b)()
			var n atomic.Int64
			b.SetParallelism(max(1, writers/2)) // of 2 cores
			if writers == 1 {
				for b.Loop() {
					benchAppend(b, db, n.Add(1))
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					benchAppend(b, db, n.Add(1))
				}
			})
		})
	}
}

// reportCPU reports what an operation costs besides waiting for the disk.
func reportCPU(b *testing.B) func() {
	used := func() time.Duration {
		var r unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
			b.Fatal(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64((used()-before).Microseconds())/float64(b.N), "cpu-us/op") }
}

func benchAppend(b *testing.B, db *sqlite.DB, i int64) {
	sc, _ := memtypes.NewScope("", "bench", "", "")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Second)
	m, err := memtypes.New(memtypes.Draft{Scope: sc, Kind: memtypes.Dialogue, Text: fmt.Sprintf("turn %d: %s", i, strings.Repeat("words ", 80)),
		Talk: memtypes.Talk{Session: fmt.Sprint("session ", i/20), Speaker: "Ann"}, Source: memtypes.Source{Trust: memtypes.Normal}}, now)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := db.Append(context.Background(), ledger.Batch{Now: now, Actor: "bench", Edits: []ledger.Edit{{Op: ledger.Insert, Memory: m}}}); err != nil {
		b.Fatal(err)
	}
}
