package fusion_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

func TestYardsticks(t *testing.T) {
	cands := []fusion.Candidate{
		candidate(memory("words", memtypes.Knowledge, "one", 0), 8, .1),
		candidate(memory("both", memtypes.Knowledge, "two", 0), 6, .8),
		candidate(memory("near", memtypes.Knowledge, "three", 0), -1, .9),
	}
	for _, tt := range []struct {
		profile fusion.Profile
		want    []string
		scores  []float64
	}{
		{fusion.BM25, []string{"words", "both", "near"}, []float64{1, .75, 0}},
		{fusion.Dense, []string{"near", "both", "words"}, []float64{.9, .8, .1}},
		// By words 1st, 2nd, absent; by sense 3rd, 2nd, 1st.
		{fusion.RRF, []string{"words", "both", "near"}, []float64{(1 + 61./63) / 2, 61. / 62, .5}},
		// By words 1, 6/8, 0; by sense 0, .7/.8, 1.
		{fusion.Convex, []string{"both", "near", "words"}, []float64{(6./8 + .7/.8) / 2, .5, .5}},
	} {
		t.Run(string(tt.profile), func(t *testing.T) {
			got := fusion.Rank(fusion.Query{Text: "q", Now: noon}, cands, tt.profile, nil)
			if d := cmp.Diff(tt.want, ids(got)); d != "" {
				t.Fatalf("order (-want +got):\n%s", d)
			}
			for i, want := range tt.scores {
				if math.Abs(got[i].Score-want) > 1e-12 {
					t.Errorf("score of %s = %v, want %v", tt.want[i], got[i].Score, want)
				}
			}
		})
	}
}

// TestYardsticksIgnoreKind: the plain profiles see scores and nothing else.
func TestYardsticksIgnoreKind(t *testing.T) {
	failed := memory("failed", memtypes.TaskKind, "one", 900*day)
	failed.Task = &memtypes.Task{Outcome: memtypes.Failure}
	cands := []fusion.Candidate{candidate(failed, 9, .9), candidate(memory("other", memtypes.Dialogue, "two", 0), 8, .8)}
	for _, p := range []fusion.Profile{fusion.BM25, fusion.Dense, fusion.RRF, fusion.Convex} {
		if got := ids(fusion.Rank(fusion.Query{Text: "two", Now: noon}, cands, p, nil)); got[0] != "failed" {
			t.Errorf("%s: order %v, want the higher scores first", p, got)
		}
	}
}

func TestRRFStopsAtDepth(t *testing.T) {
	var cands []fusion.Candidate
	for i := range fusion.Depth + 1 {
		c := fusion.Candidate{Memory: memory(fmt.Sprintf("m%03d", i), memtypes.Knowledge, fmt.Sprint("text ", i), 0)}
		c.Scores.Set(fusion.Text, float64(1000-i))
		cands = append(cands, c)
	}
	got := fusion.Rank(fusion.Query{}, cands, fusion.RRF, nil)
	if want := .5 * 61 / (60 + fusion.Depth); math.Abs(got[fusion.Depth-1].Score-want) > 1e-12 {
		t.Errorf("score at Depth = %v, want %v", got[fusion.Depth-1].Score, want)
	}
	if got[fusion.Depth].Score != 0 {
		t.Errorf("score below Depth = %v, want 0", got[fusion.Depth].Score)
	}
}

func TestConvexOfEqualScores(t *testing.T) {
	cands := []fusion.Candidate{
		candidate(memory("a", memtypes.Knowledge, "one", 0), 3, .4),
		candidate(memory("b", memtypes.Knowledge, "two", 0), 3, .4),
	}
	for _, h := range fusion.Rank(fusion.Query{}, cands, fusion.Convex, nil) {
		if h.Score != 0 {
			t.Errorf("%s scores %v: a channel that tells none apart must say 0", h.Memory.ID, h.Score)
		}
	}
}
