package engine

import (
	"cmp"
	"context"
	"time"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// RememberOptions say how to remember. The zero value waits until the memories
// can be found.
type RememberOptions struct {
	Actor string    // for the audit trail; empty means the engine's
	Now   time.Time // when the ledger takes it; zero means the engine's clock
	// NoWait returns as soon as the ledger has the memories; they are found by
	// the next Recall, which follows the ledger first.
	NoWait bool
}

// Status says what became of a draft.
type Status string

// The statuses.
const (
	Stored  Status = "stored"
	Known   Status = "known"   // the same memory was there already
	Refused Status = "refused" // admission said no: see Reason
)

// Remembered is what became of one draft. A long document becomes several
// memories, and so several of these.
type Remembered struct {
	Draft  int         `json:"draft"` // its place in the call
	ID     memtypes.ID `json:"id,omitempty"`
	Rev    uint64      `json:"rev,omitempty"`
	Status Status      `json:"status"`
	Code   admit.Code  `json:"code,omitempty"`   // the rule of admission that decided
	Reason string      `json:"reason,omitempty"` // the same in words; empty if no rule objected
	Of     memtypes.ID `json:"of,omitempty"`     // the memory that the draft repeats
}

// Receipt answers Remember, in the order of the drafts.
type Receipt struct {
	Results []Remembered `json:"results"`
	// Pending names what does not find the memories yet ("dense", "sparse"):
	// they are durable, and it catches up by itself.
	Pending []string `json:"pending,omitempty"`
}

// Remember keeps drafts. When it returns they are on the disk, all that were
// not refused or, after an error, none; unless o.NoWait they can be found too.
// A draft that cannot be a memory makes the whole call Invalid and names its
// field; a draft that admission refuses, or whose key names other content, is
// reported and the others are kept. It is Full, with nothing kept, while a
// shared index lags behind by more than Shared.MaxOwed. o may be nil.
func (e *Engine) Remember(ctx context.Context, drafts []memtypes.Draft, o *RememberOptions) (*Receipt, error) {
	if err := e.open("engine.Remember"); err != nil {
		return nil, err
	}
	if o == nil {
		o = &RememberOptions{}
	}
	in := &intake{engine: e, receipt: &Receipt{}, now: o.Now, prints: map[uint64][]*memtypes.Memory{}}
	if in.now.IsZero() {
		in.now = e.now()
	}
	parts := make([][]memtypes.Draft, len(drafts))
	for i, d := range drafts {
		parts[i] = pieces(d)
	}
	if err := in.look(ctx, parts); err != nil {
		return nil, err
	}
	if err := in.ahead(ctx, parts); err != nil {
		return nil, err
	}
	for i, d := range drafts {
		if err := in.take(ctx, i, d, parts[i]); err != nil {
			return nil, err
		}
	}
	if len(in.edits) == 0 {
		return in.receipt, nil
	}
	if err := e.admitted(ctx, "engine.Remember", len(in.edits)); err != nil {
		return nil, err
	}
	results, err := e.parts.Ledger.Append(ctx, ledger.Batch{Now: in.now, Actor: cmp.Or(o.Actor, e.opts.Actor), Edits: in.edits})
	if err != nil {
		return nil, err
	}
	e.at("appended")
	last := in.settle(results)
	e.counts.stored.Add(int64(len(results)))
	if !o.NoWait {
		in.receipt.Pending = e.index(ctx, last)
	}
	return in.receipt, nil
}

// admitted refuses n more memories with Full while a shared index lags behind
// by more than it may: nothing is written then.
func (e *Engine) admitted(ctx context.Context, op string, n int) error {
	if e.shared == nil {
		return nil
	}
	return e.shared.admit(ctx, op, n)
}

// index makes the memories up to seq findable, and names what could not. The
// memories are durable already, so a failure here is reported, not returned,
// and the caller's cancelling does not stop it.
func (e *Engine) index(ctx context.Context, seq uint64) []string {
	late, err := e.followTo(context.WithoutCancel(ctx), seq)
	switch {
	case err != nil:
		return []string{"dense", "sparse"}
	case e.foreign.Load():
		return []string{"dense"}
	}
	return late.names()
}
