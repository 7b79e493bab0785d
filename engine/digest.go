package engine

import (
	"context"
	"hash/maphash"
	"iter"
	"strconv"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/sparse"
)

// keyRanges is how many ranges the IDs are divided into, by their first digits.
// In a bank of a million memories a range that differs is 250 of them to look at.
const (
	keyDigits = 3
	keyRanges = 1 << (4 * keyDigits)
)

// held is what the ledger says that an index should hold, or an index that it holds.
type held struct {
	id     memtypes.ID
	rev    uint64
	tenant string
}

// rangeOf is the range of id.
func rangeOf(id memtypes.ID) int {
	n, err := strconv.ParseUint(string(id[:min(keyDigits, len(id))]), 16, 32)
	if err != nil {
		return 0 // no ID of the ledger's
	}
	return int(n)
}

// before is the last ID before range r; empty before the first.
func before(r int) memtypes.ID {
	if r == 0 {
		return ""
	}
	first := strconv.FormatUint(uint64(keyRanges+r-1), 16)[1:]
	return memtypes.ID(first + strings.Repeat("f", 8-keyDigits) + "-ffff-ffff-ffff-ffffffffffff")
}

// digest tells two sets of (id, revision) apart without holding them: it does
// not depend on their order.
type digest struct {
	n   int
	sum uint64
}

// digests are those of all ranges.
type digests struct {
	seed maphash.Seed
	of   [keyRanges]digest
}

func newDigests(seed maphash.Seed) *digests { return &digests{seed: seed} }

func (d *digests) add(h held) {
	type pair struct {
		id  memtypes.ID
		rev uint64
	}
	r := &d.of[rangeOf(h.id)]
	r.n++
	r.sum += maphash.Comparable(d.seed, pair{h.id, h.rev})
}

// held is how many there are in all ranges.
func (d *digests) held() int {
	n := 0
	for i := range d.of {
		n += d.of[i].n
	}
	return n
}

// digested reads all of what gives.
func digested(seed maphash.Seed, what iter.Seq2[held, error]) (*digests, error) {
	d := newDigests(seed)
	for h, err := range what {
		if err != nil {
			return nil, err
		}
		d.add(h)
	}
	return d, nil
}

// denseHeld and sparseHeld list what an index holds.
func denseHeld(ctx context.Context, ix dense.Index) iter.Seq2[held, error] {
	return func(yield func(held, error) bool) {
		for h, err := range ix.Revs(ctx) {
			if !yield(held{h.ID, h.Rev, h.Tenant}, err) {
				return
			}
		}
	}
}

func sparseHeld(ctx context.Context, ix sparse.Index) iter.Seq2[held, error] {
	return func(yield func(held, error) bool) {
		for h, err := range ix.Revs(ctx) {
			if !yield(held{h.ID, h.Rev, h.Tenant}, err) {
				return
			}
		}
	}
}

// revsPage is how many revisions are read from the ledger at once.
const revsPage = 4096

// ledgerHeld lists the active memories of the ledger after the ID after, page
// by page.
func ledgerHeld(ctx context.Context, l ledger.Ledger, after memtypes.ID, page int) iter.Seq2[held, error] {
	return func(yield func(held, error) bool) {
		for {
			some, err := l.Revs(ctx, after, page)
			if err != nil {
				yield(held{}, err)
				return
			}
			for _, h := range some {
				if !yield(held{h.ID, h.Rev, h.Tenant}, nil) {
					return
				}
			}
			if len(some) < page {
				return
			}
			after = some[len(some)-1].ID
		}
	}
}
