package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
)

const (
	writes  = 200 // one by one, each beside a raw append
	writers = 8
	turns   = 7 // of one writer and of several
	turn    = time.Second
)

func benchWrite(ctx context.Context, r *report, _ int) error {
	dir, err := os.MkdirTemp("", "vimbank-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e, err := bank.Open(ctx, filepath.Join(dir, "bank"), nil)
	if err != nil {
		return err
	}
	defer e.Close(ctx)
	scope, err := memtypes.NewScope("", "bench", "", "")
	if err != nil {
		return err
	}
	raw, err := os.OpenFile(filepath.Join(dir, "raw"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer raw.Close()
	draft := func(i int) memtypes.Draft {
		return memtypes.Draft{Scope: scope, Kind: memtypes.Dialogue, Text: fmt.Sprintf("Turn %d: we talked about the garden, the weather and the trip to the coast.", i),
			Talk: memtypes.Talk{Session: fmt.Sprint("s", i/20), Speaker: "Ada"}, Event: time.Unix(int64(1_700_000_000+30*i), 0)}
	}
	write := func(i int, noWait bool) error {
		_, err := e.Remember(ctx, []memtypes.Draft{draft(i)}, &engine.RememberOptions{NoWait: noWait})
		return err
	}
	var durable, found, plain []time.Duration
	timed := func(to *[]time.Duration, f func() error) error {
		start := time.Now()
		err := f()
		*to = append(*to, time.Since(start))
		return err
	}
	buf := make([]byte, 512)
	for i := range writes {
		for _, err := range []error{
			timed(&plain, func() error {
				if _, err := raw.Write(buf); err != nil {
					return err
				}
				return syscall.Fdatasync(int(raw.Fd()))
			}),
			timed(&durable, func() error { return write(2*i, true) }),
			timed(&found, func() error { return write(2*i+1, false) }),
		} {
			if err != nil {
				return err
			}
		}
	}
	r.info("write: append + fdatasync of 512 bytes", ms(median(plain)), "ms")
	r.info("write: one durable memory", ms(median(durable)), "ms")
	r.atMost("write: one durable memory / append + fdatasync", float64(median(durable))/float64(median(plain)), 1.5)
	r.info("write: durable and found by both indexes", ms(median(found)), "ms")

	return benchWriters(r, write)
}

// benchWriters compares the rates of one writer and of several, in turns: what
// disturbs the machine disturbs both.
func benchWriters(r *report, write func(i int, noWait bool) error) error {
	var one, many, ratios []float64
	next := 10_000
	for range turns {
		for _, n := range []int{1, writers} {
			from := next
			v, err := rate(n, func(w, i int) error { return write(from+100_000*w+i, true) })
			if err != nil {
				return err
			}
			if next += 1_000_000; n == 1 {
				one = append(one, v)
				continue
			}
			many = append(many, v)
			ratios = append(ratios, v/one[len(one)-1])
		}
	}
	middle := func(vs []float64) float64 { slices.Sort(vs); return vs[len(vs)/2] }
	r.info("write: one writer, memories a second", middle(one), "/s")
	r.info("write: 8 writers, memories a second", middle(many), "/s")
	r.atLeast("write: 8 writers / one writer", middle(ratios), 4)
	return nil
}

// rate is how many calls a second n goroutines get through.
func rate(n int, f func(writer, i int) error) (float64, error) {
	var wg sync.WaitGroup
	counts, errs := make([]int, n), make([]error, n)
	start := time.Now()
	for w := range n {
		wg.Go(func() {
			for errs[w] == nil && time.Since(start) < turn {
				errs[w] = f(w, counts[w])
				counts[w]++
			}
		})
	}
	wg.Wait()
	sum := 0
	for w := range n {
		if errs[w] != nil {
			return 0, errs[w]
		}
		sum += counts[w]
	}
	return float64(sum) / time.Since(start).Seconds(), nil
}
