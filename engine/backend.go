package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/vimbank/vimbank/memtypes"
)

// backend is a service that holds an index for several processes, with the
// breaker that spares it while it does not answer: what is asked of it goes
// through call, but for what insist is for.
type backend struct {
	name    string // "dense" or "sparse"
	breaker *gobreaker.CircuitBreaker[struct{}]
	absent  atomic.Bool // no generation is live: there is nothing to search
}

func newBackend(name string, o *Shared) *backend {
	failures := uint32(o.Failures)
	return &backend{name: name, breaker: gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name:        name,
		Timeout:     o.Pause,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failures },
		IsSuccessful: func(err error) bool {
			_, some := errors.AsType[*memtypes.Rejected](err)
			return err == nil || some || memtypes.CodeOf(err) != memtypes.Unavailable
		},
		IsExcluded: func(err error) bool { return err != nil && memtypes.CodeOf(err) == memtypes.Canceled },
	})}
}

// call asks the service, for at most limit. One that takes longer is
// Unavailable, as is every call while the breaker is open.
func (b *backend) call(ctx context.Context, limit time.Duration, ask func(context.Context) error) error {
	_, err := b.breaker.Execute(func() (struct{}, error) { return struct{}{}, b.insist(ctx, limit, ask) })
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		return memtypes.Errorf("engine", memtypes.Unavailable, "the %s service failed too often and is left alone for now: %w", b.name, err)
	}
	return err
}

// insist is call without the breaker, for a rebuild and who looks after one: a
// live generation that is damaged fails every call, and what mends it must get through.
func (b *backend) insist(ctx context.Context, limit time.Duration, ask func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := ask(bounded)
	if err != nil && ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) {
		err = memtypes.Errorf("engine", memtypes.Unavailable, "the %s service gave no answer within %v", b.name, limit)
	}
	return err
}

// search is call, where a live generation is needed.
func (b *backend) search(ctx context.Context, limit time.Duration, ask func(context.Context) error) error {
	if b.absent.Load() {
		return memtypes.Errorf("engine", memtypes.Unavailable, "the %s service has no live generation yet; one is made by itself", b.name)
	}
	return b.call(ctx, limit, ask)
}

// spared reports whether nothing may be asked now.
func (b *backend) spared() bool { return b.breaker.State() == gobreaker.StateOpen }

// state is the breaker's, in words: closed, half-open or open.
func (b *backend) state() string { return b.breaker.State().String() }
