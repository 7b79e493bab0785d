package fusion_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

func passage(id, title, text string, bm25, cosine float64) fusion.Candidate {
	m := memory(id, memtypes.Knowledge, text, 0)
	m.Title = title
	return candidate(m, bm25, cosine)
}

// TestKnowledge works a ranking out by hand: both channels name the same two,
// so the dense one has its whole weight of .6, and all weights sum to 1.9.
func TestKnowledge(t *testing.T) {
	got := fusion.Rank(fusion.Query{Text: "keys"}, []fusion.Candidate{
		passage("a", "", "the keys hang there", 10, .5),
		passage("b", "", "no keys", 5, .3),
	}, fusion.Default, nil)
	want := map[string][]memtypes.Reason{
		"a": {{Name: "text", Value: 1, Weight: 1 / 1.9, Points: 1 / 1.9}, {Name: "dense", Value: 1, Weight: .6 / 1.9, Points: .6 / 1.9}, {Name: "close", Weight: .3 / 1.9}},
		"b": {{Name: "text", Value: .5, Weight: 1 / 1.9, Points: .5 / 1.9}, {Name: "dense", Weight: .6 / 1.9}, {Name: "close", Weight: .3 / 1.9}},
	}
	for id, reasons := range want {
		if d := cmp.Diff(reasons, hit(t, got, id).Reasons, almost()); d != "" {
			t.Errorf("reasons of %s (-want +got):\n%s", id, d)
		}
	}
}

// TestTrust: of the ten best by sense, agree are among the ten best by words.
func TestTrust(t *testing.T) {
	for agree, want := range map[int]float64{0: 0, 2: .6 * .04, 5: .6 * .25, 10: .6} {
		var cands []fusion.Candidate
		for i := range 10 + 10 - agree {
			words, cosine := 1., .1
			if i < 10 {
				words = 20
			}
			if i >= 10-agree {
				cosine = .9
			}
			cands = append(cands, passage(fmt.Sprintf("m%02d", i), "", fmt.Sprint("text ", i), words, cosine))
		}
		h := fusion.Rank(fusion.Query{Text: "text"}, cands, fusion.Default, nil)[0]
		dense, _ := told(h, "dense")
		text, _ := told(h, "text")
		if got := dense.Weight / text.Weight; got < want-1e-9 || got > want+1e-9 {
			t.Errorf("%d of 10 agree: dense weighs %v beside 1 for the words, want %v", agree, got, want)
		}
	}
}

// TestTrustWithoutSense: no vectors, no dense weight, and the best still has its words whole.
func TestTrustWithoutSense(t *testing.T) {
	c := fusion.Candidate{Memory: memory("a", memtypes.Knowledge, "keys", 0)}
	c.Scores.Set(fusion.Text, 3)
	h := fusion.Rank(fusion.Query{Text: "keys"}, []fusion.Candidate{c}, fusion.Default, nil)[0]
	if d := cmp.Diff(1/1.3, h.Score, almost()); d != "" {
		t.Errorf("score (-want +got):\n%s", d)
	}
}

func TestNamed(t *testing.T) {
	for _, tt := range []struct {
		name, title, head, query string
		want                     bool
	}{
		{"the title", "Oslo Harbour", "", "who built the Oslo harbour?", true},
		{"part of it", "Oslo Harbour", "", "who built Oslo?", false},
		{"within a word", "Harbour", "", "the harbourmaster", false},
		{"without its brackets", "Titanic (1997 film)", "", "who directed Titanic?", true},
		{"too short to tell", "Ann", "", "where is Ann?", false},
		{"the head of a triple", "", "Titanic", "who directed Titanic?", true},
		{"Chinese, anywhere", "", "泰坦尼克号", "你看过泰坦尼克号吗", true},
		{"one character is none", "", "号", "泰坦尼克号", false},
		{"in brackets of both kinds", "", "红（电影）", "红", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := passage("a", tt.title, "text", 5, 0)
			if tt.head != "" {
				c.Memory.Triple = &memtypes.Triple{Head: tt.head, Relation: "r", Tail: "t"}
			}
			h := fusion.Rank(fusion.Query{Text: tt.query}, []fusion.Candidate{c, passage("z", "", "other", 1, 0)}, fusion.Default, nil)
			r, ok := told(hit(t, h, "a"), "named")
			if ok != tt.want || ok && r.Value != 1 {
				t.Errorf("named = %+v (told: %v), want it: %v", r, ok, tt.want)
			}
			if _, ok := told(hit(t, h, "z"), "named"); ok != tt.want {
				t.Errorf("of another memory named is told: %v, want %v: the weights are the same for all", ok, tt.want)
			}
		})
	}
}

// TestTriple: its words are the mean of both normalisations of length.
func TestTriple(t *testing.T) {
	list := passage("list", "", "film cast a b c d", 4, 0)
	list.Memory.Triple = &memtypes.Triple{Head: "film", Relation: "cast", Tail: "a b c d"}
	list.Scores.Set(fusion.Turn, 9)
	short := passage("short", "", "film year 1997", 10, 0)
	short.Memory.Triple = &memtypes.Triple{Head: "film", Relation: "year", Tail: "1997"}
	short.Scores.Set(fusion.Turn, 10)
	text := passage("text", "", "a passage of film", 8, 0)
	got := fusion.Rank(fusion.Query{Text: "film"}, []fusion.Candidate{list, short, text}, fusion.Default, nil)
	for id, want := range map[string]float64{"short": 1, "list": (.4 + .9) / 2, "text": .8} {
		if r, _ := told(hit(t, got, id), "text"); r.Value < want-1e-9 || r.Value > want+1e-9 {
			t.Errorf("words of %s = %v, want %v", id, r.Value, want)
		}
	}
}
