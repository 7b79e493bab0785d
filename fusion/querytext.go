package fusion

import (
	"strings"
	"unicode"
)

// QueryText is text without the words that ask rather than say what is asked
// for: question words, auxiliaries, and the "kind" and "type" of "what kind of";
// in Chinese the question words and particles. They occur in memories too, and
// pull up whatever asks. What stands after an apostrophe goes with its word. A
// capitalised word inside a sentence is kept: Will and May are names. If nothing
// would be left, text comes back as it was.
//
// The words channels of the default profile search for this; the plain profiles
// search for the text as it stands, and an embedder always gets the whole.
func QueryText(text string) string {
	var b strings.Builder
	kept, start := false, true
	for rest := text; rest != ""; {
		word, gap := cut(rest)
		rest = rest[len(word)+len(gap):]
		switch {
		case word == "":
		case dropped(word, start):
			word = ""
		default:
			kept = true
		}
		b.WriteString(word)
		b.WriteString(gap)
		start = strings.ContainsAny(gap, ".!?。！？\n") || start && word == "" && gap != "" && !kept
	}
	out := strings.TrimSpace(b.String())
	if !kept || strings.IndexFunc(out, isWord) < 0 {
		return text
	}
	return out
}

// cut takes the word at the head of s, which may be empty, and what stands
// between it and the next one.
func cut(s string) (word, gap string) {
	end := strings.IndexFunc(s, func(r rune) bool { return !isWord(r) && r != '\'' && r != '’' })
	if end < 0 {
		return s, ""
	}
	next := strings.IndexFunc(s[end:], isWord)
	if next < 0 {
		return s[:end], s[end:]
	}
	return s[:end], s[end : end+next]
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func dropped(word string, first bool) bool {
	head, _, _ := strings.Cut(strings.ReplaceAll(word, "’", "'"), "'")
	if !asking[strings.ToLower(head)] {
		return false
	}
	return first || strings.ToLower(head) == head
}

// asking are the English words that QueryText drops.
var asking = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`what when where who whom whose which why how
		do did does done has have had having is are was were am be been being
		would could should can may might will shall many much long kind type`) {
		set[w] = true
	}
	return set
}()
