package fusion

import (
	"strings"
	"unicode/utf8"
)

// QueryText is text without the words that say nothing of what is asked for:
// question words, auxiliaries, the "kind" and "type" of "what kind of",
// pronouns, and what only fills talk ("well", "please"); in Chinese the question
// words, and the particles that end a clause. Memories are full of them too, and
// they pull up whatever asks or chats. A capitalised word inside a sentence is
// kept: Will and May are names. If no word would be left, text comes back as it
// was.
//
// The words channels of the default profile search for this; the plain profiles
// search for the text as it stands, and an embedder always gets the whole.
func QueryText(text string) string {
	var b strings.Builder
	kept, first := false, true
	for rest := withoutAsking(text); rest != ""; {
		word, gap := cut(rest)
		rest = rest[len(word)+len(gap):]
		if word != "" {
			if dropped(word, first) {
				word = ""
			}
			kept = kept || word != ""
			first = false
		}
		b.WriteString(word)
		b.WriteString(gap)
		first = first || strings.ContainsAny(gap, ".!?。！？\n")
	}
	if !kept {
		return text
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// cut takes the word at the head of s, apostrophes included, and what stands
// between it and the next one. Either may be empty, not both.
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

// dropped reports whether word goes: by itself ("didn't" too, by what stands
// before the apostrophe or before its n't), unless it is a name.
func dropped(word string, first bool) bool {
	word = strings.ReplaceAll(word, "’", "'")
	head, _, _ := strings.Cut(word, "'")
	lower := strings.ToLower(head)
	if !asking[lower] && !asking[strings.TrimSuffix(lower, "n")] && !filling[lower] {
		return false
	}
	return first || lower == head || head == "I"
}

// withoutAsking puts a space for the Chinese words that ask.
func withoutAsking(text string) string {
	if !strings.ContainsFunc(text, isHan) {
		return text
	}
	for _, w := range hanAsking {
		text = strings.ReplaceAll(text, w, " ")
	}
	var b strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		next, _ := utf8.DecodeRuneInString(text)
		if strings.ContainsRune(hanParticles, r) && !isHan(next) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

// hanAsking are the Chinese words that ask, longer before what they hold.
var hanAsking = []string{"为什么", "怎么样", "什么", "怎么", "怎样", "如何", "是不是", "有没有"}

// hanParticles end a Chinese clause and say nothing. 吧 and 哈 are missing:
// they end words as well.
const hanParticles = "吗呢啊呀嘛哦啦哇嗯"

// asking are the English words that ask, and auxiliaries.
var asking = wordSet(`what when where who whom whose which why how
	do did does done has have had having is are was were am be been being
	would could should can may might will shall many much long kind type`)

// filling are English pronouns, and words that only fill talk.
var filling = wordSet(`i me my mine myself we us our ours you your yours
	he him his she her hers it its they them their
	hmm oh wow yes yeah yep no okay ok well hey hi hello please thanks thank
	just really very so too also more some any lot let got get`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}
