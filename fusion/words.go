package fusion

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// plainWords is text in lower case with single spaces between its words. What
// follows an apostrophe is dropped ("Ann's" is "ann"); a run of Han characters
// is one word.
func plainWords(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	gap, tail, han := false, false, false
	for _, r := range text {
		switch {
		case r == '\'' || r == '’':
			tail = !gap && b.Len() > 0
			continue
		case !isWord(r):
			gap, tail = true, false
			continue
		case tail:
			continue
		}
		if h := isHan(r); h != han {
			gap, han = true, h
		}
		if gap && b.Len() > 0 {
			b.WriteByte(' ')
		}
		gap = false
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func isHan(r rune) bool { return r >= 0x3400 && unicode.Is(unicode.Han, r) }

// wordCount counts the words of the runes handed to it; a Han character counts
// .6, for a Chinese word has one or two.
type wordCount struct {
	n  float64
	in bool // a word is under way
}

func (c *wordCount) add(r rune) {
	switch {
	case isHan(r):
		c.n, c.in = c.n+.6, false
	case isWord(r):
		if !c.in {
			c.n++
		}
		c.in = true
	default:
		c.in = c.in && (r == '\'' || r == '’')
	}
}

// stated is how many words text has outside its question sentences. A sentence
// ends after the marks that end one, and asks if the last of them does.
func stated(text string) float64 {
	sum, ended, last := 0.0, false, ' '
	var sentence wordCount
	for _, r := range text {
		end := r < utf8.RuneSelf && endsSentence[r] || r == '。' || r == '！' || r == '？'
		if ended && !end {
			if last != '?' && last != '？' {
				sum += sentence.n
			}
			sentence = wordCount{}
		}
		sentence.add(r)
		if !unicode.IsSpace(r) {
			last = r
		}
		ended = end
	}
	if last != '?' && last != '？' {
		sum += sentence.n
	}
	return sum
}

var endsSentence = [utf8.RuneSelf]bool{'.': true, '!': true, '?': true, '\n': true}

// isQuestion reports whether text asks: a question mark, an English question
// word or auxiliary in front, or a Chinese question word or particle.
func isQuestion(text string) bool {
	if strings.ContainsAny(text, "?？") {
		return true
	}
	for _, w := range hanAsking {
		if strings.Contains(text, w) {
			return true
		}
	}
	if strings.ContainsAny(text, "吗呢谁哪几") {
		return true
	}
	first, _, _ := strings.Cut(plainWords(text), " ")
	return asking[first]
}

// firstPerson reports whether text speaks of its speaker: I, me, my, we, our ...
// It is asked of every candidate, so it takes the words as plainWords would,
// but one by one and without making a text of them.
func firstPerson(text string) bool {
	start, tail := -1, false
	for i, r := range text {
		letter := isWord(r)
		switch {
		case letter && isHan(r):
			if r == '我' || r == '咱' || r == '俺' {
				return true
			}
			letter = false // it ends the word before it
		case letter && tail:
			continue
		case letter && start < 0:
			start = i
		}
		if letter {
			continue
		}
		if start >= 0 && meansSelf(text[start:i]) {
			return true
		}
		tail = (r == '\'' || r == '’') && (tail || start >= 0)
		start = -1
	}
	return start >= 0 && meansSelf(text[start:])
}

func meansSelf(word string) bool {
	return len(word) <= len("ourselves") && speaksOfSelf[strings.ToLower(word)]
}

// speaksOfSelf are the pronouns of the first person.
var speaksOfSelf = wordSet("i me my mine myself we us our ours ourselves")
