package postgres

import (
	"encoding/json"

	"github.com/jackc/pgx/v5"
)

// chunkRows and chunkBytes bound one statement that writes many rows.
const (
	chunkRows  = 2000
	chunkBytes = 4 << 20
)

// flush is all that t writes, with the commit at its end: one round trip.
func (db *DB) flush(t *tx) (*pgx.Batch, error) {
	b := &pgx.Batch{}
	q := func(text string, args ...any) { b.Queue(db.sql(text), args...) }
	t.flushLog(q)
	t.flushPurged(q)
	t.flushMemories(q)
	t.flushErased(q)
	t.flushReplaced(q)
	if err := t.flushRuns(q); err != nil {
		return nil, err
	}
	t.flushSettings(q)
	t.flushLeases(q)
	t.flushNotes(q)
	if t.head > t.was && !db.opt.Pooler {
		q("SELECT pg_notify($1::text, $2::text)", db.channel(), numeral(t.head))
	}
	b.Queue("COMMIT")
	return b, nil
}

// queue adds a statement to what is sent.
type queue func(text string, args ...any)

// chunks cuts a list into pieces that one statement may carry.
func chunks[T any](list []T, size func(*T) int, do func([]T)) {
	for len(list) > 0 {
		n, bytes := 0, 0
		for n < len(list) && n < chunkRows && (n == 0 || bytes < chunkBytes) {
			bytes += size(&list[n])
			n++
		}
		do(list[:n])
		list = list[n:]
	}
}

func (t *tx) flushLog(q queue) {
	chunks(t.links, func(l *link) int { return 300 + len(l.Reason) }, func(list []link) {
		n := len(list)
		seq, tenant, prev, was, at, op := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int16, n)
		id, actor, run, reason, hash := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([][]byte, n)
		for i := range list {
			l := &list[i]
			seq[i], tenant[i], prev[i], was[i], op[i], at[i] = int64(l.Seq), l.tenant, int64(l.Prev), int64(l.Was), int16(l.Op), l.At
			id[i], actor[i], run[i], reason[i], hash[i] = string(l.ID.ID()), l.Actor, l.RunID, l.Reason, l.hash[:]
		}
		q(`INSERT INTO {s}.log (seq, tenant, prev, was, op, id, at, actor, run, reason, hash)
			SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[], $6::text[]::uuid[], $7::bigint[],
				$8::text[], $9::text[], $10::text[], $11::bytea[])`, seq, tenant, prev, was, op, id, at, actor, run, reason, hash)
	})
}

// flushPurged takes away what is kept beside purged memories. It comes before
// what inserts them anew.
func (t *tx) flushPurged(q queue) {
	if len(t.purged) == 0 {
		return
	}
	for _, table := range []string{"recalled", "replaced"} {
		q("DELETE FROM {s}."+table+" WHERE id = ANY($1::text[]::uuid[])", t.purged)
	}
}

// flushErased takes away the vectors of purged memories. It comes after what
// purges those, which waits for whoever is putting vectors of them now.
func (t *tx) flushErased(q queue) {
	if len(t.purged) > 0 {
		q("DELETE FROM {s}.vectors WHERE id = ANY($1::text[]::uuid[])", t.purged)
	}
}

func (t *tx) flushReplaced(q queue) {
	chunks(t.replaced, func(r *replaced) int { return 100 + len(r.text) + len(r.extra) }, func(list []replaced) {
		n := len(list)
		id, session, text, extra := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		rev, sec, updated, nsec, dated := make([]int64, n), make([]int64, n), make([]int64, n), make([]int32, n), make([]bool, n)
		for i := range list {
			r := &list[i]
			id[i], session[i], text[i], extra[i] = string(r.id.ID()), r.session, r.text, r.extra
			rev[i], sec[i], updated[i], nsec[i], dated[i] = r.rev, r.sec, r.updated, int32(r.nsec), r.dated
		}
		q(`INSERT INTO {s}.replaced (id, rev, session, sec, nsec, dated, updated, text, extra)
			SELECT * FROM unnest($1::text[]::uuid[], $2::bigint[], $3::text[], $4::bigint[], $5::int[], $6::bool[], $7::bigint[], $8::text[], $9::text[])`,
			id, rev, session, sec, nsec, dated, updated, text, extra)
	})
}

// flushRuns writes the last of several runs of one ID.
func (t *tx) flushRuns(q queue) error {
	last := map[string]int{}
	for i := range t.runs {
		last[t.runs[i].ID] = i
	}
	for i, r := range t.runs {
		if last[r.ID] != i {
			continue
		}
		body, err := json.Marshal(&r)
		if err != nil {
			return err
		}
		q(`INSERT INTO {s}.runs (id, job, started, body) VALUES ($1, $2, $3, $4)
			ON CONFLICT (id) DO UPDATE SET job = excluded.job, started = excluded.started, body = excluded.body`, r.ID, r.Job, r.Started.UnixNano(), string(body))
	}
	return nil
}

func (t *tx) flushSettings(q queue) {
	for _, p := range t.settings {
		if p[1] == "" {
			q("DELETE FROM {s}.settings WHERE key = $1", p[0])
			continue
		}
		q("INSERT INTO {s}.settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value", p[0], p[1])
	}
}

func (t *tx) flushLeases(q queue) {
	for name, l := range t.leases {
		if l.moved {
			q(`INSERT INTO {s}.leases (name, holder, fence, expires) VALUES ($1, $2, $3, $4)
				ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, fence = excluded.fence, expires = excluded.expires`, name, l.holder, l.fence, l.expires)
		}
	}
}

// noteEvery is after how many entries of the log the ends of the trails are
// noted in the tenants' rows and the head's, so that a log whose end was cut
// off shows.
const noteEvery = 512

func (t *tx) flushNotes(q queue) {
	if t.head < t.noted+noteEvery {
		return
	}
	q(`UPDATE {s}.tenants t SET seq = l.seq, hash = l.hash
		FROM (SELECT DISTINCT ON (tenant) tenant, seq, hash FROM {s}.log WHERE seq > $1 ORDER BY tenant, seq DESC) l WHERE t.no = l.tenant`, t.noted)
	q("UPDATE {s}.head SET seq = $1", t.head)
}

// last is the newest entry that t adds to the log; nil if it adds none.
func (t *tx) last() *link {
	if len(t.links) == 0 {
		return nil
	}
	return &t.links[len(t.links)-1]
}
