package fusion_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/fusion"
)

func TestCloseness(t *testing.T) {
	for _, tt := range []struct {
		name, query, text string
		want              float64
	}{
		{"side by side", "harbour master", "Ask the harbour master.", 1},
		{"the other way round", "harbour master", "the master of harbours", 1},
		{"two words apart", "harbour master", "harbour of the master", .5},
		{"five apart", "harbour master", "the harbour has a new young master", .5},
		{"six apart", "harbour master", "the harbour has a very new young master", 0},
		{"the nearest pair counts", "harbour master", "harbour x x x x x x x harbour master x x x x x x x master", 1},
		{"one is missing", "harbour master", "harbour, harbour", 0},
		{"two pairs, one near", "harbour master keys", "harbour master, and far away at the end of it are keys", .5},
		{"inflected", "painting houses", "he paints a house", 1},
		{"question words are not of the query", "where is the harbour master", "the harbour master", 1},
		{"a word said twice makes no pair", "harbour harbour", "harbour harbour", 0},
		{"one word makes no pair", "harbour", "harbour", 0},
		{"Chinese makes none", "海港 主管", "海港 主管", 0},
		{"but does not part Latin words", "harbour 海港 master", "harbour master", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := fusion.Rank(fusion.Query{Text: tt.query}, []fusion.Candidate{passage("a", "", tt.text, 5, 0)}, fusion.Default, nil)
			r, ok := told(got[0], "close")
			if !ok || r.Value != tt.want {
				t.Errorf("close = %v (told: %v), want %v", r.Value, ok, tt.want)
			}
		})
	}
}

// TestClosenessOfTheBest: only the best hundred by words are read for it.
func TestClosenessOfTheBest(t *testing.T) {
	var cands []fusion.Candidate
	for i := range 101 {
		text := "harbour master " + strings.Repeat("x", i+1)
		cands = append(cands, passage(fmt.Sprintf("m%03d", i), "", text, float64(500-i), 0))
	}
	got := fusion.Rank(fusion.Query{Text: "harbour master"}, cands, fusion.Default, nil)
	for i, want := range map[int]float64{0: 1, 99: 1, 100: 0} {
		if r, _ := told(hit(t, got, fmt.Sprintf("m%03d", i)), "close"); r.Value != want {
			t.Errorf("close of the %dth by words = %v, want %v", i+1, r.Value, want)
		}
	}
}
