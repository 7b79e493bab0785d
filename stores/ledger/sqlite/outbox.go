package sqlite

import (
	"context"
	"time"

	"github.com/vimbank/vimbank/stores/ledger"
)

// The log is the outbox: a write leaves nothing else for a follower. Who claims
// draws what is new in the log into the table owed, one row a memory, and takes
// of that what can be claimed, in one transaction. What is placed is deleted.

// drawMost bounds the entries of the log that one claim draws, because others
// who write wait for it.
const drawMost = 1024

// owesText says whether a claim has anything to do.
const owesText = `SELECT f.drawn < coalesce((` + lastSeq + `), 0)
	OR EXISTS (SELECT 1 FROM owed WHERE follower = f.no AND dead IS NULL AND ready <= ?2)
	FROM followers f WHERE f.name = ?1`

// drawText draws entries ?2 to ?3 at ?4. A clock that ran ahead delays nothing.
// What is claimed stays so, what is to be tried later, too; a dead letter of
// an older change is no more.
const drawText = `INSERT INTO owed (follower, id, first, seq, since, ready, holder, tries)
	SELECT ?1, id, min(seq), max(seq), min(max(at), ?4), min(min(at), ?4), '', 0 FROM log NOT INDEXED WHERE seq BETWEEN ?2 AND ?3 GROUP BY id
	ON CONFLICT (follower, id) DO UPDATE SET seq = excluded.seq, since = excluded.since,
		first = CASE WHEN dead IS NULL THEN first ELSE excluded.first END,
		ready = CASE WHEN dead IS NULL THEN ready ELSE excluded.ready END,
		tries = CASE WHEN dead IS NULL THEN tries ELSE 0 END,
		reason = CASE WHEN dead IS NULL THEN reason END, dead = NULL`

// tenantOf is the tenant of a row of owed, that of its change: also of a memory
// that is purged.
const tenantOf = "(SELECT name FROM tenants WHERE no = (SELECT tenant FROM log WHERE log.seq = owed.seq))"

// claimableText are at most ?3 of those that can be claimed at ?2, who waited
// longest first.
const claimableText = " FROM owed INDEXED BY owed_ready WHERE follower = ?1 AND dead IS NULL AND ready <= ?2 ORDER BY ready, first LIMIT ?3"

// Claim hands out what a follower owes; see ledger.Outbox.
func (db *DB) Claim(ctx context.Context, name, holder string, now time.Time, hold time.Duration, limit int) (intents []ledger.Intent, err error) {
	const op = "sqlite.Claim"
	if limit, err = ledger.CheckClaim(name, holder, now, hold, limit); err != nil {
		return nil, err
	}
	owes := false
	err = db.view(ctx, op, func(r *reader) error {
		return orNobody(op, name, r.owes.QueryRowContext(ctx, name, now.UnixNano()).Scan(&owes))
	})
	if err != nil || !owes && !db.readOnly {
		return nil, err
	}
	err = db.update(ctx, op, func(t *tx) error {
		f, err := t.follower(op, name)
		if err != nil {
			return err
		}
		if err := t.draw(f, now, max(limit, drawMost)); err != nil {
			return err
		}
		intents, err = t.claim(f, holder, now, now.Add(hold), limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return intents, nil
}

// draw has a follower owe the next most entries of the log.
func (t *tx) draw(f *follower, now time.Time, most int) error {
	last := min(t.w.ends.last, f.drawn+uint64(most))
	if last <= f.drawn {
		return nil
	}
	if _, err := t.w.stmts.draw.Exec(f.no, f.drawn+1, last, now.UnixNano()); err != nil {
		return err
	}
	_, err := t.w.stmts.drawn.Exec(f.no, last)
	return err
}

// claim has holder hold what can be claimed.
func (t *tx) claim(f *follower, holder string, now, until time.Time, limit int) ([]ledger.Intent, error) {
	rows, err := t.w.stmts.claimable.Query(f.no, now.UnixNano(), limit)
	if err != nil {
		return nil, err
	}
	intents, err := collect(rows, scanIntent)
	if err != nil || len(intents) == 0 {
		return nil, err
	}
	_, err = t.w.stmts.claim.Exec(f.no, now.UnixNano(), limit, holder, until.UnixNano())
	return intents, err
}

func scanIntent(scan func(...any) error) (i ledger.Intent, err error) {
	var id []byte
	if err = scan(&id, &i.Seq, &i.Tries, &i.Tenant); err == nil {
		i.ID = ledger.Key(id).ID()
	}
	return i, err
}

// Settle says what became of intents; see ledger.Outbox.
func (db *DB) Settle(ctx context.Context, name, holder string, settled []ledger.Settled) error {
	const op = "sqlite.Settle"
	if err := ledger.CheckSettled(name, holder, settled); err != nil {
		return err
	}
	return db.update(ctx, op, func(t *tx) error {
		f, err := t.follower(op, name)
		if err != nil {
			return err
		}
		for i := range settled {
			if err := t.settle(f, holder, &settled[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// settle changes nothing of what holder does not hold.
func (t *tx) settle(f *follower, holder string, s *ledger.Settled) error {
	id, _ := ledger.KeyOf(s.ID) // CheckSettled has seen it
	st := &t.w.stmts
	switch s.Verdict {
	case ledger.Later:
		_, err := st.later.Exec(f.no, id[:], holder, s.At.UnixNano(), orNull(s.Reason))
		return err
	case ledger.Poison:
		var at int64
		if !s.At.IsZero() {
			at = s.At.UnixNano()
		}
		if _, err := st.bury.Exec(f.no, id[:], holder, int64(s.Seq), at, orNull(s.Reason)); err != nil {
			return err
		}
	default:
		if _, err := st.place.Exec(f.no, id[:], holder, int64(s.Seq)); err != nil {
			return err
		}
	}
	_, err := st.again.Exec(f.no, id[:], holder, int64(s.Seq)) // changed since the claim
	return err
}
