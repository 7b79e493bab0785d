package sparse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"
)

// Analyzer turns text into the tokens that an Index takes. The same text gives
// the same tokens for a document and for a query. It is safe for concurrent
// use, never fails, and returns valid UTF-8 whatever it is given.
//
// Text is normalised (NFKC, lower case) and cut:
//   - Chinese, Japanese and Korean, and the scripts of South-East Asia that
//     write no spaces, into every character and every pair of neighbours; with
//     Options.Words, Chinese into those words instead;
//   - all other text at the word boundaries of Unicode (UAX #29). Of these
//     words, those without a letter or digit and the 33 stop words of Lucene's
//     English are dropped; English words are brought to their stem.
type Analyzer struct {
	plain  bool
	cut    func(han string) []string
	stops  map[string]bool
	lemmas map[string]string
	whole  map[string]bool
	stems  *stemCache
}

// AnalyzerOptions sets an Analyzer. Nil and the zero AnalyzerOptions are the
// default.
type AnalyzerOptions struct {
	// Plain leaves irregular forms ("went", "children") and contractions
	// ("they've") to the stemmer, as Lucene's English does.
	Plain bool
	// Words cuts a run of Han characters into words, in order. Nil: every
	// character and every pair of neighbours is a token. It must be safe for
	// concurrent use.
	Words func(han string) []string
}

// Token is a word of a text.
type Token struct {
	Surface string // the word, normalised and in lower case, without 's
	Token   string // what the index holds for it
}

// NewAnalyzer makes an Analyzer; o may be nil.
func NewAnalyzer(o *AnalyzerOptions) *Analyzer {
	if o == nil {
		o = &AnalyzerOptions{}
	}
	a := &Analyzer{plain: o.Plain, cut: o.Words, stops: stopWords(), stems: new(stemCache)}
	if !o.Plain {
		a.lemmas, a.whole = irregular(), whole()
	}
	return a
}

// maxToken cuts longer words, in bytes: nobody types them.
const maxToken = 128

// Tokens gives the tokens of text, in order.
func (a *Analyzer) Tokens(text string) []string {
	out := make([]string, 0, len(text)/6+1)
	a.each(text, func(t Token) { out = append(out, t.Token) })
	return out
}

// Words gives the tokens of text, in order, each with the word it stands for.
func (a *Analyzer) Words(text string) []Token {
	out := make([]Token, 0, len(text)/6+1)
	a.each(text, func(t Token) { out = append(out, t) })
	return out
}

func (a *Analyzer) each(text string, emit func(Token)) {
	text = normalise(text)
	start, kind := 0, spaced
	flush := func(end int) {
		switch {
		case start == end:
		case kind == spaced:
			a.spaced(text[start:end], emit)
		case kind == han && a.cut != nil:
			for _, w := range a.cut(text[start:end]) {
				if w != "" {
					emit(Token{w, w})
				}
			}
		default:
			pairs(text[start:end], emit)
		}
		start = end
	}
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf { // most text: no need to decode
			if kind != spaced {
				flush(i)
				kind = spaced
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if k := a.scriptOf(r); k != kind {
			flush(i)
			kind = k
		}
		i += size
	}
	flush(len(text))
}

// normalise gives text in NFKC and lower case; bytes that are no UTF-8 become
// U+FFFD.
func normalise(text string) string {
	ascii := true
	for i := 0; i < len(text) && ascii; i++ {
		ascii = text[i] < utf8.RuneSelf
	}
	if !ascii {
		text = norm.NFKC.String(strings.ToValidUTF8(text, "\uFFFD"))
	}
	return strings.ToLower(text)
}

// script is how a character is cut.
type script uint8

const (
	spaced   script = iota // at word boundaries
	han                    // by Options.Words
	unspaced               // into characters and pairs
)

// scriptOf says how r is cut; without Options.Words, Han joins the rest of the
// unspaced scripts, so that pairs reach across (お茶).
func (a *Analyzer) scriptOf(r rune) script {
	switch {
	case r < 0x0e00:
		return spaced
	case '一' <= r && r <= '鿿' || r == '々' || r == '〇' || unicode.Is(unicode.Han, r):
		if a.cut == nil {
			return unspaced
		}
		return han
	case r == 'ー' || unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return unspaced
	}
	return spaced
}

// pairs emits every character of run and every pair of neighbours.
func pairs(run string, emit func(Token)) {
	for i := 0; i < len(run); {
		_, one := utf8.DecodeRuneInString(run[i:])
		emit(Token{run[i : i+one], run[i : i+one]})
		if i+one < len(run) {
			_, two := utf8.DecodeRuneInString(run[i+one:])
			emit(Token{run[i : i+one+two], run[i : i+one+two]})
		}
		i += one
	}
}

// spaced emits the words of text.
func (a *Analyzer) spaced(text string, emit func(Token)) {
	for it := words.FromString(text); it.Next(); {
		w := it.Value()
		first, _ := utf8.DecodeRuneInString(w)
		if !isWordRune(first) && !strings.ContainsFunc(w, isWordRune) {
			continue
		}
		if i := strings.IndexFunc(w, isJoiner); i >= 0 {
			w = strings.ReplaceAll(w, "’", "'")
			a.joined(w, emit)
			continue
		}
		a.word(w, emit)
	}
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// isJoiner says whether r, inside a word of UAX #29, is not part of a token as
// it is.
func isJoiner(r rune) bool {
	return r != '\'' && !isWordRune(r) && !unicode.IsMark(r)
}

// joined takes a word apart that is held together by a dot, an underscore or
// the like ("example.com", "snake_case"), but for numbers, which lose their
// commas only, and abbreviations, which lose their dots ("p.m").
func (a *Analyzer) joined(w string, emit func(Token)) {
	w = strings.ReplaceAll(w, ",", "")
	if initials(w) {
		a.word(strings.ReplaceAll(w, ".", ""), emit)
		return
	}
	start := 0
	for i, r := range w {
		if !isJoiner(r) || r == '.' && i > 0 && i+1 < len(w) && isDigit(w[i-1]) && isDigit(w[i+1]) {
			continue
		}
		a.word(w[start:i], emit)
		start = i + utf8.RuneLen(r)
	}
	a.word(w[start:], emit)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// initials reports whether w is single letters with dots between.
func initials(w string) bool {
	if len(w) < 3 {
		return false
	}
	for i := range len(w) {
		if letter := 'a' <= w[i] && w[i] <= 'z'; i%2 == 0 && !letter || i%2 == 1 && w[i] != '.' {
			return false
		}
	}
	return true
}

// word emits one word, unless it is a stop word.
func (a *Analyzer) word(w string, emit func(Token)) {
	if w = a.trim(w); w == "" || a.stops[w] {
		return
	}
	emit(Token{w, a.stem(w)})
}

// trim takes off apostrophes around w, a possessive or contracted ending, and
// what is too long.
func (a *Analyzer) trim(w string) string {
	if i := strings.LastIndexByte(w, '\''); i >= 0 {
		w = strings.Trim(w, "'")
		w = strings.TrimSuffix(w, "'s")
		for _, end := range [...]string{"'m", "'re", "'ve", "'ll", "'d"} {
			if !a.plain {
				w = strings.TrimSuffix(w, end)
			}
		}
	}
	if len(w) > maxToken {
		end := maxToken
		for !utf8.RuneStart(w[end]) {
			end--
		}
		w = w[:end]
	}
	return w
}
