package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// settlement is what one statement of Settle takes.
type settlement struct {
	ids     []string
	seqs    []int64
	times   []int64
	reasons []string
}

func (s *settlement) add(v *ledger.Settled) {
	at := int64(0)
	if !v.At.IsZero() {
		at = v.At.UnixNano()
	}
	s.ids, s.seqs, s.times, s.reasons = append(s.ids, string(v.ID)), append(s.seqs, int64(v.Seq)), append(s.times, at), append(s.reasons, v.Reason)
}

// Settle says what became of intents; see ledger.Outbox. Nothing changes of
// what holder does not hold; of one memory named twice only the first counts.
func (db *DB) Settle(ctx context.Context, name, holder string, settled []ledger.Settled) error {
	const op = "postgres.Settle"
	if err := ledger.CheckSettled(name, holder, settled); err != nil {
		return err
	}
	parts := map[ledger.Verdict]*settlement{ledger.Placed: {}, ledger.Later: {}, ledger.Poison: {}}
	seen := make(map[memtypes.ID]bool, len(settled))
	var all []string
	for i := range settled {
		if s := &settled[i]; !seen[s.ID] {
			seen[s.ID] = true
			all = append(all, string(s.ID))
			parts[s.Verdict].add(s)
		}
	}
	if err := db.writable(op); err != nil {
		return err
	}
	return db.apart(ctx, op, unsynced, func(ctx context.Context, c *pgx.Conn) error {
		var known bool
		if err := c.QueryRow(ctx, db.sql("SELECT EXISTS (SELECT 1 FROM {s}.followers WHERE name = $1)"), name).Scan(&known); err != nil {
			return err
		}
		if !known {
			return orNobody(op, name, pgx.ErrNoRows)
		}
		b := &pgx.Batch{}
		// All lock in one order, so that nobody waits in a circle.
		b.Queue(db.sql("SELECT 1 FROM {s}.owed WHERE follower = $1 AND id = ANY($2::text[]::uuid[]) ORDER BY id FOR UPDATE"), name, all)
		db.settle(b, name, holder, parts)
		return c.SendBatch(ctx, b).Close()
	})
}

// again makes due what changed since it was claimed.
const again = `UPDATE {s}.owed o SET first = greatest(o.first, u.seq + 1), ready = o.since, holder = '', tries = 0
	FROM unnest($3::text[]::uuid[], $4::bigint[]) u(id, seq) WHERE o.follower = $1 AND o.id = u.id AND o.holder = $2 AND o.dead = -1 AND o.seq > u.seq`

func (db *DB) settle(b *pgx.Batch, name, holder string, parts map[ledger.Verdict]*settlement) {
	if p := parts[ledger.Placed]; len(p.ids) > 0 {
		b.Queue(db.sql(`DELETE FROM {s}.owed o USING unnest($3::text[]::uuid[], $4::bigint[]) u(id, seq)
			WHERE o.follower = $1 AND o.id = u.id AND o.holder = $2 AND o.seq = u.seq`), name, holder, p.ids, p.seqs)
		b.Queue(db.sql(again), name, holder, p.ids, p.seqs)
	}
	if p := parts[ledger.Poison]; len(p.ids) > 0 {
		b.Queue(db.sql(`UPDATE {s}.owed o SET dead = u.at, holder = '', reason = u.reason
			FROM unnest($3::text[]::uuid[], $4::bigint[], $5::bigint[], $6::text[]) u(id, seq, at, reason)
			WHERE o.follower = $1 AND o.id = u.id AND o.holder = $2 AND o.dead = -1 AND o.seq = u.seq`), name, holder, p.ids, p.seqs, p.times, p.reasons)
		b.Queue(db.sql(again), name, holder, p.ids, p.seqs)
	}
	if p := parts[ledger.Later]; len(p.ids) > 0 {
		b.Queue(db.sql(`UPDATE {s}.owed o SET ready = u.at, holder = '', tries = o.tries + 1, reason = u.reason
			FROM unnest($3::text[]::uuid[], $4::bigint[], $5::text[]) u(id, at, reason)
			WHERE o.follower = $1 AND o.id = u.id AND o.holder = $2 AND o.dead = -1`), name, holder, p.ids, p.times, p.reasons)
	}
}
