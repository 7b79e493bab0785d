package sqlite

import (
	"context"
	"database/sql"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

var _ ledger.Movable = (*DB)(nil)

// Adopt writes records of another ledger as they are; see ledger.Movable.
func (db *DB) Adopt(ctx context.Context, records []ledger.Record) error {
	const op = "sqlite.Adopt"
	if err := ledger.CheckRecords(records); err != nil || len(records) == 0 {
		return fail(op, err)
	}
	return db.update(ctx, op, func(t *tx) error {
		rest, err := t.compare(ctx, records)
		if err != nil {
			return err
		}
		for i := range rest {
			if err := t.adopt(&rest[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// compare returns those of records that are new, after it found the others to
// be what is there.
func (t *tx) compare(ctx context.Context, list []ledger.Record) ([]ledger.Record, error) {
	last := t.w.ends.last
	if first := list[0].Seq; first > last+1 {
		return nil, refused{memtypes.BadField("sqlite.Adopt", "seq", first, "a number that follows the newest one")}
	}
	known := list
	if n := last + 1 - list[0].Seq; n < uint64(len(list)) {
		known = list[:n]
	}
	if len(known) == 0 {
		return list, nil
	}
	there, err := records(ctx, t.w.conn, list[0].Seq-1, len(known), t.scopeName)
	if err != nil {
		return nil, err
	}
	for i := range known {
		if i >= len(there) || !known[i].Equal(&there[i]) {
			return nil, refused{memtypes.Errorf("sqlite.Adopt", memtypes.Conflict, "entry %d: found another one than is to be adopted", known[i].Seq)}
		}
	}
	return list[len(known):], nil
}

// adopt appends one record to the log.
func (t *tx) adopt(r *ledger.Record) error {
	h, tenant, err := t.follows(r)
	if err != nil {
		return err
	}
	e := &entry{Link: r.Link, hash: r.Hash}
	args := e.args(tenant)
	if r.Memory == nil {
		_, err = t.w.stmts.log.Exec(args...)
	} else {
		err = t.adoptMemory(r, args)
	}
	if err != nil {
		return err
	}
	t.w.ends.advance(h, e)
	if r.Replaced != nil {
		return t.adoptReplaced(r)
	}
	return nil
}

// follows checks that r is the next entry of its tenant.
func (t *tx) follows(r *ledger.Record) (*head, int64, error) {
	tenant, err := t.tenant(r.Tenant)
	if err != nil {
		return nil, 0, err
	}
	h, err := t.w.ends.head(tenant, &t.w.stmts)
	if err != nil {
		return nil, 0, err
	}
	sum, buf := r.Sum(t.buf, r.Tenant, h.hash)
	if t.buf = buf; r.Prev != h.seq || sum != r.Hash {
		return nil, 0, memtypes.Errorf("sqlite.Adopt", memtypes.Conflict, "entry %d: found that it follows entry %d of tenant %q or has another hash, wanted one that follows %d",
			r.Seq, r.Prev, r.Tenant, h.seq)
	}
	return h, tenant, nil
}

// adoptMemory writes an entry with the memory that it inserted.
func (t *tx) adoptMemory(r *ledger.Record, args []any) error {
	m := r.Memory
	if _, err := t.seqOf(r.ID); err == nil || !noRows(err) {
		if err != nil {
			return err
		}
		return memtypes.Errorf("sqlite.Adopt", memtypes.Conflict, "entry %d: found memory %s already inserted by another entry", r.Seq, m.ID)
	}
	no, err := t.scope(m.Scope)
	if err != nil {
		return err
	}
	t.w.ends.loose[r.ID] = r.Seq
	if r.Purged {
		_, err = t.w.stmts.adopt.Exec(append(args, statePurged, no.scope, m.Rev, nil, nil, nil, nil, nil, nil, nil, false, nil, nil, nil, nil)...)
		return err
	}
	c, err := contentOf(m, m.Created, r.Origin)
	if err != nil {
		return err
	}
	c.updated = updated(m)
	state := stateActive
	if m.State == memtypes.Retired {
		state = stateRetired
	}
	if _, err = t.w.stmts.adopt.Exec(append(args, state, no.scope, m.Rev, kindNumber(m.Kind), layerNumber(m.Layer), c.session, c.sec, c.nsec, c.dated,
		c.updated, m.Strength.Pinned, nanos(m.Strength.Retired), orNull(m.Strength.RunID), c.text, c.extra)...); err != nil {
		return err
	}
	if m.Strength.Recalls > 0 || !m.Strength.LastRecall.IsZero() {
		_, err = t.w.stmts.strength.Exec(r.Seq, m.Strength.Recalls, nanos(m.Strength.LastRecall))
	}
	return err
}

// adoptReplaced keeps a content that an entry put an end to.
func (t *tx) adoptReplaced(r *ledger.Record) error {
	mem, err := t.seqOf(r.ID)
	if noRows(err) {
		return memtypes.Errorf("sqlite.Adopt", memtypes.Conflict, "entry %d: found no memory %s that it revised", r.Seq, r.ID.ID())
	}
	if err != nil {
		return err
	}
	c, err := contentOf(r.Replaced, r.Replaced.Created, nil)
	if err != nil {
		return err
	}
	_, err = t.w.stmts.adoptOld.Exec(r.Seq, mem, c.session, c.sec, c.nsec, c.dated, updated(r.Replaced), c.text, c.extra)
	return err
}

// updated is the column of that name.
func updated(m *memtypes.Memory) (n sql.NullInt64) {
	if !m.Updated.Equal(m.Created) {
		n = sql.NullInt64{Int64: m.Updated.UnixNano(), Valid: true}
	}
	return n
}

// seqOf is the entry that inserted a memory.
func (t *tx) seqOf(id ledger.Key) (seq int64, err error) {
	if seq, ok := t.w.ends.loose[id]; ok {
		return int64(seq), nil
	}
	var f found
	err = t.w.stmts.find.QueryRow(id[:]).Scan(&f.seq, &f.scope, &f.rev, &f.state, &f.pinned, &f.recalls)
	return f.seq, err
}
