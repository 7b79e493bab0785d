package local

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/llm"
)

// TestNeighbours compares with the cosines of the rows as float64.
func TestNeighbours(t *testing.T) {
	e := mustOpen(t)
	for _, word := range []string{"dog", "the", "电影"} {
		row := e.lookup(word)
		want := slowNeighbours(e, row)
		for _, n := range []int{8, 1, 3, cachedNear + 20, e.rows, 8} { // small ones from the cache too
			got := e.Neighbours(word, n)
			if len(got) != min(n, len(want)) {
				t.Fatalf("Neighbours(%q, %d): got %d, want %d", word, n, len(got), min(n, len(want)))
			}
			for i, g := range got {
				if math.Abs(g.Cosine-want[i].Cosine) > 1e-6 {
					t.Errorf("Neighbours(%q, %d)[%d] = %v, want %v", word, n, i, g, want[i])
				}
				if g.Word == e.name(row) || strings.HasPrefix(g.Word, "##") {
					t.Errorf("Neighbours(%q, %d)[%d] = %v, want neither the word nor a piece", word, n, i, g)
				}
			}
		}
	}
}

func slowNeighbours(e *Embedder, row int) []llm.Neighbour {
	var list []llm.Neighbour
	for i := range e.rows {
		ab, aa, bb := 0, 0, 0
		other := e.codes[i*e.dim:]
		for j, a := range e.codes[row*e.dim : (row+1)*e.dim] {
			b := int(other[j])
			ab, aa, bb = ab+int(a)*b, aa+int(a)*int(a), bb+b*b
		}
		if c := float64(ab) / math.Sqrt(float64(aa)*float64(bb)); i != row && c > minCosine && !e.isPiece(i) {
			list = append(list, llm.Neighbour{Word: e.name(i), Cosine: c})
		}
	}
	slices.SortStableFunc(list, func(a, b llm.Neighbour) int { return cmp.Compare(b.Cosine, a.Cosine) })
	return list
}

func TestNeighboursOfFew(t *testing.T) {
	e := mustRead(t, build(
		entry{"up", noCost, []int8{0, 100}}, entry{"high", noCost, []int8{60, 80}}, entry{"down", noCost, []int8{0, -100}},
		entry{"##up", noCost, []int8{0, 100}}, entry{"tall", noCost, []int8{-30, 40}}, entry{"none", noCost, []int8{0, 0}},
		entry{"aside", noCost, []int8{100, 31}}))
	want := []llm.Neighbour{{Word: "high", Cosine: 0.8}, {Word: "tall", Cosine: 0.8}}
	near := gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })
	if diff := gocmp.Diff(want, e.Neighbours("Up", 9), near); diff != "" {
		t.Errorf("Neighbours(Up) (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		word string
		n    int
	}{{"none", 9}, {"elsewhere", 9}, {"up", 0}, {"up", -1}, {"##up", 9}, {"", 9}} {
		if got := e.Neighbours(tt.word, tt.n); len(got) != 0 {
			t.Errorf("Neighbours(%q, %d) = %v, want none", tt.word, tt.n, got)
		}
	}
}

func TestNeighboursAreTheCallers(t *testing.T) {
	e := mustOpen(t)
	want := e.Neighbours("dog", 3)
	clear(e.Neighbours("dog", 3))
	if got := e.Neighbours("dog", 3); !slices.Equal(got, want) {
		t.Errorf("after a caller changed its slice: got %v, want %v", got, want)
	}
}

// The cache forgets, but not what is asked for all the time.
func TestCacheIsBounded(t *testing.T) {
	var c neighbours
	often := []llm.Neighbour{{Word: "often"}}
	c.put(-1, often)
	for row := range 10 * cachedRows {
		c.put(row, nil)
		if got := len(c.young) + len(c.old); got > 2*cachedRows {
			t.Fatalf("after %d words: got %d remembered, want at most %d", row+1, got, 2*cachedRows)
		}
		if got, ok := c.get(-1); !ok || !slices.Equal(got, often) {
			t.Fatalf("after %d words: got %v, %v for the one asked for each time, want it", row+1, got, ok)
		}
	}
	if _, ok := c.get(0); ok {
		t.Errorf("the first of %d words: got it, want it forgotten", 10*cachedRows)
	}
}

func ExampleEmbedder_Neighbours() {
	e, err := Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range e.Neighbours("doctor", 4) {
		fmt.Println(n.Word)
	}
	// Output:
	// dokter
	// doktor
	// doctors
	// physician
}
