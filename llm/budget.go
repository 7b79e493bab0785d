package llm

import (
	"context"
	"sync"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Budget bounds what completions may cost, in tokens a period. Share one
// Budget between all Completers that are paid from it. Safe for concurrent use.
type Budget struct {
	limit int64
	per   time.Duration
	now   func() time.Time

	mu    sync.Mutex // guards what follows
	begin time.Time  // of the present period; zero before the first spending
	spent int64      // in the present period, with what running calls reserved
}

// NewBudget makes a Budget of limit tokens in each period of length per, which
// begins with the first call after the last one ended. now is the clock.
func NewBudget(limit int64, per time.Duration, now func() time.Time) *Budget {
	return &Budget{limit: limit, per: per, now: now}
}

// Spent is what the present period has cost so far, running calls included.
func (b *Budget) Spent() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn()
	return b.spent
}

// Completer wraps c: a call that may not fit is Full and is not sent. A call
// reserves its prompt, at one token for three bytes, and its MaxTokens; then
// the server's own count replaces both, where it gives one. A call that failed
// costs nothing here.
func (b *Budget) Completer(c Completer) Completer { return &budgeted{b, c} }

type budgeted struct {
	b *Budget
	c Completer
}

func (g *budgeted) Fingerprint() string { return g.c.Fingerprint() }

func (g *budgeted) Complete(ctx context.Context, r Request) (Response, error) {
	prompt := guess(r.System) + guess(r.Prompt) + int64(len(r.Schema))/3
	period, err := g.b.reserve(prompt + int64(r.MaxTokens))
	if err != nil {
		return Response{}, err
	}
	a, err := g.c.Complete(ctx, r)
	var cost int64
	if err == nil {
		cost = int64(a.PromptTokens) + int64(a.AnswerTokens)
		if cost == 0 {
			cost = prompt + guess(a.Text)
		}
	}
	g.b.settle(period, cost-prompt-int64(r.MaxTokens))
	return a, err
}

// guess is a careful count of the tokens of s: English has about one for four
// bytes, Chinese one for three.
func guess(s string) int64 { return int64(len(s)+2) / 3 }

// reserve takes n tokens of the present period, whose begin it returns.
func (b *Budget) reserve(n int64) (time.Time, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turn()
	if b.spent+n > b.limit {
		return time.Time{}, memtypes.Errorf("llm.Budget", memtypes.Full,
			"%d tokens wanted, %d of %d spent in the present %v", n, b.spent, b.limit, b.per)
	}
	if b.begin.IsZero() {
		b.begin = b.now()
	}
	b.spent += n
	return b.begin, nil
}

// settle corrects a reservation of period by n; of a period gone by nothing is left to correct.
func (b *Budget) settle(period time.Time, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if period.Equal(b.begin) {
		b.spent += n
	}
}

// turn ends a period that is over; b.mu is held.
func (b *Budget) turn() {
	if !b.begin.IsZero() && !b.now().Before(b.begin.Add(b.per)) {
		b.begin, b.spent = time.Time{}, 0
	}
}
