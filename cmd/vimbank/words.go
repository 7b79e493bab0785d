package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/vimbank/vimbank/timeword"
)

// wordsOf takes from a question what is worth marking in an answer: its longer
// words, cut so that "allergic" also marks "allergy", and pairs of Han characters.
func wordsOf(question string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(question), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		r := []rune(w)
		switch {
		case unicode.Is(unicode.Han, r[0]):
			for i := 0; i+1 < len(r); i++ {
				words = append(words, string(r[i:i+2]))
			}
		case len(r) > 6:
			words = append(words, string(r[:len(r)-2]))
		case len(r) > 3 || len(r) > 1 && strings.ContainsFunc(w, unicode.IsDigit):
			words = append(words, w)
		}
	}
	stop := []string{"what", "which", "when", "where", "does", "have", "with", "from", "that", "this", "should", "什么", "怎么", "时候", "多少"}
	return slices.DeleteFunc(words, func(w string) bool { return slices.Contains(stop, w) })
}

// spans finds where words stand in line: pairs of byte offsets, in order, each
// from the start of a word of line to its end.
func spans(line string, words []string) (out [][2]int) {
	low := strings.ToLower(line)
	if len(low) != len(line) {
		return nil // a letter whose small form is longer: marking is not worth it
	}
	for _, w := range words {
		for at := 0; ; {
			i := strings.Index(low[at:], w)
			if i < 0 {
				break
			}
			i += at
			at = i + len(w)
			han := unicode.Is(unicode.Han, []rune(w)[0])
			if !han && i > 0 && isWord(lastRune(low[:i])) {
				continue
			}
			end := at
			for !han && end < len(low) && isWord(firstRune(low[end:])) {
				end += len(string(firstRune(low[end:])))
			}
			out = append(out, [2]int{i, end})
		}
	}
	slices.SortFunc(out, func(x, y [2]int) int { return x[0] - y[0] })
	return out
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

func lastRune(s string) rune {
	r := []rune(s)
	return r[len(r)-1]
}

// highlight marks words in line; without colours it changes nothing.
func (s *show) highlight(line string, words []string) string {
	if !s.colour {
		return line
	}
	var b strings.Builder
	at := 0
	for _, sp := range spans(line, words) {
		if sp[0] < at {
			sp[0] = at
		}
		if sp[1] <= at {
			continue
		}
		b.WriteString(line[at:sp[0]] + s.bold(line[sp[0]:sp[1]]))
		at = sp[1]
	}
	return b.String() + line[at:]
}

// snippet is the part of text, at most most lines of width, in which words
// stand thickest. Blank lines are left out.
func snippet(text string, words []string, width, most int) []string {
	lines := slices.DeleteFunc(wrap(text, width, 2000), func(l string) bool { return l == "" })
	if len(lines) <= most {
		return lines
	}
	best, at := -1, 0
	for i := 0; i+most <= len(lines); i++ {
		n := 0
		for _, l := range lines[i : i+most] {
			n += len(spans(l, words))
		}
		if n > best {
			best, at = n, i
		}
	}
	out := slices.Clone(lines[at : at+most])
	if at > 0 {
		out[0] = clip("… "+out[0], width)
	}
	if at+most < len(lines) {
		out[most-1] = clip(out[most-1]+" …", width)
	}
	return out
}

// timeWords says how a time in a question was understood.
func timeWords(t timeword.Range) string {
	last := t.To.Add(-1)
	if t.Unit == timeword.Day || last.Before(t.From.AddDate(0, 0, 1)) {
		return fmt.Sprintf("%q is %s", t.Text, t.From.Format(time.DateOnly))
	}
	return fmt.Sprintf("%q is %s to %s", t.Text, t.From.Format(time.DateOnly), last.Format(time.DateOnly))
}
