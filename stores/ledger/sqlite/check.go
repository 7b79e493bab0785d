package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/vimbank/vimbank/memtypes"
)

// Check looks for damage: SQLite's own quick check, references that lead
// nowhere, a log with holes, memories that the log does not know, content that
// a purge left. It fails with Internal at the first finding. It reads the whole
// file and leaves the hash chains to VerifyAudit.
func (db *DB) Check(ctx context.Context) error {
	return db.view(ctx, "sqlite.Check", func(r *reader) error {
		var verdict string
		if err := r.pool.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
			return err
		}
		if verdict != "ok" {
			return memtypes.Errorf("sqlite.Check", memtypes.Internal, "found %s, wanted a sound file", verdict)
		}
		for _, c := range invariants() {
			var n int
			if err := r.pool.QueryRowContext(ctx, c.count).Scan(&n); err != nil {
				return err
			}
			if n > 0 {
				return memtypes.Errorf("sqlite.Check", memtypes.Internal, "found %d %s, wanted none", n, c.of)
			}
		}
		return nil
	})
}

// invariant counts what there must be none of.
type invariant struct{ of, count string }

func invariants() []invariant {
	return []invariant{
		{"broken references", "SELECT count(*) FROM pragma_foreign_key_check"},
		{"holes in the log", "SELECT coalesce(max(seq), 0) - count(*) FROM log"},
		{"memories whose revision is not their newest log entry", `SELECT count(*) FROM log m LEFT JOIN log l ON l.seq = m.rev
			WHERE m.state IS NOT NULL AND (l.seq IS NULL OR l.id <> m.id)`},
		{"memories on entries that are no insert", "SELECT count(*) FROM log WHERE state IS NOT NULL AND op <> 1"},
		{"memories that no query finds", `SELECT count(*) FROM log m WHERE state IS NOT NULL AND filed IS NOT 1 AND NOT coalesce(` + isLoose + `, 0)`},
		{"memories of one ID", "SELECT count(*) - count(DISTINCT id) FROM log WHERE state IS NOT NULL"},
		{"memories without scope, kind, time or text", `SELECT count(*) FROM log WHERE state < 2 AND
			(scope + rev + kind + layer + sec + nsec + dated + pinned IS NULL OR session IS NULL OR coalesce(text, '') = '')`},
		{"contents or recalls of no memory", `SELECT count(*) FROM (SELECT mem FROM replaced UNION ALL SELECT mem FROM recalled) p
			LEFT JOIN log m ON m.seq = p.mem WHERE m.state IS NULL OR m.state = 2`},
		{"purged memories with content", "SELECT count(*) FROM log WHERE state = 2 AND (text IS NOT NULL OR extra IS NOT NULL OR session IS NOT NULL)"},
		{"states that contradict the time of retirement", "SELECT count(*) FROM log WHERE state IS NOT NULL AND (state = 1) <> (retired IS NOT NULL)"},
		{"entries filed that are no memory", "SELECT count(*) FROM log WHERE state IS NULL AND filed IS NOT NULL"},
		{"debts of changes that were not drawn, or of none", `SELECT count(*) FROM owed o JOIN followers f ON f.no = o.follower
			LEFT JOIN log l ON l.seq = o.seq WHERE o.seq > f.drawn OR o.first > o.seq OR l.id IS NOT o.id`},
		{"tenants whose noted entry is not in the log", `SELECT count(*) FROM tenants t LEFT JOIN log l ON l.seq = t.head
			WHERE t.head > 0 AND (l.seq IS NULL OR l.tenant <> t.no OR l.hash <> t.hash)`},
	}
}

// Count is how many memories there are of one sort.
type Count struct {
	Tenant string         `json:"tenant"`
	Kind   memtypes.Kind  `json:"kind"`
	State  memtypes.State `json:"state"`
	N      int            `json:"n"`
}

// Stats says what a bank holds.
type Stats struct {
	Counts    []Count `json:"counts"`     // by tenant, kind and state, in this order; the purged are not counted
	Head      uint64  `json:"head"`       // newest sequence number
	Schema    int     `json:"schema"`     // version of the file
	Bytes     int64   `json:"bytes"`      // of ledger.db and its WAL on disk
	VecBytes  int64   `json:"vec_bytes"`  // of the vectors' cache and its WAL
	FreeBytes int64   `json:"free_bytes"` // in ledger.db, to be used again
}

// Stats counts the memories of all tenants and the bytes on disk.
func (db *DB) Stats(ctx context.Context) (s Stats, err error) {
	err = db.view(ctx, "sqlite.Stats", func(r *reader) error {
		s.Counts, err = all(ctx, r.pool, scanCount, `SELECT t.name, c.kind, c.state, sum(c.n)
			FROM (SELECT scope, kind, state, count(*) n FROM log INDEXED BY memory_when WHERE filed = 1 AND state < 2 GROUP BY scope, kind, state
				UNION ALL SELECT scope, kind, state, count(*) FROM log m NOT INDEXED WHERE `+isLoose+` AND state < 2 GROUP BY scope, kind, state) c
			JOIN scopes s ON s.no = c.scope JOIN tenants t ON t.no = s.tenant
			GROUP BY t.name, c.kind, c.state ORDER BY t.name, c.kind, c.state`)
		if err != nil {
			return err
		}
		if s.Head, err = r.head(); err != nil {
			return err
		}
		return r.pool.QueryRowContext(ctx, "SELECT user_version, freelist_count * page_size FROM pragma_user_version, pragma_freelist_count, pragma_page_size").
			Scan(&s.Schema, &s.FreeBytes)
	})
	if err != nil {
		return Stats{}, err
	}
	s.Bytes, s.VecBytes = onDisk(db.dir, ledgerFile), onDisk(db.dir, vectorsFile)
	return s, nil
}

func scanCount(scan func(...any) error) (c Count, err error) {
	var kind, state int
	if err = scan(&c.Tenant, &kind, &state, &c.N); err == nil {
		c.Kind, c.State = memtypes.Kinds()[kind], states()[state]
	}
	return c, err
}

// onDisk adds up a file and its WAL, as far as they are there.
func onDisk(dir, name string) (n int64) {
	for _, suffix := range []string{"", "-wal"} {
		if st, err := os.Stat(filepath.Join(dir, name+suffix)); err == nil {
			n += st.Size()
		}
	}
	return n
}

// String names what is counted: "3 active dialogue of default".
func (c Count) String() string { return fmt.Sprintf("%d %s %s of %s", c.N, c.State, c.Kind, c.Tenant) }
