package llm

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/vimbank/vimbank/memtypes"
)

// BreakerOptions sets when a Breaker opens. The zero value is ready to use.
type BreakerOptions struct {
	Failures int           // in a row, to open; zero means 5
	Pause    time.Duration // how long it stays open; zero means 15 s
}

// Breaker spares a backend, named in the error, that does not answer: after
// some Unavailable calls in a row every call is refused at once, Unavailable
// and [Final]; after a pause one call is let through, and its outcome decides.
// Any answer of the backend, also a refusal of the input, shows that it lives;
// a call that its caller gave up says nothing.
func Breaker(name string, o *BreakerOptions) Guard {
	if o == nil {
		o = &BreakerOptions{}
	}
	failures := uint32(cmp.Or(o.Failures, 5))
	b := gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		Name:         name,
		Timeout:      cmp.Or(o.Pause, 15*time.Second),
		ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= failures },
		IsSuccessful: func(err error) bool { return err == nil || memtypes.CodeOf(err) != memtypes.Unavailable },
		IsExcluded:   givenUp,
	})
	return func(ctx context.Context, call func(context.Context) error) error {
		_, err := b.Execute(func() (struct{}, error) { return struct{}{}, call(ctx) })
		if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
			return memtypes.Errorf("llm.Breaker", memtypes.Unavailable, "%s failed too often and is left alone for now: %w", name, Final(err))
		}
		return err
	}
}

// givenUp is an outcome that tells nothing of the backend: the caller left, or
// the call never went out.
func givenUp(err error) bool {
	if err == nil {
		return false
	}
	c := memtypes.CodeOf(err)
	return c == memtypes.Canceled || c == memtypes.Full
}
