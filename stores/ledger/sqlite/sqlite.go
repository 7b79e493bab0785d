// Package sqlite keeps the ledger in one folder on disk, in SQLite in process
// and without cgo.
//
// It promises what package ledger documents, for several goroutines and
// several processes on one folder: an Append that returned is on the disk, also
// after a crash of the process or the machine; callers that write at once share
// one transaction and one sync; readers never wait for writers. ledger.db (WAL,
// synchronous FULL) is the truth. vectors.db beside it is a cache that may be
// deleted while nobody has the bank open.
//
// What is remembered, found or forgotten is left to the engine; so is the clock.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"path/filepath"
	"sync"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

var _ ledger.Ledger = (*DB)(nil)

// The files of a bank that this package owns; SQLite puts -wal and -shm files beside them.
const (
	ledgerFile  = "ledger.db"
	vectorsFile = "vectors.db"
)

// Options sets up a DB. A nil *Options is the zero Options, which is ready to use.
type Options struct {
	// ReadOnly opens an existing bank for reading; every write is then ReadOnly.
	ReadOnly bool
	// Readers bounds the queries that run at once; others wait. Zero means 4.
	Readers int
	// Queue bounds the writes that wait for their transaction; more callers
	// wait for a place, as long as their context lets them. Zero means 256.
	Queue int
	// Busy is how long a write waits for another process that writes; then it
	// is Unavailable. Zero means 10 seconds.
	Busy time.Duration
	// Beside names the other files and folders that may stand in the folder
	// of a new bank. Anything else there makes Open refuse to create a ledger.
	// Names that begin with a dot are always allowed.
	Beside []string
}

func (o *Options) orDefaults() Options {
	var v Options
	if o != nil {
		v = *o
	}
	if v.Readers <= 0 {
		v.Readers = 4
	}
	if v.Queue <= 0 {
		v.Queue = 256
	}
	if v.Busy <= 0 {
		v.Busy = 10 * time.Second
	}
	return v
}

// DB is an open bank. All methods are safe for concurrent use.
type DB struct {
	dir      string
	readOnly bool
	read     *reader
	write    *writer // nil if readOnly
	vectors  *vectors
	scopes   *scopes
	bell     bell

	mu     sync.RWMutex // held for reading by every call; guards closed
	closed bool
}

// Open opens the bank in dir, or creates it there with the folder. It fails
// with Incompatible if the folder or ledger.db is another program's or of a
// newer version (nothing is written then), with ReadOnly if it must be created
// or brought up to date and cannot, with Full if there is no room. A bank that
// cannot be written is opened for reading.
func Open(ctx context.Context, dir string, o *Options) (*DB, error) {
	opt := o.orDefaults()
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, memtypes.Errorf("sqlite.Open", memtypes.Invalid, "bank folder %q: %w", dir, err)
	}
	how, err := prepare(ctx, dir, &opt)
	if err != nil {
		return nil, err
	}
	db := &DB{dir: dir, readOnly: how != writable, scopes: newScopes()}
	if err := db.start(ctx, how, &opt); err != nil {
		db.release()
		return nil, fail("sqlite.Open", err)
	}
	return db, nil
}

// start opens the connections and starts the writer.
func (db *DB) start(ctx context.Context, how access, opt *Options) (err error) {
	path := filepath.Join(db.dir, ledgerFile)
	if how == writable {
		if db.write, err = startWriter(ctx, path, db.scopes, &db.bell, opt); err != nil {
			return err
		}
	}
	db.read, err = openReader(ctx, path, how, opt)
	db.vectors = &vectors{path: filepath.Join(db.dir, vectorsFile), readOnly: db.readOnly, ledger: db.read}
	return err
}

// ReadOnly reports whether every write will be refused.
func (db *DB) ReadOnly() bool { return db.readOnly }

// Close waits for the calls that run, writes what is queued, folds the WAL into
// ledger.db if no other process has the bank open, and releases the files.
// Every later call is Unavailable, but for Close itself, which does nothing.
func (db *DB) Close() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil
	}
	db.closed = true
	db.bell.ring(math.MaxUint64) // who waits finds it closed
	return fail("sqlite.Close", db.release())
}

// release closes the writer last: SQLite folds the WAL when the last
// connection goes, which needs one that can write.
func (db *DB) release() error {
	var errs []error
	if db.vectors != nil {
		errs = append(errs, db.vectors.close())
	}
	if db.read != nil {
		errs = append(errs, db.read.close())
	}
	if db.write != nil {
		errs = append(errs, db.write.close())
	}
	return errors.Join(errs...)
}

// enter begins a call: leave must follow if the error is nil.
func (db *DB) enter(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fail(op, err)
	}
	db.mu.RLock()
	if db.closed {
		db.mu.RUnlock()
		return memtypes.Errorf(op, memtypes.Unavailable, "the bank %s is closed", db.dir)
	}
	return nil
}

func (db *DB) leave() { db.mu.RUnlock() }

// update runs do in a durable transaction that it shares with others, and then
// each of after if it was committed. do may run twice and must refuse before it
// writes.
func (db *DB) update(ctx context.Context, op string, do func(*tx) error, after ...func()) error {
	if err := db.enter(ctx, op); err != nil {
		return err
	}
	defer db.leave()
	if db.readOnly {
		return memtypes.Errorf(op, memtypes.ReadOnly, "the bank %s is open for reading only", db.dir)
	}
	if err := db.write.submit(ctx, do); err != nil {
		return fail(op, err)
	}
	for _, f := range after {
		f()
	}
	return nil
}

// view runs do with the reader, for as long as ctx lets it.
func (db *DB) view(ctx context.Context, op string, do func(*reader) error) error {
	if err := db.enter(ctx, op); err != nil {
		return err
	}
	defer db.leave()
	return fail(op, do(db.read))
}

// search is view for what also looks at the loose memories.
func (db *DB) search(ctx context.Context, op string, do func(*reader) error) error {
	if db.write != nil {
		db.write.asked.Store(true)
	}
	return db.view(ctx, op, do)
}

// Checkpoint folds the WAL into ledger.db and empties it, so that purged text
// is in neither file. It is Unavailable while a reader stands in the way.
func (db *DB) Checkpoint(ctx context.Context) error {
	const op = "sqlite.Checkpoint"
	if err := db.enter(ctx, op); err != nil {
		return err
	}
	defer db.leave()
	if db.readOnly {
		return memtypes.Errorf(op, memtypes.ReadOnly, "the bank %s is open for reading only", db.dir)
	}
	if err := db.vectors.checkpoint(ctx); err != nil {
		return fail(op, err)
	}
	return fail(op, db.write.fold(ctx))
}

// noRows says that err means an empty answer.
func noRows(err error) bool { return errors.Is(err, sql.ErrNoRows) }
