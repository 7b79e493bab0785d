package fusion_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

// TestKindsOnOneScale: within a kind a score is a share of the kind's best, so a
// kind whose best is poor beside the others' is scaled down. The best passage has
// 10 and .8, the best run 5 and .2: the runs are worth (.5 + .25)/2 of theirs.
func TestKindsOnOneScale(t *testing.T) {
	good := passage("good", "", "keys", 10, .8)
	poor := run("poor", memtypes.Success, 5, .2)
	alone := fusion.Rank(fusion.Query{Text: "keys"}, []fusion.Candidate{poor}, fusion.Default, nil)[0].Score
	if math.Abs(alone-1) > 1e-9 {
		t.Errorf("score alone = %v, want 1", alone)
	}
	both := fusion.Rank(fusion.Query{Text: "keys"}, []fusion.Candidate{good, poor}, fusion.Default, nil)
	if got := hit(t, both, "poor").Score; math.Abs(got-.375) > 1e-9 {
		t.Errorf("score beside a better kind = %v, want .375", got)
	}
	if d := cmp.Diff([]string{"good", "poor"}, ids(both)); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
}

// TestKindsByTheWholeAnswer: the best of all kinds may not be among the
// candidates; the query's Stats say what it was.
func TestKindsByTheWholeAnswer(t *testing.T) {
	cands := []fusion.Candidate{run("a", memtypes.Success, 5, .4), candidate(memory("b", memtypes.Dialogue, "yes", 0), 1, .1)}
	q := fusion.Query{Text: "keys", Stats: map[fusion.Channel]fusion.Stat{fusion.Text: {Best: 10}, fusion.Vector: {Best: .8}}}
	if got := hit(t, fusion.Rank(q, cands, fusion.Default, nil), "a").Score; math.Abs(got-.5) > 1e-9 {
		t.Errorf("score = %v, want .5: half the best by words and by sense", got)
	}
}

// TestNoChannelAnswers: candidates without a score are ranked all the same.
func TestNoChannelAnswers(t *testing.T) {
	var cands []fusion.Candidate
	for _, k := range memtypes.Kinds() {
		cands = append(cands, fusion.Candidate{Memory: memory(string(k), k, "keys "+string(k), 0)})
	}
	got := fusion.Rank(fusion.Query{Text: "anything"}, cands, fusion.Default, nil)
	if len(got) != len(cands) {
		t.Fatalf("hits %v, want all %d", ids(got), len(cands))
	}
	for _, h := range got {
		if h.Score != 0 {
			t.Errorf("score of %s = %v, want 0", h.Memory.ID, h.Score)
		}
	}
}

// TestRetentionIsHandedOn and weighs nothing.
func TestRetentionIsHandedOn(t *testing.T) {
	faded, fresh := passage("faded", "", "one", 5, .5), passage("fresh", "", "two", 4, .5)
	faded.Retention, fresh.Retention = .01, 1
	got := fusion.Rank(fusion.Query{Text: "keys"}, []fusion.Candidate{fresh, faded}, fusion.Default, nil)
	if got[0].Memory.ID != "faded" || got[0].Retention != .01 {
		t.Errorf("first = %s with retention %v, want the better match with its own .01", got[0].Memory.ID, got[0].Retention)
	}
}
