package postgres

import (
	"context"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

var _ ledger.Movable = (*DB)(nil)

// Adopt writes records of another ledger as they are; see ledger.Movable. It
// shares its transaction with nobody.
func (db *DB) Adopt(ctx context.Context, records []ledger.Record) error {
	const op = "postgres.Adopt"
	if err := ledger.CheckRecords(records); err != nil || len(records) == 0 {
		return db.fail(ctx, op, err)
	}
	need := needs{scopes: map[memtypes.Scope]bool{}, size: maxRows + 1}
	for i := range records {
		r := &records[i]
		need.tenants = append(need.tenants, r.Tenant)
		if r.Memory != nil {
			need.scopes[r.Memory.Scope] = true
		}
		if r.Memory != nil || r.Replaced != nil {
			need.brief = append(need.brief, r.ID)
		}
	}
	return db.update(ctx, op, need, func(t *tx) error {
		rest, err := t.compare(records)
		if err != nil {
			return err
		}
		for i := range rest {
			if err := t.adopt(&rest[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// compare returns those of records that are new, after it found the others to
// be what is there.
func (t *tx) compare(list []ledger.Record) ([]ledger.Record, error) {
	last := uint64(t.head)
	if first := list[0].Seq; first > last+1 {
		return nil, memtypes.BadField("postgres.Adopt", "seq", first, "a number that follows the newest one")
	}
	known := list
	if n := last + 1 - list[0].Seq; n < uint64(len(list)) {
		known = list[:n]
	}
	if len(known) == 0 {
		return list, nil
	}
	there, err := t.records(int64(list[0].Seq-1), len(known))
	if err != nil {
		return nil, err
	}
	for i := range known {
		if i >= len(there) || !known[i].Equal(&there[i]) {
			return nil, memtypes.Errorf("postgres.Adopt", memtypes.Conflict, "entry %d: found another one than is to be adopted", known[i].Seq)
		}
	}
	return list[len(known):], nil
}

// adopt appends one record to the log.
func (t *tx) adopt(r *ledger.Record) error {
	n := t.tenants[r.Tenant]
	sum, scratch := r.Sum(t.scratch, r.Tenant, n.hash)
	if t.scratch = scratch; int64(r.Prev) != n.seq || sum != r.Hash {
		return memtypes.Errorf("postgres.Adopt", memtypes.Conflict, "entry %d: found that it follows entry %d of tenant %q or has another hash, wanted one that follows %d",
			r.Seq, r.Prev, r.Tenant, n.seq)
	}
	if r.Memory != nil {
		if err := t.adoptMemory(r); err != nil {
			return err
		}
	}
	t.head = int64(r.Seq)
	t.links = append(t.links, link{Link: r.Link, tenant: n.no, hash: r.Hash})
	n.seq, n.hash = t.head, r.Hash[:]
	if r.Replaced == nil {
		return nil
	}
	if t.mems[r.ID] == nil {
		return memtypes.Errorf("postgres.Adopt", memtypes.Conflict, "entry %d: found no memory %s that it revised", r.Seq, r.ID.ID())
	}
	c, err := contentOf(r.Replaced, r.Replaced.Created, nil)
	c.updated = updated(r.Replaced)
	t.replaced = append(t.replaced, replaced{id: r.ID, rev: t.head, content: c})
	return err
}

// adoptMemory writes the memory that an entry inserted.
func (t *tx) adoptMemory(r *ledger.Record) error {
	m := r.Memory
	if t.mems[r.ID] != nil {
		return memtypes.Errorf("postgres.Adopt", memtypes.Conflict, "entry %d: found memory %s already inserted by another entry", r.Seq, m.ID)
	}
	n := &mem{row: row{id: r.ID, tenant: tenantNo(r.Tenant), scopeNo: scopeNo(m.Scope), scope: m.Scope, seq: int64(r.Seq), rev: int64(m.Rev), created: r.At,
		state: statePurged, retired: never, last: never, content: content{updated: never}}}
	t.mems[r.ID] = n
	t.touch(n).all = true
	if r.Purged {
		return nil
	}
	c, err := contentOf(m, m.Created, r.Origin)
	if err != nil {
		return err
	}
	c.updated = updated(m)
	n.state = stateActive
	if m.State == memtypes.Retired {
		n.state = stateRetired
	}
	n.kind, n.layer, n.content, n.pinned = int(kindNumber(m.Kind)), int(layerNumber(m.Layer)), c, m.Strength.Pinned
	n.retired, n.retirer, n.recalls, n.last = nanos(m.Strength.Retired), m.Strength.RunID, int64(m.Strength.Recalls), nanos(m.Strength.LastRecall)
	n.count = true
	return nil
}

// updated is the column of that name.
func updated(m *memtypes.Memory) int64 {
	if m.Updated.Equal(m.Created) {
		return never
	}
	return m.Updated.UnixNano()
}

// AdoptLeases writes leases as they are; see ledger.Movable.
func (db *DB) AdoptLeases(ctx context.Context, leases []ledger.Lease) error {
	const op = "postgres.AdoptLeases"
	if err := ledger.CheckLeases(op, leases); err != nil {
		return err
	}
	need := needs{size: len(leases)}
	for _, l := range leases {
		need.leases = append(need.leases, l.Name)
	}
	return db.update(ctx, op, need, func(t *tx) error {
		for _, l := range leases {
			old := t.leases[l.Name]
			if old == nil {
				old = &lease{}
				t.leases[l.Name] = old
			}
			if old.fence >= int64(l.Fence) {
				continue
			}
			*old = lease{holder: l.Holder, fence: int64(l.Fence), moved: true}
			if !l.Expires.IsZero() {
				old.expires = l.Expires.UnixNano()
			}
		}
		return nil
	})
}
