package llm_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/vimbank/vimbank/llm"
	"github.com/vimbank/vimbank/memtypes"
)

// teller answers every prompt alike.
type teller struct {
	answer llm.Response
	err    error
	calls  int
}

func (c *teller) Fingerprint() string { return "teller" }

func (c *teller) Complete(context.Context, llm.Request) (llm.Response, error) {
	c.calls++
	return c.answer, c.err
}

func TestBudget(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	b := llm.NewBudget(100, time.Hour, func() time.Time { return now })
	told := &teller{answer: llm.Response{Text: "yes", PromptTokens: 30, AnswerTokens: 20}}
	c := b.Completer(told)
	ask := func(want int64) {
		t.Helper()
		if _, err := c.Complete(t.Context(), llm.Request{Prompt: "really?", MaxTokens: 40}); err != nil {
			t.Fatalf("Complete: %v", err)
		}
		if got := b.Spent(); got != want {
			t.Fatalf("spent %d, want %d", got, want)
		}
	}
	if c.Fingerprint() != "teller" {
		t.Errorf("fingerprint %q, want that of the wrapped one", c.Fingerprint())
	}
	ask(50) // the server's count, not the reservation
	ask(100)
	_, err := c.Complete(t.Context(), llm.Request{Prompt: "again?", MaxTokens: 40})
	wantCode(t, err, memtypes.Full)
	if told.calls != 2 {
		t.Errorf("%d calls were sent, want 2: a call that does not fit is not sent", told.calls)
	}
	now = now.Add(time.Hour)
	ask(50) // a new period
}

func TestBudgetCountsItself(t *testing.T) {
	b := llm.NewBudget(1000, time.Hour, time.Now)
	silent := &teller{answer: llm.Response{Text: "123456789"}}
	if _, err := b.Completer(silent).Complete(t.Context(), llm.Request{System: "123", Prompt: "123456", Schema: []byte("123")}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.Spent(), int64(1+2+1+3); got != want {
		t.Errorf("spent %d, want %d: three bytes a token where the server does not count", got, want)
	}
	silent.err = failure(memtypes.Unavailable, errDown)
	_, err := b.Completer(silent).Complete(t.Context(), llm.Request{Prompt: "x"})
	wantCode(t, err, memtypes.Unavailable)
	if got := b.Spent(); got != 7 {
		t.Errorf("spent %d after a failed call, want 7 as before", got)
	}
}

// gate holds its calls back until it is opened.
type gate struct{ entered, open chan struct{} }

func (g *gate) Fingerprint() string { return "gate" }

func (g *gate) Complete(context.Context, llm.Request) (llm.Response, error) {
	g.entered <- struct{}{}
	<-g.open
	return llm.Response{PromptTokens: 1, AnswerTokens: 1}, nil
}

func TestBudgetReservesWhileACallRuns(t *testing.T) {
	b := llm.NewBudget(100, time.Hour, time.Now)
	g := &gate{make(chan struct{}), make(chan struct{})}
	c := b.Completer(g)
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := c.Complete(t.Context(), llm.Request{Prompt: "abc", MaxTokens: 60}); err != nil {
			t.Errorf("first call: %v", err)
		}
	})
	<-g.entered
	_, err := c.Complete(t.Context(), llm.Request{Prompt: "abc", MaxTokens: 60})
	wantCode(t, err, memtypes.Full) // both together could cost 122
	close(g.open)
	wg.Wait()
	if got := b.Spent(); got != 2 {
		t.Errorf("spent %d, want 2", got)
	}
}
