package sqlite

import (
	"context"
	"database/sql"
	"math"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Records pages through the whole log; see ledger.Movable.
func (db *DB) Records(ctx context.Context, after uint64, limit int) (list []ledger.Record, err error) {
	const op = "sqlite.Records"
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	if after > math.MaxInt64 {
		return nil, nil
	}
	err = db.view(ctx, op, func(r *reader) error {
		tx, err := r.pool.BeginTx(ctx, nil) // of one moment
		if err != nil {
			return err
		}
		defer tx.Rollback() // it has read, nothing more
		list, err = records(ctx, tx, after, limit, func(no int64) (memtypes.Scope, error) {
			if sc, ok := db.scopes.byNumber(no); ok {
				return sc, nil
			}
			return nameScope(tx.QueryRowContext(ctx, scopeName, no), db.scopes, no)
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// records reads entries after seq with what hangs on them.
func records(ctx context.Context, q querier, after uint64, limit int, name func(int64) (memtypes.Scope, error)) ([]ledger.Record, error) {
	list, err := all(ctx, q, scanRecord, `SELECT l.seq, l.prev, l.was, l.op, l.id, l.at, l.actor, coalesce(l.run, ''), coalesce(l.reason, ''), l.hash, t.name
		FROM log l NOT INDEXED CROSS JOIN tenants t ON t.no = l.tenant WHERE l.seq > ? ORDER BY l.seq LIMIT ?`, int64(after), limit)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	p := page{list: list, name: name, first: int64(list[0].Seq)}
	last := int64(list[len(list)-1].Seq)
	for _, part := range []func(context.Context, querier, int64) error{p.memories, p.tombstones, p.replaced} {
		if err := part(ctx, q, last); err != nil {
			return nil, err
		}
	}
	return p.list, nil
}

func scanRecord(scan func(...any) error) (r ledger.Record, err error) {
	var id, hash []byte
	if err = scan(&r.Seq, &r.Prev, &r.Was, &r.Op, &id, &r.At, &r.Actor, &r.RunID, &r.Reason, &hash, &r.Tenant); err != nil {
		return r, err
	}
	if len(id) != len(r.ID) || len(hash) != len(r.Hash) {
		return r, memtypes.Errorf("sqlite.Records", memtypes.Internal, "entry %d: found an ID of %d bytes and a hash of %d", r.Seq, len(id), len(hash))
	}
	r.ID, r.Hash = ledger.Key(id), [len(r.Hash)]byte(hash)
	return r, nil
}

// page is entries in a row, without a gap.
type page struct {
	list  []ledger.Record
	name  func(int64) (memtypes.Scope, error)
	first int64 // number of the first
}

func (p *page) at(seq int64) *ledger.Record { return &p.list[seq-p.first] }

// memories hangs those that were not purged on the entries of their inserts.
func (p *page) memories(ctx context.Context, q querier, last int64) error {
	rows, err := all(ctx, q, scanRow, selectRows+" WHERE m.seq BETWEEN ? AND ? AND m.state < 2", p.first, last)
	if err != nil {
		return err
	}
	for _, w := range rows {
		sc, err := p.name(w.scope)
		if err != nil {
			return err
		}
		m, err := w.memory(sc)
		if err != nil {
			return err
		}
		r := p.at(w.seq)
		if r.Origin, err = w.origin(); err != nil {
			return err
		}
		r.Memory = &m
	}
	return nil
}

// tombstone is what is left of a purged memory.
type tombstone struct {
	seq, scope int64
	rev        uint64
}

func scanTombstone(scan func(...any) error) (t tombstone, err error) {
	err = scan(&t.seq, &t.scope, &t.rev)
	return t, err
}

func (p *page) tombstones(ctx context.Context, q querier, last int64) error {
	rows, err := all(ctx, q, scanTombstone, "SELECT seq, scope, rev FROM log NOT INDEXED WHERE seq BETWEEN ? AND ? AND state = 2", p.first, last)
	if err != nil {
		return err
	}
	for _, t := range rows {
		sc, err := p.name(t.scope)
		if err != nil {
			return err
		}
		r := p.at(t.seq)
		r.Memory, r.Purged = &memtypes.Memory{ID: r.ID.ID(), Scope: sc, Rev: t.rev}, true
	}
	return nil
}

// before is content that was replaced, with what stays of its memory.
type before struct {
	replaced
	scope, created int64
	kind, layer    int
}

func scanBefore(scan func(...any) error) (b before, err error) {
	err = scan(&b.rev, &b.session, &b.sec, &b.nsec, &b.dated, &b.updated, &b.text, &b.extra, &b.scope, &b.created, &b.kind, &b.layer)
	return b, err
}

// replaced hangs contents on the entries that replaced them.
func (p *page) replaced(ctx context.Context, q querier, last int64) error {
	rows, err := all(ctx, q, scanBefore, `SELECT p.seq, p.session, p.sec, p.nsec, p.dated, p.updated, p.text, p.extra, m.scope, m.at, m.kind, m.layer
		FROM replaced p JOIN log m ON m.seq = p.mem WHERE p.seq BETWEEN ? AND ?`, p.first, last)
	if err != nil {
		return err
	}
	for _, b := range rows {
		sc, err := p.name(b.scope)
		if err != nil {
			return err
		}
		r := p.at(int64(b.rev))
		r.Replaced = &memtypes.Memory{ID: r.ID.ID(), Scope: sc, Kind: memtypes.Kinds()[b.kind], Layer: layers()[b.layer], Created: moment(b.created)}
		if err := b.fill(r.Replaced); err != nil {
			return err
		}
	}
	return nil
}

// RunsAfter pages through all runs; see ledger.Movable.
func (db *DB) RunsAfter(ctx context.Context, id string, limit int) (runs []ledger.Run, err error) {
	const op = "sqlite.RunsAfter"
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	err = db.view(ctx, op, func(r *reader) error {
		runs, err = all(ctx, r.pool, scanRun, "SELECT body FROM runs WHERE id > ? ORDER BY id LIMIT ?", id, limit)
		return err
	})
	return runs, err
}

// Leases lists all leases; see ledger.Movable.
func (db *DB) Leases(ctx context.Context) (leases []ledger.Lease, err error) {
	err = db.view(ctx, "sqlite.Leases", func(r *reader) error {
		leases, err = all(ctx, r.pool, scanLease, "SELECT name, holder, fence, expires FROM leases ORDER BY name")
		return err
	})
	return leases, err
}

func scanLease(scan func(...any) error) (l ledger.Lease, err error) {
	var expires sql.NullInt64
	err = scan(&l.Name, &l.Holder, &l.Fence, &expires)
	if expires.Int64 > 0 {
		l.Expires = moment(expires.Int64)
	}
	return l, err
}

// AdoptLeases writes leases as they are; see ledger.Movable.
func (db *DB) AdoptLeases(ctx context.Context, leases []ledger.Lease) error {
	const op = "sqlite.AdoptLeases"
	if err := ledger.CheckLeases(op, leases); err != nil {
		return err
	}
	return db.update(ctx, op, func(t *tx) error {
		for _, l := range leases {
			old, err := t.lease(l.Name)
			if err != nil {
				return err
			}
			if old.Fence >= l.Fence {
				continue
			}
			var expires int64
			if !l.Expires.IsZero() {
				expires = l.Expires.UnixNano()
			}
			if _, err := t.w.stmts.setLease.Exec(l.Name, l.Holder, l.Fence, expires); err != nil {
				return err
			}
		}
		return nil
	})
}
