package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/vimbank/vimbank/memtypes"
)

// The application ids that SQLite keeps in bytes 68 to 71 of a file.
const (
	ledgerID  = 0x564d424c // "VMBL"
	vectorsID = 0x564d4256 // "VMBV"
)

// ledgerSchema brings ledger.db from version i to i+1, each step in one
// transaction. Steps that were released are never changed, only followed.
//
// Why it is as it is: an insert must touch few pages, because it is synced.
//   - log is audit trail, outbox and list of revisions in one, and the row of an
//     insert is the memory as well: one row in one page, always at the end.
//     prev links a tenant's entries and was a memory's, so neither needs an
//     index; only the index of ids is written at random places.
//   - what may change often stands apart: a recall rewrites 20 bytes of
//     recalled and not a memory. So does the content that a revision replaced.
//   - a purged memory stays as a row without content (state 2), which the two
//     indexes over content leave out.
//   - since version 2 an insert touches no index at all: the row is loose at
//     first, and many at once are filed, see filing.go. A sync of one commit
//     then is of one page instead of four, of eight writers' of three instead of
//     twenty-six.
//   - since version 3 followers draw from the log what they owe, see outbox.go:
//     an insert writes nothing for them.
func ledgerSchema() []string {
	return []string{`
CREATE TABLE tenants (
	no   INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	head INTEGER NOT NULL DEFAULT 0, -- seq of the newest log entry, as of when it was noted: see ends
	hash BLOB NOT NULL DEFAULT x''   -- and its hash
) STRICT;
CREATE TABLE scopes (
	no     INTEGER PRIMARY KEY,
	tenant INTEGER NOT NULL REFERENCES tenants(no),
	user   TEXT NOT NULL,
	agent  TEXT NOT NULL,
	run    TEXT NOT NULL,
	UNIQUE (tenant, user, agent, run)
) STRICT;
CREATE TABLE log (
	seq     INTEGER PRIMARY KEY,
	tenant  INTEGER NOT NULL,
	prev    INTEGER NOT NULL, -- seq of the tenant's entry before, 0: none
	was     INTEGER NOT NULL, -- seq of the memory's entry before, 0: none
	op      INTEGER NOT NULL, -- see ledger.OpNumber
	id      BLOB NOT NULL,
	at      INTEGER NOT NULL, -- Unix nanoseconds, as all times but sec
	actor   TEXT NOT NULL,
	run     TEXT,
	reason  TEXT,
	hash    BLOB NOT NULL,    -- SHA-256 over the hash before and the columns above

	-- The memory that this entry inserted, as it is now; else all NULL.
	state   INTEGER,          -- 0 active, 1 retired, 2 purged
	scope   INTEGER REFERENCES scopes(no),
	rev     INTEGER,
	kind    INTEGER,          -- 0 knowledge, 1 dialogue, 2 task
	layer   INTEGER,          -- 0 raw, 1 thought
	session TEXT,
	sec     INTEGER,          -- the moment it is about, Unix seconds
	nsec    INTEGER,          -- and nanoseconds
	dated   INTEGER,          -- 1: that is its event time, 0: when it was created
	updated INTEGER,          -- of the last revise; NULL: as created
	pinned  INTEGER,
	retired INTEGER,
	retirer TEXT,             -- the run that retired it
	text    TEXT,
	extra   TEXT              -- JSON of what few memories have
) STRICT;
CREATE UNIQUE INDEX memory_id ON log(id) WHERE state IS NOT NULL;
CREATE INDEX memory_when ON log(sec, nsec, id, scope, state, kind, layer) WHERE state < 2;
CREATE INDEX memory_session ON log(scope, session, sec, nsec) WHERE state < 2;
CREATE INDEX memory_retirer ON log(retirer) WHERE retirer IS NOT NULL;
CREATE INDEX log_purges ON log(seq) WHERE op = 5;
CREATE TABLE recalled (
	mem     INTEGER PRIMARY KEY REFERENCES log(seq),
	recalls INTEGER NOT NULL,
	last    INTEGER
) STRICT;
CREATE TABLE replaced (
	seq     INTEGER PRIMARY KEY, -- of the revise that replaced this content
	mem     INTEGER NOT NULL REFERENCES log(seq),
	session TEXT NOT NULL,
	sec     INTEGER NOT NULL,
	nsec    INTEGER NOT NULL,
	dated   INTEGER NOT NULL,
	updated INTEGER,
	text    TEXT NOT NULL,
	extra   TEXT
) STRICT;
CREATE INDEX replaced_mem ON replaced(mem);
CREATE TABLE runs (
	id      TEXT PRIMARY KEY,
	job     TEXT NOT NULL,
	started INTEGER NOT NULL,
	body    TEXT NOT NULL
) STRICT;
CREATE INDEX runs_job ON runs(job, started);
CREATE TABLE leases (
	name    TEXT PRIMARY KEY,
	holder  TEXT NOT NULL, -- empty: released
	fence   INTEGER NOT NULL,
	expires INTEGER NOT NULL
) STRICT;
CREATE TABLE settings (
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT;`, `
ALTER TABLE log ADD COLUMN filed INTEGER; -- of a memory: 1 the indexes have it, 0 it is loose
UPDATE log SET filed = 1 WHERE state IS NOT NULL;
DROP INDEX memory_id;
DROP INDEX memory_when;
DROP INDEX memory_session;
CREATE UNIQUE INDEX memory_id ON log(id) WHERE filed = 1;
CREATE INDEX memory_when ON log(sec, nsec, id, scope, state, kind, layer) WHERE filed = 1 AND state < 2;
CREATE INDEX memory_session ON log(scope, session, sec, nsec) WHERE filed = 1 AND state < 2;
CREATE TABLE filing (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	seq INTEGER NOT NULL -- no memory up to here is loose
) STRICT;
INSERT INTO filing SELECT 1, coalesce(max(seq), 0) FROM log;`, `
CREATE TABLE followers (
	no    INTEGER PRIMARY KEY,
	name  TEXT NOT NULL UNIQUE,
	drawn INTEGER NOT NULL -- it owes what changed up to here, as far as owed says so
) STRICT;
CREATE TABLE owed (
	follower INTEGER NOT NULL REFERENCES followers(no),
	id       BLOB NOT NULL,
	first    INTEGER NOT NULL, -- no change before this one is owed
	seq      INTEGER NOT NULL, -- the newest change that was drawn
	since    INTEGER NOT NULL, -- the time of seq
	ready    INTEGER NOT NULL, -- when it can be claimed: it is due, and nobody holds it
	holder   TEXT NOT NULL,    -- empty: not claimed
	tries    INTEGER NOT NULL,
	dead     INTEGER,          -- when it was given up, 0 if that is not known; NULL: it is owed
	reason   TEXT,
	PRIMARY KEY (follower, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX owed_ready ON owed(follower, ready, first) WHERE dead IS NULL;
CREATE INDEX owed_first ON owed(follower, first) WHERE dead IS NULL;
CREATE INDEX owed_dead ON owed(follower, seq) WHERE dead IS NOT NULL;`}
}

// migrate brings the file that c has open to the newest version of steps, in
// one transaction a step, and names it ours if it is new. Another process may
// do the same at the same time: each step looks at the version under the lock.
func migrate(ctx context.Context, c *sql.Conn, app int32, steps []string) error {
	for {
		done, err := migrateOne(ctx, c, app, steps)
		if done || err != nil {
			return err
		}
	}
}

func migrateOne(ctx context.Context, c *sql.Conn, app int32, steps []string) (done bool, err error) {
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return false, err
	}
	defer func() {
		if err != nil || done {
			c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // the cause is reported, not this
		}
	}()
	found, version, err := identity(ctx, c)
	if err != nil {
		return false, err
	}
	if version > 0 || found != 0 {
		if err := known(found, version, app, len(steps)); err != nil {
			return false, err
		}
	}
	if version == len(steps) {
		// BEGIN IMMEDIATE takes no lock on a file that cannot be written: try, then roll back.
		_, err = c.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version))
		return true, err
	}
	for _, q := range []string{steps[version], fmt.Sprintf("PRAGMA application_id = %d", app),
		fmt.Sprintf("PRAGMA user_version = %d", version+1), "COMMIT"} {
		if _, err := c.ExecContext(ctx, q); err != nil {
			return false, err
		}
	}
	return false, nil
}

// identity reads the application id and the schema version.
func identity(ctx context.Context, c *sql.Conn) (app int32, version int, err error) {
	if err := c.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return 0, 0, err
	}
	err = c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return app, version, err
}

// known refuses a file that is not app's, or newer than this program.
func known(found int32, version int, app int32, newest int) error {
	const op = "sqlite.Open"
	if found != app {
		return memtypes.Errorf(op, memtypes.Incompatible,
			"another program's SQLite file: found application id %#x, wanted %#x", uint32(found), uint32(app))
	}
	if version > newest || version < 1 {
		return memtypes.Errorf(op, memtypes.Incompatible,
			"found schema version %d, wanted 1 to %d: use a newer vimbank", version, newest)
	}
	return nil
}
