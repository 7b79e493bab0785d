package timeword

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind of a token.
type kind uint8

const (
	word   kind = iota // letters
	number             // digits, with st, nd, rd or th if they follow at once
	han                // one Han character
	mark               // one other character
)

// token is a piece of the text; spaces are not.
type token struct {
	kind       kind
	word       string // in lower case; of a number, its digits
	num        int    // of a number; -1 if it has more than six digits
	start, end int    // bytes of the text
	upper      bool   // a word with a capital in front
	apart      bool   // a space stands before it
}

// lex cuts text.
func lex(text string) []token {
	var out []token
	apart := false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			apart = true
			i += size
			continue
		}
		t := token{kind: mark, start: i, end: i + size, num: -1, apart: apart}
		switch {
		case digit(r) >= 0:
			t.kind = number
			t.end, t.num, t.word = digits(text, i)
			if o := ordinal(text[t.end:]); o > 0 {
				t.end += o
			}
		case unicode.Is(unicode.Han, r):
			t.kind, t.word = han, text[i:t.end]
		case unicode.IsLetter(r):
			t.kind, t.upper = word, unicode.IsUpper(r)
			t.end = i + lettersIn(text[i:])
			t.word = strings.ToLower(text[i:t.end])
		default:
			t.word = text[i:t.end]
		}
		out = append(out, t)
		apart = false
		i = t.end
	}
	return out
}

// digit is the value of an ASCII or full-width digit, or -1.
func digit(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r >= '０' && r <= '９':
		return int(r - '０')
	}
	return -1
}

func digits(text string, start int) (end, num int, plain string) {
	var b strings.Builder
	end = start
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		d := digit(r)
		if d < 0 {
			break
		}
		b.WriteByte(byte('0' + d))
		num = num*10 + d
		if b.Len() > 6 {
			num = 0
		}
		end += size
	}
	if b.Len() > 6 {
		num = -1
	}
	return end, num, b.String()
}

// ordinal is the length of st, nd, rd or th at the head of s, if no letter follows.
func ordinal(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch strings.ToLower(s[:2]) {
	case "st", "nd", "rd", "th":
	default:
		return 0
	}
	if r, _ := utf8.DecodeRuneInString(s[2:]); len(s) > 2 && unicode.IsLetter(r) {
		return 0
	}
	return 2
}

func lettersIn(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) || unicode.Is(unicode.Han, r) {
			return i
		}
	}
	return len(s)
}

// tok is token i; outside of the text it is empty.
func (p *parser) tok(i int) token {
	if i < 0 || i >= len(p.toks) {
		return token{kind: mark, num: -1}
	}
	return p.toks[i]
}

// is reports whether token i is one of words.
func (p *parser) is(i int, words ...string) bool {
	w := p.tok(i).word
	for _, x := range words {
		if w == x && w != "" {
			return true
		}
	}
	return false
}
