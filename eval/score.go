package eval

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Line is the figures of one category of one set under one profile; the
// category "all" is the whole set.
type Line struct {
	Set      string     `json:"set"`
	Profile  string     `json:"profile"`
	Category string     `json:"category"`
	N        int        `json:"n"` // probes with evidence
	Recall1  float64    `json:"recall@1"`
	Recall5  float64    `json:"recall@5"`
	Recall10 float64    `json:"recall@10"`
	Hit1     float64    `json:"hit@1"`
	Hit5     float64    `json:"hit@5"`
	MRR      float64    `json:"mrr"`
	NDCG10   float64    `json:"ndcg@10"`
	CI95     [2]float64 `json:"ci95@5"` // of recall@5: 95 % percentile bootstrap over probes
	P50      float64    `json:"p50_ms"`
	P95      float64    `json:"p95_ms"`
}

// outcome is what came of one probe.
type outcome struct {
	category   string
	recall     [3]float64 // at 1, 5, 10
	hit1, hit5 float64
	mrr, ndcg  float64
	took       time.Duration
}

// judge scores a ranking of item ids against the evidence, which is not empty.
func judge(p *probe, ranked []string, took time.Duration) outcome {
	o := outcome{category: p.Category, took: took}
	relevant := map[string]bool{}
	for _, id := range p.Relevant {
		relevant[id] = true
	}
	found, dcg, ideal := 0, 0.0, 0.0
	for i := range min(10, len(relevant)) {
		ideal += 1 / math.Log2(float64(i+2))
	}
	for i, id := range ranked {
		if !relevant[id] {
			continue
		}
		delete(relevant, id) // a document counts once, by its best piece
		if found++; found == 1 {
			o.mrr = 1 / float64(i+1)
		}
		for j, k := range [3]int{1, 5, 10} {
			if i < k {
				o.recall[j]++
			}
		}
		if i < 10 {
			dcg += 1 / math.Log2(float64(i+2))
		}
	}
	o.hit1, o.hit5 = min(o.recall[0], 1), min(o.recall[1], 1)
	n := float64(found + len(relevant))
	for j := range o.recall {
		o.recall[j] /= n
	}
	o.ndcg = dcg / ideal
	return o
}

// resamples of the bootstrap, drawn from a fixed seed: the same outcomes give
// the same interval.
const resamples = 2000

// summarise makes one line of outcomes, which are not empty.
func summarise(set, profile, category string, os []outcome) Line {
	l := Line{Set: set, Profile: profile, Category: category, N: len(os)}
	at5, took := make([]float64, len(os)), make([]float64, len(os))
	for i, o := range os {
		l.Recall1 += o.recall[0]
		l.Recall5 += o.recall[1]
		l.Recall10 += o.recall[2]
		l.Hit1 += o.hit1
		l.Hit5 += o.hit5
		l.MRR += o.mrr
		l.NDCG10 += o.ndcg
		at5[i], took[i] = o.recall[1], float64(o.took.Microseconds())/1000
	}
	for _, f := range []*float64{&l.Recall1, &l.Recall5, &l.Recall10, &l.Hit1, &l.Hit5, &l.MRR, &l.NDCG10} {
		*f /= float64(len(os))
	}
	slices.Sort(took)
	l.P50, l.P95 = percentile(took, .5), percentile(took, .95)
	l.CI95 = bootstrap(at5)
	return l
}

// bootstrap is the 95 % percentile interval of the mean of values.
func bootstrap(values []float64) [2]float64 {
	rnd := rand.New(rand.NewPCG(1, uint64(len(values))))
	means := make([]float64, resamples)
	for i := range means {
		sum := 0.0
		for range values {
			sum += values[rnd.IntN(len(values))]
		}
		means[i] = sum / float64(len(values))
	}
	slices.Sort(means)
	return [2]float64{percentile(means, .025), percentile(means, .975)}
}

// percentile of sorted values, by nearest rank.
func percentile(sorted []float64, p float64) float64 {
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}
