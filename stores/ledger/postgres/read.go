package postgres

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// rows collects and names the memories that a query finds.
func (db *DB) rows(ctx context.Context, c *pgx.Conn, text string, args ...any) ([]*row, error) {
	found, err := c.Query(ctx, db.sql(text), args...)
	if err != nil {
		return nil, err
	}
	list, err := pgx.CollectRows(found, scanRow)
	if err != nil {
		return nil, err
	}
	return list, db.name(ctx, c, list)
}

// Get returns the memories of ids that scope covers, in the order of ids; see
// ledger.Memories.
func (db *DB) Get(ctx context.Context, scope memtypes.Scope, ids []memtypes.ID) (out []memtypes.Memory, err error) {
	const op = "postgres.Get"
	if scope.IsZero() {
		return nil, memtypes.BadField(op, "scope", memtypes.Remark("none of user, agent, run"), "at least one of them")
	}
	keys := keysOf(ids)
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		out = nil
		if len(keys) == 0 {
			return nil
		}
		list, err := db.rows(ctx, c, rowColumns+fromRows+"WHERE m.id = ANY($1::text[]::uuid[]) AND m.tenant = $2 AND m.state < 2", keys, tenantNo(scope.Tenant()))
		if err != nil {
			return err
		}
		out, err = covered(scope, ids, list)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// covered are those of list that scope covers, in the order of ids.
func covered(scope memtypes.Scope, ids []memtypes.ID, list []*row) ([]memtypes.Memory, error) {
	byID := make(map[memtypes.ID]*memtypes.Memory, len(list))
	for _, r := range list {
		if scope.Covers(r.scope) {
			m, err := r.memory()
			if err != nil {
				return nil, err
			}
			byID[m.ID] = &m
		}
	}
	out := make([]memtypes.Memory, 0, len(byID))
	for _, id := range ids {
		if m := byID[id]; m != nil {
			out = append(out, *m)
		}
	}
	return out, nil
}

// Around returns the neighbours of a memory in its session; see ledger.Memories.
func (db *DB) Around(ctx context.Context, id memtypes.ID, n int) (out []memtypes.Memory, err error) {
	const op = "postgres.Around"
	if n < 0 {
		return nil, memtypes.BadField(op, "n", n, "0 or more")
	}
	if _, ok := ledger.KeyOf(id); !ok {
		return nil, db.view(ctx, op, func(context.Context, *pgx.Conn) error { return nil })
	}
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		list, err := db.around(ctx, c, id, n)
		if err == nil {
			out, err = memories(list)
		}
		return err
	})
	return out, err
}

func (db *DB) around(ctx context.Context, c *pgx.Conn, id memtypes.ID, n int) ([]*row, error) {
	found, err := db.rows(ctx, c, rowColumns+fromRows+"WHERE m.id = $1::text::uuid AND m.state < 2", string(id))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	own := found[0]
	var self []*row
	if own.state == stateActive {
		self = found[:1]
	}
	if own.session == "" || n == 0 {
		return self, nil
	}
	var earlier, later []*row
	b := &pgx.Batch{}
	db.beside(b, own, "<", "DESC", n, &earlier)
	db.beside(b, own, ">", "ASC", n, &later)
	if err := c.SendBatch(ctx, b).Close(); err != nil {
		return nil, err
	}
	slices.Reverse(earlier)
	return slices.Concat(earlier, self, later), nil
}

// beside asks for the n rows on one side of a memory in its session, nearest
// first. They are of its scope.
func (db *DB) beside(b *pgx.Batch, own *row, side, order string, n int, list *[]*row) {
	b.Queue(db.sql(rowColumns+fromRows+"WHERE m.tenant = $1 AND m.scope = $2 AND m.session = $3 AND m.state = 0 AND m.layer = 0"+
		" AND (m.sec, m.nsec, m.seq) "+side+" ($4::bigint, $5::int, $6::bigint)"+
		" ORDER BY m.sec "+order+", m.nsec "+order+", m.seq "+order+" LIMIT $7"),
		own.tenant, own.scopeNo, own.session, own.sec, own.nsec, own.seq, n).Query(func(rows pgx.Rows) (err error) {
		*list, err = pgx.CollectRows(rows, scanRow)
		for _, r := range *list {
			r.scope = own.scope
		}
		return err
	})
}

// Revs pages through the active memories by ID; see ledger.Memories.
func (db *DB) Revs(ctx context.Context, after memtypes.ID, limit int) (held []ledger.Held, err error) {
	const op = "postgres.Revs"
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	if after == "" {
		after = "00000000-0000-0000-0000-000000000000"
	} else if _, err := memtypes.ParseID(string(after)); err != nil {
		return nil, err
	}
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, db.sql(`SELECT m.id, m.rev, t.name FROM (SELECT id, rev, tenant FROM {s}.memories
			WHERE id > $1::text::uuid AND state = 0 ORDER BY id LIMIT $2) m JOIN {s}.tenants t ON t.no = m.tenant ORDER BY m.id`), string(after), limit)
		if err != nil {
			return err
		}
		held, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (h ledger.Held, err error) {
			var id ledger.Key
			err = r.Scan((*[16]byte)(&id), &h.Rev, &h.Tenant)
			h.ID = id.ID()
			return h, err
		})
		return err
	})
	return held, err
}

// lastSeq is the newest number; it looks at the end of each partition's index.
const lastSeq = "SELECT coalesce((SELECT seq FROM {s}.log ORDER BY seq DESC LIMIT 1), 0)"

// Head is the newest sequence number; see ledger.Feed.
func (db *DB) Head(ctx context.Context) (last uint64, err error) {
	err = db.view(ctx, "postgres.Head", func(ctx context.Context, c *pgx.Conn) error {
		last, err = db.head(ctx, c)
		return err
	})
	return last, err
}

func (db *DB) head(ctx context.Context, c *pgx.Conn) (last uint64, err error) {
	err = c.QueryRow(ctx, db.sql(lastSeq)).Scan(&last)
	return last, err
}

// Changes reads the outbox, which is the log; see ledger.Feed. Nothing is ever
// compacted away, so Gone means that after is of another ledger.
func (db *DB) Changes(ctx context.Context, after uint64, limit int) (changes []ledger.Change, gone bool, err error) {
	const op = "postgres.Changes"
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, false, err
	}
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		changes = nil
		if after <= math.MaxInt64 {
			if changes, err = db.changes(ctx, c, after, limit); err != nil || len(changes) > 0 {
				return err
			}
		}
		last, err := db.head(ctx, c)
		gone = after > last
		return err
	})
	return changes, gone, err
}

func (db *DB) changes(ctx context.Context, c *pgx.Conn, after uint64, limit int) ([]ledger.Change, error) {
	rows, err := c.Query(ctx, db.sql("SELECT seq, id FROM {s}.log WHERE seq > $1 ORDER BY seq LIMIT $2"), int64(after), limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (ch ledger.Change, err error) {
		var id ledger.Key
		err = r.Scan(&ch.Seq, (*[16]byte)(&id))
		ch.ID = id.ID()
		return ch, err
	})
}

func numeral(n int64) string { return strconv.FormatInt(n, 10) }
