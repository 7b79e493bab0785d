package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// maxCounted is from how many on the entries that are to be drawn are not
// looked at, but each taken for a memory of its own: to look at them takes some
// ten milliseconds. What is drawn is counted in an index, at once.
const maxCounted = 10_000

// maxForgotten is how many debts are forgotten in one transaction.
const maxForgotten = 4096

// follower is a row of the table followers.
type follower struct {
	no    int64
	name  string
	drawn uint64
}

// orNobody is the error of looking for a follower.
func orNobody(op, name string, err error) error {
	if noRows(err) {
		return memtypes.Errorf(op, memtypes.NotFound, "no follower %q", name)
	}
	return err
}

func scanFollower(scan func(...any) error) (*follower, error) {
	f := &follower{}
	return f, scan(&f.no, &f.name, &f.drawn)
}

const followerText = "SELECT no, name, drawn FROM followers WHERE name = ?"

// follower finds one, or refuses.
func (t *tx) follower(op, name string) (*follower, error) {
	f, err := scanFollower(t.w.stmts.follower.QueryRow(name).Scan)
	if noRows(err) {
		return nil, refused{orNobody(op, name, err)}
	}
	return f, err
}

// Follow registers a follower; see ledger.Outbox.
func (db *DB) Follow(ctx context.Context, name string, from uint64) error {
	const op = "sqlite.Follow"
	if err := ledger.CheckFollower(op, name); err != nil {
		return err
	}
	return db.update(ctx, op, func(t *tx) error {
		if from > t.w.ends.last {
			return refused{memtypes.BadField(op, "from", from, "a number up to the newest")}
		}
		_, err := t.w.stmts.follow.Exec(name, int64(from))
		return err
	})
}

// Unfollow forgets a follower; see ledger.Outbox. What it owes goes in several
// transactions, so that nobody waits long, and the follower with the last.
func (db *DB) Unfollow(ctx context.Context, name string) error {
	const op = "sqlite.Unfollow"
	if err := ledger.CheckFollower(op, name); err != nil {
		return err
	}
	for more := true; more; {
		err := db.update(ctx, op, func(t *tx) (err error) {
			more, err = t.unfollow(name)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unfollow forgets a part of what a follower owes; more says that there may be more.
func (t *tx) unfollow(name string) (more bool, err error) {
	f, err := scanFollower(t.w.stmts.follower.QueryRow(name).Scan)
	if noRows(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r, err := t.w.stmts.unowe.Exec(f.no, maxForgotten)
	if err != nil {
		return false, err
	}
	if n, err := r.RowsAffected(); err != nil || n == maxForgotten {
		return true, err
	}
	_, err = t.w.stmts.unfollow.Exec(f.no)
	return false, err
}

// Followers describes all followers; see ledger.Outbox.
func (db *DB) Followers(ctx context.Context, now time.Time) (list []ledger.Follower, err error) {
	err = db.view(ctx, "sqlite.Followers", func(r *reader) error {
		tx, err := r.pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // it has read, nothing more
		followers, err := all(ctx, tx, scanFollower, "SELECT no, name, drawn FROM followers ORDER BY name")
		if err != nil {
			return err
		}
		for _, f := range followers {
			state, err := f.state(ctx, tx, now)
			if err != nil {
				return err
			}
			list = append(list, state)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// state describes f as of one moment, from the indexes of owed and from the
// entries that are to be drawn, unless they are too many.
func (f *follower) state(ctx context.Context, tx *sql.Tx, now time.Time) (ledger.Follower, error) {
	s := ledger.Follower{Name: f.name, Mark: f.drawn}
	var first sql.NullInt64
	var undrawn int
	err := tx.QueryRowContext(ctx, `SELECT
		(SELECT min(first) FROM owed INDEXED BY owed_first WHERE follower = ?1 AND dead IS NULL),
		(SELECT count(*) FROM owed INDEXED BY owed_first WHERE follower = ?1 AND dead IS NULL),
		(SELECT count(*) FROM owed INDEXED BY owed_dead WHERE follower = ?1 AND dead IS NOT NULL),
		coalesce((`+lastSeq+`), 0) - ?2`, f.no, int64(f.drawn)).Scan(&first, &s.Owed, &s.Dead, &undrawn)
	if err != nil {
		return s, err
	}
	if undrawn < maxCounted {
		err = tx.QueryRowContext(ctx, `SELECT count(DISTINCT id) FROM log l NOT INDEXED WHERE seq > ?2
			AND NOT EXISTS (SELECT 1 FROM owed o WHERE o.follower = ?1 AND o.id = l.id AND o.dead IS NULL)`, f.no, int64(f.drawn)).Scan(&undrawn)
	}
	if s.Owed += undrawn; err != nil || s.Owed == 0 {
		return s, err
	}
	oldest := f.drawn + 1
	if first.Valid {
		oldest = uint64(first.Int64)
		s.Mark = oldest - 1
	}
	var at int64
	err = tx.QueryRowContext(ctx, "SELECT min(at, ?2) FROM log WHERE seq = ?1", int64(oldest), now.UnixNano()).Scan(&at)
	s.Due = moment(at)
	return s, err
}

// Dead lists dead letters; see ledger.Outbox.
func (db *DB) Dead(ctx context.Context, name string, limit int) (letters []ledger.Letter, err error) {
	const op = "sqlite.Dead"
	if err := ledger.CheckFollower(op, name); err != nil {
		return nil, err
	}
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	err = db.view(ctx, op, func(r *reader) error {
		f, err := scanFollower(r.pool.QueryRowContext(ctx, followerText, name).Scan)
		if err != nil {
			return orNobody(op, name, err)
		}
		letters, err = all(ctx, r.pool, scanLetter, `SELECT id, seq, tries, `+tenantOf+`, dead, coalesce(reason, '')
			FROM owed INDEXED BY owed_dead WHERE follower = ? AND dead IS NOT NULL ORDER BY seq LIMIT ?`, f.no, limit)
		return err
	})
	return letters, err
}

func scanLetter(scan func(...any) error) (l ledger.Letter, err error) {
	var id []byte
	var at int64
	if err = scan(&id, &l.Seq, &l.Tries, &l.Tenant, &at, &l.Reason); err == nil {
		l.ID = ledger.Key(id).ID()
		if at > 0 {
			l.At = moment(at)
		}
	}
	return l, err
}

// Revive makes dead letters due again; see ledger.Outbox.
func (db *DB) Revive(ctx context.Context, name string, ids []memtypes.ID) (n int, err error) {
	const op = "sqlite.Revive"
	if err := ledger.CheckFollower(op, name); err != nil {
		return 0, err
	}
	err = db.update(ctx, op, func(t *tx) error {
		f, err := t.follower(op, name)
		if err != nil {
			return err
		}
		var r sql.Result
		if ids == nil {
			r, err = t.w.stmts.revive.Exec(f.no)
		} else {
			r, err = t.w.stmts.reviveSome.Exec(f.no, idsJSON(ids))
		}
		if err != nil {
			return err
		}
		rows, err := r.RowsAffected()
		n = int(rows)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
