package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/vimbank/vimbank/memtypes"
)

// sizes are the memories at which growth is looked at.
var sizes = []int{10_000, 30_000, 60_000, 100_000, 200_000, 300_000}

// curve is what was seen of one place as it grew.
type curve struct{ p50, p95, rate plotter.XYs }

// benchGrowth lets both places grow to n memories, 300,000 at most, and draws
// the time of a recall and the rate of the import against the size, as
// growth-recall.svg and growth-import.svg here.
func benchGrowth(ctx context.Context, r *report, n int) error {
	dir, err := os.MkdirTemp("", "vimbank-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	both, err := places(dir)
	if err != nil {
		fmt.Println("growth: of the folder alone:", err)
	}
	words, err := vocabulary()
	if err != nil {
		return err
	}
	curves := map[string]*curve{}
	for _, p := range both {
		if curves[p.name], err = grow(ctx, r, p, words, n); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return draw(curves)
}

func grow(ctx context.Context, r *report, p place, words []string, n int) (*curve, error) {
	e, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	defer e.Close(ctx)
	scope, err := memtypes.NewScope("", "bench", "", "")
	if err != nil {
		return nil, err
	}
	c, held := &curve{}, 0
	for _, size := range sizes {
		if size > n {
			break
		}
		start := time.Now()
		if err := importAll(ctx, e, scope, talk(words, size-held, uint64(100+size)), held); err != nil {
			return nil, err
		}
		if err := settle(ctx, e); err != nil {
			return nil, err
		}
		rate := float64(size-held) / time.Since(start).Seconds()
		held = size
		p50, p95, err := recallTimes(ctx, e, scope, words)
		if err != nil {
			return nil, err
		}
		x := float64(size)
		c.rate = append(c.rate, plotter.XY{X: x, Y: rate})
		c.p50 = append(c.p50, plotter.XY{X: x, Y: ms(p50)})
		c.p95 = append(c.p95, plotter.XY{X: x, Y: ms(p95)})
		r.info(fmt.Sprintf("growth: %s, %d memories: placed in a second", p.name, size), rate, "/s")
		r.info(fmt.Sprintf("growth: %s, %d memories: recall p50", p.name, size), ms(p50), "ms")
		r.info(fmt.Sprintf("growth: %s, %d memories: recall p95", p.name, size), ms(p95), "ms")
	}
	return c, nil
}

// draw makes the two pictures.
func draw(curves map[string]*curve) error {
	times, rates := plot.New(), plot.New()
	times.Title.Text, times.X.Label.Text, times.Y.Label.Text = "Recall as a bank grows", "memories", "ms"
	rates.Title.Text, rates.X.Label.Text, rates.Y.Label.Text = "Import as a bank grows", "memories", "placed in both indexes, a second"
	times.Y.Min, rates.Y.Min = 0, 0
	var t, i []any
	for _, name := range []string{"embedded", "cluster"} {
		if c := curves[name]; c != nil {
			t = append(t, name+", p50", c.p50, name+", p95", c.p95)
			i = append(i, name, c.rate)
		}
	}
	if err := plotutil.AddLinePoints(times, t...); err != nil {
		return err
	}
	if err := plotutil.AddLinePoints(rates, i...); err != nil {
		return err
	}
	if err := times.Save(16*vg.Centimeter, 10*vg.Centimeter, "growth-recall.svg"); err != nil {
		return err
	}
	return rates.Save(16*vg.Centimeter, 10*vg.Centimeter, "growth-import.svg")
}
