package postgres

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
)

// The oldest server that will do.
const minVersion = 140000

// prepare makes or checks the schema, over a connection of its own.
func (db *DB) prepare(ctx context.Context) error {
	c, err := db.connect(ctx)
	if err != nil {
		return err
	}
	defer hangUp(c)
	ctx, cancel := context.WithTimeout(ctx, db.opt.LockTimeout+db.opt.StatementTimeout+slack)
	defer cancel()
	if err := db.fitting(ctx, c); err != nil {
		return err
	}
	for {
		found, err := db.look(ctx, c)
		if err != nil {
			return err
		}
		newest := len(steps())
		if err := db.known(found, newest); err != nil {
			return err
		}
		if found.version == newest {
			return nil
		}
		if db.opt.ReadOnly || found.readOnly {
			return memtypes.Errorf("postgres.Open", memtypes.ReadOnly,
				"%s: found schema version %d, wanted %d, and it cannot be written: open it once for writing, on the primary server", db.place, found.version, newest)
		}
		if err := db.allowed(ctx, c, found); err != nil {
			return err
		}
		if err := db.step(ctx, c); err != nil {
			return err
		}
	}
}

// fitting refuses servers and databases that cannot hold a bank.
func (db *DB) fitting(ctx context.Context, c *pgx.Conn) error {
	var version int
	var name, encoding string
	err := c.QueryRow(ctx, "SELECT current_setting('server_version_num')::int, current_setting('server_version'), current_setting('server_encoding')").
		Scan(&version, &name, &encoding)
	if err != nil {
		return err
	}
	if version < minVersion {
		return memtypes.Errorf("postgres.Open", memtypes.Incompatible, "%s: found PostgreSQL %s, wanted 14 or newer: upgrade the server", db.place, name)
	}
	if encoding != "UTF8" {
		return memtypes.Errorf("postgres.Open", memtypes.Incompatible,
			"%s: found encoding %s, wanted UTF8: create another database with createdb -E UTF8 -T template0", db.place, encoding)
	}
	return nil
}

// found is what stands in the schema.
type found struct {
	exists   bool
	readOnly bool     // the server takes no writes
	tables   []string // a few of those that are there
	marked   bool     // ours is among them
	app      string
	version  int
}

func (db *DB) look(ctx context.Context, c *pgx.Conn) (f found, err error) {
	err = c.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1),
			pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on',
			ARRAY(SELECT relname::text FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace
				WHERE nspname = $1 AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S') ORDER BY relname <> $2, relname LIMIT 5)`,
		db.opt.Schema, marker).Scan(&f.exists, &f.readOnly, &f.tables)
	if err != nil || len(f.tables) == 0 || f.tables[0] != marker {
		return f, err
	}
	f.marked = true
	err = c.QueryRow(ctx, db.sql("SELECT app, version FROM {s}."+marker)).Scan(&f.app, &f.version)
	return f, err
}

// known refuses a schema that is another program's, or newer than this one.
func (db *DB) known(f found, newest int) error {
	const op = "postgres.Open"
	switch {
	case !f.marked && len(f.tables) > 0:
		return memtypes.Errorf(op, memtypes.Incompatible, "%s: found another program's tables (%s), wanted a bank or a schema with nothing in it: choose another schema",
			db.place, strings.Join(f.tables, ", "))
	case f.marked && f.app != brand:
		return memtypes.Errorf(op, memtypes.Incompatible, "%s: found a schema of %q, wanted one of %q: choose another schema", db.place, f.app, brand)
	case f.version > newest || f.marked && f.version < 1:
		return memtypes.Errorf(op, memtypes.Incompatible, "%s: found schema version %d, wanted 1 to %d: use a newer vimbank", db.place, f.version, newest)
	}
	return nil
}

// allowed says which right is missing to make or to change the schema.
func (db *DB) allowed(ctx context.Context, c *pgx.Conn, f found) error {
	var user, database string
	var create, use, owner bool
	err := c.QueryRow(ctx, `SELECT current_user::text, current_database()::text, has_database_privilege(current_database(), 'CREATE'),
			coalesce((SELECT has_schema_privilege(oid, 'CREATE') AND has_schema_privilege(oid, 'USAGE') FROM pg_namespace WHERE nspname = $1), false),
			coalesce((SELECT pg_has_role(relowner, 'USAGE') FROM pg_class r JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = $1 AND relname = $2), true)`,
		db.opt.Schema, marker).Scan(&user, &database, &create, &use, &owner)
	if err != nil {
		return err
	}
	q := func(s string) string { return pgx.Identifier{s}.Sanitize() }
	lack := func(what, mend string) error {
		return memtypes.Errorf("postgres.Open", memtypes.ReadOnly, "%s: user %q lacks %s: %s", db.place, user, what, mend)
	}
	switch {
	case !f.exists && !create:
		return lack("CREATE on the database", fmt.Sprintf("CREATE SCHEMA %s AUTHORIZATION %s, or GRANT CREATE ON DATABASE %s TO %s",
			q(db.opt.Schema), q(user), q(database), q(user)))
	case f.exists && !use:
		return lack("USAGE and CREATE on the schema", fmt.Sprintf("GRANT USAGE, CREATE ON SCHEMA %s TO %s", q(db.opt.Schema), q(user)))
	case f.marked && !owner:
		return lack("the ownership of the tables, which are to be brought up to date", "open the bank once as their owner")
	}
	return nil
}

// step brings the schema one version up, under a lock that other processes
// want as well: whoever comes second finds the step done.
func (db *DB) step(ctx context.Context, c *pgx.Conn) error {
	tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // after a commit it does nothing
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", db.lockNumber()); err != nil {
		return err
	}
	f, err := db.look(ctx, c)
	if err != nil {
		return err
	}
	if err := db.known(f, len(steps())); err != nil {
		return err
	}
	if f.version == len(steps()) {
		return nil
	}
	var text strings.Builder
	if !f.exists {
		text.WriteString("CREATE SCHEMA {s};\n")
	}
	if !f.marked {
		text.WriteString("CREATE TABLE {s}." + marker + " (app text NOT NULL, version int NOT NULL);\n")
		text.WriteString("INSERT INTO {s}." + marker + " VALUES ('" + brand + "', 0);\n")
	}
	text.WriteString(steps()[f.version](db.opt.Partitions))
	fmt.Fprintf(&text, "UPDATE {s}."+marker+" SET version = %d;\n", f.version+1)
	// Many statements at once go by the simple protocol.
	if _, err := c.PgConn().Exec(ctx, db.sql(text.String())).ReadAll(); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// lockNumber is of the advisory lock under which the schema is changed.
func (db *DB) lockNumber() int64 {
	h := fnv.New64a()
	h.Write([]byte("vimbank\x00" + db.opt.Schema))
	return int64(h.Sum64() >> 1)
}
