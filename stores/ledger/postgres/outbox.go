package postgres

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/stores/ledger"
)

// The log is the outbox: a write leaves nothing else for a follower. Who claims
// draws what is new in the log into the table owed, one row a memory, and takes
// of that what nobody else is taking. None of this needs the head's lock, so it
// never waits for writers nor they for it. It is not synced: what a crash of
// the server undoes is claimed again.

// drawMost bounds the entries of the log that one claim draws.
const drawMost = 2048

// owesText says whether a claim has anything to do.
const owesText = `SELECT f.drawn < (` + lastSeq + `) OR EXISTS (SELECT 1 FROM {s}.owed WHERE follower = $1 AND dead = -1 AND ready <= $2)
	FROM {s}.followers f WHERE f.name = $1`

// drawText draws entries after $2 up to $3 at $4. A clock that ran ahead delays
// nothing. What is claimed stays so, what is to be tried later, too; a dead
// letter of an older change is no more.
const drawText = `INSERT INTO {s}.owed AS o (follower, id, tenant, first, seq, since, ready, holder, tries, dead, reason)
	SELECT $1, id, min(tenant), min(seq), max(seq), least(max(at), $4::bigint), least(min(at), $4::bigint), '', 0, -1, ''
		FROM {s}.log WHERE seq > $2::bigint AND seq <= $3::bigint GROUP BY id ORDER BY id
	ON CONFLICT (follower, id) DO UPDATE SET seq = excluded.seq, since = excluded.since,
		first = CASE WHEN o.dead = -1 THEN o.first ELSE excluded.first END,
		ready = CASE WHEN o.dead = -1 THEN o.ready ELSE excluded.ready END,
		tries = CASE WHEN o.dead = -1 THEN o.tries ELSE 0 END,
		reason = CASE WHEN o.dead = -1 THEN o.reason ELSE '' END, dead = -1`

// claimText hands at most $3 of those that can be claimed at $2 to $4 until $5,
// who waited longest first.
const claimText = `WITH c AS MATERIALIZED (
		SELECT id, ready, first FROM {s}.owed WHERE follower = $1 AND dead = -1 AND ready <= $2
		ORDER BY ready, first LIMIT $3 FOR UPDATE SKIP LOCKED)
	UPDATE {s}.owed o SET holder = $4, ready = $5 FROM c, {s}.tenants t
	WHERE o.follower = $1 AND o.id = c.id AND t.no = o.tenant
	RETURNING o.id, o.seq, o.tries, t.name, c.ready, c.first`

// Claim hands out what a follower owes; see ledger.Outbox. If the answer is
// lost, what was claimed is handed out again when the time is over.
func (db *DB) Claim(ctx context.Context, name, holder string, now time.Time, hold time.Duration, limit int) (intents []ledger.Intent, err error) {
	const op = "postgres.Claim"
	if limit, err = ledger.CheckClaim(name, holder, now, hold, limit); err != nil {
		return nil, err
	}
	owes := false
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		return orNobody(op, name, c.QueryRow(ctx, db.sql(owesText), name, now.UnixNano()).Scan(&owes))
	})
	if err == nil && owes {
		err = db.writable(op)
	}
	if err != nil || !owes {
		return nil, err
	}
	err = db.apart(ctx, op, unsynced, func(ctx context.Context, c *pgx.Conn) error {
		if err := db.draw(ctx, c, op, name, now, max(limit, drawMost)); err != nil {
			return err
		}
		intents, err = db.claim(ctx, c, name, holder, now, now.Add(hold), limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return intents, nil
}

// draw has a follower owe the next most entries of the log. Another that draws
// for the same follower is waited for.
func (db *DB) draw(ctx context.Context, c *pgx.Conn, op, name string, now time.Time, most int) error {
	var drawn, last int64
	err := c.QueryRow(ctx, db.sql("SELECT drawn, ("+lastSeq+") FROM {s}.followers WHERE name = $1"), name).Scan(&drawn, &last)
	if err != nil || drawn >= last {
		return orNobody(op, name, err)
	}
	err = c.QueryRow(ctx, db.sql("SELECT drawn FROM {s}.followers WHERE name = $1 FOR NO KEY UPDATE"), name).Scan(&drawn)
	if err != nil || drawn >= last {
		return orNobody(op, name, err)
	}
	until := min(last, drawn+int64(most))
	b := &pgx.Batch{}
	b.Queue(db.sql(drawText), name, drawn, until, now.UnixNano())
	b.Queue(db.sql("UPDATE {s}.followers SET drawn = $2 WHERE name = $1"), name, until)
	return c.SendBatch(ctx, b).Close()
}

func (db *DB) claim(ctx context.Context, c *pgx.Conn, name, holder string, now, until time.Time, limit int) ([]ledger.Intent, error) {
	type claimed struct {
		ledger.Intent
		ready, first int64
	}
	rows, err := c.Query(ctx, db.sql(claimText), name, now.UnixNano(), limit, holder, until.UnixNano())
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (i claimed, err error) {
		var id ledger.Key
		err = r.Scan((*[16]byte)(&id), &i.Seq, &i.Tries, &i.Tenant, &i.ready, &i.first)
		i.ID = id.ID()
		return i, err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b claimed) int { return cmp.Or(cmp.Compare(a.ready, b.ready), cmp.Compare(a.first, b.first)) })
	intents := make([]ledger.Intent, len(list))
	for i := range list {
		intents[i] = list[i].Intent
	}
	return intents, nil
}

// How a transaction is committed.
const (
	synced   = "on"
	unsynced = "off"
)

// apart runs do in a transaction of its own, apart from the writer's, again
// where it collides with another.
func (db *DB) apart(ctx context.Context, op, commit string, do func(context.Context, *pgx.Conn) error) error {
	return db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) (err error) {
		for try := range maxTries {
			if try > 0 {
				time.Sleep(time.Duration(try)*time.Millisecond + rand.N(5*time.Millisecond))
			}
			if err = db.once(ctx, c, commit, do); !collided(err) {
				return err
			}
		}
		return err
	})
}

func (db *DB) once(ctx context.Context, c *pgx.Conn, commit string, do func(context.Context, *pgx.Conn) error) error {
	b := &pgx.Batch{}
	b.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	if commit == unsynced {
		b.Queue("SET LOCAL synchronous_commit = off")
	}
	err := c.SendBatch(ctx, b).Close()
	if err == nil {
		err = do(ctx, c)
	}
	if err == nil {
		_, err = c.Exec(ctx, "COMMIT")
	}
	if err != nil {
		undo(c)
	}
	return err
}
