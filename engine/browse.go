package engine

import (
	"cmp"
	"context"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Get returns one memory that scope covers, retired ones included; NotFound if
// there is none.
func (e *Engine) Get(ctx context.Context, scope memtypes.Scope, id memtypes.ID) (memtypes.Memory, error) {
	const op = "engine.Get"
	if err := e.check(op, scope); err != nil {
		return memtypes.Memory{}, err
	}
	ms, err := e.parts.Ledger.Get(ctx, scope, []memtypes.ID{id})
	if err != nil {
		return memtypes.Memory{}, err
	}
	if len(ms) == 0 {
		return memtypes.Memory{}, notFound(op, id, scope)
	}
	return ms[0], nil
}

// List pages through memories in the order of time. q.All is not for callers
// of an engine and is refused.
func (e *Engine) List(ctx context.Context, q ledger.ListQuery) (ledger.Page, error) {
	const op = "engine.List"
	if q.All {
		return ledger.Page{}, memtypes.BadField(op, "all", true, "a scope")
	}
	if err := e.check(op, q.Filter.Scope); err != nil {
		return ledger.Page{}, err
	}
	return e.parts.Ledger.List(ctx, q)
}

// History returns every revision of a memory, oldest first; NotFound if there is none.
func (e *Engine) History(ctx context.Context, scope memtypes.Scope, id memtypes.ID) ([]ledger.Revision, error) {
	const op = "engine.History"
	if err := e.check(op, scope); err != nil {
		return nil, err
	}
	revs, err := e.parts.Ledger.History(ctx, scope, id)
	if err == nil && len(revs) == 0 {
		err = notFound(op, id, scope)
	}
	return revs, err
}

// Change is what Update changes; a nil field stays as it is.
type Change struct {
	Text  *string
	Title *string
	Meta  map[string]string // replaces all of it, if not nil
	// IfRev, unless zero, must be the memory's present revision: so two
	// writers cannot overwrite each other unseen.
	IfRev uint64
	Actor string
}

// Update makes a new revision of a memory; the old one stays in its history.
// It is Conflict when change.IfRev does not hold.
func (e *Engine) Update(ctx context.Context, scope memtypes.Scope, id memtypes.ID, change Change) (memtypes.Memory, error) {
	const op = "engine.Update"
	m, err := e.Get(ctx, scope, id)
	if err != nil {
		return memtypes.Memory{}, err
	}
	if change.Text != nil {
		if err := memtypes.CheckText(op, "text", *change.Text); err != nil {
			return memtypes.Memory{}, err
		}
		m.Text = *change.Text
	}
	if change.Title != nil {
		m.Title = *change.Title
	}
	if change.Meta != nil {
		m.Meta = change.Meta
	}
	if err := e.admitted(ctx, op, 1); err != nil {
		return memtypes.Memory{}, err
	}
	edit := ledger.Edit{Op: ledger.Revise, Memory: m, IfRev: cmp.Or(change.IfRev, m.Rev)}
	if _, err := e.edit(ctx, op, change.Actor, "", edit); err != nil {
		return memtypes.Memory{}, err
	}
	return e.Get(ctx, scope, id)
}

// Pin keeps a memory from being forgotten by decay, or lets it fade again.
func (e *Engine) Pin(ctx context.Context, scope memtypes.Scope, id memtypes.ID, pinned bool) error {
	op := ledger.Unpin
	if pinned {
		op = ledger.Pin
	}
	_, err := e.edit(ctx, "engine.Pin", "", "", ledger.Edit{Op: op, Memory: memtypes.Memory{ID: id, Scope: scope}})
	return err
}

// Forget makes memories unrecallable now. They can be restored with Restore
// until a purge run takes them after the grace period. Reason is kept in the
// audit trail; it must not repeat the memory. NotFound if one is not in scope:
// then none is forgotten.
func (e *Engine) Forget(ctx context.Context, scope memtypes.Scope, reason string, ids ...memtypes.ID) error {
	return e.editAll(ctx, "engine.Forget", ledger.Retire, scope, reason, ids)
}

// Restore brings forgotten memories back as they were.
func (e *Engine) Restore(ctx context.Context, scope memtypes.Scope, ids ...memtypes.ID) error {
	return e.editAll(ctx, "engine.Restore", ledger.Restore, scope, "", ids)
}

// Erase forgets memories for good: text, revisions and vectors. It cannot be undone.
func (e *Engine) Erase(ctx context.Context, scope memtypes.Scope, reason string, ids ...memtypes.ID) error {
	// Retired and followed first, so that the neighbours' context loses the
	// words before the place in the session is gone too.
	const op = "engine.Erase"
	if err := e.editAll(ctx, op, ledger.Retire, scope, reason, ids); err != nil {
		return err
	}
	if e.shared == nil {
		return e.editAll(ctx, op, ledger.Purge, scope, reason, ids)
	}
	// A service may learn of it when the place is gone already: so the
	// neighbours are touched with it.
	beside, err := e.besides(ctx, ids)
	if err != nil {
		return err
	}
	edits := make([]ledger.Edit, 0, len(ids)+len(beside))
	for _, id := range ids {
		edits = append(edits, ledger.Edit{Op: ledger.Purge, Memory: memtypes.Memory{ID: id, Scope: scope}, Reason: reason})
	}
	results, err := e.parts.Ledger.Append(ctx, ledger.Batch{Now: e.now(), Actor: e.opts.Actor, Edits: append(edits, beside...)})
	if err != nil {
		return err
	}
	var last uint64
	for _, r := range results { // a neighbour that is gone by now needs nothing
		last = max(last, r.Rev)
	}
	e.at("appended")
	e.index(ctx, last)
	return nil
}

// besides are edits that have the neighbours of ids, within reach of their
// context, projected again.
func (e *Engine) besides(ctx context.Context, ids []memtypes.ID) ([]ledger.Edit, error) {
	reach, err := e.affected(ctx, ids)
	if err != nil {
		return nil, err
	}
	edits := make([]ledger.Edit, 0, len(reach.ps))
	for _, p := range reach.ps {
		m := *p.memory()
		edits = append(edits, ledger.Edit{Op: ledger.Touch, Memory: m, Reason: "a neighbour was erased"})
	}
	return edits, nil
}

// editAll applies one operation to every id, or to none if one is missing.
func (e *Engine) editAll(ctx context.Context, op string, do ledger.Op, scope memtypes.Scope, reason string, ids []memtypes.ID) error {
	if err := e.check(op, scope); err != nil {
		return err
	}
	have, err := e.parts.Ledger.Get(ctx, scope, ids)
	if err != nil {
		return err
	}
	known := make(map[memtypes.ID]bool, len(have))
	for i := range have {
		known[have[i].ID] = true
	}
	edits := make([]ledger.Edit, len(ids))
	for i, id := range ids {
		if !known[id] {
			return notFound(op, id, scope)
		}
		edits[i] = ledger.Edit{Op: do, Memory: memtypes.Memory{ID: id, Scope: scope}, Reason: reason}
	}
	_, err = e.edit(ctx, op, "", "", edits...)
	return err
}

// edit commits edits and lets the indexes follow. One that is missing is
// NotFound, one whose condition failed is Conflict.
func (e *Engine) edit(ctx context.Context, op, actor, runID string, edits ...ledger.Edit) ([]ledger.Result, error) {
	if err := e.open(op); err != nil {
		return nil, err
	}
	if len(edits) == 0 {
		return nil, nil
	}
	results, err := e.parts.Ledger.Append(ctx, ledger.Batch{
		Now: e.now(), Actor: cmp.Or(actor, e.opts.Actor), RunID: runID, Edits: edits})
	if err != nil {
		return nil, err
	}
	e.at("appended")
	var last uint64
	for i, r := range results {
		switch r.Outcome {
		case ledger.Missing:
			return nil, notFound(op, r.ID, edits[i].Memory.Scope)
		case ledger.Stale:
			return nil, &memtypes.Error{Op: op, Code: memtypes.Conflict, ID: r.ID,
				Err: &memtypes.Field{Name: "rev", Found: rev(edits[i].IfRev), Wanted: rev(r.Rev) + ", its present revision"}}
		}
		last = max(last, r.Rev)
	}
	e.index(ctx, last)
	return results, nil
}

// check refuses a closed engine and an empty scope.
func (e *Engine) check(op string, scope memtypes.Scope) error {
	if err := e.open(op); err != nil {
		return err
	}
	if scope.IsZero() {
		return memtypes.BadField(op, "scope", memtypes.Remark("none of user, agent, run"), "at least one of them")
	}
	return nil
}
