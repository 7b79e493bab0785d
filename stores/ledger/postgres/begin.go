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
	t := &tx{tenants: map[string]*tenant{}, scopes: map[int64]bool{},
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
	if wanted := need.wanted(); len(wanted) > 0 {
		b.Queue(db.sql("SELECT no FROM {s}.scopes WHERE no = ANY($1::bigint[])"), numbers(wanted, scopeNo)).Query(t.readScopes)
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
	return t, db.addScopes(ctx, c, t, need)
}

// wanted are the scopes to be made where they are not there.
func (n *needs) wanted() (list []memtypes.Scope) {
	for s, wanted := range n.scopes {
		if wanted {
			list = append(list, s)
		}
	}
	return list
}

func (t *tx) readScopes(rows pgx.Rows) error {
	var no int64
	_, err := pgx.ForEachRow(rows, []any{&no}, func() error {
		t.scopes[no] = true
		return nil
	})
	return err
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

// addScopes adds the tenants and scopes that are wanted and not there, under
// the head's lock.
func (db *DB) addScopes(ctx context.Context, c *pgx.Conn, t *tx, need *needs) error {
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
	var add [3][]string
	var nos, tenants []int64
	for _, s := range need.wanted() {
		if t.scopes[scopeNo(s)] {
			continue
		}
		name(s.Tenant())
		nos, tenants = append(nos, scopeNo(s)), append(tenants, tenantNo(s.Tenant()))
		for i, v := range []string{s.User(), s.Agent(), s.Run()} {
			add[i] = append(add[i], v)
		}
	}
	if len(nos)+len(names) == 0 {
		return nil
	}
	b := &pgx.Batch{}
	if len(names) > 0 {
		b.Queue(db.sql("INSERT INTO {s}.tenants (no, name) SELECT * FROM unnest($1::bigint[], $2::text[])"), numbers(names, tenantNo), names)
		b.Queue(db.sql(selectTenants), names).Query(t.readTenants)
	}
	if len(nos) > 0 {
		b.Queue(db.sql("INSERT INTO {s}.scopes (no, tenant, usr, agent, run) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])"),
			nos, tenants, add[0], add[1], add[2])
	}
	return c.SendBatch(ctx, b).Close()
}
