package fusion

import (
	"cmp"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
)

// The weights of knowledge beside 1 for the words.
const (
	trustWeight = .6 // of the dense channel, times the square of its agreement with the words
	namedWeight = .2 // the query names the title or the head
	closeWeight = .3 // the query's words stand side by side
	hopWeight   = .4 // a good memory names it, or it names a good one
)

// knowledge scores passages and facts.
func (r *recipe) knowledge(out [][]memtypes.Reason) {
	words := make([]float64, len(r.cands))
	for _, i := range r.places {
		words[i] = r.share(Text, r.scores(i))
		if r.cands[i].Memory.Triple != nil {
			// A long tail is a list, not more talk: length counts half.
			words[i] = (words[i] + r.share(Turn, r.scores(i))) / 2
		}
	}
	trust := r.trust(words)
	named, anyNamed := r.named()
	near := r.closeness(words)
	base := make([]float64, len(r.cands))
	for _, i := range r.places {
		base[i] = words[i] + trust*r.rise(Vector, r.scores(i)) + namedWeight*named[i] + closeWeight*near[i]
	}
	hop, anyHop := r.hop(base)
	total := 1 + trust + closeWeight + namedWeight*truth(anyNamed) + hopWeight*truth(anyHop)
	for _, i := range r.places {
		fs := []feature{{"text", words[i], 1}, {"dense", r.rise(Vector, r.scores(i)), trust}, {"close", near[i], closeWeight}}
		if anyNamed {
			fs = append(fs, feature{"named", named[i], namedWeight})
		}
		if anyHop {
			fs = append(fs, feature{"hop", hop[i], hopWeight})
		}
		out[i] = r.weigh(fs, total)
	}
}

// agreeing is how many of the best two channels are compared by.
const agreeing = 10

// trust is what the dense channel weighs beside 1 for the words. An embedder that
// does not know the language or the names of a bank points elsewhere than the
// words do, and is not followed. The square, because a few memories in common say
// little: those that hold all words of the query are near it for any embedder.
func (r *recipe) trust(words []float64) float64 {
	a := r.agreement(words)
	return trustWeight * a * a
}

// agreement is the part of the dense channel's best that are among the best by
// words, in [0,1].
func (r *recipe) agreement(words []float64) float64 {
	byWords := r.top(agreeing, func(i int) float64 { return words[i] })
	bySense := r.top(agreeing, func(i int) float64 { return r.scores(i).value[Vector] })
	both := 0
	for _, i := range bySense {
		if slices.Contains(byWords, i) {
			both++
		}
	}
	if len(bySense) == 0 {
		return 0
	}
	return float64(both) / float64(len(bySense))
}

// top is the places of the n best by score, best first, ties by ID; those at 0
// or below are left out.
func (r *recipe) top(n int, score func(int) float64) []int {
	var at []int
	for _, i := range r.places {
		if score(i) > 0 {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(x, y int) int { return cmp.Compare(score(y), score(x)) })
	return at[:min(n, len(at))]
}

// named is 1 for the candidates whose title or head the query names.
func (r *recipe) named() (value []float64, any bool) {
	value = make([]float64, len(r.cands))
	words := " " + plainWords(r.Text) + " "
	for _, i := range r.places {
		if t := headOf(&r.cands[i].Memory); t != "" && standsIn(t, words) {
			value[i], any = 1, true
		}
	}
	return value, any
}
