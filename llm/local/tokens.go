package local

import "unicode/utf8"

// A run longer than this is cut: it is no word, and the scratch stays small.
const (
	maxLatin = 1024 // bytes
	maxHan   = 3 * 4096
)

// tokens adds the rows of text to s. Bytes that are no UTF-8 separate.
func (t *table) tokens(text string, s *sketch) {
	kind := gap
	for _, r := range text {
		var k script
		if s.letter, k = letters(s.letter[:0], r); k == mark {
			continue
		}
		if k != kind || len(s.run) >= maxHan || k == latin && len(s.run) >= maxLatin {
			t.flush(kind, s)
			kind = k
		}
		s.run = append(s.run, s.letter...)
	}
	t.flush(kind, s)
}

// flush adds the rows of the finished run.
func (t *table) flush(kind script, s *sketch) {
	switch kind {
	case latin:
		t.latin(s.run, s)
	case han:
		t.cut(s.run, &s.path)
		for _, w := range s.path.words {
			if w.row >= 0 {
				s.add(w.row)
			}
		}
	}
	s.run = s.run[:0]
}

// latin adds the row of a lower-cased word, or those of its pieces.
func (t *table) latin(word []byte, s *sketch) {
	if row := t.word(word); row >= 0 {
		s.add(row)
	} else if !digits(word) {
		t.pieces(word, s)
	}
}

// word gives the row of a lower-cased Latin word: its own, or else that of the
// first form which has one when an ending is taken off. -1 if there is none.
func (t *table) word(word []byte) int {
	if row := t.row(word); row >= 0 {
		return row
	}
	for _, e := range [...]struct{ cut, add string }{
		{"s", ""}, {"es", ""}, {"ed", ""}, {"ed", "e"}, {"ing", ""}, {"ing", "e"}, {"ies", "y"}, {"ly", ""}, {"er", ""}, {"ness", ""},
	} {
		stem := len(word) - len(e.cut)
		if stem < 3 || string(word[stem:]) != e.cut {
			continue
		}
		var buf [64]byte
		if row := t.row(append(append(buf[:0], word[:stem]...), e.add...)); row >= 0 {
			return row
		}
	}
	return -1
}

// pieces adds the longest pieces of word from left to right, each of at least
// two letters: the first as a word, the others as insides. Where none fits, a
// letter is skipped.
func (t *table) pieces(word []byte, s *sketch) {
	inside := false
	for at := 0; at < len(word); {
		row, end := t.longestPiece(word, at, inside)
		if row >= 0 {
			s.add(row)
			inside, at = true, end
			continue
		}
		_, n := utf8.DecodeRune(word[at:])
		at += n
	}
}

func (t *table) longestPiece(word []byte, at int, inside bool) (row, end int) {
	h := uint32(wordSeed)
	if inside {
		h = pieceSeed
	}
	row = -1
	letters := 0
	for i := at; i < len(word) && i-at < t.longest; i++ {
		h = (h ^ uint32(word[i])) * fnvPrime
		if i+1 < len(word) && !utf8.RuneStart(word[i+1]) {
			continue // in the middle of a letter
		}
		if letters++; letters < 2 {
			continue
		}
		if r := t.find(h, word[at:i+1], inside); r >= 0 {
			row, end = r, i+1
		}
	}
	return row, end
}

func digits(word []byte) bool {
	for _, c := range word {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
