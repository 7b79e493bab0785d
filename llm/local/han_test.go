package local

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWords(t *testing.T) {
	one := []int8{1}
	e := mustRead(t, build(
		entry{"中", 60, one}, entry{"国", 60, one}, entry{"人", 50, one}, entry{"中国", 80, one}, entry{"国人", 80, one},
		entry{"一二三四五六", 100, one}, entry{"零一二三四五六", 10, one}, entry{"天地", noCost, one}, entry{"ab", noCost, one},
		entry{"上", 40, one}, entry{"下", 40, one}, entry{"上下", 80, one}))
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"the cheaper way", "中国人", []string{"中国", "人"}},
		{"equal ways: the longer last word", "上下", []string{"上下"}},
		{"unknown characters stand alone", "龘中国靐", []string{"龘", "中国", "靐"}},
		{"six characters at most", "零一二三四五六", []string{"零", "一二三四五六"}},
		{"a row without cost is no word", "天地", []string{"天", "地"}},
		{"other scripts separate", "中ab国,人", []string{"中", "国", "人"}},
		{"broken bytes separate", "中\xe5国", []string{"中", "国"}},
		{"nothing", "", nil},
		{"no Han", "ab cd", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, e.Words(tt.text)); diff != "" {
				t.Errorf("Words(%q) (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

// TestCutIsCheapest compares the cost of the cut with that of the best of all
// cuts, on random words over three characters.
func TestCutIsCheapest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []string{"甲", "乙", "丙"}
	run := func(n int) (s string) {
		for range n {
			s += letters[random.IntN(len(letters))]
		}
		return s
	}
	for range 200 {
		known := map[string]byte{}
		for range 12 {
			known[run(1+random.IntN(4))] = byte(random.IntN(noCost))
		}
		var entries []entry
		for name, cost := range known {
			entries = append(entries, entry{name, cost, []int8{1}})
		}
		e, text := mustRead(t, build(entries...)), run(9)
		got := 0
		for _, w := range e.Words(text) {
			if c, ok := known[w]; ok {
				got += int(c)
			} else {
				got += unknownCost
			}
		}
		if want := cheapest(known, text); got != want {
			t.Fatalf("Words(%q) with %v = %v: got cost %d, want %d", text, known, e.Words(text), got, want)
		}
	}
}

// cheapest tries every cut of text.
func cheapest(known map[string]byte, text string) int {
	if text == "" {
		return 0
	}
	best := 1 << 30
	for n := hanBytes; n <= min(len(text), maxWord*hanBytes); n += hanBytes {
		cost, ok := known[text[:n]]
		if ok {
			best = min(best, int(cost)+cheapest(known, text[n:]))
		} else if n == hanBytes {
			best = min(best, unknownCost+cheapest(known, text[n:]))
		}
	}
	return best
}
