package postgres

import (
	"context"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Append applies b in one transaction; see ledger.Memories. After Unavailable
// it may be that b was committed and the answer lost: to append it again is
// right then, because what was inserted is Same.
func (db *DB) Append(ctx context.Context, b ledger.Batch) ([]ledger.Result, error) {
	const op = "postgres.Append"
	if err := b.Check(); err != nil {
		return nil, err
	}
	b.Now = b.Now.UTC().Round(0)
	edits, need, err := readyAll(&b)
	if err != nil {
		return nil, db.fail(ctx, op, err)
	}
	var results []ledger.Result
	err = db.update(ctx, op, need, func(t *tx) error {
		if err := t.fenced(b.Fence); err != nil {
			return err
		}
		results = make([]ledger.Result, 0, len(edits))
		for i := range edits {
			r, err := t.apply(&b, &edits[i])
			if err != nil {
				return err
			}
			results = append(results, r)
		}
		return t.setRuns(b.Runs)
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// ready is an edit with its memory in the tables' form.
type ready struct {
	*ledger.Edit
	id ledger.Key
	content
}

// readyAll works out beforehand what can be, and what must be read for b.
func readyAll(b *ledger.Batch) ([]ready, needs, error) {
	out := make([]ready, len(b.Edits))
	need := needs{scopes: map[memtypes.Scope]bool{}, size: len(b.Edits)}
	for i := range b.Edits {
		e := &b.Edits[i]
		out[i].Edit = e
		out[i].id, _ = ledger.KeyOf(e.Memory.ID) // Check has seen it
		inserts := e.Op == ledger.Insert
		need.scopes[e.Memory.Scope] = need.scopes[e.Memory.Scope] || inserts
		if !inserts && e.Op != ledger.Revise {
			need.brief = append(need.brief, out[i].id)
			continue
		}
		need.whole = append(need.whole, out[i].id)
		err := noNUL("postgres.Append", "session", e.Memory.Talk.Session)
		if err != nil {
			return nil, need, err
		}
		if out[i].content, err = contentOf(&e.Memory, b.Now, nil); err != nil {
			return nil, need, err
		}
		need.bytes += len(e.Memory.Text) + len(out[i].extra) + 500
	}
	if b.Fence != nil {
		need.leases = append(need.leases, b.Fence.Name)
	}
	need.size += len(b.Runs)
	return out, need, nil
}
