package engine

import (
	"cmp"
	"context"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Conflicting is the code of a memory that Load left out because its ID names
// another content here.
const Conflicting admit.Code = "conflicting"

// Load takes memories over as another bank held them: ID, times, strength,
// pins and state stay as they are, so nothing fades sooner or later than it
// would have. It is how a bank is restored from an export. Admission is not
// asked again. Loading the same memory twice changes nothing; one whose ID
// has another content here is Refused with the code Conflicting. Revisions
// before the present one are not taken over. actor may be empty.
//
// A commit holds the memories that were stored at the same moment, because that
// moment is the ledger's; after an error the commits before it stay.
func (e *Engine) Load(ctx context.Context, memories []memtypes.Memory, actor string) ([]Remembered, error) {
	if err := e.open("engine.Load"); err != nil {
		return nil, err
	}
	out := make([]Remembered, 0, len(memories))
	var last uint64
	for len(memories) > 0 {
		n := 1
		for n < len(memories) && memories[n].Created.Equal(memories[0].Created) {
			n++
		}
		results, err := e.insertAsWere(ctx, memories[:n], cmp.Or(actor, e.opts.Actor))
		if err != nil {
			return out, err
		}
		for _, r := range results {
			r.Draft = len(out)
			out = append(out, r)
			last = max(last, r.Rev)
		}
		memories = memories[n:]
	}
	e.index(ctx, last)
	return out, nil
}

// insertAsWere commits memories that were stored at one moment, and retires
// again those that were retired.
func (e *Engine) insertAsWere(ctx context.Context, ms []memtypes.Memory, actor string) ([]Remembered, error) {
	b := ledger.Batch{Now: ms[0].Created, Actor: actor}
	for _, m := range ms {
		b.Edits = append(b.Edits, ledger.Edit{Op: ledger.Insert, Memory: m, Reason: "loaded"})
	}
	results, err := e.parts.Ledger.Append(ctx, b)
	if err != nil {
		return nil, err
	}
	out := make([]Remembered, len(results))
	for i, r := range results {
		out[i] = Remembered{ID: r.ID, Rev: r.Rev, Status: Stored}
		switch r.Outcome {
		case ledger.Same:
			out[i].Status = Known
		case ledger.Conflicting:
			out[i].Status, out[i].Code, out[i].Reason = Refused, Conflicting, "its id names a memory of other content here"
		case ledger.Done:
			e.counts.stored.Add(1)
		}
	}
	return out, e.retireAsWere(ctx, ms, out, actor)
}

// retireAsWere retires the memories that were, each as of its own moment.
func (e *Engine) retireAsWere(ctx context.Context, ms []memtypes.Memory, results []Remembered, actor string) error {
	for i, m := range ms {
		if m.State != memtypes.Retired || results[i].Status == Refused {
			continue
		}
		at := m.Strength.Retired
		if at.IsZero() {
			at = m.Updated
		}
		res, err := e.parts.Ledger.Append(ctx, ledger.Batch{Now: at, Actor: actor, RunID: m.Strength.RunID, Edits: []ledger.Edit{
			{Op: ledger.Retire, Memory: memtypes.Memory{ID: m.ID, Scope: m.Scope}, Reason: "loaded"}}})
		if err != nil {
			return err
		}
		results[i].Rev = max(results[i].Rev, res[0].Rev)
	}
	return nil
}
