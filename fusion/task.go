package fusion

import "github.com/vimbank/vimbank/memtypes"

// What a run is worth whose way led to the goal, that it is not known of, and
// that failed: a failure is recalled only where nothing else fits nearly as well.
const (
	succeeded = 1.0
	unknown   = .75
	failed    = .5
)

// task scores runs by how alike their goal is and how they ended. As in
// knowledge, the dense channel counts as far as it agrees with the words; its
// share of the best stands in for its rise, for the same goal is often there
// many times, and then the 100th is as good as the best.
func (r *recipe) task(out [][]memtypes.Reason) {
	words := make([]float64, len(r.cands))
	for _, i := range r.places {
		words[i] = r.share(Text, r.scores(i))
	}
	trust := r.trust(words)
	for _, i := range r.places {
		fs := []feature{{"text", words[i], 1}, {"dense", r.share(Vector, r.scores(i)), trust}}
		reasons := r.weigh(fs, 1+trust)
		fit := reasons[0].Points + reasons[1].Points
		out[i] = append(reasons, reason("outcome", worth(r.cands[i].Memory.Task)-1, fit))
	}
}

// worth is the factor that the end of a run puts on how well it fits.
func worth(t *memtypes.Task) float64 {
	switch {
	case t == nil:
		return unknown
	case t.Outcome == memtypes.Success:
		return succeeded
	case t.Outcome == memtypes.Failure:
		return failed
	}
	return unknown
}
