package local

import (
	"unicode"
	"unicode/utf8"
)

// script is what a character can be part of.
type script uint8

const (
	gap   script = iota // separates
	latin               // a-z, 0-9, U+00DF to U+024F
	han                 // U+3400 to U+9FFF, three bytes each in UTF-8
)

// A run longer than this is cut: it is no word, and the scratch stays small.
const (
	maxLatin = 1024 // bytes
	maxHan   = 3 * 4096
)

// classify lower-cases a character and says what it is part of.
func classify(r rune) (rune, script) {
	if r < utf8.RuneSelf {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r, latin
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A', latin
		}
		return r, gap
	}
	if 0x3400 <= r && r <= 0x9fff {
		return r, han
	}
	r = unicode.ToLower(r)
	if 0xdf <= r && r <= 0x24f || 'a' <= r && r <= 'z' {
		return r, latin
	}
	return r, gap
}

// tokens adds the rows of text to s. Bytes that are no UTF-8 separate.
func (t *table) tokens(text string, s *sketch) {
	kind := gap
	for _, r := range text {
		r, k := classify(r)
		if k != kind || len(s.run) >= maxHan || k == latin && len(s.run) >= maxLatin {
			t.flush(kind, s)
			kind = k
		}
		if k != gap {
			s.run = utf8.AppendRune(s.run, r)
		}
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
