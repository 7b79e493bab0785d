package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// statements are prepared once on the writer's connection.
type statements struct {
	begin, commit, rollback, last                   *sql.Stmt
	tenant, addTenant, head, setHead                *sql.Stmt
	scope, addScope, name                           *sql.Stmt
	insert, find, load, log                         *sql.Stmt
	setState, setPinned, revise, keep               *sql.Stmt
	recall, strength, purge, purgeOld, forget, drop *sql.Stmt
	lease, setLease, release, setRun, set, unset    *sql.Stmt
}

func (s *statements) texts() map[**sql.Stmt]string {
	return map[**sql.Stmt]string{
		&s.begin:     "BEGIN IMMEDIATE",
		&s.commit:    "COMMIT",
		&s.rollback:  "ROLLBACK",
		&s.last:      lastSeq,
		&s.tenant:    "SELECT no FROM tenants WHERE name = ?",
		&s.addTenant: "INSERT INTO tenants (name) VALUES (?)",
		&s.head:      "SELECT name, head, hash FROM tenants WHERE no = ?",
		&s.setHead:   "UPDATE tenants SET head = ?, hash = ? WHERE no = ?",
		&s.scope:     "SELECT no FROM scopes WHERE tenant = ? AND user = ? AND agent = ? AND run = ?",
		&s.addScope:  "INSERT INTO scopes (tenant, user, agent, run) VALUES (?, ?, ?, ?)",
		&s.name:      scopeName,
		&s.insert: `INSERT INTO memories (seq, id, scope, rev, state, kind, layer, session, sec, nsec, dated, created, pinned, text, extra)
			VALUES (?1, ?2, ?3, ?1, 0, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT (id) DO NOTHING`,
		&s.find: `SELECT m.seq, m.scope, m.rev, m.state, m.pinned, coalesce(r.recalls, 0)
			FROM memories m LEFT JOIN recalled r ON r.mem = m.seq WHERE m.id = ?`,
		&s.load:      selectRows + " WHERE m.seq = ?",
		&s.log:       "INSERT INTO log (seq, tenant, prev, was, op, id, at, actor, run, reason, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		&s.setState:  "UPDATE memories SET state = ?, rev = ?, retired = ?, run = ? WHERE seq = ?",
		&s.setPinned: "UPDATE memories SET pinned = ?, rev = ? WHERE seq = ?",
		&s.keep: `INSERT INTO replaced (seq, mem, session, sec, nsec, dated, updated, text, extra)
			SELECT ?, seq, session, sec, nsec, dated, updated, text, extra FROM memories WHERE seq = ?`,
		&s.revise: `UPDATE memories SET rev = ?, session = ?, sec = ?, nsec = ?, dated = ?, updated = ?, text = ?, extra = ? WHERE seq = ?`,
		&s.recall: `INSERT INTO recalled (mem, recalls, last) VALUES (?, 1, ?)
			ON CONFLICT (mem) DO UPDATE SET recalls = recalls + 1, last = max(coalesce(last, excluded.last), excluded.last)`,
		&s.strength: "INSERT INTO recalled (mem, recalls, last) VALUES (?, ?, ?)",
		&s.purge: `UPDATE memories SET state = 2, rev = ?, session = '', sec = 0, nsec = 0, dated = 0, created = 0, updated = NULL,
			pinned = 0, retired = NULL, run = NULL, text = '', extra = NULL WHERE seq = ?`,
		&s.purgeOld: "DELETE FROM replaced WHERE mem = ?",
		&s.forget:   "DELETE FROM recalled WHERE mem = ?",
		&s.drop:     "DELETE FROM memories WHERE seq = ?",
		&s.lease:    "SELECT holder, fence, expires FROM leases WHERE name = ?",
		&s.setLease: `INSERT INTO leases (name, holder, fence, expires) VALUES (?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = excluded.fence, expires = excluded.expires`,
		&s.release: "UPDATE leases SET holder = '', expires = 0 WHERE name = ? AND holder = ? AND fence = ?",
		&s.setRun: `INSERT INTO runs (id, job, started, body) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET job = excluded.job, started = excluded.started, body = excluded.body`,
		&s.set:   "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
		&s.unset: "DELETE FROM settings WHERE key = ?",
	}
}

// lastSeq finds the newest number; it reads the last page of one table.
const lastSeq = "SELECT seq FROM log ORDER BY seq DESC LIMIT 1"

func (s *statements) prepare(ctx context.Context, c *sql.Conn) (err error) {
	for dst, text := range s.texts() {
		if *dst, err = c.PrepareContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

func (s *statements) close() error {
	var errs []error
	for dst := range s.texts() {
		if *dst != nil {
			errs = append(errs, (*dst).Close())
		}
	}
	return errors.Join(errs...)
}

// tx is one open transaction; only the writer's goroutine uses it.
type tx struct {
	w      *writer
	last   uint64           // newest seq, of this transaction too
	fresh  []memtypes.Scope // numbered within it
	moved  []*head          // to be written at the end
	purged bool
	buf    []byte
}

// head is the end of a tenant's chain of log entries.
type head struct {
	no    int64
	name  string
	seq   uint64
	hash  []byte
	dirty bool
}

// mark is what a log entry says besides the batch it belongs to.
type mark struct {
	op     ledger.Op
	id     uid
	was    uint64
	reason string
}

// record appends an entry to the log of a tenant and returns its number.
func (t *tx) record(tenant int64, b *ledger.Batch, m mark) (uint64, error) {
	h, err := t.head(tenant)
	if err != nil {
		return 0, err
	}
	e := entry{seq: t.last + 1, prev: h.seq, was: m.was, op: opNumber(m.op), id: m.id, at: b.Now.UnixNano(),
		actor: b.Actor, run: b.RunID, reason: m.reason}
	t.buf = e.bytes(t.buf[:0], h.name, h.hash)
	sum := sha256.Sum256(t.buf)
	if _, err := t.w.stmts.log.Exec(e.seq, tenant, e.prev, e.was, e.op, e.id[:], e.at, e.actor, orNull(e.run), orNull(e.reason), sum[:]); err != nil {
		return 0, err
	}
	if !h.dirty {
		h.dirty = true
		t.moved = append(t.moved, h)
	}
	h.seq, h.hash, t.last = e.seq, sum[:], e.seq
	return e.seq, nil
}

func (t *tx) head(tenant int64) (*head, error) {
	if h := t.w.heads[tenant]; h != nil {
		return h, nil
	}
	h := &head{no: tenant}
	if err := t.w.stmts.head.QueryRow(tenant).Scan(&h.name, &h.seq, &h.hash); err != nil {
		return nil, err
	}
	if len(t.w.heads) >= maxCached {
		if err := t.finish(); err != nil {
			return nil, err
		}
		clear(t.w.heads)
	}
	t.w.heads[tenant] = h
	return h, nil
}

// finish writes what the transaction kept for its end.
func (t *tx) finish() error {
	for _, h := range t.moved {
		if _, err := t.w.stmts.setHead.Exec(h.seq, h.hash, h.no); err != nil {
			return err
		}
		h.dirty = false
	}
	t.moved = t.moved[:0]
	return nil
}

// entry is a row of the log.
type entry struct {
	seq, prev, was     uint64
	op                 int
	id                 uid
	at                 int64
	actor, run, reason string
}

// bytes appends what the hash of e covers: the tenant, the hash before, and
// every field, each with its length.
func (e *entry) bytes(b []byte, tenant string, before []byte) []byte {
	put := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	put(tenant)
	put(string(before))
	for _, n := range []uint64{e.seq, e.prev, e.was, uint64(e.op), uint64(e.at)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, e.id[:]...)
	put(e.actor)
	put(e.run)
	put(e.reason)
	return b
}

// opNumbers are the numbers of operations in the file; they never change.
var opNumbers = [...]ledger.Op{1: ledger.Insert, ledger.Revise, ledger.Retire, ledger.Restore, ledger.Purge, ledger.Pin, ledger.Unpin}

func opNumber(op ledger.Op) int {
	for i, o := range opNumbers {
		if o == op {
			return i
		}
	}
	panic("sqlite: no number for operation " + op)
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
