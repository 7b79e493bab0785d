package local

import "unicode/utf8"

// Weight is the norm of the word's row over the 90th percentile of all norms:
// near 0 for a function word, about 1 for a telling one, and little above 1 at
// most. A second idf in short, which needs no collection. A Latin word without
// a row takes that of the form without its ending, as Embed does. ok is false
// for all other words, and for what is no single word; names are among these,
// and 1 is a good weight for them.
func (e *Embedder) Weight(word string) (w float64, ok bool) {
	row := e.lookup(word)
	if row < 0 {
		return 0, false
	}
	return float64(e.weight[row]), true
}

// lookup gives the row of a single word in any case, -1 if it has none.
func (t *table) lookup(word string) int {
	var buf [64]byte
	b, kind := buf[:0], gap
	for _, r := range word {
		var k script
		if b, k = letters(b, r); k == mark {
			continue
		} else if k == gap || kind != gap && k != kind {
			return -1
		}
		kind = k
	}
	switch kind {
	case latin:
		return t.word(b)
	case han:
		return t.row(b)
	}
	return -1
}

// Words cuts the Han characters of a text into words, in order. A character
// that the table does not know is a word of its own; what is not Han separates
// and is left out.
func (e *Embedder) Words(text string) []string {
	s := e.scratch.Get().(*sketch)
	defer e.scratch.Put(s)
	var words []string
	for len(text) > 0 {
		n := hanPrefix(text)
		if n == 0 {
			_, size := utf8.DecodeRuneInString(text)
			text = text[size:]
			continue
		}
		s.run = append(s.run[:0], text[:n]...)
		e.cut(s.run, &s.path)
		for _, w := range s.path.words {
			words = append(words, text[w.at:w.end])
		}
		text = text[n:]
	}
	return words
}

// hanPrefix is how many bytes of Han text stands in front of, up to maxHan.
func hanPrefix(text string) int {
	for i, r := range text {
		if !isHan(r) || i >= maxHan {
			return i
		}
	}
	return len(text)
}
