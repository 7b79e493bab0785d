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
	words := []string{"dog", "the", "qqqq qqqq", "电影"}
	for _, n := range []int{1, 3, 64, e.rows} {
		lists := e.Neighbours(words, n)
		if len(lists) != len(words) {
			t.Fatalf("Neighbours of %d words: got %d lists, want one for each", len(words), len(lists))
		}
		for w, word := range words {
			var want []llm.Neighbour
			row := e.lookup(word)
			if row >= 0 {
				want = slowNeighbours(e, row)
			}
			got := lists[w]
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
	if diff := gocmp.Diff(want, e.Neighbours([]string{"Up"}, 9)[0], near); diff != "" {
		t.Errorf("Neighbours(Up) (-want +got):\n%s", diff)
	}
	for _, tt := range []struct {
		word string
		n    int
	}{{"none", 9}, {"elsewhere", 9}, {"up", 0}, {"up", -1}, {"##up", 9}, {"", 9}} {
		if got := e.Neighbours([]string{tt.word}, tt.n); len(got[0]) != 0 {
			t.Errorf("Neighbours(%q, %d) = %v, want none", tt.word, tt.n, got)
		}
	}
}

func ExampleEmbedder_Neighbours() {
	e, err := Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range e.Neighbours([]string{"doctor"}, 4)[0] {
		fmt.Println(n.Word)
	}
	// Output:
	// dokter
	// doktor
	// doctors
	// physician
}
