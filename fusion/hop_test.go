package fusion_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

// TestHop: the best passage names Ingrid Berg, of whom another passage tells,
// and a third one names the best. With words 1, .5 and .25 the three starts have
// exp(4(s-1)) = 1, e^-2 and e^-3 shares.
func TestHop(t *testing.T) {
	share := func(score float64) float64 {
		// Divided by 1: neither sense nor closeness nor a name takes part.
		return math.Exp(4*(score-1)) / (1 + math.Exp(-2) + math.Exp(-3))
	}
	for _, tt := range []struct {
		name             string
		first            fusion.Candidate
		second, third    fusion.Candidate
		want2nd, want3rd float64
	}{
		{
			"what the best names, and what names the best",
			passage("1", "Tall Ships", "The race was won by Ingrid Berg.", 8, 0),
			passage("2", "Ingrid Berg", "She was born in Oslo.", 4, 0),
			passage("3", "Bergen", "The town saw tall ships.", 2, 0),
			share(1), .7 * share(1),
		},
		{
			"brackets are no part of a title",
			passage("1", "Tall Ships (race)", "Won by Ingrid Berg.", 8, 0),
			passage("2", "Ingrid Berg (sailor)", "Born in Oslo.", 4, 0),
			passage("3", "Bergen", "It saw the Tall Ships.", 2, 0),
			share(1), .7 * share(1),
		},
		{
			"pieces of one document do not name each other",
			passage("1", "Tall Ships", "Tall Ships is a race.", 8, 0),
			passage("2", "Tall Ships", "The Tall Ships sail.", 4, 0),
			passage("3", "Bergen", "Tall Ships come.", 2, 0),
			share(.25), .7 * share(1), // the third one names it, as a start
		},
		{
			"a title in another script",
			passage("1", "船赛", "冠军是英格丽", 8, 0),
			passage("2", "英格丽", "她生于奥斯陆", 4, 0),
			passage("3", "Oslo", "nothing", 2, 0),
			share(1), 0,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := fusion.Rank(fusion.Query{Text: "prize"}, []fusion.Candidate{tt.first, tt.second, tt.third}, fusion.Default, nil)
			for id, want := range map[string]float64{"2": tt.want2nd, "3": tt.want3rd} {
				r, ok := told(hit(t, got, id), "hop")
				if !ok || math.Abs(r.Value-want) > 1e-9 {
					t.Errorf("hop of %s = %v (told: %v), want %v", id, r.Value, ok, want)
				}
			}
		})
	}
}

func TestNoHop(t *testing.T) {
	triple := func(id, head, text string, bm25 float64) fusion.Candidate {
		c := passage(id, "", text, bm25, 0)
		c.Memory.Triple = &memtypes.Triple{Head: head, Relation: "r", Tail: text}
		return c
	}
	for _, tt := range []struct {
		name  string
		cands []fusion.Candidate
	}{
		{"no titles", []fusion.Candidate{passage("a", "", "Tall Ships", 2, 0), passage("b", "", "Ingrid Berg", 1, 0)}},
		{"nobody is named", []fusion.Candidate{passage("a", "Tall Ships", "one", 2, 0), passage("b", "Ingrid Berg", "two", 1, 0)}},
		{"alone", []fusion.Candidate{passage("a", "Tall Ships", "Tall Ships", 2, 0)}},
		{"part of a word", []fusion.Candidate{passage("a", "Tall Ships", "the Bergens", 2, 0), passage("b", "Bergen", "two", 1, 0)}},
		{"three letters are no title", []fusion.Candidate{passage("a", "Tall Ships", "by Ann", 2, 0), passage("b", "Ann", "two", 1, 0)}},
		{"triples of one head", []fusion.Candidate{triple("a", "Titanic", "Titanic won", 2), triple("b", "Won Film", "the Titanic film", 1)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, h := range fusion.Rank(fusion.Query{Text: "prize"}, tt.cands, fusion.Default, nil) {
				if r, ok := told(h, "hop"); ok {
					t.Errorf("%s has %+v, want no hop", h.Memory.ID, r)
				}
			}
		})
	}
}

// TestHopReach: it goes to the sixty best and no further, and starts from three.
func TestHopReach(t *testing.T) {
	cands := []fusion.Candidate{passage("best", "Tall Ships", "Berg00 won.", 100, 0)}
	for i := range 70 {
		cands = append(cands, passage(fmt.Sprintf("m%02d", i), fmt.Sprintf("Berg%02d", i), "saw Tall Ships "+fmt.Sprint(i), float64(90-i), 0))
	}
	got := fusion.Rank(fusion.Query{Text: "prize"}, cands, fusion.Default, nil)
	for id, reached := range map[string]bool{"m00": true, "m58": true, "m59": false, "m69": false} {
		if r, _ := told(hit(t, got, id), "hop"); r.Value > 0 != reached {
			t.Errorf("hop of %s = %v, want it reached: %v", id, r.Value, reached)
		}
	}
}
