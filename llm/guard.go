package llm

import (
	"context"
	"errors"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Guard runs call under one protection and returns its error, or an error of
// its own with a code to act on. A Guard is a value: make one for each backend
// and share it between all callers of that backend. Safe for concurrent use.
//
// A call tells a Guard what it needs to know by its error: the code
// Unavailable means that another try may help, [Final] takes that back, and
// [RetryAfter] says when.
type Guard func(ctx context.Context, call func(context.Context) error) error

// Chain nests guards, the first outermost. The usual order is
// Retry, Breaker, Limit, Timeout: every try is counted by the breaker, and no
// waiting counts against the time-out. An empty Chain only calls.
func Chain(guards ...Guard) Guard {
	return func(ctx context.Context, call func(context.Context) error) error {
		for i := len(guards) - 1; i >= 0; i-- {
			inner, g := call, guards[i]
			call = func(ctx context.Context) error { return g(ctx, inner) }
		}
		return call(ctx)
	}
}

// Timeout gives each call d. A call that ends by it is Unavailable; one that
// ends because ctx itself is done keeps its own error.
func Timeout(d time.Duration) Guard {
	return func(ctx context.Context, call func(context.Context) error) error {
		limited, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		err := call(limited)
		if err != nil && ctx.Err() == nil && limited.Err() != nil {
			return memtypes.Errorf("llm.Timeout", memtypes.Unavailable, "no answer within %v: %w", d, err)
		}
		return err
	}
}

// Limit lets n calls run at once (below 1 means 1) and as many as waiting wait
// for their turn; a call beyond these is Full at once. A wait ends with
// Canceled when ctx is done.
func Limit(n, waiting int) Guard {
	n, waiting = max(n, 1), max(waiting, 0)
	seats, door := make(chan struct{}, n), make(chan struct{}, n+waiting)
	return func(ctx context.Context, call func(context.Context) error) error {
		select {
		case door <- struct{}{}:
			defer func() { <-door }()
		default:
			return memtypes.Errorf("llm.Limit", memtypes.Full, "%d calls run and %d wait already", n, waiting)
		}
		select {
		case seats <- struct{}{}:
			defer func() { <-seats }()
		case <-ctx.Done():
			return memtypes.Errorf("llm.Limit", memtypes.Canceled, "while waiting for a turn: %w", context.Cause(ctx))
		}
		return call(ctx)
	}
}

// Final marks cause as one that another try cannot cure, whatever the code of
// the Error around it: a wrong key, an answer beyond all bounds. Nil stays nil.
func Final(cause error) error {
	if cause == nil {
		return nil
	}
	return &final{cause}
}

type final struct{ error }

func (f *final) Unwrap() error { return f.error }

// isFinal reports whether err is marked by Final.
func isFinal(err error) bool {
	_, ok := errors.AsType[*final](err)
	return ok
}

// RetryAfter is the cause of an Unavailable error whose server said when to
// come back.
type RetryAfter struct {
	Wait time.Duration // from now; zero or less: at once
	Err  error         // what went wrong
}

// Error gives the cause and the wait.
func (r *RetryAfter) Error() string { return r.Err.Error() + " (retry after " + r.Wait.String() + ")" }

// Unwrap gives the cause.
func (r *RetryAfter) Unwrap() error { return r.Err }
