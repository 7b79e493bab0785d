package fusion

import (
	"cmp"
	"math"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// paper is VIMBank as printed. Knowledge: the cosine of eq. 2-3. Dialogue and
// task: eq. 4, S = w*alpha + (1-w)*s, where s is the cosine and alpha the BM25
// score over the best of the bank for this query. The paper does not say how
// it brings the two to one scale; a share of the best is the plainest way, and
// keeps S in [0,1]. A cosine below 0 counts as 0.
func (a *asked) paper(i int) []memtypes.Reason {
	m := &a.cands[i].Memory
	if m.Kind != memtypes.Dialogue && m.Kind != memtypes.TaskKind {
		return []memtypes.Reason{reason("cosine", a.cosine(i), 1)}
	}
	w := a.opts.TimeWeight(m.Kind, a.Now, m.When())
	return []memtypes.Reason{
		reason("bm25", a.all.share(Text, &a.cands[i].Scores), w),
		reason("cosine", a.cosine(i), 1-w),
	}
}

// TimeWeight is w = exp(-lambda(T-t)) of eq. 5 for a memory of kind k about
// the moment t, asked at now. A memory of the future counts as of now. If now
// or t is zero the age is not known and the two sides of eq. 4 weigh the same.
func (o Options) TimeWeight(k memtypes.Kind, now, t time.Time) float64 {
	if now.IsZero() || t.IsZero() {
		return .5
	}
	lambda := cmp.Or(o.DialogueLambda, .01)
	if k == memtypes.TaskKind {
		lambda = cmp.Or(o.TaskLambda, .05)
	}
	units := float64(max(now.Sub(t), 0)) / float64(cmp.Or(o.Unit, 24*time.Hour))
	return math.Exp(-lambda * units)
}
