package local

import (
	"fmt"
	"strings"
	"testing"
)

func TestWeight(t *testing.T) {
	e := mustOpen(t)
	for _, tt := range []struct {
		word     string
		ok       bool
		min, max float64
	}{
		{"the", true, 0, 0.1}, {"THE", true, 0, 0.1}, {"的", true, 0, 0.2},
		{"dog", true, 0.5, 1.5}, {"dogs", true, 0.5, 1.5}, {"volcano", true, 0.5, 1.5}, {"电影", true, 0.5, 1.5},
		{"xkcdbot", false, 0, 0}, {"", false, 0, 0}, {"##ing", false, 0, 0}, {"two words", false, 0, 0},
		{"dog电", false, 0, 0}, {"龘", false, 0, 0}, {"9999999", false, 0, 0}, {"\xff", false, 0, 0},
		{strings.Repeat("long", 99), false, 0, 0},
	} {
		w, ok := e.Weight(tt.word)
		if ok != tt.ok || w < tt.min || w > tt.max {
			t.Errorf("Weight(%q) = %v, %v, want %v to %v, %v", tt.word, w, ok, tt.min, tt.max, tt.ok)
		}
	}
}

func TestWeightOfForms(t *testing.T) {
	e := mustRead(t, build(words("volcano")...))
	for _, word := range []string{"volcano", "Volcanoes", "volcanos"} {
		if w, ok := e.Weight(word); w != 1 || !ok {
			t.Errorf("Weight(%q) = %v, %v, want that of volcano, 1", word, w, ok)
		}
	}
}

func ExampleEmbedder_Weight() {
	e, err := Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	the, _ := e.Weight("the")
	volcano, _ := e.Weight("volcano")
	_, known := e.Weight("xkcdbot")
	fmt.Println(the < 0.1, volcano > 0.8, known)
	// Output: true true false
}

func ExampleEmbedder_Words() {
	e, err := Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Words("京剧和电影, opera"))
	// Output: [京剧 和 电影]
}
