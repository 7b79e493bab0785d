package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"math"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// newest finds a tenant's newest entry below a number. Entries that are not yet
// in the tenants' rows are few; only a number amid the log is searched for in
// all of it.
const newest = `SELECT coalesce(
		(SELECT l.seq FROM log l WHERE l.tenant = t.no AND l.seq > (SELECT max(head) FROM tenants) AND l.seq < ?2 ORDER BY l.seq DESC LIMIT 1),
		CASE WHEN t.head < ?2 THEN nullif(t.head, 0) END,
		(SELECT l.seq FROM log l WHERE l.tenant = t.no AND l.seq < ?2 ORDER BY l.seq DESC LIMIT 1), 0)
	FROM tenants t WHERE t.name = ?1`

// trail follows the log of one tenant backwards.
const trail = `WITH RECURSIVE c(seq, n) AS (
		SELECT ?1, 1 UNION ALL SELECT l.prev, c.n + 1 FROM c JOIN log l ON l.seq = c.seq WHERE l.prev > 0 AND c.n < ?2)
	SELECT l.seq, l.at, l.actor, l.op, l.id, coalesce(l.run, ''), coalesce(l.reason, '') FROM c JOIN log l ON l.seq = c.seq ORDER BY l.seq DESC`

// Audit pages backwards through the audit trail of a tenant; see ledger.Memories.
func (db *DB) Audit(ctx context.Context, tenant string, before uint64, limit int) (entries []ledger.Entry, err error) {
	const op = "sqlite.Audit"
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	err = db.view(ctx, op, func(r *reader) error {
		if before == 0 || before > math.MaxInt64 {
			before = math.MaxInt64
		}
		var from int64
		err := r.pool.QueryRowContext(ctx, newest, tenant, int64(before)).Scan(&from)
		if noRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		entries, err = all(ctx, r.pool, scanEntry, trail, from, limit)
		return err
	})
	return entries, err
}

func scanEntry(scan func(...any) error) (e ledger.Entry, err error) {
	var op int
	var at int64
	var id []byte
	if err = scan(&e.Seq, &at, &e.Actor, &op, &id, &e.RunID, &e.Reason); err == nil {
		e.Op, e.At, e.ID = ledger.OpNumbered(op), moment(at), ledger.Key(id).ID()
	}
	return e, err
}

// VerifyAudit recomputes the hash chain of a tenant's audit trail. It fails with Internal at the first entry that is
// not as it was written or is missing, and names its number.
func (db *DB) VerifyAudit(ctx context.Context, tenant string) error {
	return db.view(ctx, "sqlite.VerifyAudit", func(r *reader) error {
		tx, err := r.pool.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // it has read, nothing more
		v := verifier{tenant: tenant}
		var no int64
		err = tx.QueryRowContext(ctx, "SELECT no, head, hash FROM tenants WHERE name = ?", tenant).Scan(&no, &v.noted, &v.noteHash)
		if noRows(err) {
			return nil
		}
		if err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, `SELECT seq, prev, was, op, id, at, actor, coalesce(run, ''), coalesce(reason, ''), hash
			FROM log WHERE tenant = ? ORDER BY seq`, no)
		if err != nil {
			return err
		}
		if err := v.walk(rows); err != nil {
			return err
		}
		if v.seq < v.noted {
			return v.broken(v.noted, fmt.Sprintf("found the trail ending at %d", v.seq))
		}
		return nil
	})
}

// verifier is how far a trail was found to be sound.
type verifier struct {
	tenant   string
	noted    uint64 // the end of the trail as the tenant's row has it
	noteHash []byte
	seq      uint64
	hash     []byte
	buf      []byte
}

func (v *verifier) walk(rows *sql.Rows) error {
	defer rows.Close()
	for rows.Next() {
		var e entry
		var id, hash []byte
		if err := rows.Scan(&e.Seq, &e.Prev, &e.Was, &e.Op, &id, &e.At, &e.Actor, &e.RunID, &e.Reason, &hash); err != nil {
			return err
		}
		if e.Prev != v.seq || len(id) != len(e.ID) {
			return v.broken(e.Seq, fmt.Sprintf("found it following %d, wanted %d", e.Prev, v.seq))
		}
		e.ID = ledger.Key(id)
		if e.hash, v.buf = e.Sum(v.buf, v.tenant, v.hash); !bytes.Equal(e.hash[:], hash) {
			return v.broken(e.Seq, fmt.Sprintf("found hash %x, wanted %x", hash, e.hash))
		}
		if e.Seq == v.noted && !bytes.Equal(hash, v.noteHash) {
			return v.broken(e.Seq, fmt.Sprintf("found hash %x, wanted %x as noted", hash, v.noteHash))
		}
		v.seq, v.hash = e.Seq, hash
	}
	return rows.Err()
}

func (v *verifier) broken(seq uint64, what string) error {
	return memtypes.Errorf("sqlite.VerifyAudit", memtypes.Internal, "audit entry %d of tenant %q: %s", seq, v.tenant, what)
}
