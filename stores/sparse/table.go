package sparse

import "math"

// table holds what a list gives, by frequency and length byte, as far as it
// has been asked: the bits of the score, or 0. Documents share few of them.
type table [tableFreqs << 8]uint32

// tableFreqs is how many frequencies, from 1 up, a table knows.
const tableFreqs = 4

// entry is where the score of posting p of a document of length is; frequencies
// that the table does not know are beyond its end.
func entry(p posting, length uint8) uint32 {
	return uint32(p&tfMany-1)<<8 | uint32(length)
}

// at is what t knows of posting p of a document of length; 0 for nothing. The
// loops over postings have it inlined, and ask bits for the rest.
func (t *table) at(p posting, length uint8) uint32 {
	if i := entry(p, length); i < uint32(len(t)) {
		return t[i]
	}
	return 0
}

// bits is the bits of what l gives the document of p, which is at place at of
// the window.
func (s *search) bits(l *cursor, p posting, at uint32) uint32 {
	i := entry(p, s.lengths[at%window])
	if i < uint32(len(l.table)) {
		if l.table[i] == 0 {
			l.table[i] = math.Float32bits(s.score(l, p))
		}
		return l.table[i]
	}
	return math.Float32bits(s.score(l, p))
}

// score is what l gives the document of p: more than nothing, as the formula
// has it, even where single precision has no number so small.
func (s *search) score(l *cursor, p posting) float32 {
	doc, tf := p.doc(), p.tf()
	if tf == tfMany {
		tf = s.shard.frequency(doc, s.place, l.list)
	}
	return max(saturate(l.weight, float32(tf), s.inverse[s.field.lengths[doc]]), math.SmallestNonzeroFloat32)
}
