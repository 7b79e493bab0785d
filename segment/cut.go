package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Length counts the columns of s: 2 for each wide character, 1 for any other.
func Length(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i, n = i+1, n+1
			continue
		}
		c, size := utf8.DecodeRuneInString(s[i:])
		i, n = i+size, n+columns(c)
	}
	return n
}

func columns(c rune) int {
	if isWide(c) {
		return 2
	}
	return 1
}

// isWide is true for the scripts that are written without spaces in cells of
// double width, and for their punctuation.
func isWide(c rune) bool {
	switch {
	case c < 0x1100:
		return false
	case c >= 0x3000 && c <= 0x30ff, c >= 0x3400 && c <= 0x9fff, c >= 0xff01 && c <= 0xff60, c >= 0xf900 && c <= 0xfaff:
		return true
	case c >= 0xac00 && c <= 0xd7a3, c >= 0x20000 && c <= 0x3ffff:
		return true
	}
	return false
}

// cut divides s, if it is longer than limit, into pieces without blank ends:
// after a comma or its like, else at a space, else between two characters,
// each as late as it can be but not in the first half.
func cut(text string, s Span, limit int) []Span {
	if Length(text[s.Start:s.End]) <= limit {
		return []Span{s}
	}
	var out []Span
	for s.Start < s.End {
		end := cutAt(text[s.Start:s.End], limit) + s.Start
		if t, ok := trim(text, Span{s.Start, end}); ok {
			out = append(out, t)
		}
		s.Start = end
	}
	return out
}

// cutAt is where the first piece of s should end: len(s) if all of it is
// within limit.
func cutAt(s string, limit int) int {
	clause, space, char := 0, 0, 0
	n, flags := 0, 0
	var prev rune
	for i, c := range s {
		w := columns(c)
		if n > 0 && (isBoundary(prev, c) || flags == 2 && isFlag(c)) {
			char = i
			late := 2*n >= limit
			if late && unicode.IsSpace(prev) {
				space = i
			}
			if late && isClauseEnd(prev) && (isWide(prev) || unicode.IsSpace(c)) {
				clause = i
			}
		}
		if n+w > limit {
			switch {
			case clause > 0:
				return clause
			case space > 0:
				return space
			case char > 0:
				return char
			}
			return i // one character of ever more marks: it must be cut
		}
		n += w
		prev = c
		if flags++; !isFlag(c) {
			flags = 0
		} else if flags == 3 {
			flags = 1
		}
	}
	return len(s)
}

func isClauseEnd(c rune) bool { return strings.ContainsRune(",;:，、；：—)）」』】》", c) }

// isBoundary reports whether a cut between a and b leaves what a reader sees
// as one character whole. It knows marks, joiners, variation and skin tones,
// the two halves of a flag, line ends and Hangul jamo.
func isBoundary(a, b rune) bool {
	const joiner, nonJoiner = 0x200d, 0x200c
	switch {
	case unicode.IsMark(b) || b == joiner || b == nonJoiner || a == joiner:
		return false
	case b >= 0x1f3fb && b <= 0x1f3ff || b >= 0xe0020 && b <= 0xe007f:
		return false
	case a == '\r' && b == '\n':
		return false
	case isFlag(a) && isFlag(b):
		return false
	}
	return !(a >= 0x1100 && a <= 0x11ff && b >= 0x1100 && b <= 0x11ff)
}

func isFlag(c rune) bool { return c >= 0x1f1e6 && c <= 0x1f1ff }

// trim takes the blanks off both ends of s; ok is false if nothing is left.
func trim(text string, s Span) (t Span, ok bool) {
	in := text[s.Start:s.End]
	left := len(in) - len(strings.TrimLeftFunc(in, isBlank))
	right := len(strings.TrimRightFunc(in, isBlank))
	if left >= right {
		return Span{}, false
	}
	return Span{s.Start + left, s.Start + right}, true
}

// isBlank is true for space, and for the mark that some editors put at the
// start of a file.
func isBlank(c rune) bool { return unicode.IsSpace(c) || c == '\ufeff' }
