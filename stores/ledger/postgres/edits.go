package postgres

import (
	"bytes"

	"github.com/vimbank/vimbank/stores/ledger"
)

// mem is what a transaction knows and makes of a memory.
type mem struct {
	row
	stored bool // it is in the tables, and not only inserted here
	whole  bool // its content is known
	changed
}

// changed says what of a memory must be written.
type changed struct {
	all   bool // every column
	brief bool // state, revision, pin and retirement
	count bool // recalls
}

// apply carries out one edit and says what became of it.
func (t *tx) apply(b *ledger.Batch, e *ready) (ledger.Result, error) {
	m := t.mems[e.id]
	if m != nil && e.Op != ledger.Insert && !e.Memory.Scope.Covers(m.scope) {
		m = nil
	}
	out, err := t.change(b, e, m)
	r := ledger.Result{ID: e.Memory.ID, Outcome: out}
	if m = t.mems[e.id]; m != nil && out != ledger.Missing {
		r.Rev = uint64(m.rev)
	}
	return r, err
}

// change does what the operation asks of m, which is nil if it is not known.
func (t *tx) change(b *ledger.Batch, e *ready, m *mem) (ledger.Outcome, error) {
	if m == nil && e.Op != ledger.Insert {
		return ledger.Missing, nil
	}
	gone := m != nil && m.state == statePurged
	if gone && e.Op != ledger.Insert && e.Op != ledger.Purge {
		return ledger.Missing, nil
	}
	if outdated(e, m) {
		return ledger.Stale, nil
	}
	switch e.Op {
	case ledger.Insert:
		return t.insert(b, e, m)
	case ledger.Retire:
		return t.setState(b, e, m, stateRetired, ledger.Retire), nil
	case ledger.Restore:
		return t.setState(b, e, m, stateActive, ledger.Restore), nil
	case ledger.Purge:
		if gone {
			return ledger.Same, nil
		}
		t.purge(b, e, m)
		return ledger.Done, nil
	}
	if m.state != stateActive {
		return ledger.Missing, nil
	}
	switch e.Op {
	case ledger.Revise:
		return t.revise(b, e, m)
	case ledger.Recall:
		m.recalls++
		m.last = max(m.last, b.Now.UnixNano())
		t.touch(m).count = true
		return ledger.Done, nil
	case ledger.Touch:
		return t.setPin(b, e, m, m.pinned), nil
	default:
		return t.pin(b, e, m), nil
	}
}

// outdated says that a condition of e does not hold.
func outdated(e *ready, m *mem) bool {
	var rev uint64
	var recalls int
	if m != nil {
		rev, recalls = uint64(m.rev), int(m.recalls)
	}
	return e.IfRev != 0 && (e.IfRev != rev || m == nil) || e.IfRecalls != nil && *e.IfRecalls != recalls
}

// insert adds a memory, a purged one anew, or restores a retired one of the
// same content.
func (t *tx) insert(b *ledger.Batch, e *ready, m *mem) (ledger.Outcome, error) {
	if m != nil && m.state != statePurged {
		same, err := m.same(e)
		switch {
		case err != nil:
			return "", err
		case !same:
			return ledger.Conflicting, nil
		case m.state == stateActive:
			return ledger.Same, nil
		}
		return t.setState(b, e, m, stateActive, ledger.Restore), nil
	}
	if m != nil && m.scope.Tenant() != e.Memory.Scope.Tenant() {
		// Its tombstone is another's, and stays where it is.
		return ledger.Conflicting, nil
	}
	n := &e.Memory
	fresh := row{id: e.id, tenant: tenantNo(n.Scope.Tenant()), scopeNo: scopeNo(n.Scope), scope: n.Scope, state: stateActive,
		kind: int(kindNumber(n.Kind)), layer: int(layerNumber(n.Layer)), created: b.Now.UnixNano(), pinned: n.Strength.Pinned,
		retired: never, content: e.content, recalls: int64(n.Strength.Recalls), last: nanos(n.Strength.LastRecall)}
	if m == nil {
		m = &mem{}
		t.mems[e.id] = m
	}
	m.row, m.whole = fresh, true
	m.rev = t.record(b, e, &m.row, ledger.Insert)
	m.seq = m.rev
	t.touch(m).all = true
	m.count = m.count || m.recalls > 0 || m.last != never
	return ledger.Done, nil
}

// same says whether e inserts what m is, or what it was first of all.
func (m *mem) same(e *ready) (bool, error) {
	if m.scope != e.Memory.Scope {
		return false, nil
	}
	now, err := m.memory()
	if err != nil {
		return false, err
	}
	want := ledger.Content(&e.Memory)
	if ledger.Content(&now) == want {
		return true, nil
	}
	x, err := m.rest()
	return bytes.Equal(x.Origin, want[:]), err
}

// setState retires or restores, and records it as op.
func (t *tx) setState(b *ledger.Batch, e *ready, m *mem, state int, op ledger.Op) ledger.Outcome {
	if m.state == state {
		return ledger.Same
	}
	m.rev = t.record(b, e, &m.row, op)
	m.state, m.retired, m.retirer = state, never, ""
	if state == stateRetired {
		m.retired, m.retirer = b.Now.UnixNano(), b.RunID
	}
	t.touch(m).brief = true
	return ledger.Done
}

func (t *tx) pin(b *ledger.Batch, e *ready, m *mem) ledger.Outcome {
	want := e.Op == ledger.Pin
	if m.pinned == want {
		return ledger.Same
	}
	return t.setPin(b, e, m, want)
}

// setPin records e and pins m or not.
func (t *tx) setPin(b *ledger.Batch, e *ready, m *mem, pinned bool) ledger.Outcome {
	m.rev = t.record(b, e, &m.row, e.Op)
	m.pinned = pinned
	t.touch(m).brief = true
	return ledger.Done
}

// revise keeps the content that is and puts the new one in its place.
func (t *tx) revise(b *ledger.Batch, e *ready, m *mem) (ledger.Outcome, error) {
	c, same, err := m.merged(e)
	if err != nil {
		return "", err
	}
	if same {
		return ledger.Same, nil
	}
	m.rev = t.record(b, e, &m.row, ledger.Revise)
	t.replaced = append(t.replaced, replaced{id: m.id, rev: m.rev, content: m.content})
	c.updated = b.Now.UnixNano()
	m.content = c
	t.touch(m).all = true
	return ledger.Done, nil
}

// merged is m with what e revises; same says that it is so already.
func (m *mem) merged(e *ready) (c content, same bool, err error) {
	now, err := m.memory()
	if err != nil {
		return c, false, err
	}
	x, err := m.rest()
	if err != nil {
		return c, false, err
	}
	origin := x.Origin
	if origin == nil {
		sum := ledger.Content(&now)
		origin = sum[:]
	}
	n := &e.Memory
	now.Text, now.Title, now.Meta, now.Event, now.Task, now.Triple, now.Talk, now.Source = n.Text, n.Title, n.Meta, n.Event, n.Task, n.Triple, n.Talk, n.Source
	if c, err = contentOf(&now, now.Created, x.Origin); err != nil {
		return c, false, err
	}
	c.updated = m.updated
	if c == m.content {
		return c, true, nil
	}
	c, err = contentOf(&now, now.Created, origin)
	return c, false, err
}

// purge takes everything from a memory but ID, scope, kind and revision.
func (t *tx) purge(b *ledger.Batch, e *ready, m *mem) {
	m.rev = t.record(b, e, &m.row, ledger.Purge)
	m.state, m.pinned, m.retired, m.retirer, m.recalls, m.last = statePurged, false, never, "", 0, never
	m.content, m.whole = content{updated: never}, true
	t.touch(m).all = true
	t.purged = append(t.purged, string(m.id.ID()))
	kept := t.replaced[:0]
	for _, r := range t.replaced { // what was replaced here must not be written at all
		if r.id != m.id {
			kept = append(kept, r)
		}
	}
	t.replaced = kept
}

// record appends an entry to the log of r's tenant and returns its number.
func (t *tx) record(b *ledger.Batch, e *ready, r *row, op ledger.Op) int64 {
	n := t.tenants[r.scope.Tenant()]
	t.head++
	l := link{tenant: n.no, Link: ledger.Link{Seq: uint64(t.head), Prev: uint64(n.seq), Was: uint64(r.rev), Op: ledger.OpNumber(op), ID: r.id,
		At: b.Now.UnixNano(), Actor: b.Actor, RunID: b.RunID, Reason: e.Reason}}
	l.hash, t.scratch = l.Sum(t.scratch, r.scope.Tenant(), n.hash)
	t.links = append(t.links, l)
	n.seq, n.hash = t.head, l.hash[:]
	return t.head
}

// touch has m written at the end.
func (t *tx) touch(m *mem) *changed {
	if m.changed == (changed{}) {
		t.dirty = append(t.dirty, m)
	}
	return &m.changed
}
