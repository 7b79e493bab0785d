package sqlite

import (
	"context"
	"slices"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// The neighbours of a memory in its session, nearest first.
const (
	before = `(m.sec, m.nsec, m.seq) < (?3, ?4, ?5) ORDER BY m.sec DESC, m.nsec DESC, m.seq DESC LIMIT ?6`
	behind = `(m.sec, m.nsec, m.seq) > (?3, ?4, ?5) ORDER BY m.sec, m.nsec, m.seq LIMIT ?6`
)

// Around returns the neighbours of a memory in its session; see ledger.Memories.
func (db *DB) Around(ctx context.Context, id memtypes.ID, n int) (out []memtypes.Memory, err error) {
	const op = "sqlite.Around"
	if n < 0 {
		return nil, memtypes.BadField(op, "n", n, "0 or more")
	}
	u, ok := uidOf(id)
	if !ok {
		return nil, nil
	}
	err = db.view(ctx, op, func(r *reader) error {
		list, err := r.around(ctx, u, n)
		if err == nil {
			out, err = r.nouns(ctx, db.scopes, list)
		}
		return err
	})
	return out, err
}

func (r *reader) around(ctx context.Context, id uid, n int) ([]*row, error) {
	own, err := scanRow(r.pool.QueryRowContext(ctx, selectRows+" WHERE m.state < 2 AND m.id = ?", id[:]).Scan)
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
	if earlier, err = r.beside(ctx, own, before, n); err != nil {
		return nil, err
	}
	if later, err = r.beside(ctx, own, behind, n); err != nil {
		return nil, err
	}
	slices.Reverse(earlier)
	return slices.Concat(earlier, self, later), nil
}

// beside reads the n rows on one side of own.
func (r *reader) beside(ctx context.Context, own *row, side string, n int) ([]*row, error) {
	text := strings.Replace(selectRows, "log m", "log m INDEXED BY memory_session", 1) +
		" WHERE m.state < 2 AND m.scope = ?1 AND m.session = ?2 AND m.state = 0 AND m.layer = 0 AND " + side
	return all(ctx, r.pool, scanRow, text, own.scope, own.session, own.sec, own.nsec, own.seq, n)
}
