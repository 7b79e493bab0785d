package sqlite

import (
	"context"
	"encoding/json"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Acquire takes or renews a lease; see ledger.Jobs.
func (db *DB) Acquire(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (ledger.Lease, error) {
	if err := ledger.CheckLease(name, holder, now, ttl); err != nil {
		return ledger.Lease{}, err
	}
	l := ledger.Lease{Name: name, Holder: holder, Expires: now.Add(ttl).UTC().Round(0)}
	err := db.update(ctx, "sqlite.Acquire", func(t *tx) error {
		old, err := t.lease(name)
		if err != nil {
			return err
		}
		if old.Holder != "" && old.Holder != holder && now.Before(old.Expires) {
			return refused{memtypes.Errorf("sqlite.Acquire", memtypes.Conflict, "lease %q is %q's until %v, wanted by %q",
				name, old.Holder, old.Expires, holder)}
		}
		if l.Fence = old.Fence; old.Holder != holder {
			l.Fence++
		}
		_, err = t.w.stmts.setLease.Exec(name, holder, l.Fence, l.Expires.UnixNano())
		return err
	})
	if err != nil {
		return ledger.Lease{}, err
	}
	return l, nil
}

// Release gives a lease up; its fence stays, so that the next one is higher.
func (db *DB) Release(ctx context.Context, l ledger.Lease) error {
	return db.update(ctx, "sqlite.Release", func(t *tx) error {
		_, err := t.w.stmts.release.Exec(l.Name, l.Holder, l.Fence)
		return err
	})
}

// lease reads a lease; the zero Lease if there is none.
func (t *tx) lease(name string) (l ledger.Lease, err error) {
	var expires int64
	err = t.w.stmts.lease.QueryRow(name).Scan(&l.Holder, &l.Fence, &expires)
	if noRows(err) {
		return ledger.Lease{}, nil
	}
	l.Name, l.Expires = name, moment(expires)
	return l, err
}

// fenced refuses the batch of a holder that has lost its lease.
func (t *tx) fenced(f *ledger.Lease) error {
	if f == nil {
		return nil
	}
	now, err := t.lease(f.Name)
	if err == nil && (now.Fence != f.Fence || now.Holder != f.Holder) {
		return refused{memtypes.Errorf("sqlite.Append", memtypes.Conflict, "lease %q: found fence %d of %q, wanted %d of %q",
			f.Name, now.Fence, now.Holder, f.Fence, f.Holder)}
	}
	return err
}

// setRuns writes runs, in UTC, replacing those of the same ID.
func (t *tx) setRuns(runs []ledger.Run) error {
	for _, r := range runs {
		r.Started = r.Started.UTC().Round(0)
		if !r.Ended.IsZero() {
			r.Ended = r.Ended.UTC().Round(0)
		}
		body, err := json.Marshal(&r)
		if err != nil {
			return err
		}
		if _, err := t.w.stmts.setRun.Exec(r.ID, r.Job, r.Started.UnixNano(), string(body)); err != nil {
			return err
		}
	}
	return nil
}

// Run returns a run by ID; see ledger.Jobs.
func (db *DB) Run(ctx context.Context, id string) (run ledger.Run, err error) {
	const op = "sqlite.Run"
	err = db.view(ctx, op, func(r *reader) error {
		run, err = scanRun(r.pool.QueryRowContext(ctx, "SELECT body FROM runs WHERE id = ?", id).Scan)
		if noRows(err) {
			return memtypes.Errorf(op, memtypes.NotFound, "no run %q", id)
		}
		return err
	})
	return run, err
}

// Runs lists runs, newest first; see ledger.Jobs.
func (db *DB) Runs(ctx context.Context, job string, limit int) (runs []ledger.Run, err error) {
	const op = "sqlite.Runs"
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	query, args := "SELECT body FROM runs ORDER BY started DESC, id DESC LIMIT ?", []any{limit}
	if job != "" {
		query, args = "SELECT body FROM runs WHERE job = ? ORDER BY started DESC, id DESC LIMIT ?", []any{job, limit}
	}
	err = db.view(ctx, op, func(r *reader) error {
		runs, err = all(ctx, r.pool, scanRun, query, args...)
		return err
	})
	return runs, err
}

func scanRun(scan func(...any) error) (run ledger.Run, err error) {
	var body []byte
	if err = scan(&body); err == nil {
		err = json.Unmarshal(body, &run)
	}
	return run, err
}
