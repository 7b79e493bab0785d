package sparse_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/stores/sparse"
)

func TestTokens(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"no words", " \n\t!?… — () 😀 \x00", ""},
		{"stop words", "The cat is on the mat, and it was not a dog", "cat mat dog"},
		{"all stop words", "to be or not to be", ""},
		{"case and punctuation", "HELLO, World!", "hello world"},
		{"stems", "She was running with hopeful generalizations", "she run hope general"},
		{"irregular verbs", "Ann went, bought and taught; goes, done, seen", "ann go buy teach go do see"},
		{"irregular nouns", "children women people feet mice wives", "child woman person foot mous wife"},
		{"kept apart from another word", "evenings universities organizations international added even universe organ intern ads",
			"evening university organize international add even univers organ intern ad"},
		{"possessive", "Ann's dog, the dogs' bones, Caroline’s", "ann dog dog bone carolin"},
		{"contractions", "they've I'm you’ll he'd we're don't it's", "i you he we don't"},
		{"quotes", "'quoted' ‘text’ \"here\"", "quot text here"},
		{"numbers", "3 apples, 3,000.50 and 1,000,000; 3.14 in 1990s", "3 appl 3000.50 1000000 3.14 1990s"},
		{"dates and times", "2023-05-02 at 10:30 p.m.", "2023 05 02 10 30 pm"},
		{"initials", "U.S.A. and J.R.R. Tolkien e.g. this", "usa jrr tolkien eg"},
		{"names of files and sites", "see example.com/a_b.txt end.Next v1.2.3", "see exampl com b txt end next v1.2.3"},
		{"hyphens and slashes", "well-known and/or x/y", "well know x y"},
		{"accents stay", "Café Zürich naïve", "café zürich naïve"},
		{"decomposed is composed", "cafe\u0301", "café"},
		{"full width and ligatures", "ＡＢＣ１２３ ﬁne ① ㎏", "abc123 fine 1 kg"},
		{"other scripts", "Привет мир, Γειά σου", "привет мир γειά σου"},
		{"invalid UTF-8", "ab\xffcd \xe4\xb8", "ab cd"},
		{"one Han character", "爱", "爱"},
		{"Han", "我爱北京", "我 我爱 爱 爱北 北 北京 京"},
		{"Han and punctuation", "你好，世界。", "你 你好 好 世 世界 界"},
		{"Han and Latin", "我用iPhone手机", "我 我用 用 iphon 手 手机 机"},
		{"Japanese", "お茶とコーヒー", "お お茶 茶 茶と と とコ コ コー ー ーヒ ヒ ヒー ー"},
		{"half-width katakana", "ｶﾞｽ", "ガ ガス ス"},
		{"Korean", "한국어 책", "한 한국 국 국어 어 책"},
		{"repetition mark", "人々", "人 人々 々"},
		{"a Han numeral", "〇三", "〇 〇三 三"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := sparse.NewAnalyzer(nil).Tokens(tt.text)
			if want := strings.Fields(tt.want); !slices.Equal(got, want) {
				t.Errorf("Tokens(%q) = %q, want %q", tt.text, got, want)
			}
		})
	}
}

// TestPlain: without irregular forms and contractions, as Lucene's English.
func TestPlain(t *testing.T) {
	a := sparse.NewAnalyzer(&sparse.AnalyzerOptions{Plain: true})
	for text, want := range map[string]string{
		"Ann went with the children":  "ann went children",
		"they've Ann's organizations": "they'v ann organ",
	} {
		if got := strings.Join(a.Tokens(text), " "); got != want {
			t.Errorf("Tokens(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestStems holds the stemmer to outputs of the Snowball project's English
// (Porter 2), rule by rule.
func TestStems(t *testing.T) {
	a := sparse.NewAnalyzer(&sparse.AnalyzerOptions{Plain: true})
	for word, want := range map[string]string{
		"consign": "consign", "consigned": "consign", "consignment": "consign", "consistency": "consist", "consolation": "consol",
		"knightly": "knight", "knotted": "knot", "knowing": "know", "caresses": "caress", "flies": "fli", "dies": "die", "ties": "tie",
		"cries": "cri", "gas": "gas", "gaps": "gap", "kiwis": "kiwi", "agreed": "agre", "feed": "feed", "luxuriated": "luxuri",
		"hopping": "hop", "hoping": "hope", "happy": "happi", "cry": "cri", "by": "", "say": "say", "relational": "relat",
		"conditional": "condit", "rationally": "ration", "valency": "valenc", "digitizer": "digit", "operator": "oper",
		"feudalism": "feudal", "decisiveness": "decis", "hopefulness": "hope", "formality": "formal", "sensitivity": "sensit",
		"triplicate": "triplic", "formative": "format", "electrical": "electr", "goodness": "good", "revival": "reviv",
		"allowance": "allow", "airliner": "airlin", "adjustable": "adjust", "irritant": "irrit", "replacement": "replac",
		"adoption": "adopt", "communism": "communism", "effective": "effect", "bowdlerize": "bowdler", "rate": "rate",
		"controlling": "control", "rolling": "roll", "skis": "ski", "skies": "sky", "news": "news", "dying": "die", "idly": "idl",
		"youth": "youth", "boyish": "boyish", "generously": "generous", "arsenal": "arsenal", "succeeding": "succeed",
	} {
		if got := strings.Join(a.Tokens(word), " "); got != want {
			t.Errorf("stem of %q = %q, want %q", word, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	got := sparse.NewAnalyzer(nil).Words("Caroline's children WENT there in 2023, 北京")
	want := []sparse.Token{
		{Surface: "caroline", Token: "carolin"}, {Surface: "children", Token: "child"}, {Surface: "went", Token: "go"}, {Surface: "2023", Token: "2023"},
		{Surface: "北", Token: "北"}, {Surface: "北京", Token: "北京"}, {Surface: "京", Token: "京"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Words (-want +got):\n%s", diff)
	}
}

// TestSegmenter: Han runs are cut by Options.Words, kana and Hangul are not.
func TestSegmenter(t *testing.T) {
	var asked []string
	a := sparse.NewAnalyzer(&sparse.AnalyzerOptions{Words: func(han string) []string {
		asked = append(asked, han)
		return append(strings.SplitAfter(han, "北京"), "")
	}})
	got := a.Tokens("我爱北京天安门。Cats 東京タワー")
	if diff := cmp.Diff([]string{"我爱北京", "天安门", "cat", "東京", "タ", "タワ", "ワ", "ワー", "ー"}, got); diff != "" {
		t.Errorf("Tokens (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"我爱北京天安门", "東京"}, asked); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}

func TestLongWordIsCut(t *testing.T) {
	a := sparse.NewAnalyzer(nil)
	for _, text := range []string{strings.Repeat("x", 5000), strings.Repeat("é", 5000), strings.Repeat("7", 5000)} {
		got := a.Tokens(text)
		if len(got) != 1 || len(got[0]) > 128 || !strings.HasPrefix(text, got[0]) {
			t.Errorf("Tokens of %.4q…: %q, want one beginning of at most 128 bytes", text, got)
		}
	}
}

// TestAnalyzerConcurrently: the cache of stems gives everyone the same.
func TestAnalyzerConcurrently(t *testing.T) {
	a, alone := sparse.NewAnalyzer(nil), sparse.NewAnalyzer(nil)
	var texts, want []string
	for i := range 300 {
		texts = append(texts, fmt.Sprintf("running%[1]c consignments%[1]c organizations", 'a'+rune(i%26)))
		want = append(want, strings.Join(alone.Tokens(texts[i]), " "))
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, text := range texts {
				if got := strings.Join(a.Tokens(text), " "); got != want[i] {
					t.Errorf("Tokens(%q) = %q, want %q", text, got, want[i])
				}
			}
		})
	}
	wg.Wait()
}

// FuzzTokens: whatever the text, tokens are valid, not empty, not too long,
// not too many, and the same for the text in capitals or analysed again.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"Ann's children went to example.com", "我爱北京 お茶 한국어 ไทย", "\xff\xfe a\x00b", "U.S. 3,000.50 a_b's 's '' ''s", "ﷺ ㌖ ½ İ ǅ ß"} {
		f.Add(s)
	}
	a := sparse.NewAnalyzer(nil)
	f.Fuzz(func(t *testing.T, text string) {
		words, size := a.Words(text), 0
		tokens := a.Tokens(text)
		for i, w := range words {
			for _, s := range []string{w.Surface, w.Token} {
				if s == "" || len(s) > 128 || !utf8.ValidString(s) || strings.ContainsAny(s, " \t\n\x00") {
					t.Fatalf("Words(%q)[%d] = %q", text, i, w)
				}
			}
			if tokens[i] != w.Token {
				t.Fatalf("Tokens(%q)[%d] = %q, want %q as Words says", text, i, tokens[i], w.Token)
			}
			size += len(w.Surface)
		}
		if len(tokens) != len(words) || size > 64*len(text) {
			t.Fatalf("Tokens(%q): %d tokens of %d words, %d bytes", text, len(tokens), len(words), size)
		}
		if again := sparse.NewAnalyzer(nil).Words(text); !cmp.Equal(again, words) {
			t.Fatalf("Words(%q) by another Analyzer: %s", text, cmp.Diff(words, again))
		}
	})
}

func ExampleAnalyzer() {
	a := sparse.NewAnalyzer(nil)
	fmt.Println(a.Tokens("Where did the children go?"))
	fmt.Println(a.Tokens("孩子们去了北京"))
	// Output:
	// [where do child go]
	// [孩 孩子 子 子们 们 们去 去 去了 了 了北 北 北京 京]
}

// BenchmarkTokens times a turn of a dialogue.
func BenchmarkTokens(b *testing.B) {
	a := sparse.NewAnalyzer(nil)
	for name, text := range map[string]string{
		"english": "Melanie: Wow, that's great! I went camping with the kids last weekend and we saw the most beautiful sunset over the mountains, did you get any pictures?",
		"chinese": "小明：我上周末带孩子们去露营了，我们在山上看到了最美的日落，你拍照片了吗？下次我们可以一起去爬山，顺便看看秋天的红叶。",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				a.Tokens(text)
			}
		})
	}
}
