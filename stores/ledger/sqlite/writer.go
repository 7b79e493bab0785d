package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

	"github.com/vimbank/vimbank/memtypes"
)

// When the WAL is folded into the file, and new memories are filed.
const (
	softWAL  = 256  // pages in the WAL that are folded into the file when the writer is idle
	hardWAL  = 1024 // pages that are folded even under load
	wakeSoon = 50 * time.Millisecond
)

// writer owns the one connection of this process that writes ledger.db. Who
// leads its queue has it; whoever comes meanwhile shares the next transaction.
type writer struct {
	pool    *sql.DB
	conn    *sql.Conn
	stmts   statements
	scopes  *scopes
	busy    time.Duration
	queue   *queue
	reserve reserve

	quiet   chan struct{} // of length 1: something is to be tidied up at the next quiet moment
	closing chan struct{}
	stopped chan struct{}
	commits atomic.Int64
	asked   atomic.Bool // somebody looked for memories since the last filing
	bell    *bell       // rung when the log has grown

	// Owned by who leads.
	ends   ends
	broken error // once a sync has failed
	writes int   // since the WAL was last looked at
	unfold bool  // the WAL holds what is not in the file
	erase  bool  // the WAL holds what was purged
}

func startWriter(ctx context.Context, path string, s *scopes, b *bell, opt *Options) (*writer, error) {
	pool, err := openPool(path, pragmas("busy_timeout", opt.Busy.Milliseconds(), "synchronous", 2, "foreign_keys", 0, // Check looks for broken ones
		"secure_delete", 1, "wal_autocheckpoint", 0, "temp_store", 2, "cache_size", -8192))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	w := &writer{pool: pool, scopes: s, bell: b, busy: opt.Busy, reserve: reserve{path: path + "-wal"},
		quiet: make(chan struct{}, 1), closing: make(chan struct{}), stopped: make(chan struct{})}
	w.queue = newQueue(opt.Queue, w.serve)
	if st, err := os.Stat(path + "-wal"); err == nil && st.Size() > 0 {
		w.erase = true // a crash may have left there what was purged
		w.quiet <- struct{}{}
	}
	if err := w.connect(ctx); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	go w.keep()
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
// it is begun, ctx can withdraw it; from then on it cannot.
func (w *writer) submit(ctx context.Context, do func(*tx) error) error {
	return w.queue.submit(ctx, &write{do: do})
}

// fold empties the WAL into the file.
func (w *writer) fold(ctx context.Context) error {
	return w.queue.submit(ctx, &write{job: w.truncate})
}

// close tidies up and stops. No submit or fold may run or follow.
func (w *writer) close() error {
	close(w.closing)
	<-w.stopped
	w.tidy(true)
	return errors.Join(w.reserve.close(), w.stmts.close(), w.conn.Close(), w.pool.Close())
}

// keep tidies up whenever nothing was written for a moment.
func (w *writer) keep() {
	defer close(w.stopped)
	tick := time.NewTicker(wakeSoon)
	defer tick.Stop()
	for {
		tick.Stop()
		select {
		case <-w.closing:
			return
		case <-w.quiet:
		}
		tick.Reset(wakeSoon)
		for seen := int64(-1); seen != w.commits.Load(); {
			seen = w.commits.Load()
			select {
			case <-w.closing:
				return
			case <-tick.C:
			}
		}
		again := false
		// Never cancelled: it waits for who writes now, and then is quick.
		_ = w.queue.submit(context.Background(), &write{job: func() error {
			w.tidy(true)
			again = w.erase // a reader needs the old pages
			return nil
		}})
		if again {
			w.wake()
		}
	}
}

// serve does a batch, and what comes on top of it: the transaction of those that
// share it, then the jobs.
func (w *writer) serve(batch []*write, more func() []*write) {
	var jobs []*write
	live := func(batch []*write) (live []*write) {
		for _, r := range batch {
			if r.job != nil {
				jobs = append(jobs, r)
			} else {
				live = append(live, r)
			}
		}
		return live
	}
	if first := live(batch); len(first) > 0 {
		w.commit(first, func() []*write {
			for {
				late := more()
				if writes := live(late); len(writes) > 0 || len(late) == 0 {
					return writes
				}
			}
		})
		w.tidy(false)
	}
	for _, r := range jobs {
		r.err = r.job()
	}
}

// commit serves live and what more returns. If the transaction fails, each write
// gets one of its own, so that none fails for its companions' sake.
func (w *writer) commit(live []*write, more func() []*write) {
	err := w.transact(live, func() []*write {
		late := more()
		live = append(live, late...)
		return late
	}, false)
	if err == nil {
		return
	}
	for i, r := range live {
		if r.err = err; len(live) > 1 {
			r.err = nil
			if err := w.transact(live[i:i+1], nobody, false); err != nil {
				r.err = err
			}
		}
	}
}

// nobody comes on top of a transaction.
func nobody() []*write { return nil }

// transact runs live, and what more returns until that is nothing, in one
// transaction, and files all loose memories or those that are due. After an
// error nothing of it is kept; otherwise r.err says for each whether it was refused.
func (w *writer) transact(live []*write, more func() []*write, all bool) (err error) {
	if w.broken != nil {
		return w.broken
	}
	room := w.reserve.due(w.used)
	t, err := w.begin()
	if err != nil {
		return err
	}
	if room {
		w.reserve.extend()
	}
	defer func() {
		if err != nil {
			w.rollback(t, err)
		}
	}()
	for ; len(live) > 0; live = more() {
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
		w.writes += len(live)
	}
	if err := w.ends.save(&w.stmts); err != nil {
		return err
	}
	if err := w.file(all); err != nil {
		return err
	}
	if _, err := w.stmts.commit.exec(); err != nil {
		return err
	}
	w.unfold, w.erase = true, w.erase || t.purged
	w.ends.committed(w.conn)
	w.commits.Add(1)
	w.bell.ring(w.ends.last)
	w.wake()
	return nil
}

// wake has the keeper wait for the next quiet moment.
func (w *writer) wake() {
	select {
	case w.quiet <- struct{}{}:
	default:
	}
}

// file has the indexes take the loose memories, if all are wanted or it is time.
func (w *writer) file(all bool) error {
	limit := uint64(maxLoose)
	if w.asked.Load() {
		limit = fewLoose
	}
	before := w.ends.filed
	err := w.ends.file(&w.stmts, all, limit)
	if w.ends.filed > before {
		w.asked.Store(false)
	}
	return err
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
	_, err := w.stmts.begin.exec()
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
		if _, err = w.stmts.begin.exec(); !isBusy(err) {
			return err
		}
	}
}

// tidy folds the WAL where it is due: when nothing else is to do, or when it
// has grown too long.
func (w *writer) tidy(idle bool) {
	if !idle {
		if w.writes >= 256 {
			w.writes = 0
			if w.pages() >= hardWAL {
				w.checkpoint("PASSIVE")
			}
		}
		return
	}
	if len(w.ends.loose) > 0 {
		_ = w.transact(nil, nobody, true) // what fails here is said to who writes next
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
	if w.stmts.pages.QueryRow().Scan(&busy, &n, &folded) != nil {
		return 0
	}
	return n
}

// used is what they take of the WAL's file, in bytes.
func (w *writer) used() int64 { return int64(w.pages()) * (4096 + 24) }

func (w *writer) checkpoint(mode string) (busy bool, err error) {
	var n, folded int
	err = w.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &n, &folded)
	if isBusy(err) {
		return true, nil
	}
	return busy, err
}

func isBusy(err error) bool { return resultOf(err)&0xff == lib.SQLITE_BUSY }
