package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/vimbank/vimbank/memtypes"
)

// Bounds of the writer.
const (
	maxBatch = 128  // writes that share one transaction
	maxYield = 32   // times the writer lets others run before it goes on with a smaller batch
	softWAL  = 256  // pages in the WAL that are folded into the file when the writer is idle
	hardWAL  = 1024 // pages that are folded even under load
	wakeSoon = 50 * time.Millisecond
)

// write is one caller's part of a transaction.
type write struct {
	do    func(*tx) error
	state atomic.Int32
	done  chan error // of length 1: the writer never waits for a caller
	err   error
}

// The states of a write. A caller may withdraw it until the writer takes it.
const (
	waiting = iota
	taken
	withdrawn
)

// writer is the one goroutine of this process that writes ledger.db. Whoever
// comes while it syncs waits in queue and shares the next transaction.
type writer struct {
	pool    *sql.DB
	conn    *sql.Conn
	stmts   statements
	scopes  *scopes
	busy    time.Duration
	queue   chan *write
	folds   chan chan error // who waits for the WAL to be emptied
	stopped chan struct{}

	// Owned by the goroutine.
	ends   ends
	broken error // once a sync has failed
	writes int   // since the WAL was last looked at
	unfold bool  // the WAL holds what is not in the file
	erase  bool  // the WAL holds what was purged
}

func startWriter(ctx context.Context, path string, s *scopes, opt *Options) (*writer, error) {
	pool, err := openPool(path, pragmas("busy_timeout", opt.Busy.Milliseconds(), "synchronous", 2, "foreign_keys", 1,
		"secure_delete", 1, "wal_autocheckpoint", 0, "temp_store", 2, "cache_size", -8192))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	w := &writer{pool: pool, scopes: s, busy: opt.Busy, queue: make(chan *write, opt.Queue),
		folds: make(chan chan error), stopped: make(chan struct{})}
	if st, err := os.Stat(path + "-wal"); err == nil && st.Size() > 0 {
		w.erase = true // a crash may have left there what was purged
	}
	if err := w.connect(ctx); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	go w.run()
	return w, nil
}

func (w *writer) connect(ctx context.Context) (err error) {
	if w.conn, err = w.pool.Conn(ctx); err != nil {
		return err
	}
	if err := w.stmts.prepare(ctx, w.conn); err != nil {
		return err
	}
	// From here on the writer itself waits for its turn: SQLite's own waiting
	// sleeps up to a tenth of a second, in which another process commits a
	// hundred times.
	_, err = w.conn.ExecContext(ctx, "PRAGMA busy_timeout = 0")
	return err
}

// submit has do run in a transaction and returns when that is durable. Until
// the writer takes it, ctx can withdraw it; from then on it cannot.
func (w *writer) submit(ctx context.Context, do func(*tx) error) error {
	r := &write{do: do, done: make(chan error, 1)}
	select {
	case w.queue <- r:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		if r.state.CompareAndSwap(waiting, withdrawn) {
			return ctx.Err()
		}
		return <-r.done
	}
}

// fold empties the WAL into the file.
func (w *writer) fold(ctx context.Context) error {
	c := make(chan error, 1)
	select {
	case w.folds <- c:
		return <-c
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close writes what is queued and stops. No submit or fold may run or follow.
func (w *writer) close() error {
	close(w.queue)
	<-w.stopped
	return errors.Join(w.stmts.close(), w.conn.Close(), w.pool.Close())
}

func (w *writer) run() {
	defer close(w.stopped)
	idle := time.NewTimer(wakeSoon)
	defer idle.Stop()
	size := 0
	for {
		var quiet <-chan time.Time
		if w.erase || w.unfold {
			idle.Reset(wakeSoon)
			quiet = idle.C
		}
		select {
		case first, ok := <-w.queue:
			if !ok {
				w.tidy(true)
				return
			}
			batch := w.gather(first, size)
			size = len(batch)
			w.serve(batch)
			w.tidy(false)
		case c := <-w.folds:
			c <- w.truncate()
		case <-quiet:
			w.tidy(true)
		}
	}
}

// gather takes what waits in the queue. After a batch of several, those that
// it released come back within microseconds: they are let run first, or the
// batches of eight callers would stay at four and four.
func (w *writer) gather(first *write, before int) []*write {
	batch := []*write{first}
	for yields := 0; len(batch) < maxBatch; {
		select {
		case r, ok := <-w.queue:
			if !ok {
				return batch
			}
			batch = append(batch, r)
			continue
		default:
		}
		if len(batch) >= before || yields == maxYield {
			break
		}
		yields++
		runtime.Gosched()
	}
	return batch
}

// serve commits a batch and answers each of it. If the transaction fails, each
// write gets one of its own, so that none fails for its companions' sake.
func (w *writer) serve(batch []*write) {
	live := batch[:0]
	for _, r := range batch {
		if r.state.CompareAndSwap(waiting, taken) {
			live = append(live, r)
		}
	}
	if len(live) == 0 {
		return
	}
	err := w.transact(live)
	for i, r := range live {
		switch {
		case err == nil:
		case len(live) == 1:
			r.err = err
		default:
			r.err = nil
			if e := w.transact(live[i : i+1]); e != nil {
				r.err = e
			}
		}
	}
	for _, r := range live {
		r.done <- r.err
	}
}

// transact runs live in one transaction. After an error nothing of it is kept;
// otherwise r.err says for each whether it was refused.
func (w *writer) transact(live []*write) (err error) {
	if w.broken != nil {
		return w.broken
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.rollback(t, err)
		}
	}()
	for _, r := range live {
		r.err = nil
		if err := r.do(t); err != nil {
			no, ok := errors.AsType[refused](err)
			if !ok {
				return err
			}
			r.err = no.err
		}
	}
	if err := w.ends.save(&w.stmts); err != nil {
		return err
	}
	if _, err := w.stmts.commit.Exec(); err != nil {
		return err
	}
	w.unfold, w.erase = true, w.erase || t.purged
	w.writes += len(live)
	w.ends.committed(w.conn)
	return nil
}

// rollback undoes t, forgets what was known only within it, and stops writing
// for good where the disk did not confirm: what it kept is unknown.
func (w *writer) rollback(t *tx, cause error) {
	w.stmts.rollback.Exec() // fails where SQLite rolled back itself
	w.ends = ends{}
	w.scopes.forget(t.fresh)
	if syncFailed(cause) {
		w.broken = memtypes.Errorf("sqlite.Append", memtypes.Internal,
			"the disk did not confirm a write, nothing more is written until the bank is opened anew: %w", cause)
	}
}

// begin takes the write lock, waiting for other processes.
func (w *writer) begin() (*tx, error) {
	if err := w.lock(); err != nil {
		return nil, err
	}
	t := &tx{w: w}
	if err := w.ends.refresh(w.conn, &w.stmts); err != nil {
		w.rollback(t, err)
		return nil, err
	}
	return t, nil
}

// lock asks again and again, at random moments that come later and later, so
// that two busy processes get their turns alike.
func (w *writer) lock() error {
	_, err := w.stmts.begin.Exec()
	if !isBusy(err) {
		return err
	}
	limit := time.NewTimer(w.busy)
	defer limit.Stop()
	for wait := 50 * time.Microsecond; ; wait = min(wait*2, 2*time.Millisecond) {
		select {
		case <-limit.C:
			return fmt.Errorf("another process has been writing the bank for %v: %w", w.busy, err)
		case <-time.After(wait/2 + rand.N(wait)):
		}
		if _, err = w.stmts.begin.Exec(); !isBusy(err) {
			return err
		}
	}
}

// tidy folds the WAL where it is due: when nothing else is to do, or when it
// has grown too long.
func (w *writer) tidy(idle bool) {
	if !idle {
		if w.writes >= 64 {
			w.writes = 0
			if w.pages() >= hardWAL {
				w.checkpoint("PASSIVE")
			}
		}
		return
	}
	if w.erase {
		w.truncate() // tried again at the next quiet moment while a reader needs the old pages
		return
	}
	w.unfold = false
	if w.pages() >= softWAL {
		w.checkpoint("PASSIVE")
	}
}

func (w *writer) truncate() error {
	busy, err := w.checkpoint("TRUNCATE")
	if err == nil && busy {
		return memtypes.Errorf("sqlite.Checkpoint", memtypes.Unavailable, "a reader or another process still needs the WAL")
	}
	if err == nil {
		w.erase, w.unfold = false, false
	}
	return err
}

// pages is the length of the WAL.
func (w *writer) pages() (n int) {
	var busy, folded int
	if w.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &n, &folded) != nil {
		return 0
	}
	return n
}

func (w *writer) checkpoint(mode string) (busy bool, err error) {
	var n, folded int
	err = w.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &n, &folded)
	if isBusy(err) {
		return true, nil
	}
	return busy, err
}

func isBusy(err error) bool { return resultOf(err)&0xff == lib.SQLITE_BUSY }
