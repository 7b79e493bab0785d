package fusion_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

var noon = time.Date(2024, 5, 20, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// memory makes one as a ledger would hand it out.
func memory(id string, kind memtypes.Kind, text string, age time.Duration) memtypes.Memory {
	return memtypes.Memory{ID: memtypes.ID(id), Kind: kind, Layer: memtypes.Raw, Text: text, Event: noon.Add(-age), State: memtypes.Active}
}

// candidate is a memory with a BM25 and a cosine; a negative BM25 means not found.
func candidate(m memtypes.Memory, bm25, cosine float64) fusion.Candidate {
	c := fusion.Candidate{Memory: m, Retention: 1}
	if bm25 >= 0 {
		c.Scores.Set(fusion.Text, bm25)
	}
	c.Scores.Set(fusion.Vector, cosine)
	return c
}

func ids(hits []memtypes.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, string(h.Memory.ID))
	}
	return out
}

func TestPaper(t *testing.T) {
	o := &fusion.Options{DialogueLambda: .1, TaskLambda: .2}
	w1, w2 := math.Exp(-.1*3), math.Exp(-.2*3)
	for _, tt := range []struct {
		name string
		kind memtypes.Kind
		age  time.Duration
		want float64
	}{
		{"knowledge is the cosine", memtypes.Knowledge, 3 * day, .4},
		{"dialogue mixes by age", memtypes.Dialogue, 3 * day, w1*.5 + (1-w1)*.4},
		{"a task forgets sooner", memtypes.TaskKind, 3 * day, w2*.5 + (1-w2)*.4},
		{"what is new goes by its words", memtypes.Dialogue, 0, .5},
		{"the future is as of now", memtypes.Dialogue, -3 * day, .5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cands := []fusion.Candidate{
				candidate(memory("a", tt.kind, "a", tt.age), 5, .4),
				candidate(memory("best", memtypes.Knowledge, "b", 0), 10, .4),
			}
			for _, h := range fusion.Rank(fusion.Query{Text: "a", Now: noon}, cands, fusion.Paper, o) {
				if h.Memory.ID == "a" && math.Abs(h.Score-tt.want) > 1e-12 {
					t.Errorf("score = %v, want %v", h.Score, tt.want)
				}
			}
		})
	}
}

func TestYardsticks(t *testing.T) {
	cands := []fusion.Candidate{
		candidate(memory("words", memtypes.Knowledge, "one", 0), 8, .1),
		candidate(memory("both", memtypes.Knowledge, "two", 0), 6, .8),
		candidate(memory("near", memtypes.Knowledge, "three", 0), -1, .9),
	}
	for _, tt := range []struct {
		profile fusion.Profile
		want    []string
		best    float64
	}{
		{fusion.BM25, []string{"words", "both", "near"}, 1},
		{fusion.Dense, []string{"near", "both", "words"}, .9},
		{fusion.RRF, []string{"words", "both", "near"}, (1 + 61./63) / 2},
		{fusion.Convex, []string{"both", "near", "words"}, (6./8 + .7/.8) / 2},
	} {
		t.Run(string(tt.profile), func(t *testing.T) {
			got := fusion.Rank(fusion.Query{Text: "q", Now: noon}, cands, tt.profile, nil)
			if d := cmp.Diff(tt.want, ids(got)); d != "" {
				t.Errorf("order (-want +got):\n%s", d)
			}
			if math.Abs(got[0].Score-tt.best) > 1e-12 {
				t.Errorf("best score = %v, want %v", got[0].Score, tt.best)
			}
		})
	}
}

func TestProperties(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	kinds := memtypes.Kinds()
	for _, p := range fusion.Profiles() {
		for round := range 50 {
			cands := make([]fusion.Candidate, rnd.IntN(40))
			for i := range cands {
				m := memory(string(rune('a'+i)), kinds[rnd.IntN(3)], string(rune('A'+rnd.IntN(30))), time.Duration(rnd.IntN(1000))*time.Hour)
				m.Talk = memtypes.Talk{Speaker: "Ann", Session: string(rune('s' + rnd.IntN(4)))}
				for c := fusion.Text; c <= fusion.Context; c++ {
					if rnd.IntN(3) > 0 {
						cands[i].Scores.Set(c, rnd.NormFloat64()*10)
					}
				}
				cands[i].Memory = m
			}
			q := fusion.Query{Text: "what did Ann say in May?", Now: noon, Spans: []fusion.Span{{From: noon.Add(-9 * day), To: noon.Add(-3 * day)}}}
			want := fusion.Rank(q, cands, p, nil)
			for _, h := range want {
				sum := 0.0
				for _, r := range h.Reasons {
					sum += r.Points
				}
				if !(h.Score >= 0 && h.Score <= 1) || math.Abs(sum-h.Score) > 1e-9 {
					t.Fatalf("%s round %d: score %v, reasons sum to %v; want equal and in [0,1]", p, round, h.Score, sum)
				}
			}
			rnd.Shuffle(len(cands), func(i, j int) { cands[i], cands[j] = cands[j], cands[i] })
			if d := cmp.Diff(want, fusion.Rank(q, cands, p, nil), cmp.AllowUnexported(memtypes.Scope{})); d != "" {
				t.Fatalf("%s round %d: the order of the candidates changed the answer (-first +shuffled):\n%s", p, round, d)
			}
		}
	}
}
