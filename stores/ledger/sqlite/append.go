package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Append applies b in one transaction; see ledger.Memories. All that can be
// worked out beforehand is, in the caller's goroutine.
func (db *DB) Append(ctx context.Context, b ledger.Batch) ([]ledger.Result, error) {
	const op = "sqlite.Append"
	if err := b.Check(); err != nil {
		return nil, err
	}
	b.Now = b.Now.UTC().Round(0)
	edits, err := readyAll(&b)
	if err != nil {
		return nil, fail(op, err)
	}
	var results []ledger.Result
	purged := false
	err = db.update(ctx, op, func(t *tx) error {
		if err := t.fenced(b.Fence); err != nil {
			return err
		}
		results = make([]ledger.Result, 0, len(edits))
		for i := range edits {
			r, err := t.apply(&b, &edits[i])
			if err != nil {
				return err
			}
			results = append(results, r)
		}
		purged = t.purged
		return t.setRuns(b.Runs)
	}, func() {
		if purged {
			// What fails here is made good by the next purge, by
			// Checkpoint, or when the bank is opened.
			_ = db.vectors.sweep(context.WithoutCancel(ctx))
		}
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// ready is an edit with its memory in the file's form.
type ready struct {
	*ledger.Edit
	id ledger.Key
	content
}

func readyAll(b *ledger.Batch) ([]ready, error) {
	out := make([]ready, len(b.Edits))
	for i := range b.Edits {
		e := &b.Edits[i]
		out[i].Edit = e
		out[i].id, _ = ledger.KeyOf(e.Memory.ID) // Check has seen it
		if e.Op != ledger.Insert && e.Op != ledger.Revise {
			continue
		}
		var err error
		if out[i].content, err = contentOf(&e.Memory, b.Now, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// found is what an edit must know of the memory as it is.
type found struct {
	seq, scope int64
	rev        uint64
	state      int
	pinned     bool
	recalls    int
}

// apply carries out one edit and says what became of it.
func (t *tx) apply(b *ledger.Batch, e *ready) (ledger.Result, error) {
	seq, loose := t.w.ends.loose[e.id]
	if e.Op == ledger.Insert && e.IfRev == 0 && e.IfRecalls == nil && !loose {
		rev, err := t.insert(b, e)
		if err != nil || rev > 0 {
			return ledger.Result{ID: e.Memory.ID, Rev: rev, Outcome: ledger.Done}, err
		}
	}
	var f found
	st, key := t.w.stmts.find, any(e.id[:])
	if loose {
		st, key = t.w.stmts.findLoose, int64(seq)
	}
	err := st.QueryRow(key).Scan(&f.seq, &f.scope, &f.rev, &f.state, &f.pinned, &f.recalls)
	if err != nil && !noRows(err) {
		return ledger.Result{}, err
	}
	known := err == nil
	if known && e.Op != ledger.Insert {
		if known, err = t.covers(e.Memory.Scope, f.scope); err != nil {
			return ledger.Result{}, err
		}
	}
	out, rev, err := t.change(b, e, &f, known)
	return ledger.Result{ID: e.Memory.ID, Rev: rev, Outcome: out}, err
}

// change does what the operation asks of a memory that is f, if it is known.
func (t *tx) change(b *ledger.Batch, e *ready, f *found, known bool) (ledger.Outcome, uint64, error) {
	if !known && e.Op != ledger.Insert {
		return ledger.Missing, 0, nil
	}
	gone := f.state == statePurged
	if gone && e.Op != ledger.Insert && e.Op != ledger.Purge {
		return ledger.Missing, 0, nil
	}
	if e.IfRev != 0 && (e.IfRev != f.rev || !known) || e.IfRecalls != nil && *e.IfRecalls != f.recalls {
		return ledger.Stale, f.rev, nil
	}
	switch e.Op {
	case ledger.Insert:
		return t.again(b, e, f, known)
	case ledger.Retire:
		if f.state == stateRetired {
			return ledger.Same, f.rev, nil
		}
		return t.setState(b, e, f, stateRetired, ledger.Retire)
	case ledger.Restore:
		if f.state == stateActive {
			return ledger.Same, f.rev, nil
		}
		return t.setState(b, e, f, stateActive, ledger.Restore)
	case ledger.Purge:
		if gone {
			return ledger.Same, f.rev, nil
		}
		return t.purge(b, e, f)
	}
	if f.state != stateActive {
		return ledger.Missing, 0, nil
	}
	switch e.Op {
	case ledger.Revise:
		return t.revise(b, e, f)
	case ledger.Recall:
		_, err := t.w.stmts.recall.Exec(f.seq, b.Now.UnixNano())
		return ledger.Done, f.rev, err
	case ledger.Touch:
		return t.setPin(b, e, f, f.pinned)
	default:
		return t.pin(b, e, f)
	}
}

// covers says whether a memory of the scope with number no is within want.
func (t *tx) covers(want memtypes.Scope, no int64) (bool, error) {
	if n, ok := t.w.scopes.byScope(want); ok && n.scope == no {
		return true, nil
	}
	sc, err := t.scopeName(no)
	return err == nil && want.Covers(sc), err
}

// insert adds a memory that is not known; it returns 0 if its ID is.
func (t *tx) insert(b *ledger.Batch, e *ready) (uint64, error) {
	m := &e.Memory
	no, err := t.scope(m.Scope)
	if err != nil {
		return 0, err
	}
	h, n, err := t.entry(no.tenant, b, mark{op: ledger.Insert, id: e.id, reason: e.Reason})
	if err != nil {
		return 0, err
	}
	added, err := t.w.stmts.insert.exec(append(n.args(no.tenant), int64(n.Seq), no.scope, int64(kindNumber(m.Kind)), int64(layerNumber(m.Layer)),
		e.session, e.sec, e.nsec, e.dated, m.Strength.Pinned, e.text, orNull(e.extra.String))...)
	if added == 0 || err != nil {
		return 0, err
	}
	t.w.ends.advance(h, n)
	t.w.ends.loose[e.id] = n.Seq
	if m.Strength.Recalls > 0 || !m.Strength.LastRecall.IsZero() {
		_, err = t.w.stmts.strength.Exec(n.Seq, m.Strength.Recalls, nanos(m.Strength.LastRecall))
	}
	return n.Seq, err
}

// again inserts a memory whose ID may be known: a purged one anew, a retired
// one of the same content by restoring it.
func (t *tx) again(b *ledger.Batch, e *ready, f *found, known bool) (ledger.Outcome, uint64, error) {
	if !known || f.state == statePurged {
		if known {
			if _, err := t.w.stmts.drop.Exec(f.seq); err != nil {
				return "", 0, err
			}
		}
		rev, err := t.insert(b, e)
		if err == nil && rev == 0 {
			err = fmt.Errorf("memory %s: found that it could not be inserted, though no memory has its ID", e.Memory.ID)
		}
		return ledger.Done, rev, err
	}
	same, err := t.same(e, f)
	switch {
	case err != nil:
		return "", 0, err
	case !same:
		return ledger.Conflicting, f.rev, nil
	case f.state == stateActive:
		return ledger.Same, f.rev, nil
	}
	return t.setState(b, e, f, stateActive, ledger.Restore)
}

// same says whether e inserts what f is, or what it was first of all.
func (t *tx) same(e *ready, f *found) (bool, error) {
	sc, err := t.scopeName(f.scope)
	if err != nil || sc != e.Memory.Scope {
		return false, err
	}
	old, err := scanRow(t.w.stmts.load.QueryRow(f.seq).Scan)
	if err != nil {
		return false, err
	}
	m, err := old.memory(sc)
	if err != nil {
		return false, err
	}
	want := ledger.Content(&e.Memory)
	if ledger.Content(&m) == want {
		return true, nil
	}
	first, err := old.origin()
	return bytes.Equal(first, want[:]), err
}

// origin is the digest of the first content of a memory that was revised.
func (c *content) origin() ([]byte, error) {
	if !c.extra.Valid {
		return nil, nil
	}
	var x extra
	err := json.Unmarshal([]byte(c.extra.String), &x)
	return x.Origin, err
}

// setState retires or restores, and records it as op.
func (t *tx) setState(b *ledger.Batch, e *ready, f *found, state int, op ledger.Op) (ledger.Outcome, uint64, error) {
	rev, err := t.recordOf(b, e, f, op)
	if err != nil {
		return "", 0, err
	}
	var at, run any
	if state == stateRetired {
		at, run = b.Now.UnixNano(), orNull(b.RunID)
	}
	_, err = t.w.stmts.setState.Exec(state, rev, at, run, f.seq)
	return ledger.Done, rev, err
}

func (t *tx) pin(b *ledger.Batch, e *ready, f *found) (ledger.Outcome, uint64, error) {
	want := e.Op == ledger.Pin
	if f.pinned == want {
		return ledger.Same, f.rev, nil
	}
	return t.setPin(b, e, f, want)
}

// setPin records e and pins f or not.
func (t *tx) setPin(b *ledger.Batch, e *ready, f *found, pinned bool) (ledger.Outcome, uint64, error) {
	rev, err := t.recordOf(b, e, f, e.Op)
	if err != nil {
		return "", 0, err
	}
	_, err = t.w.stmts.setPinned.Exec(pinned, rev, f.seq)
	return ledger.Done, rev, err
}

// revise keeps the content that is and puts the new one in its place.
func (t *tx) revise(b *ledger.Batch, e *ready, f *found) (ledger.Outcome, uint64, error) {
	c, same, err := t.merged(e, f)
	if err != nil || same {
		return ledger.Same, f.rev, err
	}
	rev, err := t.recordOf(b, e, f, ledger.Revise)
	if err != nil {
		return "", 0, err
	}
	if _, err := t.w.stmts.keep.Exec(rev, f.seq); err != nil {
		return "", 0, err
	}
	_, err = t.w.stmts.revise.Exec(rev, c.session, c.sec, c.nsec, c.dated, b.Now.UnixNano(), c.text, c.extra, f.seq)
	return ledger.Done, rev, err
}

// merged is the memory f with what e revises; same says that it is so already.
func (t *tx) merged(e *ready, f *found) (c content, same bool, err error) {
	old, err := scanRow(t.w.stmts.load.QueryRow(f.seq).Scan)
	if err != nil {
		return c, false, err
	}
	sc, err := t.scopeName(f.scope)
	if err != nil {
		return c, false, err
	}
	m, err := old.memory(sc)
	if err != nil {
		return c, false, err
	}
	first, err := old.origin()
	if err != nil {
		return c, false, err
	}
	origin := first
	if origin == nil {
		sum := ledger.Content(&m)
		origin = sum[:]
	}
	n := &e.Memory
	m.Text, m.Title, m.Meta, m.Event, m.Task, m.Triple, m.Talk, m.Source = n.Text, n.Title, n.Meta, n.Event, n.Task, n.Triple, n.Talk, n.Source
	if c, err = contentOf(&m, m.Created, first); err != nil {
		return c, false, err
	}
	c.updated = old.updated
	if c == old.content {
		return c, true, nil
	}
	c, err = contentOf(&m, m.Created, origin)
	return c, false, err
}

// purge takes everything from a memory but ID, scope, kind and revision.
func (t *tx) purge(b *ledger.Batch, e *ready, f *found) (ledger.Outcome, uint64, error) {
	rev, err := t.recordOf(b, e, f, ledger.Purge)
	if err != nil {
		return "", 0, err
	}
	t.purged = true
	if _, err := t.w.stmts.purgeOld.Exec(f.seq); err != nil {
		return "", 0, err
	}
	if _, err := t.w.stmts.forget.Exec(f.seq); err != nil {
		return "", 0, err
	}
	_, err = t.w.stmts.purge.Exec(rev, f.seq)
	return ledger.Done, rev, err
}

// recordOf appends an entry for a memory that is known.
func (t *tx) recordOf(b *ledger.Batch, e *ready, f *found, op ledger.Op) (uint64, error) {
	sc, err := t.scopeName(f.scope)
	if err != nil {
		return 0, err
	}
	no, err := t.scope(sc)
	if err != nil {
		return 0, err
	}
	return t.record(no.tenant, b, mark{op: op, id: e.id, was: f.rev, reason: e.Reason})
}

// scopeName finds the scope that has a number, within the transaction.
func (t *tx) scopeName(no int64) (memtypes.Scope, error) {
	if sc, ok := t.w.scopes.byNumber(no); ok {
		return sc, nil
	}
	return nameScope(t.w.stmts.name.QueryRow(no), t.w.scopes, no)
}
