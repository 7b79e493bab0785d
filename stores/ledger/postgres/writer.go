package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/vimbank/vimbank/memtypes"
)

// Bounds of what shares a commit.
const (
	maxGroup = 128                    // writes
	maxRows  = 12000                  // of them all, about
	maxBytes = 16 << 20               // of their content, about
	maxRest  = 200 * time.Microsecond // for those that the last commit released to come back
	maxSkip  = 63                     // rests that are left out once they were in vain
	maxTries = 5                      // of a transaction that collides or finds its connection broken
)

// write is one caller's part of a transaction.
type write struct {
	need  needs
	do    func(*tx) error
	err   error
	state atomic.Int32 // waiting, withdrawn or taken
	done  chan struct{}
}

// The states of a write.
const (
	waiting int32 = iota
	withdrawn
	taken // it may be in a commit: nobody can withdraw it any more
)

// writer owns the connection that writes memories, and the goroutine that
// gathers what waits into one transaction after another.
type writer struct {
	db      *DB
	pool    *pgxpool.Pool // of one connection
	line    chan *write
	closing chan struct{}
	stopped chan struct{}

	// Owned by the goroutine.
	over   *write // taken from the line, too large for the last group
	expect int    // how many wrote at once last
	vain   int    // grows with each rest in vain
	skip   int    // rests to be left out
}

func (db *DB) startWriter(config *pgxpool.Config) (*writer, error) {
	pool, err := db.newPool(config, "writes")
	if err != nil {
		return nil, err
	}
	w := &writer{db: db, pool: pool, line: make(chan *write, db.opt.Queue), closing: make(chan struct{}), stopped: make(chan struct{})}
	go w.run()
	return w, nil
}

// stop ends the goroutine. No submit may run or follow.
func (w *writer) stop() {
	close(w.closing)
	<-w.stopped
	w.pool.Close()
}

// submit has do run in a transaction and returns when that is durable. Until
// it is worked out, ctx can withdraw it; from then on it cannot.
func (w *writer) submit(ctx context.Context, need needs, do func(*tx) error) error {
	r := &write{need: need, do: do, done: make(chan struct{})}
	select {
	case w.line <- r:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
	}
	if r.state.CompareAndSwap(waiting, withdrawn) {
		return ctx.Err()
	}
	<-r.done
	return r.err
}

// run serves one group after another.
func (w *writer) run() {
	defer close(w.stopped)
	for {
		first := w.over
		w.over = nil
		if first == nil {
			select {
			case first = <-w.line:
			case <-w.closing:
				return
			}
		}
		group := w.gather(first)
		w.serve(group)
		w.expect = len(group) + len(w.line)
		for _, r := range group {
			close(r.done)
		}
	}
}

// gather takes what waits, and after a group of several waits a moment for
// those to come back, or the groups of eight callers would stay at five and three.
func (w *writer) gather(first *write) []*write {
	group := []*write{first}
	size, bytes := first.need.size, first.need.bytes
	fits := func(r *write) bool {
		size, bytes = size+r.need.size, bytes+r.need.bytes
		if size <= maxRows && bytes <= maxBytes {
			group = append(group, r)
			return true
		}
		w.over = r
		return false
	}
	for len(group) < maxGroup {
		select {
		case r := <-w.line:
			if !fits(r) {
				return group
			}
			continue
		default:
		}
		break
	}
	if len(group) >= min(w.expect, maxGroup) {
		w.vain, w.skip = 0, 0
		return group
	}
	if w.skip > 0 {
		w.skip--
		return group
	}
	rest := time.NewTimer(maxRest)
	defer rest.Stop()
	for len(group) < min(w.expect, maxGroup) {
		select {
		case r := <-w.line:
			if !fits(r) {
				return group
			}
		case <-rest.C:
			w.vain = min(2*w.vain+1, maxSkip)
			w.skip = w.vain
			return group
		}
	}
	return group
}

// serve does a group. If its transaction fails for what is in it, each write
// gets one of its own, so that none fails for its companions' sake.
func (w *writer) serve(group []*write) {
	err := w.attempt(group)
	if err == nil {
		return
	}
	bad, alone := errors.AsType[spoiled](err)
	if alone {
		err = bad.err
	} else if _, known := errors.AsType[*memtypes.Error](err); !known {
		code, _ := judge(err)
		alone = code == memtypes.Internal || code == memtypes.Invalid
	}
	alone = alone && len(group) > 1
	for _, r := range group {
		switch {
		case r.state.Load() == withdrawn:
		case alone:
			r.err = w.alone(r)
		default:
			r.err = err
		}
	}
}

// alone does one write, whose error is its own.
func (w *writer) alone(r *write) error {
	err := w.attempt([]*write{r})
	if bad, ok := errors.AsType[spoiled](err); ok {
		return bad.err
	}
	if err == nil {
		return r.err // refused
	}
	return err
}

// spoiled is the error of a write that came after it had changed what the
// transaction writes: nothing of it may be committed.
type spoiled struct{ err error }

func (s spoiled) Error() string { return s.err.Error() }

// attempt runs a group in a transaction, again where it collided with another
// one or where a connection turned out to be broken and nothing was committed.
func (w *writer) attempt(group []*write) (err error) {
	for try := range maxTries {
		if try > 0 {
			time.Sleep(time.Duration(try)*time.Millisecond + rand.N(5*time.Millisecond))
		}
		var again bool
		if again, err = w.transact(group); !again {
			return err
		}
	}
	return err
}

// transact runs a group in one transaction. After an error nothing of it is
// kept; otherwise r.err says for each write whether it was refused. again says
// that another try may do better.
func (w *writer) transact(group []*write) (again bool, err error) {
	db := w.db
	ctx, cancel := context.WithTimeout(context.Background(), db.opt.ConnectTimeout+db.opt.LockTimeout+db.opt.StatementTimeout+slack)
	defer cancel()
	c, err := w.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer c.Release()
	need := together(group)
	t, err := db.begin(ctx, c.Conn(), &need)
	if state(err) == "25006" { // a standby by now: the next connection may find the primary
		hangUp(c.Conn())
		return false, err
	}
	if err != nil {
		undo(c.Conn())
		return collided(err) || c.Conn().IsClosed() && ctx.Err() == nil, err
	}
	for _, r := range group {
		if r.state.Load() == taken || r.state.CompareAndSwap(waiting, taken) {
			before := t.size()
			if r.err = r.do(t); r.err != nil && t.size() != before {
				undo(c.Conn())
				return false, spoiled{r.err}
			}
		}
	}
	if t.empty() {
		undo(c.Conn())
		return false, nil
	}
	b, err := db.flush(t)
	if err != nil {
		undo(c.Conn())
		return false, err
	}
	again, err = w.commit(c.Conn(), t, b)
	if err == nil {
		db.scopes.put(t.fresh)
		return false, nil
	}
	for _, r := range group {
		r.err = nil
	}
	return again, err
}

// commit sends what t writes. Where the connection breaks meanwhile, it finds
// out what became of it.
func (w *writer) commit(c *pgx.Conn, t *tx, b *pgx.Batch) (again bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*w.db.opt.StatementTimeout+slack)
	defer cancel()
	if err = c.SendBatch(ctx, b).Close(); err == nil {
		return false, nil
	}
	if !c.IsClosed() { // the server refused a statement, and so the transaction
		undo(c)
		return collided(err), err
	}
	committed, askErr := w.resolve(t)
	switch {
	case askErr != nil:
		return false, memtypes.Errorf("postgres.Append", memtypes.Unavailable,
			"PostgreSQL at %s: the connection broke amid a commit (%s), and whether it was done cannot be asked (%s): write it again, what was inserted will be the same",
			w.db.place, hide(err.Error(), w.db.config.Password), hide(askErr.Error(), w.db.config.Password))
	case committed:
		return false, nil
	}
	return true, err
}

// resolve asks the server whether t was committed, until it answers or for as
// long as two connections may take.
func (w *writer) resolve(t *tx) (committed bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*w.db.opt.ConnectTimeout)
	defer cancel()
	for {
		var ended bool
		if ended, committed, err = w.outcome(ctx, t); ended {
			return committed, err
		}
		select {
		case <-ctx.Done():
			if err == nil {
				err = errors.New("it has not ended yet")
			}
			return false, err
		case <-w.closing: // Close waits for the caller, so this comes only where there is none
			return false, errors.New("the bank is being closed")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// outcome looks once. The number of a transaction alone would not do: after a
// failover to a server that had not received it, another may have that number.
func (w *writer) outcome(ctx context.Context, t *tx) (ended, committed bool, err error) {
	c, err := w.db.connect(ctx)
	if err != nil {
		return false, false, err
	}
	defer hangUp(c)
	var status string
	err = c.QueryRow(ctx, "SELECT coalesce(pg_xact_status($1::text::xid8), 'too old')", t.xid).Scan(&status)
	if err != nil {
		if state(err) == "22023" { // a number from the future: this server never saw it
			return true, false, nil
		}
		return false, false, err
	}
	switch status {
	case "in progress":
		return false, false, nil
	case "aborted":
		return true, false, nil
	case "too old":
		return true, false, fmt.Errorf("transaction %s is too old to be known", t.xid)
	}
	l := t.last()
	if l == nil {
		return true, true, nil
	}
	err = c.QueryRow(ctx, w.db.sql("SELECT EXISTS (SELECT 1 FROM {s}.log WHERE tenant = $1 AND seq = $2 AND hash = $3)"), l.tenant, int64(l.Seq), l.hash[:]).Scan(&committed)
	return err == nil, committed, err
}

// undo ends a transaction that is not to be. Where that fails, the connection
// is closed, which ends it as well.
func undo(c *pgx.Conn) {
	if c.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), slack)
	defer cancel()
	if _, err := c.Exec(ctx, "ROLLBACK"); err != nil {
		hangUp(c)
	}
}

// together is what a group needs.
func together(group []*write) needs {
	if len(group) == 1 {
		return group[0].need
	}
	all := needs{scopes: map[memtypes.Scope]bool{}}
	for _, r := range group {
		if r.state.Load() == withdrawn {
			continue
		}
		n := &r.need
		all.whole, all.brief, all.leases, all.tenants = append(all.whole, n.whole...), append(all.brief, n.brief...), append(all.leases, n.leases...), append(all.tenants, n.tenants...)
		for s, wanted := range n.scopes {
			all.scopes[s] = all.scopes[s] || wanted
		}
	}
	return all
}
