package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// write projects intents and writes them to the index. Blame says for which
// memories something was refused; an error is one of the whole batch.
func (w *worker) write(ctx context.Context, intents []ledger.Intent) (blame refusals, err error) {
	e, ids := w.shared.engine, make([]memtypes.ID, len(intents))
	of, newest := make(map[memtypes.ID]ledger.Intent, len(intents)), uint64(0)
	for i, in := range intents {
		ids[i], of[in.ID], newest = in.ID, in, max(newest, in.Seq)
	}
	reach, err := e.affected(ctx, ids)
	if err != nil {
		return nil, err
	}
	gone := make([]memtypes.Gone, 0, len(reach.dead))
	for _, id := range reach.dead {
		gone = append(gone, memtypes.Gone{ID: id, Tenant: of[id].Tenant, Rev: of[id].Seq})
	}
	failed := refusals{}
	// Removals first: they need no embedder, and nobody waits longer for them
	// than for anything else.
	if len(gone) > 0 {
		err := w.kind.backend.call(ctx, w.shared.opt.Hold, func(ctx context.Context) error { return w.index.remove(ctx, gone) })
		if err = failed.take(err); err != nil {
			return nil, err
		}
	}
	if len(reach.ps) == 0 {
		return blamed(failed, &reach, nil), nil
	}
	put, refused, err := w.index.upsert(ctx, reach.ps, newest)
	if err != nil {
		return nil, err
	}
	if err := failed.take(w.kind.backend.call(ctx, w.shared.opt.Hold, put)); err != nil {
		return nil, err
	}
	return blamed(failed, &reach, refused), nil
}

// take notes the items that a service refused one by one, and gives back every
// other error.
func (r refusals) take(err error) error {
	some, ok := errors.AsType[*memtypes.Rejected](err)
	if !ok {
		return err
	}
	for id, cause := range some.Items {
		r[id] = cause
	}
	return nil
}

// blamed are the changes that are not done, because their own doc failed or
// that of a neighbour, which they changed. What may go better another time goes
// before what never will. A text that the embedder refused blames only its own
// memory: the neighbours' docs are whole without it.
func blamed(failed refusals, r *reach, refused refusals) refusals {
	out := refusals{}
	for id := range refused {
		out[id] = memtypes.Errorf("engine", memtypes.Invalid, "the embedder refuses the text of this memory")
	}
	for id, err := range failed {
		for _, change := range slices.Concat(r.causes[id], []memtypes.ID{id}) {
			if out[change] == nil || memtypes.CodeOf(err) == memtypes.Unavailable {
				out[change] = err
			}
		}
	}
	return out
}

// mostReason bounds what is kept of an error, in bytes.
const mostReason = 1000

// reason words err for the ledger.
func reason(err error) string {
	s := strings.ToValidUTF8(err.Error(), "?")
	if len(s) > mostReason {
		s = strings.ToValidUTF8(s[:mostReason], "")
	}
	return strings.ReplaceAll(s, "\x00", "?")
}
