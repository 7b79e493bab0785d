package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// chain follows the log of one memory from its newest entry back to its insert.
const chain = `WITH RECURSIVE c(seq) AS (
		SELECT $2::bigint UNION ALL SELECT l.was FROM c JOIN {s}.log l ON l.tenant = $1 AND l.seq = c.seq WHERE l.was > 0)
	SELECT l.seq, l.op, l.at, l.actor, l.run, l.reason FROM c JOIN {s}.log l ON l.tenant = $1 AND l.seq = c.seq ORDER BY l.seq`

// History returns every revision of a memory; see ledger.Memories.
func (db *DB) History(ctx context.Context, scope memtypes.Scope, id memtypes.ID) (revs []ledger.Revision, err error) {
	const op = "postgres.History"
	if scope.IsZero() {
		return nil, memtypes.BadField(op, "scope", memtypes.Remark("none of user, agent, run"), "at least one of them")
	}
	keys := keysOf([]memtypes.ID{id})
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		revs = nil
		if len(keys) == 0 {
			return nil
		}
		h, err := db.past(ctx, c, scope, keys[0])
		if err == nil && h.own != nil {
			revs, err = h.unfold()
		}
		return err
	})
	return revs, err
}

// past is all that the bank holds of one memory, as of one moment.
type past struct {
	own      *row // nil: not known
	entries  []ledger.Revision
	replaced []replaced
}

func (db *DB) past(ctx context.Context, c *pgx.Conn, scope memtypes.Scope, id string) (h past, err error) {
	err = atOnce(ctx, c, func() error {
		tenant := tenantNo(scope.Tenant())
		list, err := db.rows(ctx, c, rowColumns+fromRows+"WHERE m.id = $1::text::uuid AND m.tenant = $2 AND m.state < 2", id, tenant)
		if err != nil || len(list) == 0 || !scope.Covers(list[0].scope) {
			return err
		}
		h.own = list[0]
		rows, err := c.Query(ctx, db.sql(chain), tenant, h.own.rev)
		if err != nil {
			return err
		}
		if h.entries, err = pgx.CollectRows(rows, scanRevision); err != nil {
			return err
		}
		rows, err = c.Query(ctx, db.sql("SELECT rev, session, sec, nsec, dated, updated, text, extra FROM {s}.replaced WHERE id = $1::text::uuid"), id)
		if err != nil {
			return err
		}
		h.replaced, err = pgx.CollectRows(rows, scanReplaced)
		return err
	})
	return h, err
}

// atOnce has all statements of do see one moment.
func atOnce(ctx context.Context, c *pgx.Conn, do func() error) error {
	return pgx.BeginTxFunc(ctx, c, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(pgx.Tx) error { return do() })
}

func scanReplaced(rows pgx.CollectableRow) (r replaced, err error) {
	err = rows.Scan(&r.rev, &r.session, &r.sec, &r.nsec, &r.dated, &r.updated, &r.text, &r.extra)
	return r, err
}

func scanRevision(rows pgx.CollectableRow) (r ledger.Revision, err error) {
	var op int
	var at int64
	if err = rows.Scan(&r.Rev, &op, &at, &r.Actor, &r.RunID, &r.Reason); err == nil {
		r.Op, r.At = ledger.OpNumbered(op), moment(at)
	}
	return r, err
}

// unfold makes the memory of each revision, from the newest back: the bank
// keeps the present content and what each revise replaced.
func (h *past) unfold() ([]ledger.Revision, error) {
	now, err := h.own.memory()
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
		if j := slices.IndexFunc(h.replaced, func(r replaced) bool { return uint64(r.rev) == e.Rev }); j >= 0 {
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
