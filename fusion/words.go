package fusion

import (
	"strings"
	"unicode"
)

// plainWords is text in lower case with single spaces between its words. What
// follows an apostrophe is dropped ("Ann's" is "ann"); a run of Han characters
// is one word.
func plainWords(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	gap, tail, han := false, false, false
	for _, r := range text {
		switch {
		case r == '\'' || r == '’':
			tail = !gap && b.Len() > 0
			continue
		case !isWord(r):
			gap, tail = true, false
			continue
		case tail:
			continue
		}
		if h := isHan(r); h != han {
			gap, han = true, h
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func isHan(r rune) bool { return r >= 0x3400 && unicode.Is(unicode.Han, r) }

// countWords is how many words s has; a Han character counts .6, for a Chinese
// word has one or two.
func countWords(s string) float64 {
	n, in := 0.0, false
	for _, r := range s {
		switch {
		case isHan(r):
			n, in = n+.6, false
		case isWord(r):
			if !in {
				n++
			}
			in = true
		default:
			in = in && (r == '\'' || r == '’')
		}
	}
	return n
}

// sentences cuts text after the marks that end one, marks included, spaces
// around trimmed.
func sentences(text string) []string {
	var out []string
	start, ended := 0, false
	for i, r := range text {
		end := strings.ContainsRune(".!?。！？\n", r)
		if ended && !end {
			out = append(out, strings.TrimSpace(text[start:i]))
			start = i
		}
		ended = end
	}
	if s := strings.TrimSpace(text[start:]); s != "" {
		out = append(out, s)
	}
	return out
}

// isQuestion reports whether text asks: a question mark, an English question
// word or auxiliary in front, or a Chinese question word or particle.
func isQuestion(text string) bool {
	if strings.ContainsAny(text, "?？") {
		return true
	}
	for _, w := range hanAsking {
		if strings.Contains(text, w) {
			return true
		}
	}
	if strings.ContainsAny(text, "吗呢谁哪几") {
		return true
	}
	first, _, _ := strings.Cut(plainWords(text), " ")
	return asking[first]
}

// firstPerson reports whether text speaks of its speaker: I, me, my, we, our ...
func firstPerson(text string) bool {
	if strings.ContainsAny(text, "我咱俺") {
		return true
	}
	for w := range strings.FieldsSeq(plainWords(text)) {
		switch w {
		case "i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves":
			return true
		}
	}
	return false
}
