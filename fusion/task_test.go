package fusion_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

func run(id string, outcome memtypes.Outcome, bm25, cosine float64) fusion.Candidate {
	m := memory(id, memtypes.TaskKind, "put a clean mug in the cupboard "+id, 0)
	m.Task = &memtypes.Task{Name: "clean", Outcome: outcome}
	return candidate(m, bm25, cosine)
}

// TestTask works it out by hand. All agree, so sense has its .6 beside 1 for the
// words: a run fits by (words + .6 sense)/1.6, and its end is a factor on that.
func TestTask(t *testing.T) {
	got := fusion.Rank(fusion.Query{Text: "put a mug away"}, []fusion.Candidate{
		run("failed", memtypes.Failure, 10, .8),
		run("unknown", "", 8, .8),
		run("well", memtypes.Success, 6, .6),
		run("poor", memtypes.Success, 2, .2),
	}, fusion.Default, nil)
	want := map[string]float64{
		"well":    (.6 + .6*.75) / 1.6,     // .65625
		"unknown": (.8 + .6*1) / 1.6 * .75, // .65625
		"failed":  1. / 2,                  // the best fit, halved
		"poor":    (.2 + .6*.25) / 1.6,     // .21875: a success that fits badly
	}
	for id, score := range want {
		if h := hit(t, got, id); math.Abs(h.Score-score) > 1e-9 {
			t.Errorf("score of %s = %v, want %v", id, h.Score, score)
		}
	}
	r, _ := told(hit(t, got, "failed"), "outcome")
	if d := cmp.Diff(memtypes.Reason{Name: "outcome", Value: -.5, Weight: 1, Points: -.5}, r, almost()); d != "" {
		t.Errorf("outcome of the failure (-want +got):\n%s", d)
	}
	if r, _ := told(hit(t, got, "well"), "outcome"); r.Points != 0 {
		t.Errorf("outcome of a success takes %v off, want nothing", r.Points)
	}
}

// TestTaskRecord: a task memory without a record of its run is of unknown outcome.
func TestTaskRecord(t *testing.T) {
	bare := candidate(memory("bare", memtypes.TaskKind, "put a mug away", 0), 10, .8)
	if got := fusion.Rank(fusion.Query{Text: "mug"}, []fusion.Candidate{bare}, fusion.Default, nil)[0].Score; math.Abs(got-.75) > 1e-9 {
		t.Errorf("score = %v, want .75", got)
	}
}

// TestSameGoalManyTimes: the goal stands there more often than a channel looks
// deep; the dense channel still says that all of them fit.
func TestSameGoalManyTimes(t *testing.T) {
	var cands []fusion.Candidate
	for i := range fusion.Depth + 20 {
		cands = append(cands, run(string(rune('A'+i)), memtypes.Success, 5, .9))
	}
	for _, h := range fusion.Rank(fusion.Query{Text: "mug"}, cands, fusion.Default, nil) {
		if h.Score < 1-1e-9 {
			t.Fatalf("score of %s = %v, want 1: it fits as well as any", h.Memory.ID, h.Score)
		}
	}
}
