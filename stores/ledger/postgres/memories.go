package postgres

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

const unnestMemories = `SELECT * FROM unnest($1::text[]::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::smallint[], $7::smallint[], $8::smallint[],
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
	tenant, scope, nsec := make([]int64, n), make([]int64, n), make([]int32, n)
	state, kind, layer := make([]int16, n), make([]int16, n), make([]int16, n)
	dated, pinned := make([]bool, n), make([]bool, n)
	seq, rev, sec, created, updated, retired := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	for i, m := range list {
		id[i], retirer[i], session[i], text[i], extra[i] = string(m.id.ID()), m.retirer, m.session, m.text, m.extra
		tenant[i], scope[i], nsec[i] = m.tenant, m.scopeNo, int32(m.nsec)
		state[i], kind[i], layer[i] = int16(m.state), int16(m.kind), int16(m.layer)
		dated[i], pinned[i] = m.dated, m.pinned
		seq[i], rev[i], sec[i], created[i], updated[i], retired[i] = m.seq, m.rev, m.sec, m.created, m.updated, m.retired
	}
	return []any{id, tenant, seq, scope, rev, state, kind, layer, dated, pinned, nsec, sec, created, updated, retired, retirer, session, text, extra}
}

func flushBrief(q queue, list []*mem) {
	n := len(list)
	id, tenant, rev, state, pinned, retired, retirer := make([]string, n), make([]int64, n), make([]int64, n), make([]int16, n), make([]bool, n), make([]int64, n), make([]string, n)
	for i, m := range list {
		id[i], tenant[i], rev[i], state[i], pinned[i], retired[i], retirer[i] = string(m.id.ID()), m.tenant, m.rev, int16(m.state), m.pinned, m.retired, m.retirer
	}
	q(`UPDATE {s}.memories m SET rev = u.rev, state = u.state, pinned = u.pinned, retired = u.retired, retirer = u.retirer
		FROM unnest($1::text[]::uuid[], $2::bigint[], $3::bigint[], $4::smallint[], $5::bool[], $6::bigint[], $7::text[]) u(id, tenant, rev, state, pinned, retired, retirer)
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
