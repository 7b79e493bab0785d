package llm_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
)

// script answers its calls with errs in turn, and notes when each came.
type script struct {
	errs  []error
	begin time.Time
	at    []time.Duration
}

func (s *script) call(context.Context) error {
	if s.begin.IsZero() {
		s.begin = time.Now()
	}
	s.at = append(s.at, time.Since(s.begin))
	return s.errs[min(len(s.at), len(s.errs))-1]
}

func TestRetry(t *testing.T) {
	down := failure(memtypes.Unavailable, errDown)
	for _, tt := range []struct {
		name  string
		errs  []error
		opts  *llm.RetryOptions
		calls int
		code  memtypes.Code // empty: success
	}{
		{"an answer at once", []error{nil}, nil, 1, ""},
		{"an answer at the third try", []error{down, down, nil}, nil, 3, ""},
		{"four tries by default", []error{down}, nil, 4, memtypes.Unavailable},
		{"as many tries as asked", []error{down}, &llm.RetryOptions{Tries: 2}, 2, memtypes.Unavailable},
		{"bad input is not tried again", []error{failure(memtypes.Invalid, errDown)}, nil, 1, memtypes.Invalid},
		{"bad input after a failure", []error{down, failure(memtypes.Invalid, errDown)}, nil, 2, memtypes.Invalid},
		{"final is not tried again", []error{failure(memtypes.Unavailable, llm.Final(errDown))}, nil, 1, memtypes.Unavailable},
		{"an error without a code is a bug, not a fault", []error{errDown}, nil, 1, memtypes.Internal},
		{"a server that wants too long a wait", []error{failure(memtypes.Unavailable, &llm.RetryAfter{Wait: time.Hour, Err: errDown})}, nil, 1, memtypes.Unavailable},
		{"no try after the total", []error{down}, &llm.RetryOptions{Tries: 100, First: time.Second, Longest: time.Second, Total: time.Second / 10}, 1, memtypes.Unavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &script{errs: tt.errs}
				err := llm.Retry(tt.opts)(t.Context(), s.call)
				if len(s.at) != tt.calls {
					t.Errorf("got %d calls, want %d", len(s.at), tt.calls)
				}
				if tt.code == "" {
					if err != nil {
						t.Errorf("got %v, want nil", err)
					}
					return
				}
				wantCode(t, err, tt.code)
				if !errors.Is(err, errDown) {
					t.Errorf("got %v, want the cause kept", err)
				}
			})
		})
	}
}

func TestRetryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{errs: []error{failure(memtypes.Unavailable, errDown)}}
		_ = llm.Retry(&llm.RetryOptions{Tries: 6, First: time.Second, Longest: 6 * time.Second})(t.Context(), s.call)
		// The base doubles from 1 s to 4 s; each wait is within half of it.
		for i, base := range []time.Duration{1, 2, 4, 4, 4} {
			base *= time.Second
			if got := s.at[i+1] - s.at[i]; got < base/2 || got > base*3/2 {
				t.Errorf("wait %d = %v, want within half of %v", i+1, got, base)
			}
		}
	})
}

func TestRetryWaitsVary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := map[time.Duration]bool{}
		for range 20 {
			s := &script{errs: []error{failure(memtypes.Unavailable, errDown), nil}}
			_ = llm.Retry(nil)(t.Context(), s.call)
			seen[s.at[1]] = true
		}
		if len(seen) < 2 {
			t.Errorf("20 first waits were all %v, want them spread", seen)
		}
	})
}

func TestRetryObeysRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := failure(memtypes.Unavailable, &llm.RetryAfter{Wait: 8 * time.Second, Err: errDown})
		s := &script{errs: []error{busy, nil}}
		if err := llm.Retry(nil)(t.Context(), s.call); err != nil {
			t.Fatalf("got %v, want nil", err)
		}
		if got := s.at[1]; got < 8*time.Second || got > 10*time.Second {
			t.Errorf("second try after %v, want 8s to 10s", got)
		}
		s = &script{errs: []error{failure(memtypes.Unavailable, &llm.RetryAfter{Wait: -time.Second, Err: errDown}), nil}}
		if err := llm.Retry(nil)(t.Context(), s.call); err != nil || s.at[1] > time.Millisecond {
			t.Errorf("a wait in the past: got %v after %v, want an immediate second try", err, s.at[1])
		}
	})
}

func TestRetryEndsWithItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		s := &script{errs: []error{failure(memtypes.Unavailable, errDown)}}
		begin := time.Now()
		err := llm.Retry(nil)(ctx, s.call)
		wantCode(t, err, memtypes.Canceled)
		if !errors.Is(err, errDown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want both the failure and the deadline in it", err)
		}
		if got := time.Since(begin); got > 100*time.Millisecond {
			t.Errorf("went on for %v after its caller had left at 100ms", got)
		}
	})
}
