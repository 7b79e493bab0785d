package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentences cuts the range s, a paragraph, after each end of a sentence.
func sentences(text string, s Span) []Span {
	var out []Span
	add := func(start, end int) {
		if t, ok := trim(text, Span{start, end}); ok {
			out = append(out, t)
		}
	}
	start := s.Start
	for i := s.Start; i < s.End; {
		c, size := utf8.DecodeRuneInString(text[i:s.End])
		if !isStop(c) {
			i += size
			continue
		}
		stop := i
		i = skip(text, i, s.End, isStop)
		stops := text[stop:i]
		closed := note(text, skip(text, i, s.End, isCloser), s.End)
		if ends(text[start:stop], stops, text[i:closed], text[closed:s.End]) {
			add(start, closed)
			start, i = closed, closed
		}
	}
	add(start, s.End)
	return out
}

// skip gives the first place from i on whose character is not in.
func skip(text string, i, end int, in func(rune) bool) int {
	for i < end {
		c, size := utf8.DecodeRuneInString(text[i:end])
		if !in(c) {
			break
		}
		i += size
	}
	return i
}

// note skips the mark of a footnote, "[12]", that stands behind a full stop.
func note(text string, i, end int) int {
	j := i + 1
	for i < end && text[i] == '[' && j < end && text[j] >= '0' && text[j] <= '9' {
		if j++; j < end && text[j] == ']' {
			return j + 1
		}
	}
	return i
}

func isStop(c rune) bool {
	switch c {
	case '.', '!', '?', '…', '‽', '。', '！', '？', '；', '｡', '．':
		return true
	}
	return false
}

func isCloser(c rune) bool { return strings.ContainsRune("\"'”’»)]}」』）】》〉＂*_", c) }

// ends reports whether a sentence ends at stops, that is, after before and the
// closing quotes and brackets, and in front of after.
func ends(before, stops, closers, after string) bool {
	if after == "" {
		return true
	}
	next, _ := utf8.DecodeRuneInString(after)
	prev, _ := utf8.DecodeLastRuneInString(before)
	last, _ := utf8.DecodeLastRuneInString(stops)
	switch {
	case strings.ContainsRune("，、,：:；;", next):
		return false // what is quoted ends, the sentence around it goes on
	case strings.ContainsRune("。！？；｡．", last):
		return closers == "" || !attributes(after)
	case !unicode.IsSpace(next): // Western stops need a space, unless among Han characters
		return isWide(prev) && (isWide(next) || stops != ".") || isWide(next) && stops != "."
	}
	word := firstWord(after)
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case stops == ".":
		return !unicode.IsLower(first) && !abbreviates(before, word)
	case last == '.' || last == '…' || closers != "": // "Well... maybe", "Stop!" he said
		return !unicode.IsLower(first)
	}
	return true
}

// attributes reports whether s goes on with what a quotation is tied to its
// sentence by: a particle, or a few characters that say who said it.
func attributes(s string) bool {
	if c, _ := utf8.DecodeRuneInString(s); strings.ContainsRune("的地得", c) {
		return true
	}
	n := strings.IndexFunc(s, func(c rune) bool { return !unicode.Is(unicode.Han, c) })
	if n < 0 {
		n = len(s)
	}
	return n <= 8*len("说") && strings.ContainsAny(s[:n], "说道问答喊叫")
}

// firstWord gives the word that s starts with, behind space, opening quotes
// and brackets; an initial with its full stop.
func firstWord(s string) string {
	s = strings.TrimLeftFunc(s, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("\"'“‘«([{*_", c) })
	n := strings.IndexFunc(s, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '\'' && c != '’' })
	switch {
	case n < 0:
		return s
	case n == 1 && s[n] == '.':
		return s[:2]
	}
	return s[:n]
}

// abbreviates reports whether the full stop after before belongs to an
// abbreviation, an initial or the number of an item, seeing the word that
// follows it.
func abbreviates(before, next string) bool {
	i := strings.LastIndexFunc(before, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("(\"'“‘[/—–", c) })
	token := before
	if i >= 0 {
		_, size := utf8.DecodeRuneInString(before[i:])
		token = before[i+size:]
	}
	if token == "" {
		return false
	}
	if strings.Trim(token, "0123456789") == "" { // "2. The other way" is an item, "in 1999. He" is not
		return len(token) <= 3 && strings.TrimFunc(before, isBlank) == token
	}
	low := strings.ToLower(token)
	digit, _ := utf8.DecodeRuneInString(next)
	switch abbreviation(token, low) {
	case never:
		return true
	case beforeNumber:
		return unicode.IsDigit(digit)
	case maybe:
		return !isStarter(next)
	}
	letter, size := utf8.DecodeRuneInString(token)
	initial := size == len(token) && unicode.IsUpper(letter) && letter != 'I' // "so did I. Then ..."
	return (initial || isDotted(low)) && !isStarter(next)                     // "J. K. Rowling", "the U.S. Senate", "at 5 p.m. The"
}

// isDotted is true for one or two letters between full stops: "u.s", "ph.d".
func isDotted(low string) bool {
	parts := strings.Split(low, ".")
	for _, p := range parts {
		if len(p) == 0 || len(p) > 2 || strings.Trim(p, "abcdefghijklmnopqrstuvwxyz") != "" {
			return false
		}
	}
	return len(parts) > 1
}
