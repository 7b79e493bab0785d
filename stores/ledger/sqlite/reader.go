package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"sync"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// reader is a bounded pool of connections that cannot write.
type reader struct {
	pool *sql.DB
	// Prepared once on each connection, because they are asked often.
	rowOf, rowsOf, before, behind, changes, owes, revs *sql.Stmt

	mu   sync.Mutex // held while last is in use, which one connection carries
	conn *sql.Conn  // set apart, so that Head never waits for a long query
	last *sql.Stmt
}

func openReader(ctx context.Context, path string, how access, opt *Options) (*reader, error) {
	params := how.params() + "&" + pragmas("busy_timeout", opt.Busy.Milliseconds(), "query_only", 1, "temp_store", 2, "mmap_size", 1<<30)
	pool, err := openPool(path, params)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(opt.Readers + 1)
	pool.SetMaxIdleConns(opt.Readers + 1)
	r := &reader{pool: pool}
	if r.conn, err = pool.Conn(ctx); err == nil {
		r.last, err = r.conn.PrepareContext(ctx, lastSeq)
	}
	for dst, text := range r.texts() {
		if err == nil {
			*dst, err = pool.PrepareContext(ctx, text)
		}
	}
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// texts are those of the statements. A limit is no bare parameter there, or
// SQLite would plan the query anew whenever another one is given.
func (r *reader) texts() map[**sql.Stmt]string {
	return map[**sql.Stmt]string{
		&r.rowOf:   both(rowColumns, "memory_id", "m.state < 2 AND m.id = ?1", ""),
		&r.rowsOf:  both(rowColumns, "memory_id", "m.state < 2 AND m.id IN (SELECT unhex(value) FROM json_each(?1))", ""),
		&r.before:  neighbours("<", " ORDER BY 9 DESC, 10 DESC, 1 DESC"),
		&r.behind:  neighbours(">", " ORDER BY 9, 10, 1"),
		&r.owes:    owesText,
		&r.revs:    revsText(),
		&r.changes: "SELECT seq, id FROM log WHERE seq > ? ORDER BY seq LIMIT ? + 0",
	}
}

func (r *reader) close() error {
	var errs []error
	for dst := range r.texts() {
		if *dst != nil {
			errs = append(errs, (*dst).Close())
		}
	}
	if r.last != nil {
		errs = append(errs, r.last.Close())
	}
	if r.conn != nil {
		errs = append(errs, r.conn.Close())
	}
	return errors.Join(append(errs, r.pool.Close())...)
}

// head is the newest number. It takes some microseconds, so it is not
// interrupted half-way.
func (r *reader) head() (last uint64, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err = r.last.QueryRow().Scan(&last); noRows(err) {
		err = nil
	}
	return last, err
}

// Head is the newest sequence number; see ledger.Feed.
func (db *DB) Head(ctx context.Context) (last uint64, err error) {
	err = db.view(ctx, "sqlite.Head", func(r *reader) error {
		last, err = r.head()
		return err
	})
	return last, err
}

// Changes reads the outbox, which is the log; see ledger.Feed. Nothing is ever
// compacted away, so Gone means that after is of another ledger.
func (db *DB) Changes(ctx context.Context, after uint64, limit int) (changes []ledger.Change, gone bool, err error) {
	const op = "sqlite.Changes"
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, false, err
	}
	err = db.view(ctx, op, func(r *reader) error {
		if after <= math.MaxInt64 {
			if changes, err = every(ctx, r.changes, scanChange, int64(after), limit); err != nil || len(changes) > 0 {
				return err
			}
		}
		last, err := r.head()
		gone = after > last
		return err
	})
	return changes, gone, err
}

func scanChange(scan func(...any) error) (c ledger.Change, err error) {
	var id []byte
	if err = scan(&c.Seq, &id); err == nil {
		c.ID = ledger.Key(id).ID()
	}
	return c, err
}

// Get returns the memories of ids that scope covers; see ledger.Memories.
func (db *DB) Get(ctx context.Context, scope memtypes.Scope, ids []memtypes.ID) ([]memtypes.Memory, error) {
	const op = "sqlite.Get"
	if scope.IsZero() {
		return nil, memtypes.BadField(op, "scope", memtypes.Remark("none of user, agent, run"), "at least one of them")
	}
	var found []memtypes.Memory
	err := db.search(ctx, op, func(r *reader) error {
		list, err := every(ctx, r.rowsOf, scanRow, idsJSON(ids))
		if err == nil {
			found, err = r.nouns(ctx, db.scopes, list)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	byID := make(map[memtypes.ID]*memtypes.Memory, len(found))
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	out := make([]memtypes.Memory, 0, len(found))
	for _, id := range ids {
		if m := byID[id]; m != nil && scope.Covers(m.Scope) {
			out = append(out, *m)
		}
	}
	return out, nil
}

// idList takes the parameter that idsJSON makes.
const idList = "(SELECT unhex(value) FROM json_each(?))"

// idsJSON renders the valid ones of ids as a JSON array of hexadecimal strings:
// one parameter, however many there are.
func idsJSON(ids []memtypes.ID) string {
	var b strings.Builder
	b.WriteByte('[')
	for _, id := range ids {
		u, ok := ledger.KeyOf(id)
		if !ok {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(hex.EncodeToString(u[:]))
		b.WriteByte('"')
	}
	b.WriteByte(']')
	return b.String()
}
