package llm_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
)

// failure makes an error as a backend does.
func failure(code memtypes.Code, cause error) error {
	return memtypes.Errorf("test.Call", code, "%w", cause)
}

var errDown = errors.New("connection refused")

func wantCode(t *testing.T, err error, want memtypes.Code) {
	t.Helper()
	if err == nil || memtypes.CodeOf(err) != want {
		t.Fatalf("got error %v, want code %q", err, want)
	}
}

func TestChainNestsFirstOutermost(t *testing.T) {
	var got []string
	named := func(name string) llm.Guard {
		return func(ctx context.Context, call func(context.Context) error) error {
			got = append(got, name+" in")
			defer func() { got = append(got, name+" out") }()
			return call(ctx)
		}
	}
	err := llm.Chain(named("a"), named("b"))(t.Context(), func(context.Context) error {
		got = append(got, "call")
		return errDown
	})
	if want := []string{"a in", "b in", "call", "b out", "a out"}; !cmp.Equal(got, want) {
		t.Errorf("got order %v, want %v", got, want)
	}
	if !errors.Is(err, errDown) {
		t.Errorf("got %v, want the call's own error", err)
	}
	if err := llm.Chain()(t.Context(), func(context.Context) error { return errDown }); err != errDown {
		t.Errorf("empty chain: got %v, want the call's own error", err)
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := llm.Timeout(3 * time.Second)
		hang := func(ctx context.Context) error {
			<-ctx.Done()
			return failure(memtypes.Canceled, ctx.Err())
		}
		begin := time.Now()
		wantCode(t, guard(t.Context(), hang), memtypes.Unavailable)
		if got := time.Since(begin); got != 3*time.Second {
			t.Errorf("ended after %v, want 3s", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantCode(t, guard(ctx, hang), memtypes.Canceled) // the caller's own deadline is not the backend's fault
		if err := guard(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Errorf("quick call: got %v, want nil", err)
		}
	})
}

func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := llm.Limit(2, 1)
		var mu sync.Mutex
		running, most := 0, 0
		slow := func(context.Context) error {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			running--
			mu.Unlock()
			return nil
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := guard(t.Context(), slow); err != nil {
					t.Errorf("got %v, want nil: two may run and one may wait", err)
				}
			})
		}
		synctest.Wait()
		wantCode(t, guard(t.Context(), slow), memtypes.Full)
		begin := time.Now()
		wg.Wait()
		if got := time.Since(begin); most != 2 || got != 2*time.Second {
			t.Errorf("at most %d ran, all done after %v, want 2 and 2s", most, got)
		}
	})
}

func TestLimitWaitIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := llm.Limit(0, 1) // means one
		free := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = guard(t.Context(), func(context.Context) error { <-free; return nil })
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantCode(t, guard(ctx, func(context.Context) error { t.Error("called without a turn"); return nil }), memtypes.Canceled)
		close(free)
		wg.Wait()
		if err := guard(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Errorf("after all have gone: got %v, want nil", err)
		}
	})
}

func TestFinalKeepsNil(t *testing.T) {
	if err := llm.Final(nil); err != nil {
		t.Errorf("Final(nil) = %v, want nil", err)
	}
	if err := llm.Final(errDown); !errors.Is(err, errDown) || err.Error() != errDown.Error() {
		t.Errorf("Final hides its cause: %v", err)
	}
}
