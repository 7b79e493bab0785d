package postgres

import (
	"bytes"
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Audit pages backwards through the audit trail of a tenant; see ledger.Memories.
func (db *DB) Audit(ctx context.Context, tenant string, before uint64, limit int) (entries []ledger.Entry, err error) {
	const op = "postgres.Audit"
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	if err := noNUL(op, "tenant", tenant); err != nil {
		return nil, err
	}
	if before == 0 || before > math.MaxInt64 {
		before = math.MaxInt64
	}
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		entries = nil
		rows, err := c.Query(ctx, db.sql("SELECT seq, at, actor, op, id, run, reason FROM {s}.log WHERE tenant = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3"),
			tenantNo(tenant), int64(before), limit)
		if err != nil {
			return err
		}
		entries, err = pgx.CollectRows(rows, scanEntry)
		return err
	})
	return entries, err
}

func scanEntry(rows pgx.CollectableRow) (e ledger.Entry, err error) {
	var op int
	var at int64
	var id ledger.Key
	if err = rows.Scan(&e.Seq, &at, &e.Actor, &op, (*[16]byte)(&id), &e.RunID, &e.Reason); err == nil {
		e.Op, e.At, e.ID = ledger.OpNumbered(op), moment(at), id.ID()
	}
	return e, err
}

// verifyPage is how many entries one statement of VerifyAudit reads.
const verifyPage = 10000

// VerifyAudit recomputes the hash chain of a tenant's audit trail. It fails with Internal at the first entry that is
// not as it was written or is missing, and names its number.
func (db *DB) VerifyAudit(ctx context.Context, tenant string) error {
	const op = "postgres.VerifyAudit"
	v := verifier{tenant: tenant}
	var no int64
	known := true
	err := db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		err := c.QueryRow(ctx, db.sql("SELECT no, seq, hash FROM {s}.tenants WHERE name = $1"), tenant).Scan(&no, &v.noted, &v.noteHash)
		if noRows(err) {
			known, err = false, nil
		}
		return err
	})
	for err == nil && known { // entries never change, so they may be read page by page
		from, page := v.seq, verifier{}
		err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
			page = v
			rows, err := c.Query(ctx, db.sql(`SELECT seq, prev, was, op, id, at, actor, run, reason, hash FROM {s}.log
				WHERE tenant = $1 AND seq > $2 ORDER BY seq LIMIT $3`), no, int64(from), verifyPage)
			if err != nil {
				return err
			}
			return page.walk(rows)
		})
		if v = page; err == nil && v.seq == from {
			break
		}
	}
	if err == nil && v.seq < v.noted {
		return v.broken(v.noted, fmt.Sprintf("found the trail ending at %d", v.seq))
	}
	return err
}

// verifier is how far a trail was found to be sound.
type verifier struct {
	tenant   string
	noted    uint64 // the end of the trail as the tenant's row has it
	noteHash []byte
	seq      uint64
	hash     []byte
	scratch  []byte
}

func (v *verifier) walk(rows pgx.Rows) error {
	var l ledger.Link
	var hash []byte
	_, err := pgx.ForEachRow(rows, []any{&l.Seq, &l.Prev, &l.Was, &l.Op, (*[16]byte)(&l.ID), &l.At, &l.Actor, &l.RunID, &l.Reason, &hash}, func() error {
		if l.Prev != v.seq {
			return v.broken(l.Seq, fmt.Sprintf("found it following %d, wanted %d", l.Prev, v.seq))
		}
		sum, scratch := l.Sum(v.scratch, v.tenant, v.hash)
		if v.scratch = scratch; !bytes.Equal(sum[:], hash) {
			return v.broken(l.Seq, fmt.Sprintf("found hash %x, wanted %x", hash, sum))
		}
		if l.Seq == v.noted && !bytes.Equal(hash, v.noteHash) {
			return v.broken(l.Seq, fmt.Sprintf("found hash %x, wanted %x as noted", hash, v.noteHash))
		}
		v.seq, v.hash = l.Seq, bytes.Clone(hash)
		return nil
	})
	return err
}

func (v *verifier) broken(seq uint64, what string) error {
	return memtypes.Errorf("postgres.VerifyAudit", memtypes.Internal, "audit entry %d of tenant %q: %s", seq, v.tenant, what)
}
