package engine

import (
	"fmt"
	"hash/maphash"
	"iter"
	"testing"

	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/memtypes"
)

// The IDs of a range stand between the last one before it and the last one of
// it, so that the ledger can be read range by range.
func TestRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := memtypes.ID(fmt.Sprintf("%08x-0000-8000-8000-%012x", rapid.Uint32().Draw(t, "first"), rapid.Uint64Max(1<<48-1).Draw(t, "last")))
		r := rangeOf(id)
		if r < 0 || r >= keyRanges {
			t.Fatalf("rangeOf(%s) = %d, want one of %d", id, r, keyRanges)
		}
		if from := before(r); from >= id || r > 0 && rangeOf(from) != r-1 {
			t.Errorf("before(%d) = %q, of range %d, want the end of the range before %s", r, from, rangeOf(from), id)
		}
		if r+1 < keyRanges && before(r+1) < id {
			t.Errorf("before(%d) = %q, want nothing of range %d after it, such as %s", r+1, before(r+1), r, id)
		}
	})
}

// Digests are equal for equal sets, in whatever order, and the groups name the
// ranges of everything that differs.
func TestDigests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.MapOf(rapid.Uint32(), rapid.Uint64Range(1, 3))
		a, b := set.Draw(t, "a"), set.Draw(t, "b")
		for k, v := range a { // mostly the same
			if rapid.IntRange(0, 3).Draw(t, "same") > 0 {
				b[k] = v
			}
		}
		seed := maphash.MakeSeed()
		da, _ := digested(seed, listed(a))
		db, _ := digested(seed, listed(b))
		if da.held() != len(a) {
			t.Errorf("held = %d, want %d", da.held(), len(a))
		}
		differ := map[int]bool{}
		for g := range groups(da, db) {
			for r := range g {
				differ[r] = true
			}
		}
		want := map[int]bool{}
		for k := range a {
			if a[k] != b[k] {
				want[rangeOf(numbered(k))] = true
			}
		}
		for k := range b {
			if a[k] != b[k] {
				want[rangeOf(numbered(k))] = true
			}
		}
		if len(differ) != len(want) {
			t.Errorf("%d ranges differ, want %d", len(differ), len(want))
		}
		for r := range want {
			if !differ[r] {
				t.Errorf("range %d is not named", r)
			}
		}
	})
}

func numbered(n uint32) memtypes.ID {
	return memtypes.ID(fmt.Sprintf("%08x-0000-8000-8000-000000000000", n))
}

func listed(m map[uint32]uint64) iter.Seq2[held, error] {
	return func(yield func(held, error) bool) {
		for k, v := range m {
			if !yield(held{id: numbered(k), rev: v}, nil) {
				return
			}
		}
	}
}
