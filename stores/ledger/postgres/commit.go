package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
)

// maxTries is how often a transaction is begun that collides with others or
// finds its connection broken.
const maxTries = 5

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
