package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// sweptKey is the ledger's setting that says when, and at which sequence
// number, the tombstones of the services were last looked after.
const sweptKey = "swept"

// lateness is how long after it was given up a write may still arrive: a removal
// is remembered for longer.
const lateness = time.Hour

// sweeper is the power of a service's index to forget the tombstones of
// removals below a revision.
type sweeper interface {
	Sweep(ctx context.Context, before uint64) (int, error)
}

// expunger is the power of a service's index to free what was replaced, which
// also makes its statistics exact.
type expunger interface {
	Expunge(ctx context.Context) error
}

// tidy has the live generations of the services forget the tombstones for which
// no late write can come any more, and free what is not needed. What it cannot
// do now is done the next time.
func (s *shared) tidy(ctx context.Context) error {
	l := s.engine.parts.Ledger
	settings, err := l.Settings(ctx)
	if err != nil {
		return err
	}
	head, err := l.Head(ctx)
	if err != nil {
		return err
	}
	now := s.engine.now()
	var then, before int64
	if _, err := fmt.Sscanf(settings[sweptKey], "%d %d", &then, &before); err == nil && now.Sub(time.Unix(then, 0)) < lateness {
		return nil
	}
	if before > 0 {
		if err := s.sweep(ctx, uint64(before)+1); err != nil {
			return err
		}
	}
	return l.Set(ctx, sweptKey, fmt.Sprintf("%d %d", now.Unix(), head))
}

// sweep tidies the live generation of each kind.
func (s *shared) sweep(ctx context.Context, before uint64) error {
	var errs []error
	for _, k := range s.kinds {
		errs = append(errs, func() error {
			live, err := k.gens.Live(ctx)
			if err != nil || live == "" {
				return err
			}
			t, err := k.open(ctx, live)
			if err != nil {
				return err
			}
			if sw, ok := t.bare().(sweeper); ok {
				if _, err := sw.Sweep(ctx, before); err != nil {
					return err
				}
			}
			if ex, ok := t.bare().(expunger); ok {
				return ex.Expunge(ctx)
			}
			return nil
		}())
	}
	return errors.Join(errs...)
}
