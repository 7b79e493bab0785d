package local

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRows(t *testing.T) {
	e := mustRead(t, build(append(
		words("dog", "make", "easy", "study", "run", "happy", "##ness", "care", "bus", "hyper", "##para", "##par", "##x", "42", "##42", "cafe", "us", "quick"),
		entry{"电影", 90, []int8{1, 2}}, entry{"电", 80, []int8{2, 1}})...))
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"its own row before an ending", "bus", []string{"bus"}},
		{"s", "Dogs", []string{"dog"}},
		{"es", "dogES", []string{"dog"}},
		{"ed", "dogged doged", []string{"dog"}},
		{"ed to e", "cared", []string{"care"}},
		{"ing", "doging", []string{"dog"}},
		{"ing to e", "making", []string{"make"}},
		{"ies to y", "studies", []string{"study"}},
		{"ly", "quickly", []string{"quick"}},
		{"er", "quicker", []string{"quick"}},
		{"ness", "quickness", []string{"quick"}},
		{"what is left of an ending has three letters", "uses", []string{"us"}}, // by its pieces: "us", then nothing for "es"
		{"no ending of an ending", "makings", []string{}},
		{"pieces, longest first", "hyperparax", []string{"hyper", "##para"}},
		{"a letter skipped", "hyperzpar", []string{"hyper", "##par"}},
		{"the first piece is a word wherever it is", "zzdogness", []string{"dog", "##ness"}},
		{"no piece of one letter", "hyperx", []string{"hyper"}},
		{"a piece is no word", "para", []string{}},
		{"digits have their own row or none", "42 43 421", []string{"42"}},
		{"digits in a word", "dog42", []string{"dog", "##42"}},
		{"accents come off", "CAFÉ café cafe\u0301", []string{"cafe"}},
		{"full width", "ＤＯＧ４２ ４２", []string{"dog", "##42", "42"}},
		{"a sign at a word is not glued to it", "dog™ dog²", []string{"dog"}},
		{"an accent between scripts does not join them", "dog\u0301电影", []string{"dog", "电影"}},
		{"scripts part", "dog电影dog", []string{"dog", "电影"}},
		{"the Kelvin sign is a letter", "quic\u212a", []string{"quick"}},
		{"a byte that is no UTF-8 separates", "do\xffg dog", []string{"dog"}},
		{"hash signs are no letters", "##ness", []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, rowsOf(e, tt.text)); diff != "" {
				t.Errorf("rows of %q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
}

// A run without end is cut, and costs neither time nor memory beyond its length.
func TestLongRuns(t *testing.T) {
	e := mustOpen(t)
	for _, unit := range []string{"q", "ab", "9", "霸", "电影", "龘", "\xff", "é"} {
		s := newSketch(e.rows, e.dim)
		e.tokens(strings.Repeat(unit, 1<<15), s)
		if got, limit := cap(s.run), 4*maxHan; got > limit {
			t.Errorf("after a run of %q: got scratch of %d bytes, want at most %d", unit, got, limit)
		}
		if got, limit := cap(s.path.cost), maxHan; got > limit {
			t.Errorf("after a run of %q: got a path of %d characters, want at most %d", unit, got, limit)
		}
	}
}

func TestLetters(t *testing.T) {
	for _, tt := range []struct {
		in   rune
		out  string
		want script
	}{
		{'a', "a", latin}, {'Z', "z", latin}, {'7', "7", latin}, {'É', "e", latin}, {'ǖ', "u", latin}, {'ạ', "a", latin}, {'İ', "i", latin},
		{'ß', "ss", latin}, {'ẞ', "ss", latin}, {'Æ', "ae", latin}, {'ǽ', "ae", latin}, {'ø', "o", latin}, {'Ǿ', "o", latin}, {'ł', "l", latin},
		{'Ａ', "a", latin}, {'９', "9", latin}, {'ﬁ', "fi", latin}, {'ﬄ', "ffl", latin}, {'\u212a', "k", latin},
		{'ə', "", gap}, {'Ə', "", gap}, {'ŋ', "ŋ", latin}, {'Ŋ', "ŋ", latin}, {'ɏ', "ɏ", latin},
		{'中', "中", han}, {'㐀', "㐀", han}, {'\u9fff', "\u9fff", han}, {'\uf900', "豈", han},
		{'\u0301', "", mark}, {'\u0344', "", mark},
		{'_', "", gap}, {'\'', "", gap}, {'’', "", gap}, {',', "", gap}, {'。', "", gap}, {'÷', "", gap}, {'™', "", gap}, {'²', "", gap}, {'½', "", gap},
		{'д', "", gap}, {'й', "", gap}, {'あ', "", gap}, {'가', "", gap}, {'\ufffd', "", gap}, {'≠', "", gap}, {'𠀀', "", gap}, {'😀', "", gap},
	} {
		if got, k := letters(nil, tt.in); k != tt.want || string(got) != tt.out {
			t.Errorf("letters(%q) = %q, %d, want %q, %d", tt.in, got, k, tt.out, tt.want)
		}
	}
}

// Whatever a character is, it gives letters of the script it says, and no gap
// or mark gives any.
func TestLettersOfAll(t *testing.T) {
	for r := range rune(0x110000) {
		got, k := letters(nil, r)
		if (len(got) == 0) != (k == gap || k == mark) {
			t.Fatalf("letters(%U) = %q, %d, want letters for a script only", r, got, k)
		}
		for _, c := range string(got) {
			if isHan(c) != (k == han) {
				t.Fatalf("letters(%U) = %q, %d, want letters of one script", r, got, k)
			}
			if again, _ := letters(nil, c); string(again) != string(c) {
				t.Fatalf("letters(%U) = %q, and of that %q, want the same", r, got, again)
			}
		}
	}
}
