package llm

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/vimbank/vimbank/memtypes"
)

// RetryOptions sets how patient a Retry is. The zero value is ready to use.
type RetryOptions struct {
	Tries   int           // in all; zero means 4, one means no retry
	First   time.Duration // the wait before the second try; zero means 500 ms. It doubles with each try
	Longest time.Duration // bounds each wait; zero means 30 s. A server that asks for more ends the retrying
	Total   time.Duration // no try starts after it; zero means 2 minutes
}

// Retry tries an Unavailable call again, after a wait that doubles and varies
// by half either way, so that callers who failed together do not come back
// together. A [RetryAfter] is obeyed, with up to a quarter on top. What is
// marked [Final], or has another code, is returned at once. When ctx is done
// the answer is Canceled and holds the last failure.
func Retry(o *RetryOptions) Guard {
	var p RetryOptions
	if o != nil {
		p = *o
	}
	p.Tries, p.First = cmp.Or(p.Tries, 4), cmp.Or(p.First, 500*time.Millisecond)
	p.Longest, p.Total = cmp.Or(p.Longest, 30*time.Second), cmp.Or(p.Total, 2*time.Minute)
	return p.run
}

func (p RetryOptions) run(ctx context.Context, call func(context.Context) error) error {
	tries := 0
	var last error
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		tries++
		last = call(ctx)
		return struct{}{}, p.advice(last)
	}, backoff.WithBackOff(p.waits()), backoff.WithMaxTries(uint(p.Tries)), backoff.WithMaxElapsedTime(p.Total))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && memtypes.CodeOf(last) == memtypes.Unavailable:
		return memtypes.Errorf("llm.Retry", memtypes.Canceled, "%w, after %w", context.Cause(ctx), last)
	case tries > 1:
		return memtypes.Errorf("llm.Retry", memtypes.CodeOf(last), "after %d tries: %w", tries, last)
	}
	return last
}

// waits makes the exponential waits of one call.
func (p RetryOptions) waits() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: p.First, RandomizationFactor: .5, Multiplier: 2,
		MaxInterval: p.Longest * 2 / 3, // half as much again is Longest
	}
}

// advice puts err into the words of package backoff.
func (p RetryOptions) advice(err error) error {
	if err == nil {
		return nil
	}
	if memtypes.CodeOf(err) != memtypes.Unavailable || isFinal(err) {
		return backoff.Permanent(err)
	}
	after, ok := errors.AsType[*RetryAfter](err)
	if !ok {
		return err
	}
	if after.Wait > p.Longest {
		return backoff.Permanent(err)
	}
	wait := max(after.Wait, 0)
	return &backoff.RetryAfterError{Duration: wait + rand.N(wait/4+1)}
}
