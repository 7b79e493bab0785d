package postgres

import (
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Acquire takes or renews a lease; see ledger.Jobs.
func (db *DB) Acquire(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (ledger.Lease, error) {
	const op = "postgres.Acquire"
	if err := ledger.CheckLease(name, holder, now, ttl); err != nil {
		return ledger.Lease{}, err
	}
	l := ledger.Lease{Name: name, Holder: holder, Expires: now.Add(ttl).UTC().Round(0)}
	err := db.update(ctx, op, needs{leases: []string{name}, size: 1}, func(t *tx) error {
		old := t.leases[name]
		if old == nil {
			old = &lease{}
			t.leases[name] = old
		}
		if until := time.Unix(0, old.expires).UTC(); old.holder != "" && old.holder != holder && now.Before(until) {
			return memtypes.Errorf(op, memtypes.Conflict, "lease %q is %q's until %v, wanted by %q", name, old.holder, until, holder)
		}
		if old.holder != holder {
			old.fence++
		}
		old.holder, old.expires, old.moved = holder, l.Expires.UnixNano(), true
		l.Fence = uint64(old.fence)
		return nil
	})
	if err != nil {
		return ledger.Lease{}, err
	}
	return l, nil
}

// Release gives a lease up; its fence stays, so that the next one is higher.
func (db *DB) Release(ctx context.Context, l ledger.Lease) error {
	return db.update(ctx, "postgres.Release", needs{leases: []string{l.Name}, size: 1}, func(t *tx) error {
		if old := t.leases[l.Name]; old != nil && old.holder == l.Holder && old.fence == int64(l.Fence) {
			old.holder, old.expires, old.moved = "", 0, true
		}
		return nil
	})
}

// fenced refuses the batch of a holder that has lost its lease.
func (t *tx) fenced(f *ledger.Lease) error {
	if f == nil {
		return nil
	}
	now := t.leases[f.Name]
	if now == nil {
		now = &lease{}
	}
	if now.fence != int64(f.Fence) || now.holder != f.Holder {
		return memtypes.Errorf("postgres.Append", memtypes.Conflict, "lease %q: found fence %d of %q, wanted %d of %q",
			f.Name, now.fence, now.holder, f.Fence, f.Holder)
	}
	return nil
}

// setRuns writes runs, in UTC, replacing those of the same ID.
func (t *tx) setRuns(runs []ledger.Run) error {
	for _, r := range runs {
		r.Started = r.Started.UTC().Round(0)
		if !r.Ended.IsZero() {
			r.Ended = r.Ended.UTC().Round(0)
		}
		t.runs = append(t.runs, r)
	}
	return nil
}

// Run returns a run by ID; see ledger.Jobs.
func (db *DB) Run(ctx context.Context, id string) (run ledger.Run, err error) {
	const op = "postgres.Run"
	if err := noNUL(op, "run", id); err != nil {
		return run, err
	}
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		var body string
		err := c.QueryRow(ctx, db.sql("SELECT body FROM {s}.runs WHERE id = $1"), id).Scan(&body)
		if noRows(err) {
			return memtypes.Errorf(op, memtypes.NotFound, "no run %q", id)
		}
		if err != nil {
			return err
		}
		run = ledger.Run{}
		return json.Unmarshal([]byte(body), &run)
	})
	return run, err
}

// Runs lists runs, newest first; see ledger.Jobs.
func (db *DB) Runs(ctx context.Context, job string, limit int) (runs []ledger.Run, err error) {
	const op = "postgres.Runs"
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	if err := noNUL(op, "job", job); err != nil {
		return nil, err
	}
	query, args := "SELECT body FROM {s}.runs ORDER BY started DESC, id DESC LIMIT $1", []any{limit}
	if job != "" {
		query, args = "SELECT body FROM {s}.runs WHERE job = $2 ORDER BY started DESC, id DESC LIMIT $1", []any{limit, job}
	}
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, db.sql(query), args...)
		if err != nil {
			return err
		}
		runs, err = pgx.CollectRows(rows, scanRun)
		return err
	})
	return runs, err
}

// Settings reads all settings of the bank; see ledger.Ledger.
func (db *DB) Settings(ctx context.Context) (out map[string]string, err error) {
	err = db.view(ctx, "postgres.Settings", func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, db.sql("SELECT key, value FROM {s}.settings"))
		if err != nil {
			return err
		}
		out = map[string]string{}
		var key, value string
		_, err = pgx.ForEachRow(rows, []any{&key, &value}, func() error {
			out[key] = value
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Set writes one setting durably; see ledger.Ledger.
func (db *DB) Set(ctx context.Context, key, value string) error {
	const op = "postgres.Set"
	if key == "" || !utf8.ValidString(key) || !utf8.ValidString(value) || strings.IndexByte(key+value, 0) >= 0 {
		return memtypes.BadField(op, "key", key, "a name and a value of UTF-8, without NUL")
	}
	return db.update(ctx, op, needs{size: 1}, func(t *tx) error {
		t.settings = append(t.settings, [2]string{key, value})
		return nil
	})
}
