package fusion_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

// TestPaper works equations 2 to 5 out by hand: alpha is 5/10 (the share of the
// best BM25), s is .4, and w = exp(-lambda (T-t)) with lambda .1 for dialogue and
// .2 for tasks, three days after.
func TestPaper(t *testing.T) {
	const (
		w1 = .7408182206817179 // exp(-.3)
		w2 = .5488116360940264 // exp(-.6)
	)
	o := &fusion.Options{DialogueLambda: .1, TaskLambda: .2}
	for _, tt := range []struct {
		name string
		kind memtypes.Kind
		age  time.Duration
		want map[string]float64 // weight of each reason
		sum  float64
	}{
		{"knowledge is the cosine", memtypes.Knowledge, 3 * day, map[string]float64{"cosine": 1}, .4},
		{"dialogue mixes by age", memtypes.Dialogue, 3 * day, map[string]float64{"bm25": w1, "cosine": 1 - w1}, .4740818220681718},
		{"a task forgets sooner", memtypes.TaskKind, 3 * day, map[string]float64{"bm25": w2, "cosine": 1 - w2}, .4548811636094026},
		{"what is new goes by its words", memtypes.Dialogue, 0, map[string]float64{"bm25": 1, "cosine": 0}, .5},
		{"what is old goes by its sense", memtypes.Dialogue, 10000 * day, map[string]float64{"bm25": 0, "cosine": 1}, .4},
		{"the future is as of now", memtypes.Dialogue, -3 * day, map[string]float64{"bm25": 1, "cosine": 0}, .5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cands := []fusion.Candidate{
				candidate(memory("a", tt.kind, "a", tt.age), 5, .4),
				candidate(memory("best", memtypes.Knowledge, "b", 0), 10, .4),
			}
			got := hit(t, fusion.Rank(fusion.Query{Text: "a", Now: noon}, cands, fusion.Paper, o), "a")
			if math.Abs(got.Score-tt.sum) > 1e-12 {
				t.Errorf("score = %v, want %v", got.Score, tt.sum)
			}
			weights := map[string]float64{}
			for _, r := range got.Reasons {
				weights[r.Name] = r.Weight
			}
			if d := cmp.Diff(tt.want, weights, almost()); d != "" {
				t.Errorf("weights (-want +got):\n%s", d)
			}
		})
	}
}

func TestPaperWithoutAChannel(t *testing.T) {
	far := candidate(memory("far", memtypes.Knowledge, "a", 0), 3, -.7)
	words := fusion.Candidate{Memory: memory("words", memtypes.Dialogue, "b", 0)}
	words.Scores.Set(fusion.Text, 3)
	got := fusion.Rank(fusion.Query{Now: noon}, []fusion.Candidate{far, words}, fusion.Paper, nil)
	if h := hit(t, got, "far"); h.Score != 0 {
		t.Errorf("a cosine below 0 scores %v, want 0", h.Score)
	}
	if h := hit(t, got, "words"); h.Score != 1 {
		t.Errorf("the best words of today score %v, want 1", h.Score)
	}
}

func TestTimeWeight(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options fusion.Options
		kind    memtypes.Kind
		now, at time.Time
		want    float64
	}{
		{"dialogue by default .01 a day", fusion.Options{}, memtypes.Dialogue, noon, noon.Add(-100 * day), 1 / math.E},
		{"a task by default .05 a day", fusion.Options{}, memtypes.TaskKind, noon, noon.Add(-20 * day), 1 / math.E},
		{"another unit", fusion.Options{Unit: time.Hour, DialogueLambda: .5}, memtypes.Dialogue, noon, noon.Add(-2 * time.Hour), 1 / math.E},
		{"half a unit", fusion.Options{DialogueLambda: 2}, memtypes.Dialogue, noon, noon.Add(-day / 2), 1 / math.E},
		{"no now", fusion.Options{}, memtypes.Dialogue, time.Time{}, noon, .5},
		{"no time of the memory", fusion.Options{}, memtypes.TaskKind, noon, time.Time{}, .5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.options.TimeWeight(tt.kind, tt.now, tt.at); math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("TimeWeight = %v, want %v", got, tt.want)
			}
		})
	}
}
