package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// begin opens a transaction, takes the head's lock and reads what need names,
// in one round trip, or two where scopes are new.
func (db *DB) begin(ctx context.Context, c *pgx.Conn, need *needs) (*tx, error) {
	t := &tx{tenants: map[string]*tenant{}, scopes: map[memtypes.Scope]scopeNo{}, fresh: map[memtypes.Scope]scopeNo{},
		mems: map[ledger.Key]*mem{}, leases: map[string]*lease{},
		records: func(after int64, limit int) ([]ledger.Record, error) { return db.records(ctx, c, after, limit) }}
	b := &pgx.Batch{}
	b.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	if db.opt.Pooler {
		b.Queue(fmt.Sprintf("SET LOCAL lock_timeout = %d", db.opt.LockTimeout.Milliseconds()))
		b.Queue(fmt.Sprintf("SET LOCAL statement_timeout = %d", db.opt.StatementTimeout.Milliseconds()))
	}
	// Each statement after this one sees what the commits before ours did.
	b.Queue(db.sql("SELECT seq, pg_current_xact_id()::text FROM {s}.head FOR UPDATE")).QueryRow(func(r pgx.Row) error { return r.Scan(&t.noted, &t.xid) })
	b.Queue(db.sql(lastSeq)).QueryRow(func(r pgx.Row) error {
		err := r.Scan(&t.head)
		t.was = t.head
		return err
	})
	if names := need.tenantNames(); len(names) > 0 {
		b.Queue(db.sql(selectTenants), names).Query(t.readTenants)
	}
	if unknown := db.unknown(t, need.scopes); len(unknown) > 0 {
		p := partsOf(unknown)
		b.Queue(db.sql(selectScopes+` WHERE (t.name, s.usr, s.agent, s.run) IN
			(SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]))`), p[0], p[1], p[2], p[3]).
			Query(func(rows pgx.Rows) error { return scanScopes(rows, t.fresh) })
	}
	var list []*row
	take := func(whole bool) func(pgx.Rows) error {
		return func(rows pgx.Rows) error { return t.readRows(rows, whole, &list) }
	}
	if len(need.whole) > 0 {
		b.Queue(db.sql(rowColumns+fromRows+"WHERE m.id = ANY($1::text[]::uuid[])"), textsOf(need.whole)).Query(take(true))
	}
	if len(need.brief) > 0 {
		b.Queue(db.sql(briefColumns+fromRows+"WHERE m.id = ANY($1::text[]::uuid[])"), textsOf(need.brief)).Query(take(false))
	}
	if len(need.leases) > 0 {
		b.Queue(db.sql("SELECT name, holder, fence, expires FROM {s}.leases WHERE name = ANY($1::text[])"), need.leases).Query(t.readLeases)
	}
	if err := c.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	if err := db.name(ctx, c, list); err != nil {
		return nil, err
	}
	for sc, no := range t.fresh {
		t.scopes[sc] = no
	}
	return t, db.addScopes(ctx, c, t, need)
}

// unknown are the scopes that the cache does not have; the others are set in t.
func (db *DB) unknown(t *tx, scopes map[memtypes.Scope]bool) (list []memtypes.Scope) {
	for s, wanted := range scopes {
		if no, ok := db.scopes.byScope(s); ok {
			t.scopes[s] = no
		} else if wanted {
			list = append(list, s)
		}
	}
	return list
}

// partsOf are the columns of scopes.
func partsOf(list []memtypes.Scope) (p [4][]string) {
	for _, s := range list {
		for i, v := range []string{s.Tenant(), s.User(), s.Agent(), s.Run()} {
			p[i] = append(p[i], v)
		}
	}
	return p
}

func textsOf(keys []ledger.Key) []string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = string(k.ID())
	}
	return out
}

// selectTenants reads tenants with the ends of their trails.
const selectTenants = `SELECT t.no, t.name, coalesce(l.seq, 0), coalesce(l.hash, ''::bytea) FROM {s}.tenants t
	LEFT JOIN LATERAL (SELECT seq, hash FROM {s}.log WHERE tenant = t.no ORDER BY seq DESC LIMIT 1) l ON true WHERE t.name = ANY($1::text[])`

func (t *tx) readTenants(rows pgx.Rows) error {
	var name string
	n := tenant{}
	_, err := pgx.ForEachRow(rows, []any{&n.no, &name, &n.seq, &n.hash}, func() error {
		v := n
		t.tenants[name] = &v
		n.hash = nil
		return nil
	})
	return err
}

func (t *tx) readRows(rows pgx.Rows, whole bool, list *[]*row) error {
	found, err := pgx.CollectRows(rows, scanRow)
	for _, r := range found {
		if m := t.mems[r.id]; m == nil { // else it was read with its content
			m = &mem{row: *r, stored: true, whole: whole}
			t.mems[r.id] = m
			*list = append(*list, &m.row)
		}
	}
	return err
}

func (t *tx) readLeases(rows pgx.Rows) error {
	var name string
	l := lease{}
	_, err := pgx.ForEachRow(rows, []any{&name, &l.holder, &l.fence, &l.expires}, func() error {
		v := l
		t.leases[name] = &v
		return nil
	})
	return err
}

// addScopes numbers the scopes that are wanted and new, under the head's lock.
func (db *DB) addScopes(ctx context.Context, c *pgx.Conn, t *tx, need *needs) error {
	var add []memtypes.Scope
	var names []string
	named := map[string]bool{}
	name := func(n string) {
		if t.tenants[n] == nil && !named[n] {
			named[n] = true
			names = append(names, n)
		}
	}
	for _, n := range need.tenants {
		name(n)
	}
	for s, wanted := range need.scopes {
		if _, ok := t.scopes[s]; ok || !wanted {
			continue
		}
		add = append(add, s)
		name(s.Tenant())
	}
	if len(add)+len(names) == 0 {
		return nil
	}
	b := &pgx.Batch{}
	if len(names) > 0 {
		b.Queue(db.sql("INSERT INTO {s}.tenants (name) SELECT unnest($1::text[])"), names)
		b.Queue(db.sql(selectTenants), names).Query(t.readTenants)
	}
	if p := partsOf(add); len(add) > 0 {
		db.queueScopes(b, t, p)
	}
	if err := c.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	for _, s := range add {
		no, ok := t.fresh[s]
		if !ok {
			return fmt.Errorf("scope %v was added and is not there", s)
		}
		t.scopes[s] = no
	}
	return nil
}

// queueScopes adds scopes of the parts p, of which the tenants are there, and
// reads their numbers.
func (db *DB) queueScopes(b *pgx.Batch, t *tx, p [4][]string) {
	b.Queue(db.sql(`INSERT INTO {s}.scopes (tenant, usr, agent, run) SELECT t.no, u.usr, u.agent, u.run
		FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) u(tenant, usr, agent, run) JOIN {s}.tenants t ON t.name = u.tenant`), p[0], p[1], p[2], p[3])
	b.Queue(db.sql(selectScopes+` WHERE (t.name, s.usr, s.agent, s.run) IN
		(SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]))`), p[0], p[1], p[2], p[3]).
		Query(func(rows pgx.Rows) error { return scanScopes(rows, t.fresh) })
}
