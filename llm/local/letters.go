package local

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// script is what a character can be part of.
type script uint8

const (
	gap   script = iota // separates
	latin               // a-z, 0-9 and Latin letters that come down to none of these
	han                 // U+3400 to U+9FFF, three bytes each in UTF-8
	mark                // an accent: no letter, and does not separate
)

// letters appends what r stands for: a letter in lower case and without
// accents, full-width forms and ligatures as plain letters, a Han character as
// it is; nothing for a gap or a mark.
func letters(dst []byte, r rune) ([]byte, script) {
	dst, kind, ok := simple(dst, r)
	if !ok {
		return decomposed(dst, r)
	}
	return dst, kind
}

// simple is letters for what no table of Unicode is needed for; ok is false for
// all else.
func simple(dst []byte, r rune) (out []byte, kind script, ok bool) {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return append(dst, byte(r)), latin, true
	case 'A' <= r && r <= 'Z':
		return append(dst, byte(r)+'a'-'A'), latin, true
	case r < utf8.RuneSelf, 0x2000 <= r && r < 0x2070, 0x3000 <= r && r < 0x3400:
		return dst, gap, true // most punctuation, and kana
	case isHan(r):
		return utf8.AppendRune(dst, r), han, true
	case 0x300 <= r && r < 0x370:
		return dst, mark, true
	}
	if s := unjoined(r); s != "" {
		return append(dst, s...), latin, true
	}
	return dst, gap, false
}

// decomposed is letters for what may have a decomposition in Unicode. One into
// several scripts or with a gap in it is a gap.
func decomposed(dst []byte, r rune) ([]byte, script) {
	form := norm.NFD
	if 0xfb00 <= r && r <= 0xfb06 || 0xff01 <= r && r <= 0xff5e {
		form = norm.NFKD // ligatures and full-width forms; of other characters it would glue ™ or ¹ to a word
	}
	var buf [utf8.UTFMax]byte
	parts := form.Properties(utf8.AppendRune(buf[:0], r)).Decomposition()
	if parts == nil {
		r = unicode.ToLower(r)
		if 0xdf <= r && r <= 0x24f && r != '÷' {
			return utf8.AppendRune(dst, r), latin
		}
		return dst, gap
	}
	start, kind := len(dst), mark
	for len(parts) > 0 {
		part, n := utf8.DecodeRune(parts)
		parts = parts[n:]
		var k script
		if dst, k, _ = simple(dst, part); k == mark {
			continue
		} else if k == gap || kind != mark && k != kind {
			return dst[:start], gap
		}
		kind = k
	}
	return dst, kind
}

// unjoined is what a letter that Unicode does not decompose is written as in
// a-z; "" for all others.
func unjoined(r rune) string {
	switch r {
	case 'ß', 'ẞ':
		return "ss"
	case 'æ', 'Æ':
		return "ae"
	case 'œ', 'Œ':
		return "oe"
	case 'þ', 'Þ':
		return "th"
	case 'ø', 'Ø':
		return "o"
	case 'ð', 'Ð', 'đ', 'Đ':
		return "d"
	case 'ħ', 'Ħ':
		return "h"
	case 'ı':
		return "i"
	case 'ł', 'Ł':
		return "l"
	case 'ŧ', 'Ŧ':
		return "t"
	}
	return ""
}

func isHan(r rune) bool { return 0x3400 <= r && r <= 0x9fff }
