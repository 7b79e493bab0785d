package local

import (
	"fmt"
	"strings"
)

// FNV-1a of 32 bits, fed a byte at a time: a word that grows by a letter needs
// one more step, not a new hash. pieceSeed is the hash of "##".
const (
	fnvPrime  = 16777619
	wordSeed  = 2166136261
	pieceSeed = ((wordSeed^'#')*fnvPrime&0xffffffff ^ '#') * fnvPrime & 0xffffffff
)

// index finds where each name begins and fills the hash table.
func (t *table) index() error {
	size := 1
	for size < 2*t.rows {
		size *= 2
	}
	t.slots = make([]uint32, size)
	t.start = make([]uint32, 1, t.rows+1)
	for i := range t.rows {
		at := int(t.start[i])
		end := len(t.names)
		if n := strings.IndexByte(t.names[at:], '\n'); n >= 0 {
			end = at + n
		}
		if more := end < len(t.names); more != (i < t.rows-1) {
			return fmt.Errorf("found more or fewer names than %d, the number of rows", t.rows)
		}
		t.start = append(t.start, uint32(end+1))
		if err := t.insert(i); err != nil {
			return err
		}
	}
	return nil
}

// insert puts row i into the hash table, unless it is one that would break the
// encoder.
func (t *table) insert(i int) error {
	if !finite(t.scale[i]) || !finite(t.weight[i]) {
		return fmt.Errorf("row %d: found scale %v and weight %v, wanted finite numbers of 0 or more", i, t.scale[i], t.weight[i])
	}
	name := t.name(i)
	h := uint32(wordSeed)
	for j := range len(name) {
		h = (h ^ uint32(name[j])) * fnvPrime
	}
	mask := uint32(len(t.slots) - 1)
	for s := slotOf(h) & mask; ; s = (s + 1) & mask {
		switch row := int(t.slots[s]) - 1; {
		case row < 0:
			t.slots[s] = uint32(i + 1)
			t.longest = max(t.longest, len(name))
			return nil
		case t.name(row) == name:
			return fmt.Errorf("rows %d and %d: found the name %q twice", row, i, name)
		}
	}
}

// name is the string of row i.
func (t *table) name(i int) string { return t.names[t.start[i] : t.start[i+1]-1] }

// isPiece reports whether row i stands for letters inside a word.
func (t *table) isPiece(i int) bool { return strings.HasPrefix(t.name(i), "##") }

// row gives the row of a word, -1 if it has none.
func (t *table) row(word []byte) int {
	h := uint32(wordSeed)
	for _, c := range word {
		h = (h ^ uint32(c)) * fnvPrime
	}
	return t.find(h, word, false)
}

// find gives the row of s, whose hash is h (with pieceSeed in front if inside
// is set), -1 if it has none.
func (t *table) find(h uint32, s []byte, inside bool) int {
	mask := uint32(len(t.slots) - 1)
	for at := slotOf(h) & mask; ; at = (at + 1) & mask {
		row := int(t.slots[at]) - 1
		if row < 0 {
			return -1
		}
		name := t.name(row)
		if inside {
			if len(name) == len(s)+2 && name[2:] == string(s) && name[:2] == "##" {
				return row
			}
		} else if name == string(s) {
			return row
		}
	}
}

// slotOf mixes the high bits of an FNV hash into the low ones, which are the
// ones that choose a slot.
func slotOf(h uint32) uint32 { return h ^ h>>15 }
