package postgres

import (
	"context"
	"encoding/json"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Records pages through the whole log; see ledger.Movable.
func (db *DB) Records(ctx context.Context, after uint64, limit int) (list []ledger.Record, err error) {
	const op = "postgres.Records"
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	if after > math.MaxInt64 {
		return nil, nil
	}
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		return atOnce(ctx, c, func() error {
			list, err = db.records(ctx, c, int64(after), limit)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// records reads entries after seq with what hangs on them.
func (db *DB) records(ctx context.Context, c *pgx.Conn, after int64, limit int) ([]ledger.Record, error) {
	rows, err := c.Query(ctx, db.sql(`SELECT l.seq, l.prev, l.was, l.op, l.id, l.at, l.actor, l.run, l.reason, l.hash, t.name
		FROM (SELECT * FROM {s}.log WHERE seq > $1 ORDER BY seq LIMIT $2) l JOIN {s}.tenants t ON t.no = l.tenant ORDER BY l.seq`), after, limit)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(rows, scanRecord)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	first := list[0].Seq
	if last := list[len(list)-1].Seq; last-first != uint64(len(list)-1) {
		return nil, memtypes.Errorf("postgres.Records", memtypes.Internal, "found %d entries from %d to %d, wanted no gap", len(list), first, last)
	}
	at := func(seq int64) *ledger.Record { return &list[uint64(seq)-first] }
	if err := db.hangMemories(ctx, c, list, at); err != nil {
		return nil, err
	}
	return list, db.hangReplaced(ctx, c, list, at)
}

func scanRecord(rows pgx.CollectableRow) (r ledger.Record, err error) {
	var hash []byte
	if err = rows.Scan(&r.Seq, &r.Prev, &r.Was, &r.Op, (*[16]byte)(&r.ID), &r.At, &r.Actor, &r.RunID, &r.Reason, &hash, &r.Tenant); err != nil {
		return r, err
	}
	if len(hash) != len(r.Hash) {
		return r, memtypes.Errorf("postgres.Records", memtypes.Internal, "entry %d: found a hash of %d bytes", r.Seq, len(hash))
	}
	r.Hash = [len(r.Hash)]byte(hash)
	return r, nil
}

// hangMemories hangs memories on the entries of their inserts.
func (db *DB) hangMemories(ctx context.Context, c *pgx.Conn, list []ledger.Record, at func(int64) *ledger.Record) error {
	var ids []string
	for i := range list {
		if ledger.OpNumbered(list[i].Op) == ledger.Insert {
			ids = append(ids, string(list[i].ID.ID()))
		}
	}
	rows, err := db.rows(ctx, c, rowColumns+fromRows+"WHERE m.id = ANY($1::text[]::uuid[]) AND m.seq BETWEEN $2 AND $3",
		ids, int64(list[0].Seq), int64(list[len(list)-1].Seq))
	if err != nil {
		return err
	}
	for _, w := range rows {
		r := at(w.seq)
		if w.state == statePurged {
			r.Memory, r.Purged = &memtypes.Memory{ID: w.id.ID(), Scope: w.scope, Rev: uint64(w.rev)}, true
			continue
		}
		m, err := w.memory()
		if err != nil {
			return err
		}
		x, err := w.rest()
		if err != nil {
			return err
		}
		r.Memory, r.Origin = &m, x.Origin
	}
	return nil
}

// hangReplaced hangs contents on the entries that replaced them.
func (db *DB) hangReplaced(ctx context.Context, c *pgx.Conn, list []ledger.Record, at func(int64) *ledger.Record) error {
	var ids []string
	var revs []int64
	for i := range list {
		if ledger.OpNumbered(list[i].Op) == ledger.Revise {
			ids, revs = append(ids, string(list[i].ID.ID())), append(revs, int64(list[i].Seq))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := c.Query(ctx, db.sql(`SELECT p.rev, p.session, p.sec, p.nsec, p.dated, p.updated, p.text, p.extra, m.id, m.scope, m.created, m.kind, m.layer
		FROM unnest($1::text[]::uuid[], $2::bigint[]) u(id, rev) JOIN {s}.replaced p ON p.id = u.id AND p.rev = u.rev JOIN {s}.memories m ON m.id = p.id`), ids, revs)
	if err != nil {
		return err
	}
	rows, err := pgx.CollectRows(found, func(r pgx.CollectableRow) (*row, error) {
		w := &row{}
		err := r.Scan(&w.rev, &w.session, &w.sec, &w.nsec, &w.dated, &w.updated, &w.text, &w.extra, (*[16]byte)(&w.id), &w.scopeNo, &w.created, &w.kind, &w.layer)
		return w, err
	})
	if err != nil {
		return err
	}
	if err := db.name(ctx, c, rows); err != nil {
		return err
	}
	for _, w := range rows {
		m := &memtypes.Memory{ID: w.id.ID(), Scope: w.scope, Kind: memtypes.Kinds()[w.kind], Layer: layers()[w.layer], Created: moment(w.created)}
		if err := w.fill(m); err != nil {
			return err
		}
		at(w.rev).Replaced = m
	}
	return nil
}

// RunsAfter pages through all runs; see ledger.Movable.
func (db *DB) RunsAfter(ctx context.Context, id string, limit int) (runs []ledger.Run, err error) {
	const op = "postgres.RunsAfter"
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	if err := noNUL(op, "run", id); err != nil {
		return nil, err
	}
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, db.sql(`SELECT body FROM {s}.runs WHERE id COLLATE "C" > $1 ORDER BY id COLLATE "C" LIMIT $2`), id, limit)
		if err == nil {
			runs, err = pgx.CollectRows(rows, scanRun)
		}
		return err
	})
	return runs, err
}

func scanRun(rows pgx.CollectableRow) (run ledger.Run, err error) {
	var body string
	if err = rows.Scan(&body); err == nil {
		err = json.Unmarshal([]byte(body), &run)
	}
	return run, err
}

// Leases lists all leases; see ledger.Movable.
func (db *DB) Leases(ctx context.Context) (leases []ledger.Lease, err error) {
	err = db.view(ctx, "postgres.Leases", func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, db.sql(`SELECT name, holder, fence, expires FROM {s}.leases ORDER BY name COLLATE "C"`))
		if err != nil {
			return err
		}
		leases, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (l ledger.Lease, err error) {
			var expires int64
			err = r.Scan(&l.Name, &l.Holder, &l.Fence, &expires)
			if expires > 0 {
				l.Expires = moment(expires)
			}
			return l, err
		})
		return err
	})
	return leases, err
}
