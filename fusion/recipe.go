package fusion

import (
	"github.com/vimbank/vimbank/memtypes"
)

// feature is one number of a recipe, in [0,1], and its weight beside the
// others of the same recipe.
type feature struct {
	name   string
	value  float64
	weight float64
}

// recipes is the default profile: a recipe for each kind, over that kind's own
// answers, and a factor that brings the kinds to one scale.
func (a *asked) recipes() func(int) []memtypes.Reason {
	places := map[memtypes.Kind][]int{}
	for i := range a.cands {
		k := a.cands[i].Memory.Kind
		places[k] = append(places[k], i)
	}
	reasons := make([][]memtypes.Reason, len(a.cands))
	for kind, at := range places {
		r := &recipe{asked: a, places: at, answers: answersOf(a.cands, at)}
		r.scale = r.standing(len(places) == 1)
		switch kind {
		case memtypes.Dialogue:
			r.dialogue(reasons)
		case memtypes.TaskKind:
			r.task(reasons)
		default:
			r.knowledge(reasons)
		}
	}
	return func(i int) []memtypes.Reason { return reasons[i] }
}

// recipe is a query to the memories of one kind.
type recipe struct {
	*asked
	*answers
	places []int   // of the kind's candidates in asked.cands
	scale  float64 // what the kind's whole answer is worth beside the other kinds', in [0,1]
}

// standing is how the best of the kind compares with the best of all kinds, in
// words and in nearness: within a kind every score is a share of the kind's
// best, which says nothing if that best is poor.
func (r *recipe) standing(alone bool) float64 {
	if alone {
		return 1
	}
	sum, n := 0.0, 0.0
	for _, c := range []Channel{Text, Vector} {
		if r.all[c].Best > 0 {
			sum += unit(r.answers[c].Best / r.all[c].Best)
			n++
		}
	}
	if n == 0 {
		return 1
	}
	return sum / n
}

// scores is candidate i's.
func (r *recipe) scores(i int) *Scores { return &r.cands[i].Scores }

// weigh turns features into reasons. total is the sum of the weights of all
// features that the query gives a meaning to, so that a memory which is the
// best in everything has 1, and the rest is comparable from recipe to recipe.
func (r *recipe) weigh(fs []feature, total float64) []memtypes.Reason {
	out := make([]memtypes.Reason, len(fs))
	for j, f := range fs {
		out[j] = reason(f.name, f.value, f.weight*r.scale/total)
	}
	return out
}
