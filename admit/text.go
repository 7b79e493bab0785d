package admit

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
)

// words cuts s into the words that the rules compare: lower case, full-width
// forms as their ASCII ones, punctuation and symbols left out, each Han
// character and each kana a word of its own, "3pm" the same as "3 pm". Points
// and commas between digits stay, so that 1.5 is not 15.
func words(s string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, b.String())
			b.Reset()
		}
	}
	runes := []rune(s)
	for i, c := range runes {
		c = fold(c)
		switch {
		case unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana):
			flush()
			out = append(out, string(c))
		case unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c):
			if i > 0 && unicode.IsDigit(runes[i-1]) && unicode.IsLetter(c) {
				flush()
			}
			b.WriteRune(c)
		case c == '\'' && b.Len() > 0 && i+1 < len(runes) && unicode.IsLetter(runes[i+1]):
			b.WriteRune(c) // "don't" is one word
		case (c == '.' || c == ',' || c == ':') && i > 0 && i+1 < len(runes) && unicode.IsDigit(runes[i-1]) && unicode.IsDigit(runes[i+1]):
			b.WriteRune(c)
		case c == '%' && i > 0 && unicode.IsDigit(runes[i-1]), c == '-' && b.Len() == 0 && i+1 < len(runes) && unicode.IsDigit(runes[i+1]):
			b.WriteRune(c) // a sign, or a unit that changes the number
		default:
			flush()
		}
	}
	flush()
	return out
}

func fold(c rune) rune {
	switch {
	case c >= '！' && c <= '～':
		c -= '！' - '!'
	case c == '’' || c == '‘':
		c = '\''
	case c == '−':
		c = '-'
	}
	return unicode.ToLower(c)
}

// telling leaves out the words that can come and go without a change of
// meaning. The list is short on purpose: prepositions, pronouns, tenses and
// connectives are not on it, since "to" for "from" is another fact.
func telling(ws []string) []string {
	out := make([]string, 0, len(ws))
	for _, w := range ws {
		switch w {
		case "a", "an", "the", "also", "just", "really", "please", "的", "地", "得", "呢", "啊", "吧", "嘛", "呀", "哦":
		default:
			out = append(out, w)
		}
	}
	return out
}

// sameWords reports whether a and b are the same words, each as often as the
// other: no number, name, date or negation is in one of them only.
func sameWords(a, b []string) bool {
	return len(a) == len(b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// Fingerprint hashes the telling words of text, in any order. Texts of unlike
// fingerprints are never duplicates nor near-duplicates, so it can stand for a
// search where one is not to be had, as among the drafts of one batch.
func Fingerprint(text string) uint64 {
	ws := telling(words(text))
	slices.Sort(ws)
	h := fnv.New64a()
	for _, w := range ws {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

// similarity is the Jaccard index of the multisets of three-word shingles
// (Broder 1997), in [0,1]. Texts of one or two words are one shingle.
func similarity(a, b []string) float64 {
	count := map[string]int{}
	n := 0
	for s := range shingles(a) {
		count[s]++
		n++
	}
	common := 0
	for s := range shingles(b) {
		if count[s] > 0 {
			count[s]--
			common++
		} else {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(common) / float64(n)
}

func shingles(ws []string) func(yield func(string) bool) {
	const size = 3
	return func(yield func(string) bool) {
		for i := 0; i == 0 && len(ws) > 0 || i+size <= len(ws); i++ {
			if !yield(strings.Join(ws[i:min(i+size, len(ws))], " ")) {
				return
			}
		}
	}
}
