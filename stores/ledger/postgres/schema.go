package postgres

import (
	"fmt"
	"strings"
)

// marker is the table that says whose a schema is and of which version.
const (
	marker = "vimbank_ledger"
	brand  = "vimbank ledger"
)

// steps bring a schema from version i to i+1, each in one transaction. Steps
// that were released are never changed, only followed.
//
// Why it is as it is:
//   - head is one row whose lock makes the commits one after another: that
//     gives numbers without gaps, in the order of the commits. Whoever writes
//     memories, log, leases, runs or settings holds it. The row itself is hardly
//     ever changed, because old versions of a row that every commit changes pile
//     up while a backup runs; the newest number is asked of the log.
//   - log is audit trail, outbox and list of revisions in one. prev and was
//     link a tenant's and a memory's entries.
//   - what may change often stands apart from the text: recalled, and replaced,
//     the content that a revision put an end to.
//   - memories, log and vectors are parted by the hash of their tenant. IDs are
//     unique over all parts because whoever inserts looks into all under the
//     head's lock.
//   - the parts of memories leave room in their pages (fillfactor), and no index
//     covers state, rev or pinned, so that changes of those stay in their page.
//   - there are no NULLs: times that are not known are -1, texts empty.
func steps() []func(partitions int) string {
	return []func(int) string{func(partitions int) string {
		return `
CREATE TABLE {s}.head (
	one bool PRIMARY KEY DEFAULT true CHECK (one),
	seq bigint NOT NULL -- the newest number as of when it was noted, see noteEvery
);
INSERT INTO {s}.head (seq) VALUES (0);
CREATE TABLE {s}.tenants (
	no   bigint PRIMARY KEY, -- see numberOf
	name text NOT NULL UNIQUE,
	seq  bigint NOT NULL DEFAULT 0,       -- of its newest log entry, as of then
	hash bytea NOT NULL DEFAULT ''::bytea -- and that one's hash
) WITH (fillfactor = 50);
CREATE TABLE {s}.scopes (
	no     bigint PRIMARY KEY,
	tenant bigint NOT NULL REFERENCES {s}.tenants,
	usr    text NOT NULL,
	agent  text NOT NULL,
	run    text NOT NULL,
	UNIQUE (tenant, usr, agent, run)
);
CREATE TABLE {s}.log (
	seq    bigint NOT NULL,
	tenant bigint NOT NULL,
	prev   bigint NOT NULL,   -- seq of the tenant's entry before, 0: none
	was    bigint NOT NULL,   -- seq of the memory's entry before, 0: none
	op     smallint NOT NULL, -- see ledger.OpNumber
	id     uuid NOT NULL,
	at     bigint NOT NULL,   -- Unix nanoseconds, as all times but sec
	actor  text NOT NULL,
	run    text NOT NULL,
	reason text NOT NULL,
	hash   bytea NOT NULL,    -- see ledger.Link
	PRIMARY KEY (tenant, seq)
) PARTITION BY HASH (tenant);
CREATE INDEX log_seq ON {s}.log (seq);
CREATE TABLE {s}.memories (
	id      uuid NOT NULL,
	tenant  bigint NOT NULL,
	seq     bigint NOT NULL,   -- of its insert
	scope   bigint NOT NULL,
	rev     bigint NOT NULL,   -- of its newest log entry
	state   smallint NOT NULL, -- 0 active, 1 retired, 2 purged
	kind    smallint NOT NULL, -- 0 knowledge, 1 dialogue, 2 task
	layer   smallint NOT NULL, -- 0 raw, 1 thought
	dated   bool NOT NULL,     -- sec and nsec are its event time, else when it was created
	pinned  bool NOT NULL,
	nsec    int NOT NULL,
	sec     bigint NOT NULL,   -- the moment it is about, Unix seconds
	created bigint NOT NULL,
	updated bigint NOT NULL,   -- by the last revise, -1: as created
	retired bigint NOT NULL,   -- -1: it is not
	retirer text NOT NULL,     -- the run that retired it
	session text NOT NULL,
	text    text NOT NULL,
	extra   text NOT NULL,     -- JSON of what few memories have
	PRIMARY KEY (id, tenant)
) PARTITION BY HASH (tenant);
CREATE INDEX memories_when ON {s}.memories (sec, nsec, id);
CREATE INDEX memories_session ON {s}.memories (scope, session, sec, nsec, seq);
CREATE INDEX memories_retirer ON {s}.memories (retirer) WHERE retirer <> '';
CREATE TABLE {s}.vectors (
	tenant   bigint NOT NULL,
	id       uuid NOT NULL,
	embedder int NOT NULL,
	hash     text NOT NULL,
	vector   bytea NOT NULL, -- little-endian float32
	PRIMARY KEY (id, embedder, tenant)
) PARTITION BY HASH (tenant);
` + parts("log", partitions, "") + parts("memories", partitions, " WITH (fillfactor = 90)") + parts("vectors", partitions, "") + `
CREATE TABLE {s}.embedders (
	no          int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	fingerprint text NOT NULL UNIQUE
);
CREATE TABLE {s}.recalled (
	id      uuid PRIMARY KEY,
	recalls bigint NOT NULL,
	last    bigint NOT NULL -- -1: never
) WITH (fillfactor = 70);
CREATE TABLE {s}.replaced (
	id      uuid NOT NULL,
	rev     bigint NOT NULL, -- of the revise that replaced this content
	session text NOT NULL,
	sec     bigint NOT NULL,
	nsec    int NOT NULL,
	dated   bool NOT NULL,
	updated bigint NOT NULL,
	text    text NOT NULL,
	extra   text NOT NULL,
	PRIMARY KEY (id, rev)
);
CREATE TABLE {s}.runs (
	id      text PRIMARY KEY,
	job     text NOT NULL,
	started bigint NOT NULL,
	body    text NOT NULL
);
CREATE INDEX runs_job ON {s}.runs (job, started);
CREATE INDEX runs_started ON {s}.runs (started);
CREATE TABLE {s}.leases (
	name    text PRIMARY KEY,
	holder  text NOT NULL, -- empty: released
	fence   bigint NOT NULL,
	expires bigint NOT NULL
);
CREATE TABLE {s}.settings (
	key   text PRIMARY KEY,
	value text NOT NULL
);
CREATE TABLE {s}.followers (
	name  text COLLATE "C" PRIMARY KEY,
	drawn bigint NOT NULL -- it owes what changed up to here, as far as owed says so
);
CREATE TABLE {s}.owed (
	follower text COLLATE "C" NOT NULL, -- of followers; whoever draws holds that row, so none is left when it goes
	id       uuid NOT NULL,
	tenant   bigint NOT NULL,
	first    bigint NOT NULL, -- no change before this one is owed
	seq      bigint NOT NULL, -- the newest change that was drawn
	since    bigint NOT NULL, -- the time of seq
	ready    bigint NOT NULL, -- when it can be claimed: it is due, and nobody holds it
	holder   text NOT NULL,   -- empty: not claimed
	tries    int NOT NULL,
	dead     bigint NOT NULL, -- when it was given up, 0 if that is not known; -1: it is owed
	reason   text NOT NULL,
	PRIMARY KEY (follower, id)
) WITH (fillfactor = 70);
CREATE INDEX owed_ready ON {s}.owed (follower, ready, first) WHERE dead = -1;
CREATE INDEX owed_first ON {s}.owed (follower, first) WHERE dead = -1;
CREATE INDEX owed_dead ON {s}.owed (follower, seq) WHERE dead <> -1;
`
	}}
}

// parts makes the partitions of a table.
func parts(table string, n int, with string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "CREATE TABLE {s}.%s_%d PARTITION OF {s}.%s FOR VALUES WITH (MODULUS %d, REMAINDER %d)%s;\n", table, i, table, n, i, with)
	}
	return b.String()
}
