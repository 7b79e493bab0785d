package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// chain follows the log of one memory from its newest entry back to its insert.
const chain = `WITH RECURSIVE c(seq) AS (
		SELECT ?1 UNION ALL SELECT l.was FROM c JOIN log l ON l.seq = c.seq WHERE l.was > 0)
	SELECT l.seq, l.op, l.at, l.actor, coalesce(l.run, ''), coalesce(l.reason, '') FROM c JOIN log l ON l.seq = c.seq ORDER BY l.seq`

// History returns every revision of a memory; see ledger.Memories.
func (db *DB) History(ctx context.Context, scope memtypes.Scope, id memtypes.ID) (revs []ledger.Revision, err error) {
	const op = "sqlite.History"
	if scope.IsZero() {
		return nil, memtypes.BadField(op, "scope", memtypes.Remark("none of user, agent, run"), "at least one of them")
	}
	u, ok := ledger.KeyOf(id)
	if !ok {
		return nil, nil
	}
	err = db.search(ctx, op, func(r *reader) error {
		h, err := r.past(ctx, u)
		if err != nil || h.own == nil {
			return err
		}
		sc, err := r.name(ctx, db.scopes, h.own.scope)
		if err != nil || !scope.Covers(sc) {
			return err
		}
		revs, err = h.unfold(sc)
		return err
	})
	return revs, err
}

// past is all that the file holds of one memory, as of one moment.
type past struct {
	own      *row // nil: not known
	entries  []ledger.Revision
	replaced []replaced
}

// replaced is the content that the revise rev put an end to.
type replaced struct {
	rev uint64
	content
}

func (r *reader) past(ctx context.Context, id ledger.Key) (h past, err error) {
	tx, err := r.pool.BeginTx(ctx, nil)
	if err != nil {
		return h, err
	}
	defer tx.Rollback() // it has read, nothing more
	h.own, err = scanRow(tx.StmtContext(ctx, r.rowOf).QueryRowContext(ctx, id[:]).Scan)
	if noRows(err) {
		return past{}, nil
	}
	if err != nil {
		return h, err
	}
	if h.entries, err = all(ctx, tx, scanRevision, chain, h.own.rev); err != nil {
		return h, err
	}
	h.replaced, err = all(ctx, tx, scanReplaced, "SELECT seq, session, sec, nsec, dated, updated, text, extra FROM replaced WHERE mem = ?", h.own.seq)
	return h, err
}

// querier is a pool, a connection or a transaction.
type querier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}

// all collects what a query finds.
func all[T any](ctx context.Context, q querier, scan func(func(...any) error) (T, error), text string, args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, scan)
}

// every collects what a prepared query finds.
func every[T any](ctx context.Context, st *sql.Stmt, scan func(func(...any) error) (T, error), args ...any) ([]T, error) {
	rows, err := st.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, scan)
}

func scanReplaced(scan func(...any) error) (r replaced, err error) {
	err = scan(&r.rev, &r.session, &r.sec, &r.nsec, &r.dated, &r.updated, &r.text, &r.extra)
	return r, err
}

func scanRevision(scan func(...any) error) (r ledger.Revision, err error) {
	var op int
	var at int64
	if err = scan(&r.Rev, &op, &at, &r.Actor, &r.RunID, &r.Reason); err == nil {
		r.Op, r.At = ledger.OpNumbered(op), moment(at)
	}
	return r, err
}

// unfold makes the memory of each revision, from the newest back: the file
// keeps the present content and what each revise replaced.
func (h *past) unfold(sc memtypes.Scope) ([]ledger.Revision, error) {
	now, err := h.own.memory(sc)
	if err != nil {
		return nil, err
	}
	c := h.own.content
	for i, e := range slices.Backward(h.entries) {
		m := now
		m.Rev = e.Rev
		if err := c.fill(&m); err != nil {
			return nil, err
		}
		h.entries[i].Memory = m
		if j := slices.IndexFunc(h.replaced, func(r replaced) bool { return r.rev == e.Rev }); j >= 0 {
			c = h.replaced[j].content
		}
	}
	h.states(now.Strength.Pinned)
	return h.entries, nil
}

// states sets what each operation made of state and pin, from the oldest on.
func (h *past) states(pinned bool) {
	for _, e := range slices.Backward(h.entries) { // what it was at first
		if e.Op == ledger.Pin || e.Op == ledger.Unpin {
			pinned = e.Op == ledger.Unpin
		}
	}
	var state, retired, run = memtypes.Active, time.Time{}, ""
	for i, e := range h.entries {
		switch e.Op {
		case ledger.Pin, ledger.Unpin:
			pinned = e.Op == ledger.Pin
		case ledger.Retire:
			state, retired, run = memtypes.Retired, e.At, e.RunID
		case ledger.Restore:
			state, retired, run = memtypes.Active, time.Time{}, ""
		}
		m := &h.entries[i].Memory
		m.State, m.Strength.Pinned, m.Strength.Retired, m.Strength.RunID = state, pinned, retired, run
	}
}
