package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
)

// Check looks for damage: a log with holes, memories that the log does not
// know, IDs twice, content that a purge left, references that lead nowhere. It
// fails with Internal at the first finding. It reads the whole bank, as of one
// moment and for as long as ctx lets it, and leaves the hash chains to VerifyAudit.
func (db *DB) Check(ctx context.Context) error {
	const op = "postgres.Check"
	return db.slowly(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		for _, i := range invariants() {
			var n int
			if err := c.QueryRow(ctx, db.sql(i.count)).Scan(&n); err != nil {
				return err
			}
			if n > 0 {
				return memtypes.Errorf(op, memtypes.Internal, "%s: found %d %s, wanted none", db.place, n, i.of)
			}
		}
		return nil
	})
}

// slowly runs do in a transaction that only reads and that no time-out but
// ctx's ends.
func (db *DB) slowly(ctx context.Context, op string, do func(context.Context, *pgx.Conn) error) error {
	if err := db.enter(ctx, op); err != nil {
		return err
	}
	defer db.leave()
	_, err := db.try(ctx, func(ctx context.Context, c *pgx.Conn) error {
		return atOnce(ctx, c, func() error {
			b := &pgx.Batch{}
			for _, set := range []string{"statement_timeout = 0", "enable_seqscan = on", "enable_sort = on"} {
				b.Queue("SET LOCAL " + set)
			}
			if err := c.SendBatch(ctx, b).Close(); err != nil {
				return err
			}
			return do(ctx, c)
		})
	})
	return db.fail(ctx, op, err)
}

// invariant counts what there must be none of.
type invariant struct{ of, count string }

func invariants() []invariant {
	return []invariant{
		{"numbers missing in the log, or twice in it", "SELECT greatest(max(seq), (SELECT seq FROM {s}.head)) - count(DISTINCT seq) + count(*) - count(DISTINCT seq) FROM {s}.log"},
		{"memories whose revision is not their newest log entry", `SELECT count(*) FROM {s}.memories m LEFT JOIN {s}.log l ON l.tenant = m.tenant AND l.seq = m.rev
			WHERE l.seq IS NULL OR l.id <> m.id`},
		{"memories without the entry of their insert", `SELECT count(*) FROM {s}.memories m LEFT JOIN {s}.log l ON l.tenant = m.tenant AND l.seq = m.seq
			WHERE l.seq IS NULL OR l.id <> m.id OR l.op <> 1`},
		{"inserted memories that are not there", "SELECT count(*) FROM {s}.log l WHERE op = 1 AND NOT EXISTS (SELECT 1 FROM {s}.memories m WHERE m.id = l.id AND m.tenant = l.tenant)"},
		{"memories of one ID", "SELECT count(*) - count(DISTINCT id) FROM {s}.memories"},
		{"memories of a scope that is not their tenant's", `SELECT count(*) FROM {s}.memories m LEFT JOIN {s}.scopes s ON s.no = m.scope WHERE s.no IS NULL OR s.tenant <> m.tenant`},
		{"memories of an unknown state, kind or layer", "SELECT count(*) FROM {s}.memories WHERE state NOT IN (0, 1, 2) OR kind NOT IN (0, 1, 2) OR layer NOT IN (0, 1)"},
		{"memories without text", "SELECT count(*) FROM {s}.memories WHERE state < 2 AND text = ''"},
		{"purged memories with content", "SELECT count(*) FROM {s}.memories WHERE state = 2 AND (text <> '' OR extra <> '' OR session <> '')"},
		{"states that contradict the time of retirement", "SELECT count(*) FROM {s}.memories WHERE (state = 1) <> (retired <> -1)"},
		{"contents or recalls of no memory", `SELECT count(*) FROM (SELECT id FROM {s}.replaced UNION ALL SELECT id FROM {s}.recalled) p
			LEFT JOIN {s}.memories m ON m.id = p.id WHERE m.id IS NULL OR m.state = 2`},
		{"vectors of purged memories", "SELECT count(*) FROM {s}.vectors v JOIN {s}.memories m ON m.id = v.id WHERE m.state = 2"},
		{"debts of no follower", "SELECT count(*) FROM {s}.owed o LEFT JOIN {s}.followers f ON f.name = o.follower WHERE f.name IS NULL"},
		{"tenants whose noted entry is not in the log", `SELECT count(*) FROM {s}.tenants t LEFT JOIN {s}.log l ON l.tenant = t.no AND l.seq = t.seq
			WHERE t.seq > 0 AND (l.seq IS NULL OR l.hash <> t.hash)`},
	}
}

// Count is how many memories there are of one sort.
type Count struct {
	Tenant string         `json:"tenant"`
	Kind   memtypes.Kind  `json:"kind"`
	State  memtypes.State `json:"state"`
	N      int            `json:"n"`
}

// Stats says what a bank holds.
type Stats struct {
	Counts []Count `json:"counts"` // by tenant, kind and state, in this order; the purged are not counted
	Head   uint64  `json:"head"`   // newest sequence number
	Schema int     `json:"schema"` // version of the tables
	Bytes  int64   `json:"bytes"`  // of all tables with their indexes
}

// Stats counts the memories of all tenants and the bytes on the server, for as
// long as ctx lets it.
func (db *DB) Stats(ctx context.Context) (s Stats, err error) {
	err = db.slowly(ctx, "postgres.Stats", func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, db.sql(`SELECT t.name, m.kind, m.state, count(*) FROM {s}.memories m JOIN {s}.tenants t ON t.no = m.tenant WHERE m.state < 2
			GROUP BY t.name, m.kind, m.state ORDER BY t.name COLLATE "C", m.kind, m.state`))
		if err != nil {
			return err
		}
		if s.Counts, err = pgx.CollectRows(rows, scanCount); err != nil {
			return err
		}
		if s.Head, err = db.head(ctx, c); err != nil {
			return err
		}
		return c.QueryRow(ctx, db.sql(`SELECT version, coalesce((SELECT sum(pg_total_relation_size(r.oid)) FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace
			WHERE n.nspname = $1 AND r.relkind = 'r'), 0)::bigint FROM {s}.`+marker), db.opt.Schema).Scan(&s.Schema, &s.Bytes)
	})
	return s, err
}

func scanCount(rows pgx.CollectableRow) (c Count, err error) {
	var kind, state int
	if err = rows.Scan(&c.Tenant, &kind, &state, &c.N); err == nil {
		c.Kind, c.State = memtypes.Kinds()[kind], lives()[state]
	}
	return c, err
}
