package postgres

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
)

// What is still well.
const (
	maxClock = 5 * time.Second // difference of the clocks
	maxUsed  = 0.9             // of the server's connections
)

// Inspect looks at the server and at the bank on it, without changing
// anything. It goes on where one thing cannot be seen.
func (db *DB) Inspect(ctx context.Context) []memtypes.Finding {
	i := &inspection{db: db}
	begun := time.Now()
	err := db.view(ctx, "postgres.Inspect", func(ctx context.Context, c *pgx.Conn) error {
		i.found = nil
		i.ctx, i.c = ctx, c
		if err := c.Ping(ctx); err != nil {
			return err
		}
		i.fine("reachable", fmt.Sprintf("%s, in %v", db.place, time.Since(begun).Round(100*time.Microsecond)))
		for _, look := range []func() error{i.version, i.security, i.role, i.settings, i.schema, i.permissions, i.clock, i.connections} {
			if err := look(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		i.wrong("reachable", err.Error(), "an answer of the server", "see the settings ledger.*, and the log of the server")
	}
	return i.found
}

// inspection collects findings.
type inspection struct {
	db    *DB
	ctx   context.Context
	c     *pgx.Conn
	found []memtypes.Finding
}

func (i *inspection) fine(check, found string) {
	i.found = append(i.found, memtypes.Finding{Part: "ledger", Check: check, OK: true, Found: found})
}

func (i *inspection) wrong(check, found, wanted, mend string) {
	i.found = append(i.found, memtypes.Finding{Part: "ledger", Check: check, Found: found, Wanted: wanted, Mend: mend})
}

func (i *inspection) version() error {
	var number int
	var name string
	err := i.c.QueryRow(i.ctx, "SELECT current_setting('server_version_num')::int, current_setting('server_version')").Scan(&number, &name)
	switch {
	case err != nil:
	case number < minVersion:
		i.wrong("version", name, "14 or newer", "upgrade PostgreSQL")
	default:
		i.fine("version", name)
	}
	return err
}

// security says how the connection is protected. That a password should not
// cross a network in the clear is the one thing that is wrong by itself.
func (i *inspection) security() error {
	if t, ok := i.c.PgConn().Conn().(*tls.Conn); ok {
		i.fine("security", "encrypted with "+tls.VersionName(t.ConnectionState().Version))
		return nil
	}
	host := i.db.config.Host
	ip := net.ParseIP(host)
	near := strings.HasPrefix(host, "/") || host == "localhost" || ip != nil && ip.IsLoopback()
	if !near && i.db.config.Password != "" {
		i.wrong("security", "not encrypted, with a password", "TLS", "turn ssl on in postgresql.conf, and add sslmode=verify-full&sslrootcert=... to ledger.url")
		return nil
	}
	i.fine("security", "not encrypted")
	return nil
}

// role says whether the server takes writes.
func (i *inspection) role() error {
	var standby, refuses bool
	err := i.c.QueryRow(i.ctx, `SELECT pg_is_in_recovery(), EXISTS (SELECT 1 FROM pg_settings
		WHERE name = 'default_transaction_read_only' AND setting = 'on' AND source <> 'client')`).Scan(&standby, &refuses)
	switch {
	case err != nil:
	case standby:
		i.wrong("role", "a standby, which takes no writes", "the primary", "name the primary in ledger.url, or all hosts with target_session_attrs=read-write")
	case refuses:
		i.wrong("role", "default_transaction_read_only = on", "off", "ALTER SYSTEM, DATABASE or ROLE ... RESET default_transaction_read_only, whichever sets it")
	default:
		i.fine("role", "takes writes")
	}
	return err
}

// settings looks at those without which an acknowledged write may be lost.
func (i *inspection) settings() error {
	rows, err := i.c.Query(i.ctx, `SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name`)
	if err != nil {
		return err
	}
	var name, value string
	var all []string
	_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
		if value == "off" {
			mend := "set " + name + " = on in postgresql.conf and reload"
			if name == "synchronous_commit" {
				mend = "ALTER SYSTEM, DATABASE or ROLE ... SET synchronous_commit = on, and take it out of ledger.url"
			}
			i.wrong("settings", name+" = off: an acknowledged write may be lost", "on", mend)
		}
		all = append(all, name+" = "+value)
		return nil
	})
	if err == nil && !strings.Contains(strings.Join(all, " "), "= off") {
		i.fine("settings", strings.Join(all, ", "))
	}
	return err
}

func (i *inspection) schema() error {
	f, err := i.db.look(i.ctx, i.c)
	if err != nil {
		return err
	}
	newest := len(steps())
	if bad := i.db.known(f, newest); bad != nil {
		i.wrong("schema", bad.Error(), fmt.Sprint("version ", newest), "use the program of that version, or another schema")
		return nil
	}
	if f.version != newest {
		i.wrong("schema", fmt.Sprint("version ", f.version), fmt.Sprint("version ", newest), "open the bank once for writing, as the owner of its tables")
		return nil
	}
	var parts int
	err = i.c.QueryRow(i.ctx, "SELECT count(*) FROM pg_inherits h JOIN pg_class r ON r.oid = h.inhparent JOIN pg_namespace n ON n.oid = r.relnamespace WHERE n.nspname = $1 AND r.relname = 'memories'",
		i.db.opt.Schema).Scan(&parts)
	i.fine("schema", fmt.Sprintf("%q, version %d, %d partitions", i.db.opt.Schema, f.version, parts))
	return err
}

func (i *inspection) permissions() error {
	var user string
	var use bool
	var lacking []string
	err := i.c.QueryRow(i.ctx, `SELECT current_user::text, has_schema_privilege($1, 'USAGE'), ARRAY(SELECT r.relname::text FROM pg_class r JOIN pg_namespace n ON n.oid = r.relnamespace
			WHERE n.nspname = $1 AND r.relkind IN ('r', 'p') AND NOT r.relispartition
			AND NOT (has_table_privilege(r.oid, 'SELECT') AND has_table_privilege(r.oid, 'INSERT') AND has_table_privilege(r.oid, 'UPDATE') AND has_table_privilege(r.oid, 'DELETE'))
			ORDER BY 1)`, i.db.opt.Schema).Scan(&user, &use, &lacking)
	q := func(s string) string { return pgx.Identifier{s}.Sanitize() }
	switch {
	case err != nil:
	case !use:
		i.wrong("permissions", fmt.Sprintf("user %q without USAGE on the schema", user), "USAGE", fmt.Sprintf("GRANT USAGE ON SCHEMA %s TO %s", q(i.db.opt.Schema), q(user)))
	case len(lacking) > 0:
		i.wrong("permissions", fmt.Sprintf("user %q cannot read and write %s", user, strings.Join(lacking, ", ")), "SELECT, INSERT, UPDATE and DELETE on all tables",
			fmt.Sprintf("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %s TO %s", q(i.db.opt.Schema), q(user)))
	default:
		i.fine("permissions", fmt.Sprintf("user %q reads and writes", user))
	}
	return err
}

// clock compares the server's clock with the middle of asking for it.
func (i *inspection) clock() error {
	var there time.Time
	begun := time.Now()
	if err := i.c.QueryRow(i.ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return err
	}
	diff := there.Sub(begun.Add(time.Since(begun) / 2)).Round(time.Millisecond)
	if diff.Abs() > maxClock {
		i.wrong("clock", fmt.Sprintf("the server's is %v ahead of this machine's", diff), fmt.Sprintf("at most %v apart", maxClock), "set both by NTP")
		return nil
	}
	i.fine("clock", fmt.Sprintf("%v ahead of this machine's", diff))
	return nil
}

func (i *inspection) connections() error {
	var used, most, own int
	err := i.c.QueryRow(i.ctx, `SELECT (SELECT coalesce(sum(numbackends), 0)::int FROM pg_stat_database),
		current_setting('max_connections')::int, (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user)`).Scan(&used, &most, &own)
	if err != nil {
		return err
	}
	words := fmt.Sprintf("%d of %d used", used, most)
	switch {
	case float64(used) > maxUsed*float64(most):
		i.wrong("connections", words, "some that are free", "raise max_connections in postgresql.conf, or lower ledger.max_conns of each process")
	case own >= 0 && own < i.db.opt.MaxConns:
		i.wrong("connections", fmt.Sprintf("%d for this user", own), fmt.Sprintf("at least the %d of ledger.max_conns", i.db.opt.MaxConns), "ALTER ROLE ... CONNECTION LIMIT, or lower ledger.max_conns")
	default:
		i.fine("connections", words)
	}
	return nil
}
