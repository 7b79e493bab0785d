// Package postgres keeps the ledger in a schema of a PostgreSQL server, which
// any number of processes share.
//
// It promises what package ledger documents. Each commit takes the lock of one
// row, the head of the log, so numbers have no gaps, rise in the order of the
// commits, and a feed never skips what commits later. Writes that come at once
// share a commit of two round trips; what they must know is read in the first,
// what becomes of it is worked out here and written in the second. A server
// that went away is found again by itself; every call has a time limit; the
// number of connections is bounded. Where a connection breaks amid a commit,
// the server is asked what became of it.
//
// What a purge erased leaves the server's files with its next VACUUM, and its
// write-ahead log and backups when those are recycled. What is remembered,
// found or forgotten is left to the engine; so is the clock.
package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

var _ ledger.Ledger = (*DB)(nil)

// DB is an open bank. All methods are safe for concurrent use.
type DB struct {
	opt    Options
	place  string // host, port, database and schema, for messages
	config *pgx.ConnConfig
	pool   *pgxpool.Pool
	write  *writer // nil if opened for reading only
	scopes *scopes
	listen *listener
	texts  sync.Map // statements by their text without the schema

	closing  chan struct{} // closed when Close begins, so that who waits stops
	shutting sync.Once

	mu     sync.RWMutex // held for reading by every call; guards closed
	closed bool
}

// Open opens the bank in a schema of the database at url, as libpq writes it
// ("postgres://user:password@host:port/database?sslmode=verify-full"), or
// creates it there. It fails with Incompatible if the schema is another
// program's or of a newer version, or the server too old; with ReadOnly if the
// bank must be created or brought up to date and that is not allowed; with
// Unavailable if the server cannot be reached or refuses the user; with Invalid
// if url cannot be read. No error holds a password.
func Open(ctx context.Context, url string, o *Options) (*DB, error) {
	const op = "postgres.Open"
	opt := o.orDefaults()
	if err := opt.check(); err != nil {
		return nil, err
	}
	config, err := readURL(url, &opt)
	if err != nil {
		return nil, err
	}
	db := &DB{opt: opt, place: placeOf(config.ConnConfig, opt.Schema), config: config.ConnConfig, scopes: newScopes(), closing: make(chan struct{})}
	db.listen = newListener(db)
	if err := db.prepare(ctx); err != nil {
		return nil, db.fail(ctx, op, err)
	}
	if db.pool, err = db.newPool(config, "reads"); err != nil {
		return nil, db.fail(ctx, op, err)
	}
	if !opt.ReadOnly {
		if db.write, err = db.startWriter(config); err != nil {
			db.pool.Close()
			return nil, db.fail(ctx, op, err)
		}
	}
	return db, nil
}

// Close waits for the calls that run, but wakes those in Wait, and releases all
// connections. Every later call is Unavailable, but for Close, which does nothing.
func (db *DB) Close() error {
	db.shutting.Do(func() { close(db.closing) })
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil
	}
	db.closed = true
	db.listen.stop()
	if db.write != nil {
		db.write.stop()
	}
	db.pool.Close()
	return nil
}

// ReadOnly reports whether the bank was opened for reading only.
func (db *DB) ReadOnly() bool { return db.opt.ReadOnly }

// enter begins a call: leave must follow if the error is nil.
func (db *DB) enter(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return db.fail(ctx, op, err)
	}
	db.mu.RLock()
	if db.closed {
		db.mu.RUnlock()
		return memtypes.Errorf(op, memtypes.Unavailable, "the bank %s is closed", db.place)
	}
	return nil
}

func (db *DB) leave() { db.mu.RUnlock() }

// update runs do in a commit that it shares with others, knowing what need
// names. do may run more than once and must refuse before it changes anything.
func (db *DB) update(ctx context.Context, op string, need needs, do func(*tx) error) error {
	if err := db.enter(ctx, op); err != nil {
		return err
	}
	defer db.leave()
	if err := db.writable(op); err != nil {
		return err
	}
	if err := db.write.submit(ctx, need, do); err != nil {
		return db.fail(ctx, op, err)
	}
	return nil
}

func (db *DB) writable(op string) error {
	if db.opt.ReadOnly {
		return memtypes.Errorf(op, memtypes.ReadOnly, "the bank %s is open for reading only", db.place)
	}
	return nil
}

// view runs do on a connection of the pool, once more on another one where
// that turns out to be broken: do must only read, or may be done twice.
func (db *DB) view(ctx context.Context, op string, do func(context.Context, *pgx.Conn) error) error {
	if err := db.enter(ctx, op); err != nil {
		return err
	}
	defer db.leave()
	return db.ask(ctx, op, do)
}

// ask is view for who has entered.
func (db *DB) ask(ctx context.Context, op string, do func(context.Context, *pgx.Conn) error) error {
	limited, cancel := context.WithTimeout(ctx, db.opt.ConnectTimeout+db.opt.StatementTimeout+slack)
	defer cancel()
	for try := 0; ; try++ {
		broken, err := db.try(limited, do)
		if err == nil {
			return nil
		}
		if !broken || limited.Err() != nil || try > db.opt.MaxConns { // all that were open, and a new one
			return db.fail(ctx, op, err)
		}
	}
}

// try also says whether an open connection was found broken.
func (db *DB) try(ctx context.Context, do func(context.Context, *pgx.Conn) error) (broken bool, err error) {
	c, err := db.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer c.Release()
	err = do(ctx, c.Conn())
	return err != nil && c.Conn().IsClosed(), err
}

// sql is a statement with the bank's schema in the place of {s}.
func (db *DB) sql(text string) string {
	if v, ok := db.texts.Load(text); ok {
		return v.(string)
	}
	v := strings.ReplaceAll(text, "{s}", pgx.Identifier{db.opt.Schema}.Sanitize())
	db.texts.Store(text, v)
	return v
}

// noRows says that err means an empty answer.
func noRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
