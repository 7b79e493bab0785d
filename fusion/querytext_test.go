package fusion_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/vimbank/vimbank/fusion"
)

func TestQueryText(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"question words and auxiliaries", "When did Caroline go to the support group?", "Caroline go to the support group?"},
		{"the kind of what kind of", "What kind of music does Bo like?", "of music Bo like?"},
		{"pronouns and fillers", "Well, I really want to see her again, please", ", want to see again,"},
		{"contractions", "Didn't they say she'll move? It isn't far", "say move? far"},
		{"typographic apostrophes", "What’s new? They’ve moved", "new? moved"},
		{"a name inside stays", "Which film did Will see in May?", "film Will see in May?"},
		{"the first word is no name", "Will it rain in May", "rain in May"},
		{"nor the first of a later sentence", "It rained. May we go home", "rained. go home"},
		{"I is never a name", "the house that I painted", "the house that painted"},
		{"all of it asks: as it was", "What is it? How are you?", "What is it? How are you?"},
		{"Chinese asks within", "你喜欢什么电影", "你喜欢 电影"},
		{"the longer one first", "你为什么喜欢它", "你 喜欢它"},
		{"particles end a clause", "这部电影好看吗？", "这部电影好看 ？"},
		{"and stay inside of one", "吗啡是药", "吗啡是药"},
		{"both", "你喜欢 Titanic 吗", "你喜欢 Titanic"},
		{"spaces", "  Oslo \n\t harbour ", "Oslo harbour"},
		{"nothing", "", ""},
		{"signs only", "?!", "?!"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := fusion.QueryText(tt.text); got != tt.want {
				t.Errorf("QueryText(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

// FuzzQueryText: whatever the bytes, it only takes away, breaks no character, and
// never leaves nothing of something.
func FuzzQueryText(f *testing.F) {
	for _, s := range []string{"When did Caroline go?", "你喜欢什么电影吗", "I", "don't", "a\xffb", "’’", "What’s 什么 up", "你\xe5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := fusion.QueryText(text)
		if utf8.ValidString(text) && len(got) > len(text) {
			t.Errorf("QueryText(%q) = %q, longer than it was", text, got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("QueryText(%q) = %q breaks a character", text, got)
		}
		if strings.TrimSpace(text) != "" && got == "" {
			t.Errorf("QueryText(%q) leaves nothing", text)
		}
	})
}
