package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// maxCounted is from how many on what is owed is estimated.
const maxCounted = 100_000

// orNobody is the error of looking for a follower.
func orNobody(op, name string, err error) error {
	if noRows(err) {
		return memtypes.Errorf(op, memtypes.NotFound, "no follower %q", name)
	}
	return err
}

// Follow registers a follower; see ledger.Outbox.
func (db *DB) Follow(ctx context.Context, name string, from uint64) error {
	const op = "postgres.Follow"
	if err := ledger.CheckFollower(op, name); err != nil {
		return err
	}
	if err := db.writable(op); err != nil {
		return err
	}
	return db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		last, err := db.head(ctx, c)
		if err != nil {
			return err
		}
		if from > last {
			return memtypes.BadField(op, "from", from, "a number up to the newest")
		}
		_, err = c.Exec(ctx, db.sql("INSERT INTO {s}.followers (name, drawn) VALUES ($1, $2) ON CONFLICT DO NOTHING"), name, int64(from))
		return err
	})
}

// Unfollow forgets a follower; see ledger.Outbox.
func (db *DB) Unfollow(ctx context.Context, name string) error {
	const op = "postgres.Unfollow"
	if err := ledger.CheckFollower(op, name); err != nil {
		return err
	}
	if err := db.writable(op); err != nil {
		return err
	}
	return db.apart(ctx, op, synced, func(ctx context.Context, c *pgx.Conn) error {
		b := &pgx.Batch{}
		// In this order: who draws for it now is waited for, and who comes later finds none.
		b.Queue(db.sql("DELETE FROM {s}.followers WHERE name = $1"), name)
		b.Queue(db.sql("SELECT 1 FROM {s}.owed WHERE follower = $1 ORDER BY id FOR UPDATE"), name) // as all lock them
		b.Queue(db.sql("DELETE FROM {s}.owed WHERE follower = $1"), name)
		return c.SendBatch(ctx, b).Close()
	})
}

// Followers describes all followers; see ledger.Outbox.
func (db *DB) Followers(ctx context.Context, now time.Time) (list []ledger.Follower, err error) {
	err = db.view(ctx, "postgres.Followers", func(ctx context.Context, c *pgx.Conn) error {
		list = nil
		return atOnce(ctx, c, func() error {
			rows, err := c.Query(ctx, db.sql("SELECT name, drawn FROM {s}.followers ORDER BY name"))
			if err != nil {
				return err
			}
			list, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (f ledger.Follower, err error) {
				err = r.Scan(&f.Name, &f.Mark)
				return f, err
			})
			for i := range list {
				if err == nil {
					err = db.describe(ctx, c, &list[i], now)
				}
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// describe fills in f, of which Mark is what was drawn, from the indexes of
// owed and from the entries that are to be drawn, of which it looks at no more
// than maxCounted.
func (db *DB) describe(ctx context.Context, c *pgx.Conn, f *ledger.Follower, now time.Time) error {
	drawn := int64(f.Mark)
	var first, undrawn int64
	err := c.QueryRow(ctx, db.sql(`SELECT
		coalesce((SELECT min(first) FROM {s}.owed WHERE follower = $1 AND dead = -1), 0),
		(SELECT count(*) FROM (SELECT 1 FROM {s}.owed WHERE follower = $1 AND dead = -1 LIMIT $2) x),
		(SELECT count(*) FROM {s}.owed WHERE follower = $1 AND dead <> -1),
		(`+lastSeq+`) - $3`), f.Name, maxCounted, drawn).Scan(&first, &f.Owed, &f.Dead, &undrawn)
	if err != nil {
		return err
	}
	undrawn = max(undrawn, 0) // below: the bank was restored from before what was drawn
	if undrawn > 0 && undrawn < maxCounted && f.Owed < maxCounted {
		err = c.QueryRow(ctx, db.sql(`SELECT count(DISTINCT id) FROM {s}.log l WHERE seq > $2
			AND NOT EXISTS (SELECT 1 FROM {s}.owed o WHERE o.follower = $1 AND o.id = l.id AND o.dead = -1)`), f.Name, drawn).Scan(&undrawn)
	}
	if f.Owed += int(undrawn); err != nil || f.Owed == 0 {
		return err
	}
	oldest := drawn + 1
	if first > 0 {
		oldest = first
		f.Mark = uint64(first - 1)
	}
	var at int64
	err = c.QueryRow(ctx, db.sql("SELECT least(at, $2::bigint) FROM {s}.log WHERE seq = $1"), oldest, now.UnixNano()).Scan(&at)
	f.Due = moment(at)
	return err
}

// Dead lists dead letters; see ledger.Outbox.
func (db *DB) Dead(ctx context.Context, name string, limit int) (letters []ledger.Letter, err error) {
	const op = "postgres.Dead"
	if err := ledger.CheckFollower(op, name); err != nil {
		return nil, err
	}
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		var one int
		if err := orNobody(op, name, c.QueryRow(ctx, db.sql("SELECT 1 FROM {s}.followers WHERE name = $1"), name).Scan(&one)); err != nil {
			return err
		}
		rows, err := c.Query(ctx, db.sql(`SELECT o.id, o.seq, o.tries, t.name, o.dead, o.reason FROM {s}.owed o JOIN {s}.tenants t ON t.no = o.tenant
			WHERE o.follower = $1 AND o.dead <> -1 ORDER BY o.seq LIMIT $2`), name, limit)
		if err != nil {
			return err
		}
		letters, err = pgx.CollectRows(rows, scanLetter)
		return err
	})
	return letters, err
}

func scanLetter(rows pgx.CollectableRow) (l ledger.Letter, err error) {
	var at int64
	var id ledger.Key
	if err = rows.Scan((*[16]byte)(&id), &l.Seq, &l.Tries, &l.Tenant, &at, &l.Reason); err == nil {
		l.ID = id.ID()
		if at > 0 {
			l.At = moment(at)
		}
	}
	return l, err
}

// Revive makes dead letters due again; see ledger.Outbox.
func (db *DB) Revive(ctx context.Context, name string, ids []memtypes.ID) (n int, err error) {
	const op = "postgres.Revive"
	if err := ledger.CheckFollower(op, name); err != nil {
		return 0, err
	}
	if err := db.writable(op); err != nil {
		return 0, err
	}
	err = db.apart(ctx, op, synced, func(ctx context.Context, c *pgx.Conn) error {
		var one int
		if err := orNobody(op, name, c.QueryRow(ctx, db.sql("SELECT 1 FROM {s}.followers WHERE name = $1"), name).Scan(&one)); err != nil {
			return err
		}
		text, args := "UPDATE {s}.owed SET dead = -1, reason = '', tries = 0, ready = since WHERE follower = $1 AND dead <> -1", []any{name}
		if ids != nil {
			text, args = text+" AND id = ANY($2::text[]::uuid[])", append(args, keysOf(ids))
		}
		tag, err := c.Exec(ctx, db.sql(text), args...)
		n = int(tag.RowsAffected())
		return err
	})
	return n, err
}
