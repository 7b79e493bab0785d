package fusion

import "strings"

// closeAmong is how many of the best by words are read for closeness.
const closeAmong = 100

// closeness is the part of the query's pairs of neighbouring words that stand
// near each other in the memory, in [0,1]: 1 for a pair within two words, .5
// within five. words is the ranking by words so far, by place.
func (r *recipe) closeness(words []float64) []float64 {
	value := make([]float64, len(r.cands))
	var pairs [][2]string
	asked := rootsOf(QueryText(r.Text))
	for j := 1; j < len(asked); j++ {
		if asked[j-1] != asked[j] {
			pairs = append(pairs, [2]string{asked[j-1], asked[j]})
		}
	}
	if len(pairs) == 0 {
		return value
	}
	for _, i := range r.top(closeAmong, func(i int) float64 { return words[i] }) {
		value[i] = pairsIn(pairs, asked, r.cands[i].Memory.Text)
	}
	return value
}

func pairsIn(pairs [][2]string, asked []string, text string) float64 {
	at := make(map[string][]int, len(asked))
	for _, w := range asked {
		at[w] = nil
	}
	for pos, w := range rootsOf(text) {
		if list, ok := at[w]; ok {
			at[w] = append(list, pos)
		}
	}
	sum := 0.0
	for _, p := range pairs {
		switch d := leastGap(at[p[0]], at[p[1]]); {
		case d <= 2:
			sum++
		case d <= 5:
			sum += .5
		}
	}
	return sum / float64(len(pairs))
}

// leastGap is the least distance between a number of x and one of y, both
// ascending; large if one is empty.
func leastGap(x, y []int) int {
	least := 1 << 30
	for i, j := 0, 0; i < len(x) && j < len(y); {
		d := x[i] - y[j]
		least = min(least, max(d, -d))
		if d < 0 {
			i++
		} else {
			j++
		}
	}
	return least
}

// rootsOf is the words of text, each cut to a root: enough to tell whether two
// words are one, without a language's stemmer. Chinese is left out, for it has no
// spaces to find its words by.
func rootsOf(text string) []string {
	var out []string
	for _, w := range strings.Fields(plainWords(text)) {
		if w[0] >= 0x80 && isHan([]rune(w)[0]) {
			continue
		}
		out = append(out, root(w))
	}
	return out
}

// root is the first letters of w: what inflects stands at the end, and as both
// words of a pair must be near each other, four letters tell enough. Longer roots
// and a cut by length were measured, and no better.
func root(w string) string {
	n := 0
	for i := range w {
		if n == rootLetters {
			return w[:i]
		}
		n++
	}
	return w
}

const rootLetters = 4
