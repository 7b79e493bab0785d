package sqlite

import (
	"context"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// revsText pages through the active memories by ID.
func revsText() string {
	return both("SELECT m.id, m.rev, m.scope ", "memory_id", "m.state = 0 AND m.id > ?1", " ORDER BY 1 LIMIT ?2 + 0")
}

// Revs pages through the active memories of all tenants; see ledger.Memories.
func (db *DB) Revs(ctx context.Context, after memtypes.ID, limit int) (list []ledger.Held, err error) {
	const op = "sqlite.Revs"
	if limit, err = ledger.CheckLimit(op, limit); err != nil {
		return nil, err
	}
	from := []byte{}
	if after != "" {
		id, ok := ledger.KeyOf(after)
		if !ok {
			return nil, memtypes.BadField(op, "after", string(after), "the ID of a memory, or nothing")
		}
		from = id[:]
	}
	err = db.search(ctx, op, func(r *reader) error {
		found, err := every(ctx, r.revs, scanHeld, from, limit)
		if err != nil {
			return err
		}
		for _, h := range found {
			sc, err := r.name(ctx, db.scopes, h.scope)
			if err != nil {
				return err
			}
			h.Tenant = sc.Tenant()
			list = append(list, h.Held)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// held is a row that Revs reads.
type held struct {
	ledger.Held
	scope int64
}

func scanHeld(scan func(...any) error) (h held, err error) {
	var id []byte
	if err = scan(&id, &h.Rev, &h.scope); err == nil {
		h.ID = ledger.Key(id).ID()
	}
	return h, err
}
