package elastic

import (
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"
)

// TestWritten: what is written has no blank, is short, and says which token it is.
func TestWritten(t *testing.T) {
	for token, want := range map[string]string{
		"cat": "cat", "爱": "爱", "two words": "two\x1a20;words", "a\x1a20;b": "a\x1a1a;20;b", "\u3000": "\x1a3000;", "\u00a0": "\x1aa0;",
		strings.Repeat("x", 255): strings.Repeat("x", 255),
	} {
		if got := written(token); got != want {
			t.Errorf("written(%q) = %q, want %q", token, got, want)
		}
	}
	seen := map[string]string{}
	piece := rapid.SampledFrom([]string{"a", "b", " ", "\x1a", "\x1a20;", "20;", "#", "\u2003", "\x00", "😀", strings.Repeat("y", 100), strings.Repeat(" ", 50)})
	rapid.Check(t, func(r *rapid.T) {
		token := strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(r, "token"), "")
		got := written(token)
		if other, twice := seen[got]; twice && other != token {
			r.Fatalf("%q and %q are both written %q", token, other, got)
		}
		seen[got] = token
		if len(utf16.Encode([]rune(got))) > longest || strings.ContainsFunc(got, func(r rune) bool { return special(r) && r != escape }) {
			r.Fatalf("%q is written %q: want at most %d units and no blank", token, got, longest)
		}
	})
	if got := text([]string{"cat", "two words", "cat"}); got != "cat two\x1a20;words cat" {
		t.Errorf("text = %q", got)
	}
}
