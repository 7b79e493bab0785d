package local

import (
	"fmt"
	"strings"
	"testing"
)

const (
	turn = "Melanie: Hey Caroline, since we last chatted, I've had a lot of things happening to me. I ran a charity race for mental health last Saturday – it was really rewarding."
	film = "《霸王别姬》是陈凯歌执导的一部电影,由张国荣、张丰毅、巩俐主演,讲述了两位京剧伶人半个世纪的悲欢离合。"
)

func BenchmarkOpen(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		mustOpen(b)
	}
}

func BenchmarkEmbed(b *testing.B) {
	e := mustOpen(b)
	for _, text := range []struct{ name, text string }{{"turn", turn}, {"film", film}} {
		b.Run(text.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Embed(b.Context(), []string{text.text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWeight(b *testing.B) {
	e := mustOpen(b)
	b.ReportAllocs()
	for b.Loop() {
		e.Weight("adoptions")
	}
}

func BenchmarkNeighbours(b *testing.B) {
	e := mustOpen(b)
	words := strings.Fields("which doctor did my sister see about her dog last winter")
	for _, n := range []int{1, len(words)} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e.Neighbours(words[:n], 64)
			}
		})
	}
}

// TestAllocations: the texts' vectors and the slice of them are all that is
// allocated once the scratch has grown.
func TestAllocations(t *testing.T) {
	e := mustOpen(t)
	s := newSketch(e.rows, e.dim)
	for _, text := range []string{turn, film, "hyperparameterization bookshelves", "龘"} {
		run := func() { s.reset(); e.tokens(text, s); e.vector(s) }
		if got := testing.AllocsPerRun(20, run); got > 1 {
			t.Errorf("%q: got %v allocations, want 1 at most", text, got)
		}
	}
	if got := testing.AllocsPerRun(20, func() { e.Weight("Adoptions") }); got != 0 {
		t.Errorf("Weight: got %v allocations, want none", got)
	}
}
