package local

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRows(t *testing.T) {
	e := mustRead(t, build(append(
		words("dog", "make", "easy", "study", "run", "happy", "##ness", "care", "bus", "hyper", "##para", "##par", "##x", "42", "##42", "café", "us", "quick"),
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
		{"letters beyond ASCII", "CAFÉ", []string{"café"}},
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
		e.tokens(strings.Repeat(unit, 1<<18), s)
		if got, limit := cap(s.run), 4*maxHan; got > limit {
			t.Errorf("after a run of %q: got scratch of %d bytes, want at most %d", unit, got, limit)
		}
		if got, limit := cap(s.path.cost), maxHan; got > limit {
			t.Errorf("after a run of %q: got a path of %d characters, want at most %d", unit, got, limit)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		in, out rune
		want    script
	}{
		{'a', 'a', latin}, {'Z', 'z', latin}, {'7', '7', latin}, {'É', 'é', latin}, {'ß', 'ß', latin}, {'ɏ', 'ɏ', latin},
		{'ẞ', 'ß', latin}, {'İ', 'i', latin}, {'中', '中', han}, {'㐀', '㐀', han}, {'鿿', '鿿', han}, {'䷿', '䷿', han},
		{'_', '_', gap}, {'\'', '\'', gap}, {'д', 'д', gap}, {'あ', 'あ', gap}, {'가', '가', gap}, {'\ufffd', '\ufffd', gap}, {'ɐ', 'ɐ', gap},
	} {
		if r, k := classify(tt.in); k != tt.want || k != gap && r != tt.out {
			t.Errorf("classify(%q) = %q, %d, want %q, %d", tt.in, r, k, tt.out, tt.want)
		}
	}
}
