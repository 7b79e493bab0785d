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
		seq, tenant, prev, was, op, at := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
		id, actor, run, reason, hash := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([][]byte, n)
		for i := range list {
			l := &list[i]
			seq[i], tenant[i], prev[i], was[i], op[i], at[i] = int64(l.Seq), l.tenant, int64(l.Prev), int64(l.Was), int64(l.Op), l.At
			id[i], actor[i], run[i], reason[i], hash[i] = string(l.ID.ID()), l.Actor, l.RunID, l.Reason, l.hash[:]
		}
		q(`INSERT INTO {s}.log (seq, tenant, prev, was, op, id, at, actor, run, reason, hash)
			SELECT * FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[], $5::smallint[], $6::text[]::uuid[], $7::bigint[],
				$8::text[], $9::text[], $10::text[], $11::bytea[])`, seq, ints[int32](tenant), prev, was, ints[int16](op), id, at, actor, run, reason, hash)
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

func (t *tx) flushMemories(q queue) {
	var fresh, all, brief, counted []*mem
	for _, m := range t.dirty {
		switch {
		case !m.stored && m.all:
			fresh = append(fresh, m)
		case m.all:
			all = append(all, m)
		case m.brief:
			brief = append(brief, m)
		}
		if m.count && (m.recalls > 0 || m.last != never) {
			counted = append(counted, m)
		}
	}
	size := func(m **mem) int { return 200 + len((*m).text) + len((*m).extra) }
	chunks(fresh, size, func(list []*mem) { q(insertMemories, columns(list)...) })
	chunks(all, size, func(list []*mem) { q(updateMemories, columns(list)...) })
	chunks(brief, size, func(list []*mem) { flushBrief(q, list) })
	chunks(counted, size, func(list []*mem) { flushCounted(q, list) })
}

const unnestMemories = `SELECT * FROM unnest($1::text[]::uuid[], $2::int[], $3::bigint[], $4::int[], $5::bigint[], $6::smallint[], $7::smallint[], $8::smallint[],
	$9::bool[], $10::bool[], $11::int[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[], $16::text[], $17::text[], $18::text[], $19::text[])`

const insertMemories = `INSERT INTO {s}.memories (id, tenant, seq, scope, rev, state, kind, layer, dated, pinned, nsec, sec, created, updated, retired, retirer, session, text, extra)
	` + unnestMemories

const updateMemories = `UPDATE {s}.memories m SET seq = u.seq, scope = u.scope, rev = u.rev, state = u.state, kind = u.kind, layer = u.layer, dated = u.dated,
		pinned = u.pinned, nsec = u.nsec, sec = u.sec, created = u.created, updated = u.updated, retired = u.retired, retirer = u.retirer,
		session = u.session, text = u.text, extra = u.extra
	FROM (` + unnestMemories + `) u(id, tenant, seq, scope, rev, state, kind, layer, dated, pinned, nsec, sec, created, updated, retired, retirer, session, text, extra)
	WHERE m.id = u.id AND m.tenant = u.tenant`

// columns are the arguments of unnestMemories.
func columns(list []*mem) []any {
	n := len(list)
	id, retirer, session, text, extra := make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	tenant, scope, nsec := make([]int32, n), make([]int32, n), make([]int32, n)
	state, kind, layer := make([]int16, n), make([]int16, n), make([]int16, n)
	dated, pinned := make([]bool, n), make([]bool, n)
	seq, rev, sec, created, updated, retired := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, m := range list {
		id[i], retirer[i], session[i], text[i], extra[i] = string(m.id.ID()), m.retirer, m.session, m.text, m.extra
		tenant[i], scope[i], nsec[i] = int32(m.tenant), int32(m.scopeNo), int32(m.nsec)
		state[i], kind[i], layer[i] = int16(m.state), int16(m.kind), int16(m.layer)
		dated[i], pinned[i] = m.dated, m.pinned
		seq[i], rev[i], sec[i], created[i], updated[i], retired[i] = m.seq, m.rev, m.sec, m.created, m.updated, m.retired
	}
	return []any{id, tenant, seq, scope, rev, state, kind, layer, dated, pinned, nsec, sec, created, updated, retired, retirer, session, text, extra}
}

func flushBrief(q queue, list []*mem) {
	n := len(list)
	id, tenant, rev, state, pinned, retired, retirer := make([]string, n), make([]int32, n), make([]int64, n), make([]int16, n), make([]bool, n), make([]int64, n), make([]string, n)
	for i, m := range list {
		id[i], tenant[i], rev[i], state[i], pinned[i], retired[i], retirer[i] = string(m.id.ID()), int32(m.tenant), m.rev, int16(m.state), m.pinned, m.retired, m.retirer
	}
	q(`UPDATE {s}.memories m SET rev = u.rev, state = u.state, pinned = u.pinned, retired = u.retired, retirer = u.retirer
		FROM unnest($1::text[]::uuid[], $2::int[], $3::bigint[], $4::smallint[], $5::bool[], $6::bigint[], $7::text[]) u(id, tenant, rev, state, pinned, retired, retirer)
		WHERE m.id = u.id AND m.tenant = u.tenant`, id, tenant, rev, state, pinned, retired, retirer)
}

func flushCounted(q queue, list []*mem) {
	n := len(list)
	id, recalls, last := make([]string, n), make([]int64, n), make([]int64, n)
	for i, m := range list {
		id[i], recalls[i], last[i] = string(m.id.ID()), m.recalls, m.last
	}
	q(`INSERT INTO {s}.recalled (id, recalls, last) SELECT * FROM unnest($1::text[]::uuid[], $2::bigint[], $3::bigint[])
		ON CONFLICT (id) DO UPDATE SET recalls = excluded.recalls, last = excluded.last`, id, recalls, last)
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

// ints narrows numbers to what a column holds.
func ints[T int16 | int32](list []int64) []T {
	out := make([]T, len(list))
	for i, n := range list {
		out[i] = T(n)
	}
	return out
}

// last is the newest entry that t adds to the log; nil if it adds none.
func (t *tx) last() *link {
	if len(t.links) == 0 {
		return nil
	}
	return &t.links[len(t.links)-1]
}
