package llm_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
)

func TestBreaker(t *testing.T) {
	down := failure(memtypes.Unavailable, errDown)
	synctest.Test(t, func(t *testing.T) {
		guard := llm.Breaker("embedder", &llm.BreakerOptions{Failures: 3, Pause: 10 * time.Second})
		calls := 0
		answer := func(err error) error {
			return guard(t.Context(), func(context.Context) error { calls++; return err })
		}
		step := func(what string, err error, wantCalls int) {
			t.Helper()
			if calls != wantCalls {
				t.Fatalf("%s: %d calls reached the backend (%v), want %d", what, calls, err, wantCalls)
			}
		}
		for range 2 {
			_ = answer(down)
		}
		step("an answer closes the row of failures", answer(nil), 3)
		_ = answer(down)
		_ = answer(failure(memtypes.Invalid, errDown)) // it lives
		_ = answer(down)
		_ = answer(failure(memtypes.Canceled, errDown)) // says nothing
		_ = answer(down)
		step("two failures in a row are not three", nil, 8)
		_ = answer(down)
		err := answer(nil)
		step("the third opens it", err, 9)
		wantCode(t, err, memtypes.Unavailable)
		if !strings.Contains(err.Error(), "embedder") {
			t.Errorf("got %q, want the backend named", err)
		}
		time.Sleep(11 * time.Second)
		step("a failure after the pause", answer(down), 10)
		step("opens it again", answer(nil), 10)
		time.Sleep(11 * time.Second)
		step("an answer after the pause", answer(nil), 11)
		step("closes it", answer(nil), 12)
	})
}

func TestBreakerInsideRetryFailsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := llm.Chain(llm.Retry(nil), llm.Breaker("llm", &llm.BreakerOptions{Failures: 1}))
		s := &script{errs: []error{failure(memtypes.Unavailable, errDown)}}
		wantCode(t, guard(t.Context(), s.call), memtypes.Unavailable)
		if len(s.at) != 1 {
			t.Errorf("%d calls reached the backend, want 1: an open breaker ends the retrying", len(s.at))
		}
		begin := time.Now()
		wantCode(t, guard(t.Context(), s.call), memtypes.Unavailable)
		if got := time.Since(begin); got != 0 {
			t.Errorf("an open breaker took %v, want no wait", got)
		}
	})
}
