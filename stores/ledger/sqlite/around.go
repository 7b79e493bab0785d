package sqlite

import (
	"context"
	"database/sql"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Around returns the neighbours of a memory in its session; see ledger.Memories.
func (db *DB) Around(ctx context.Context, id memtypes.ID, n int) (out []memtypes.Memory, err error) {
	const op = "sqlite.Around"
	if n < 0 {
		return nil, memtypes.BadField(op, "n", n, "0 or more")
	}
	u, ok := ledger.KeyOf(id)
	if !ok {
		return nil, nil
	}
	err = db.search(ctx, op, func(r *reader) error {
		list, err := r.around(ctx, u, n)
		if err == nil {
			out, err = r.nouns(ctx, db.scopes, list)
		}
		return err
	})
	return out, err
}

func (r *reader) around(ctx context.Context, id ledger.Key, n int) ([]*row, error) {
	own, err := scanRow(r.rowOf.QueryRowContext(ctx, id[:]).Scan)
	if noRows(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var earlier, self, later []*row
	if own.state == stateActive {
		self = []*row{own}
	}
	if own.session == "" || n == 0 {
		return self, nil
	}
	if earlier, err = beside(ctx, r.before, own, n); err != nil {
		return nil, err
	}
	if later, err = beside(ctx, r.behind, own, n); err != nil {
		return nil, err
	}
	slices.Reverse(earlier)
	return slices.Concat(earlier, self, later), nil
}

// neighbours is a query of the n rows on one side of a memory in its session,
// nearest first; columns 1, 9 and 10 are seq, sec and nsec.
func neighbours(side, order string) string {
	return both(rowColumns, "memory_session", "m.state < 2 AND m.scope = ?1 AND m.session = ?2 AND m.state = 0 AND m.layer = 0"+
		" AND (m.sec, m.nsec, m.seq) "+side+" (?3, ?4, ?5)", order+" LIMIT ?6 + 0")
}

func beside(ctx context.Context, side *sql.Stmt, own *row, n int) ([]*row, error) {
	return every(ctx, side, scanRow, own.scope, own.session, own.sec, own.nsec, own.seq, n)
}
