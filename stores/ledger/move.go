package ledger

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
)

// Movable is an optional power of a Ledger: to hand over all that it holds, and
// to take that over from another, of whatever backend. Vectors and followers are
// not moved; both can be made anew. Settings and runs are written by Set and
// Append. While records are read or adopted, nobody else may write either
// ledger: [Move] notices if somebody did.
type Movable interface {
	// Records pages through the whole log, entries after seq, at most limit,
	// by ascending Seq.
	Records(ctx context.Context, after uint64, limit int) ([]Record, error)
	// Adopt writes records, at most MaxEdits, in one transaction, as they are:
	// numbers, hashes and times. They must be by ascending Seq without a gap,
	// the first at most one beyond Head. What is there already is compared, and
	// left alone; Conflict, with nothing adopted, if it is different, if an
	// entry does not follow its tenant's entry before, or if its ID is taken.
	Adopt(ctx context.Context, records []Record) error
	// RunsAfter pages through all runs by ascending ID, those after id (empty:
	// from the first), at most limit.
	RunsAfter(ctx context.Context, id string, limit int) ([]Run, error)
	// Leases lists all leases by name; Holder is empty where one was released.
	Leases(ctx context.Context) ([]Lease, error)
	// AdoptLeases writes leases as they are; one whose Fence here is as high
	// already is left alone.
	AdoptLeases(ctx context.Context, leases []Lease) error
}

// Record is one entry of the log with what hangs on it.
type Record struct {
	Link
	Tenant string
	Hash   [sha256.Size]byte // Link.Sum in the tenant's trail
	// Memory is, on the entry that inserted a memory, that memory as it is now;
	// nil on all others, also on the insert of one that was purged and then
	// inserted anew.
	Memory *memtypes.Memory
	// Purged says that the memory was purged: Memory then is ID, Scope and Rev alone.
	Purged bool
	// Origin is the Content of a memory at first, if it was revised since; else empty.
	Origin []byte
	// Replaced is, on the entry of a revise, the memory with the content that
	// it replaced; State, Rev and Strength but for Initial are zero. It is nil
	// on all other entries, and once the memory is purged.
	Replaced *memtypes.Memory
}

// Bank is a Ledger that can be moved.
type Bank interface {
	Ledger
	Movable
}

// MoveOptions sets up Move. A nil *MoveOptions is the zero one, which is ready to use.
type MoveOptions struct {
	// Page is how many records are moved at once. Zero means 500.
	Page int
	// Setting says which settings are moved. Nil means all.
	Setting func(key string) bool
	// Each is told after every page how many of the records are moved. Nil tells nobody.
	Each func(done, of uint64)
}

// Move copies all of from into to, which must be empty or hold the beginning of
// the same move: it goes on where that stopped. In the end both are verified
// and compared; the Sum of them is returned. It is Conflict if to holds
// something else, or if somebody wrote meanwhile; move into an empty ledger then.
func Move(ctx context.Context, from, to Bank, o *MoveOptions) (Sum, error) {
	m := mover{from: from, to: to}
	if o != nil {
		m.MoveOptions = *o
	}
	if m.Page <= 0 {
		m.Page = 500
	}
	m.Page = min(m.Page, MaxEdits)
	for _, step := range []func(context.Context) error{m.records, m.settings, m.runs, m.leases} {
		if err := step(ctx); err != nil {
			return Sum{}, err
		}
	}
	return m.verify(ctx)
}

// mover is one run of Move.
type mover struct {
	from, to Bank
	MoveOptions
}

func (m *mover) records(ctx context.Context) error {
	last, err := m.from.Head(ctx)
	if err != nil {
		return err
	}
	done, err := m.to.Head(ctx)
	if err != nil {
		return err
	}
	if done > last {
		return memtypes.Errorf("ledger.Move", memtypes.Conflict, "found %d entries where only %d are to be moved: wanted an empty ledger", done, last)
	}
	for at := max(done, 1) - 1; at < last; { // the last one there is adopted again: that compares it
		page, err := m.from.Records(ctx, at, m.Page)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			return memtypes.Errorf("ledger.Move", memtypes.Internal, "found no entry after %d, wanted %d", at, last)
		}
		if err := m.to.Adopt(ctx, page); err != nil {
			return err
		}
		at = page[len(page)-1].Seq
		if m.Each != nil {
			m.Each(at, last)
		}
	}
	return nil
}

func (m *mover) settings(ctx context.Context) error {
	all, err := m.from.Settings(ctx)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if m.Setting != nil && !m.Setting(key) {
			continue
		}
		if err := m.to.Set(ctx, key, all[key]); err != nil {
			return err
		}
	}
	return nil
}

func (m *mover) runs(ctx context.Context) error {
	for after := ""; ; {
		page, err := m.from.RunsAfter(ctx, after, m.Page)
		if err != nil || len(page) == 0 {
			return err
		}
		if _, err := m.to.Append(ctx, Batch{Now: page[0].Started, Actor: "move", Runs: page}); err != nil {
			return err
		}
		after = page[len(page)-1].ID
	}
}

func (m *mover) leases(ctx context.Context) error {
	all, err := m.from.Leases(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	return m.to.AdoptLeases(ctx, all)
}

func (m *mover) verify(ctx context.Context) (Sum, error) {
	want, err := Verify(ctx, m.from)
	if err != nil {
		return Sum{}, fmt.Errorf("the ledger that is moved: %w", err)
	}
	got, err := Verify(ctx, m.to)
	if err != nil {
		return Sum{}, fmt.Errorf("the ledger that was moved to: %w", err)
	}
	if got != want {
		return Sum{}, memtypes.Errorf("ledger.Move", memtypes.Conflict,
			"found %v, wanted %v: one of the ledgers was written meanwhile, or since the move began; move into an empty one", got, want)
	}
	return got, nil
}
