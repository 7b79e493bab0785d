package sparse

import (
	"encoding/binary"
	"slices"
)

// termFreq is one distinct token of a document.
type termFreq struct {
	term uint32 // its number in the dictionary
	tf   uint32
}

// parsed is the distinct tokens of a document's fields, by term number, and
// the fields' lengths in tokens.
type parsed struct {
	terms   [fields][]termFreq
	lengths [fields]int
	buf     []byte // scratch of pack
}

// countTerms appends the distinct terms to ts, sorted; terms has one for each
// token, and is sorted too.
func countTerms(ts []termFreq, terms []uint32) []termFreq {
	slices.Sort(terms)
	for _, t := range terms {
		if n := len(ts); n > 0 && ts[n-1].term == t {
			ts[n-1].tf++
		} else {
			ts = append(ts, termFreq{t, 1})
		}
	}
	return ts
}

// A document's list of terms is kept packed, so that it can be taken out of
// the postings again: for each field the number of terms, then for each term
// the distance from the one before, doubled, plus 1 if its frequency follows
// because it is not 1. All are unsigned varints.

func (p *parsed) pack() []byte {
	buf := p.buf[:0]
	for _, ts := range p.terms {
		buf = binary.AppendUvarint(buf, uint64(len(ts)))
		before := uint32(0)
		for _, t := range ts {
			step := uint64(t.term-before) << 1
			before = t.term
			if t.tf == 1 {
				buf = binary.AppendUvarint(buf, step)
			} else {
				buf = binary.AppendUvarint(binary.AppendUvarint(buf, step|1), uint64(t.tf))
			}
		}
	}
	p.buf = buf
	return slices.Clip(slices.Clone(buf))
}

// unpack reads what pack wrote, into p's own space. It reports false for bytes
// that pack cannot have written.
func (p *parsed) unpack(buf []byte) bool {
	for f := range p.terms {
		p.terms[f], p.lengths[f] = p.terms[f][:0], 0
		n, ok := uvarint(&buf)
		if !ok || n > uint64(len(buf)) {
			return false
		}
		term := uint64(0)
		for i := range n {
			step, ok := uvarint(&buf)
			tf := uint64(1)
			if ok && step&1 == 1 {
				tf, ok = uvarint(&buf)
			}
			term += step >> 1
			if !ok || step>>1 == 0 && i > 0 || term > 1<<32-1 || tf == 0 || tf > 1<<31 {
				return false
			}
			p.terms[f] = append(p.terms[f], termFreq{uint32(term), uint32(tf)})
			p.lengths[f] += int(tf)
		}
	}
	return len(buf) == 0
}

// uvarint takes an unsigned varint from the front of b.
func uvarint(b *[]byte) (uint64, bool) {
	if s := *b; len(s) > 0 && s[0] < 0x80 { // most
		*b = s[1:]
		return uint64(s[0]), true
	}
	v, n := binary.Uvarint(*b)
	if n <= 0 {
		return 0, false
	}
	*b = (*b)[n:]
	return v, true
}
