package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// statements are prepared once on the writer's connection.
type statements struct {
	begin, commit, insert                           *hot
	rollback, last, pages                           *sql.Stmt
	tenant, addTenant, head, setHead, saved, newer  *sql.Stmt
	scope, addScope, name                           *sql.Stmt
	find, findLoose, load, log                      *sql.Stmt
	filing, file, setFiling                         *sql.Stmt
	setState, setPinned, revise, keep               *sql.Stmt
	recall, strength, purge, purgeOld, forget, drop *sql.Stmt
	lease, setLease, release, setRun, set, unset    *sql.Stmt
	follow, unfollow, unowe, follower, drawn        *sql.Stmt
	draw, claimable, claim                          *sql.Stmt
	place, again, later, bury                       *sql.Stmt
	revive, reviveSome, adopt, adoptOld             *sql.Stmt
}

func (s *statements) texts() map[**sql.Stmt]string {
	return map[**sql.Stmt]string{
		&s.rollback:  "ROLLBACK",
		&s.last:      lastSeq,
		&s.pages:     "PRAGMA wal_checkpoint(NOOP)",
		&s.tenant:    "SELECT no FROM tenants WHERE name = ?",
		&s.addTenant: "INSERT INTO tenants (name) VALUES (?)",
		&s.head:      "SELECT name, head, hash FROM tenants WHERE no = ?",
		&s.saved:     "SELECT coalesce(max(head), 0) FROM tenants",
		&s.newer:     "SELECT seq, tenant, hash, CASE filed WHEN 0 THEN id END FROM log WHERE seq > ? ORDER BY seq",
		&s.setHead:   "UPDATE tenants SET head = ?, hash = ? WHERE no = ?",
		&s.scope:     "SELECT no FROM scopes WHERE tenant = ? AND user = ? AND agent = ? AND run = ?",
		&s.addScope:  "INSERT INTO scopes (tenant, user, agent, run) VALUES (?, ?, ?, ?)",
		&s.name:      scopeName,
		&s.find:      findRow + "INDEXED BY memory_id LEFT JOIN recalled r ON r.mem = m.seq WHERE m.filed = 1 AND m.id = ?",
		&s.findLoose: findRow + "LEFT JOIN recalled r ON r.mem = m.seq WHERE m.state IS NOT NULL AND m.seq = ?",
		&s.filing:    "SELECT seq FROM filing",
		// OR FAIL: the transaction is rolled back anyway, not the statement alone.
		&s.file:      "UPDATE OR FAIL log SET filed = 1 WHERE seq > ? AND filed = 0",
		&s.setFiling: "UPDATE filing SET seq = ?",
		&s.load:      selectRows + " WHERE m.seq = ?",
		&s.log:       "INSERT INTO log (seq, tenant, prev, was, op, id, at, actor, run, reason, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		&s.setState:  "UPDATE log SET state = ?, rev = ?, retired = ?, retirer = ? WHERE seq = ?",
		&s.setPinned: "UPDATE log SET pinned = ?, rev = ? WHERE seq = ?",
		&s.keep: `INSERT INTO replaced (seq, mem, session, sec, nsec, dated, updated, text, extra)
			SELECT ?, seq, session, sec, nsec, dated, updated, text, extra FROM log WHERE seq = ?`,
		&s.revise: `UPDATE log SET rev = ?, session = ?, sec = ?, nsec = ?, dated = ?, updated = ?, text = ?, extra = ? WHERE seq = ?`,
		&s.recall: `INSERT INTO recalled (mem, recalls, last) VALUES (?, 1, ?)
			ON CONFLICT (mem) DO UPDATE SET recalls = recalls + 1, last = max(coalesce(last, excluded.last), excluded.last)`,
		&s.strength: "INSERT INTO recalled (mem, recalls, last) VALUES (?, ?, ?)",
		&s.purge: `UPDATE log SET state = 2, rev = ?, session = NULL, sec = NULL, nsec = NULL, dated = NULL, updated = NULL,
			pinned = 0, retired = NULL, retirer = NULL, text = NULL, extra = NULL WHERE seq = ?`,
		&s.purgeOld: "DELETE FROM replaced WHERE mem = ?",
		&s.forget:   "DELETE FROM recalled WHERE mem = ?",
		&s.drop:     "UPDATE log SET state = NULL, filed = NULL, rev = NULL, scope = NULL, kind = NULL, layer = NULL, pinned = NULL WHERE seq = ?",
		&s.lease:    "SELECT holder, fence, expires FROM leases WHERE name = ?",
		&s.setLease: `INSERT INTO leases (name, holder, fence, expires) VALUES (?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = excluded.fence, expires = excluded.expires`,
		&s.release: "UPDATE leases SET holder = '', expires = 0 WHERE name = ? AND holder = ? AND fence = ?",
		&s.setRun: `INSERT INTO runs (id, job, started, body) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET job = excluded.job, started = excluded.started, body = excluded.body`,
		&s.set:   "INSERT INTO settings (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
		&s.unset: "DELETE FROM settings WHERE key = ?",

		&s.follow:    "INSERT INTO followers (name, drawn) VALUES (?, ?) ON CONFLICT DO NOTHING",
		&s.unfollow:  "DELETE FROM followers WHERE no = ?",
		&s.unowe:     "DELETE FROM owed WHERE follower = ?1 AND id IN (SELECT id FROM owed WHERE follower = ?1 LIMIT ?2)",
		&s.follower:  followerText,
		&s.drawn:     "UPDATE followers SET drawn = ?2 WHERE no = ?1",
		&s.draw:      drawText,
		&s.claimable: "SELECT id, seq, tries, " + tenantOf + claimableText,
		&s.claim:     "UPDATE owed SET holder = ?4, ready = ?5 WHERE follower = ?1 AND id IN (SELECT id" + claimableText + ")",
		&s.place:     "DELETE FROM owed WHERE follower = ?1 AND id = ?2 AND holder = ?3 AND seq = ?4",
		&s.again: `UPDATE owed SET first = max(first, ?4 + 1), ready = since, holder = '', tries = 0
			WHERE follower = ?1 AND id = ?2 AND holder = ?3 AND seq > ?4`,
		&s.later:      "UPDATE owed SET ready = ?4, holder = '', tries = tries + 1, reason = ?5 WHERE follower = ?1 AND id = ?2 AND holder = ?3",
		&s.bury:       "UPDATE owed SET dead = ?5, holder = '', reason = ?6 WHERE follower = ?1 AND id = ?2 AND holder = ?3 AND seq = ?4",
		&s.revive:     "UPDATE owed SET dead = NULL, reason = NULL, tries = 0, ready = since WHERE follower = ?1 AND dead IS NOT NULL",
		&s.reviveSome: "UPDATE owed SET dead = NULL, reason = NULL, tries = 0, ready = since WHERE follower = ?1 AND dead IS NOT NULL AND id IN (SELECT unhex(value) FROM json_each(?2))",
		&s.adopt: `INSERT INTO log (seq, tenant, prev, was, op, id, at, actor, run, reason, hash,
				state, scope, rev, kind, layer, session, sec, nsec, dated, updated, pinned, retired, retirer, text, extra, filed)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
		&s.adoptOld: "INSERT INTO replaced (seq, mem, session, sec, nsec, dated, updated, text, extra) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
	}
}

const findRow = "SELECT m.seq, m.scope, m.rev, m.state, m.pinned, coalesce(r.recalls, 0) FROM log m "

// hot are the statements of each commit. An insert of an ID that the index has
// gives it no hash, and is ignored for that: any other way to say so costs
// SQLite a table in between, or copies of pages to undo the statement alone.
func (s *statements) hot() map[**hot]string {
	return map[**hot]string{
		&s.begin:  "BEGIN IMMEDIATE",
		&s.commit: "COMMIT",
		&s.insert: `INSERT OR IGNORE INTO log (seq, tenant, prev, was, op, id, at, actor, run, reason, hash,
				rev, state, filed, scope, kind, layer, session, sec, nsec, dated, pinned, text, extra)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, CASE WHEN EXISTS (SELECT 1 FROM log INDEXED BY memory_id WHERE filed = 1 AND id = ?6) THEN NULL ELSE ? END,
				?, 0, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
	for dst, text := range s.hot() {
		if *dst, err = prepareHot(ctx, c, text); err != nil {
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
	for dst := range s.hot() {
		if *dst != nil {
			errs = append(errs, (*dst).close())
		}
	}
	return errors.Join(errs...)
}

// tx is one open transaction; only the writer's goroutine uses it.
type tx struct {
	w      *writer
	fresh  []memtypes.Scope // numbered within it
	purged bool
	buf    []byte
}

// mark is what a log entry says besides the batch it belongs to.
type mark struct {
	op     ledger.Op
	id     ledger.Key
	was    uint64
	reason string
}

// record appends an entry to the log of a tenant and returns its number.
func (t *tx) record(tenant int64, b *ledger.Batch, m mark) (uint64, error) {
	h, e, err := t.entry(tenant, b, m)
	if err != nil {
		return 0, err
	}
	if _, err := t.w.stmts.log.Exec(e.args(tenant)...); err != nil {
		return 0, err
	}
	t.w.ends.advance(h, e)
	return e.Seq, nil
}

// entry makes the next entry of a tenant, which follows h.
func (t *tx) entry(tenant int64, b *ledger.Batch, m mark) (*head, *entry, error) {
	h, err := t.w.ends.head(tenant, &t.w.stmts)
	if err != nil {
		return nil, nil, err
	}
	e := &entry{Link: ledger.Link{Seq: t.w.ends.last + 1, Prev: h.seq, Was: m.was, Op: ledger.OpNumber(m.op), ID: m.id, At: b.Now.UnixNano(),
		Actor: b.Actor, RunID: b.RunID, Reason: m.reason}}
	e.hash, t.buf = e.Sum(t.buf, h.name, h.hash)
	return h, e, nil
}

// entry is a row of the log.
type entry struct {
	ledger.Link
	hash [sha256.Size]byte
}

// args are its columns, to be inserted.
func (e *entry) args(tenant int64) []any {
	return []any{int64(e.Seq), tenant, int64(e.Prev), int64(e.Was), int64(e.Op), e.ID[:], e.At, e.Actor, orNull(e.RunID), orNull(e.Reason), e.hash[:]}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
