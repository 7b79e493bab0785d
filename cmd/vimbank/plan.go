package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/forgetting"
	"github.com/vimbank/vimbank/memtypes"
)

// printPlan shows what a run would do to one tenant: a picture, the counts,
// and the memories with the reasons.
func (a *app) printPlan(ctx context.Context, e *engine.Engine, p *engine.TenantPlan, most int) error {
	s, c := a.show, p.Counts
	a.printf("%s\n\n", s.bold(fmt.Sprintf("tenant %s at %s", p.Tenant, moment(p.Now))))
	width := min(60, s.width-34)
	for _, row := range []struct {
		name string
		n    int
		of   int
	}{{"kept", c.Kept, c.Active}, {"pinned", c.Pinned, c.Active}, {"due", c.Due, c.Active}} {
		share := 0.0
		if row.of > 0 {
			share = float64(row.n) / float64(row.of)
		}
		a.printf("  %s %s %6d  %5.1f %%\n", pad(row.name, 8), s.mark(bar(share, width)), row.n, 100*share)
	}
	a.printf("\n")
	a.printKinds(p.Retire)
	if c.Retired > 0 {
		a.printf("  %s retired before, %d of them past the grace\n", plural(c.Retired, "memory", "memories"), c.Purge)
	}
	for _, g := range []forgetting.Guard{p.Breaker, p.Clock} {
		if g.Tripped && !p.Confirmed {
			a.printf("\n%s\n", s.warn(strings.Join(wrap("stopped: "+g.Reason, s.width, 10), "\n")))
		}
	}
	if err := a.printItems(ctx, e, "would be retired", p.Retire, most); err != nil {
		return err
	}
	return a.printItems(ctx, e, "would be purged with --purge", p.Purge, most)
}

// printKinds counts what is due by kind, with how long ago the oldest was due.
func (a *app) printKinds(items []forgetting.Item) {
	for _, k := range memtypes.Kinds() {
		n, oldest := 0, time.Time{}
		for _, it := range items {
			if it.Kind == k {
				if n++; oldest.IsZero() || it.Due.Before(oldest) {
					oldest = it.Due
				}
			}
		}
		if n > 0 {
			a.printf("  %s %d due, the first since %s\n", pad(string(k), 9), n, moment(oldest))
		}
	}
}

func (a *app) printItems(ctx context.Context, e *engine.Engine, what string, items []forgetting.Item, most int) error {
	if len(items) == 0 || most == 0 {
		return nil
	}
	a.printf("\n%s\n", a.show.bold(what))
	for _, it := range slices.Clip(items[:min(most, len(items))]) {
		if err := ctx.Err(); err != nil {
			return memtypes.Errorf("vimbank", memtypes.Canceled, "%w", err)
		}
		a.printf("  %s  %s\n  %s  %s\n", a.show.dim(string(it.ID)), clip(a.memoryText(ctx, e, it.Scope, it.ID), a.show.width-40),
			strings.Repeat(" ", 36), a.show.dim(clip(it.Reason, a.show.width-40)))
	}
	if n := len(items) - most; n > 0 {
		a.printf("  … and %d more (--limit %d, or --json for all)\n", n, len(items))
	}
	return nil
}
