package postgres

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vimbank/vimbank/memtypes"
)

// slack is how much longer than the server a call waits here: the server's own
// time-out says more than ours, which is for a server that does not answer.
const slack = 2 * time.Second

// readURL makes the settings of all connections.
func readURL(text string, opt *Options) (*pgxpool.Config, error) {
	c, err := pgxpool.ParseConfig(text)
	if err != nil {
		return nil, memtypes.BadField("postgres.Open", "url", memtypes.Remark(whyUnread(text, err)),
			"postgres://user:password@host:port/database?sslmode=verify-full&sslrootcert=ca.pem")
	}
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = opt.ConnectTimeout
	}
	p := c.ConnConfig.RuntimeParams
	unless(p, "application_name", "vimbank")
	if opt.Pooler {
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
		return c, nil
	}
	ms := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	unless(p, "statement_timeout", ms(opt.StatementTimeout))
	unless(p, "lock_timeout", ms(opt.LockTimeout))
	// Between two statements a process has little to do. One that is paused there
	// loses its transaction before others have waited too long for its locks.
	unless(p, "idle_in_transaction_session_timeout", ms(max(opt.LockTimeout/2, time.Second)))
	unless(p, "jit", "off") // all statements are short; to compile one takes longer than to run it
	if opt.ReadOnly {
		p["default_transaction_read_only"] = "on"
	}
	return c, nil
}

func unless(p map[string]string, key, value string) {
	if _, ok := p[key]; !ok {
		p[key] = value
	}
}

// whyUnread says what is wrong with a URL without repeating any of it that may
// be a secret.
func whyUnread(text string, err error) string {
	const unknown = "what is not such an address"
	if u, bad := url.Parse(text); bad == nil && u.Scheme != "" {
		if _, hidden := u.User.Password(); hidden || strings.Contains(u.RawQuery, "password") {
			return unknown
		}
	} else if strings.Contains(text, "password") || strings.Contains(text, "@") {
		return unknown
	}
	_, why, ok := strings.Cut(err.Error(), "`: ")
	if !ok {
		return unknown
	}
	return why
}

// placeOf names a bank in messages.
func placeOf(c *pgx.ConnConfig, schema string) string {
	return fmt.Sprintf("%s/%s (schema %q)", net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), c.Database, schema)
}

// newPool makes the pool for "reads" or, of one connection, for "writes". It
// connects when it is first used.
func (db *DB) newPool(base *pgxpool.Config, use string) (*pgxpool.Pool, error) {
	c := base.Copy()
	c.MaxConnLifetime = db.opt.MaxConnLifetime
	c.MaxConnLifetimeJitter = db.opt.MaxConnLifetime / 10
	c.PingTimeout = db.opt.ConnectTimeout
	p := c.ConnConfig.RuntimeParams
	if !db.opt.Pooler {
		// Each query has an index made for it. A plan from before the server
		// knew how large a table is must not read or sort all of it.
		unless(p, "enable_seqscan", "off")
		unless(p, "enable_sort", "off")
	}
	if use == "writes" {
		c.MaxConns, c.MinConns = 1, 0
		if !db.opt.Pooler { // which looks up keys, nothing else
			unless(p, "enable_hashjoin", "off")
			unless(p, "enable_mergejoin", "off")
		}
		return pgxpool.NewWithConfig(context.Background(), c) // it lives until it is closed
	}
	c.MaxConns = int32(max(1, db.opt.MaxConns-2))
	c.MinConns = min(int32(db.opt.MinConns), c.MaxConns)
	if !db.opt.Pooler { // a plan for the tenant at hand leaves out the other partitions
		unless(p, "plan_cache_mode", "force_custom_plan")
	}
	return pgxpool.NewWithConfig(context.Background(), c)
}

// connect makes a connection outside of the pools.
func (db *DB) connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, db.opt.ConnectTimeout+slack)
	defer cancel()
	return pgx.ConnectConfig(ctx, db.config.Copy())
}

// hangUp closes c, without waiting long for a server that does not answer.
func hangUp(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), slack)
	defer cancel()
	_ = c.Close(ctx) // there is nothing to do about it
}

// hide takes the password out of a message.
func hide(message, password string) string {
	if password == "" {
		return message
	}
	return strings.ReplaceAll(message, password, "xxxxx")
}
