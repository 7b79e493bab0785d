package postgres

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
)

// calm is how often Wait asks while it is also listening: a notification can be
// lost only with its connection, so this is for what nobody thought of.
const calm = 5 * time.Second

// channel is what commits of this bank are told on.
func (db *DB) channel() string { return fmt.Sprintf("vimbank_%016x", db.lockNumber()) }

// Wait returns when there is a change after seq; see ledger.Feed. While the
// server is away it goes on waiting.
func (db *DB) Wait(ctx context.Context, after uint64) error {
	const op = "postgres.Wait"
	if err := db.enter(ctx, op); err != nil {
		return err
	}
	defer db.leave()
	db.listen.start()
	for {
		news := db.listen.next()
		if db.listen.heard(after) {
			return nil
		}
		var last uint64
		err := db.ask(ctx, op, func(ctx context.Context, c *pgx.Conn) (err error) {
			last, err = db.head(ctx, c)
			return err
		})
		if err == nil && last > after {
			return nil
		}
		if err != nil && memtypes.CodeOf(err) != memtypes.Unavailable {
			return err
		}
		again := time.NewTimer(db.listen.patience())
		select {
		case <-news:
		case <-again.C:
		case <-ctx.Done():
			err = db.fail(ctx, op, ctx.Err())
		case <-db.closing:
			err = memtypes.Errorf(op, memtypes.Unavailable, "the bank %s is closed", db.place)
		}
		again.Stop()
		if ctx.Err() != nil || db.isClosing() {
			return err
		}
	}
}

func (db *DB) isClosing() bool {
	select {
	case <-db.closing:
		return true
	default:
		return false
	}
}

// listener has the one connection on which this process hears of commits, for
// all that wait. It begins with the first who waits.
type listener struct {
	db      *DB
	once    sync.Once
	cancel  context.CancelFunc
	ctx     context.Context // of the goroutine, ended by stop
	stopped chan struct{}

	mu   sync.Mutex    // guards all below
	news chan struct{} // closed when there is something new, and replaced
	last uint64        // the newest number heard of
	up   bool          // it listens
}

func newListener(db *DB) *listener {
	l := &listener{db: db, news: make(chan struct{}), stopped: make(chan struct{})}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// start begins to listen, unless the settings leave no connection for it.
func (l *listener) start() {
	l.once.Do(func() {
		if l.db.opt.Pooler || l.db.opt.MaxConns < 3 {
			close(l.stopped)
			return
		}
		go l.run()
	})
}

// stop ends the goroutine, also one that never began.
func (l *listener) stop() {
	l.once.Do(func() { close(l.stopped) })
	l.cancel()
	<-l.stopped
}

// next is closed with the next news.
func (l *listener) next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.news
}

func (l *listener) heard(after uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.up && l.last > after
}

// patience is after how long Wait asks by itself.
func (l *listener) patience() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.up {
		return max(calm, l.db.opt.Poll)
	}
	return l.db.opt.Poll
}

// tell wakes all that wait.
func (l *listener) tell(up bool, last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.up, l.last = up, last
	close(l.news)
	l.news = make(chan struct{})
}

// run listens, on a new connection whenever one breaks.
func (l *listener) run() {
	defer close(l.stopped)
	for wait := 100 * time.Millisecond; l.ctx.Err() == nil; wait = min(2*wait, 5*time.Second) {
		begun := time.Now()
		l.hear()
		l.tell(false, 0)
		if time.Since(begun) > time.Minute {
			wait = 100 * time.Millisecond
		}
		select {
		case <-l.ctx.Done():
		case <-time.After(wait):
		}
	}
}

// hear listens until its connection breaks.
func (l *listener) hear() {
	c, err := l.db.connect(l.ctx)
	if err != nil {
		return // who waits asks for itself meanwhile, and is told there
	}
	defer hangUp(c)
	limited, cancel := context.WithTimeout(l.ctx, l.db.opt.StatementTimeout)
	_, err = c.Exec(limited, "LISTEN "+pgx.Identifier{l.db.channel()}.Sanitize())
	cancel()
	if err != nil {
		return
	}
	l.tell(true, 0) // what came before is asked for
	for {
		// A server that is gone without a word is noticed by asking it now and then.
		quiet, cancel := context.WithTimeout(l.ctx, 30*time.Second)
		n, err := c.WaitForNotification(quiet)
		cancel()
		switch {
		case err == nil:
			seq, _ := strconv.ParseUint(n.Payload, 10, 64)
			l.tell(true, seq)
		case l.ctx.Err() != nil || c.IsClosed():
			return
		default:
			limited, cancel := context.WithTimeout(l.ctx, l.db.opt.ConnectTimeout)
			err = c.Ping(limited)
			cancel()
			if err != nil {
				return
			}
		}
	}
}
