package elastic

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
)

// Tokens go to Elasticsearch as one text with blanks between, which takes half
// the work of a list, and are cut there by the analyzer "whitespace". So that
// each stays one token, what is blank in it is written in another way, and one
// that is longer than the analyzer takes is written as its hash. Two tokens are
// never written alike.

// escape begins what is written in another way. It is itself no blank.
const escape = '\x1a'

// longest is how many bytes a written token has at most: the analyzer cuts after
// 255 units of UTF-16, of which there are no more than bytes.
const longest = 255

// written is a token as Elasticsearch has it.
func written(token string) string {
	if len(token) <= longest && strings.IndexFunc(token, special) < 0 {
		return token
	}
	var b strings.Builder
	for _, r := range token {
		if special(r) {
			b.WriteRune(escape)
			b.WriteString(strconv.FormatInt(int64(r), 16))
			b.WriteByte(';')
		} else {
			b.WriteRune(r)
		}
	}
	if b.Len() <= longest {
		return b.String()
	}
	sum := sha256.Sum256([]byte(token))
	return string(escape) + "#" + hex.EncodeToString(sum[:])
}

// special reports whether r may be blank to Java, in which every control
// character counts, or begins what is written in another way.
func special(r rune) bool {
	if r < 0x80 {
		return r <= ' ' || r == 0x7f
	}
	return unicode.IsSpace(r) || unicode.In(r, unicode.Z)
}

// text is tokens as one text.
func text(tokens []string) string {
	n := 0
	for _, t := range tokens {
		n += len(t) + 1
	}
	var b strings.Builder
	b.Grow(n)
	for i, t := range tokens {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(written(t))
	}
	return b.String()
}
