package fusion_test

import (
	stdcmp "cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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

// turn is a saying in a sitting, with what each of its channels gave.
func turn(id, session, text string, words, window, context float64) fusion.Candidate {
	m := memory(id, memtypes.Dialogue, text, 0)
	m.Talk.Session = session
	c := fusion.Candidate{Memory: m}
	c.Scores.Set(fusion.Turn, words)
	c.Scores.Set(fusion.Window, window)
	c.Scores.Set(fusion.Context, context)
	return c
}

func ids(hits []memtypes.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, string(h.Memory.ID))
	}
	return out
}

// hit finds the one of id.
func hit(t testing.TB, hits []memtypes.Hit, id string) memtypes.Hit {
	t.Helper()
	for _, h := range hits {
		if string(h.Memory.ID) == id {
			return h
		}
	}
	t.Fatalf("no hit %q among %v", id, ids(hits))
	return memtypes.Hit{}
}

// told is the reason of that name, and whether the hit has it.
func told(h memtypes.Hit, name string) (memtypes.Reason, bool) {
	i := slices.IndexFunc(h.Reasons, func(r memtypes.Reason) bool { return r.Name == name })
	if i < 0 {
		return memtypes.Reason{}, false
	}
	return h.Reasons[i], true
}

// values are the numbers of a hit's reasons by name.
func values(h memtypes.Hit) map[string]float64 {
	out := map[string]float64{}
	for _, r := range h.Reasons {
		out[r.Name] = r.Value
	}
	return out
}

// almost compares numbers that were added up in another order.
func almost() cmp.Option {
	return cmp.Comparer(func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
}

func TestRankOrder(t *testing.T) {
	for _, tt := range []struct {
		name  string
		cands []fusion.Candidate
		want  []string
	}{
		{"nothing gives nothing", nil, []string{}},
		{"the better score first", []fusion.Candidate{
			candidate(memory("a", memtypes.Knowledge, "one", 0), 1, 0), candidate(memory("b", memtypes.Knowledge, "two", 9*day), 2, 0),
		}, []string{"b", "a"}},
		{"equal scores: the newer first", []fusion.Candidate{
			candidate(memory("a", memtypes.Knowledge, "one", 2*day), 1, 0), candidate(memory("b", memtypes.Knowledge, "two", day), 1, 0),
		}, []string{"b", "a"}},
		{"equal scores and times: the smaller ID first", []fusion.Candidate{
			candidate(memory("b", memtypes.Knowledge, "one", day), 1, 0), candidate(memory("a", memtypes.Knowledge, "two", day), 1, 0),
		}, []string{"a", "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, ids(fusion.Rank(fusion.Query{}, tt.cands, fusion.BM25, nil))); d != "" {
				t.Errorf("order (-want +got):\n%s", d)
			}
		})
	}
}

// TestRankJoins hands in one memory twice, as two channels would.
func TestRankJoins(t *testing.T) {
	byWords := fusion.Candidate{Memory: memory("a", memtypes.Knowledge, "one", 0)}
	byWords.Scores.Set(fusion.Text, 4)
	bySense := fusion.Candidate{Memory: byWords.Memory}
	bySense.Scores.Set(fusion.Vector, .6)
	bySense.Scores.Set(fusion.Text, 3)
	best := candidate(memory("b", memtypes.Knowledge, "two", 0), 8, .8)
	got := fusion.Rank(fusion.Query{}, []fusion.Candidate{byWords, best, bySense}, fusion.Convex, nil)
	if d := cmp.Diff([]string{"b", "a"}, ids(got)); d != "" {
		t.Fatalf("hits (-want +got):\n%s", d)
	}
	// Of two numbers the higher counts: 4 is the least of all by words, .6 by sense.
	if d := cmp.Diff(map[string]float64{"bm25": 0, "cosine": 0}, values(got[1]), almost()); d != "" {
		t.Errorf("values of the joined one (-want +got):\n%s", d)
	}
	if got := fusion.Rank(fusion.Query{}, []fusion.Candidate{byWords, best, bySense}, fusion.BM25, nil)[1].Score; got != .5 {
		t.Errorf("bm25 of the joined one = %v, want 4/8", got)
	}
}

// TestStatsOfTheWholeAnswer: where the candidates do not hold a channel's best,
// the query says what it was.
func TestStatsOfTheWholeAnswer(t *testing.T) {
	cands := []fusion.Candidate{candidate(memory("a", memtypes.Knowledge, "one", 0), 4, 0)}
	q := fusion.Query{Stats: map[fusion.Channel]fusion.Stat{fusion.Text: {Best: 16}, fusion.Channel(99): {Best: 1}}}
	if got := fusion.Rank(q, cands, fusion.BM25, nil)[0].Score; got != .25 {
		t.Errorf("score = %v, want 4/16", got)
	}
}

// anything makes n candidates of all kinds with random scores and features.
func anything(rnd *rand.Rand, n int) []fusion.Candidate {
	pick := func(from ...string) string { return from[rnd.IntN(len(from))] }
	words := []string{"Ann", "my", "harbour", "tall ships", "Oslo", "in May", "?", "喜欢电影", "leans left.", "Tower (Pisa)"}
	outcomes := []memtypes.Outcome{memtypes.Success, memtypes.Failure, ""}
	cands := make([]fusion.Candidate, n)
	for i := range cands {
		text := pick(words...) + " " + pick(words...) + " " + pick(words...)
		m := memory(fmt.Sprintf("m%02d", i), memtypes.Kinds()[rnd.IntN(3)], text, time.Duration(rnd.IntN(1000))*time.Hour)
		switch m.Kind {
		case memtypes.Dialogue:
			m.Talk = memtypes.Talk{Speaker: pick("Ann", "user", ""), Session: pick("", "s", "t", "u")}
		case memtypes.TaskKind:
			if rnd.IntN(4) > 0 {
				m.Task = &memtypes.Task{Name: pick("clean", "heat"), Outcome: outcomes[rnd.IntN(3)]}
			}
		default:
			m.Title = pick("", "Oslo", "Harbour", "Tower (Pisa)")
			if rnd.IntN(3) == 0 {
				m.Title, m.Triple = "", &memtypes.Triple{Head: pick("电影", "harbour"), Relation: "is", Tail: text}
			}
		}
		cands[i].Memory = m
		for c := fusion.Text; c <= fusion.Context; c++ {
			if rnd.IntN(3) > 0 {
				cands[i].Scores.Set(c, rnd.NormFloat64()*10)
			}
		}
	}
	return cands
}

// TestProperties holds every profile to what the package promises, over all
// kinds, features and channels that answer or do not.
func TestProperties(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, p := range fusion.Profiles() {
		for round := range 100 {
			cands := anything(rnd, rnd.IntN(40))
			q := fusion.Query{
				Text:  []string{"what did Ann say of the harbour of Oslo in May?", "我喜欢电影吗", "", "my tall ships"}[rnd.IntN(4)],
				Now:   noon,
				Spans: []fusion.Span{{From: noon.Add(-9 * day), To: noon.Add(-3 * day)}, {From: noon.Add(-20 * day), To: noon.Add(-19 * day), Day: true}}[:rnd.IntN(3)],
			}
			want := fusion.Rank(q, cands, p, nil)
			seen := map[memtypes.ID]bool{}
			for _, h := range want {
				sum := 0.0
				for _, r := range h.Reasons {
					sum += r.Points
					if math.Abs(r.Value*r.Weight-r.Points) > 1e-12 {
						t.Fatalf("%s round %d: reason %+v, want points = value x weight", p, round, r)
					}
				}
				if !(h.Score >= 0 && h.Score <= 1) || math.Abs(sum-h.Score) > 1e-9 {
					t.Fatalf("%s round %d: score %v, reasons sum to %v; want equal and in [0,1]", p, round, h.Score, sum)
				}
				for _, id := range append([]memtypes.ID{h.Memory.ID}, h.Same...) {
					if seen[id] {
						t.Fatalf("%s round %d: %s stands twice", p, round, id)
					}
					seen[id] = true
				}
			}
			if len(seen) != len(cands) {
				t.Fatalf("%s round %d: %d memories in the answer, want all %d candidates", p, round, len(seen), len(cands))
			}
			if !slices.IsSortedFunc(want, func(x, y memtypes.Hit) int { return stdcmp.Compare(y.Score, x.Score) }) {
				t.Fatalf("%s round %d: scores do not descend", p, round)
			}
			rnd.Shuffle(len(cands), func(i, j int) { cands[i], cands[j] = cands[j], cands[i] })
			if d := cmp.Diff(want, fusion.Rank(q, cands, p, nil), cmp.AllowUnexported(memtypes.Scope{})); d != "" {
				t.Fatalf("%s round %d: the order of the candidates changed the answer (-first +shuffled):\n%s", p, round, d)
			}
		}
	}
}
