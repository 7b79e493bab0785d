package segment_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/segment"
)

const manual = `# Coffee machine

## Safety

Never open the lid. Never leave it alone.

## Use

### Daily

Fill the tank. Press the button! Is the lamp green? Then it is ready.

` + "```sh\n# this is no heading\nmake coffee\n```" + `

Cleaning
--------
Use a dry cloth. Never use water.
`

func TestHeadings(t *testing.T) {
	type piece struct{ Heading, Text string }
	for _, tt := range []struct {
		name, text string
		o          *segment.Options
		want       []piece
	}{
		{"a manual", manual, nil, []piece{
			{"Coffee machine > Safety", "# Coffee machine\n\n## Safety\n\nNever open the lid. Never leave it alone."},
			{"Coffee machine > Use > Daily", "## Use\n\n### Daily\n\nFill the tank. Press the button! Is the lamp green? Then it is ready.\n\n```sh\n# this is no heading\nmake coffee\n```"},
			{"Coffee machine > Cleaning", "Cleaning\n--------\nUse a dry cloth. Never use water."},
		}},
		{"plain text", "# one\ntwo\n\n# three", &segment.Options{Plain: true}, []piece{{"", "# one\ntwo\n\n# three"}}},
		{"text before the first", "intro\n\n# A\na", nil, []piece{{"", "intro"}, {"A", "# A\na"}}},
		{"empty sections side by side", "# A\n## B\n## C\nc\n# D", nil, []piece{{"A > B", "# A\n## B"}, {"A > C", "## C\nc"}, {"D", "# D"}}},
		{"a level left out", "# A\n\n### B\n\nb\n\n## C\n\nc", nil, []piece{{"A > B", "# A\n\n### B\n\nb"}, {"A > C", "## C\n\nc"}}},
		{"closing marks", "## Use of C# ##\nx", nil, []piece{{"Use of C#", "## Use of C# ##\nx"}}},
		{"no space, no heading", "#tag and\n####### seven", nil, []piece{{"", "#tag and\n####### seven"}}},
		{"windows", "\ufeff# A\r\n\r\na\r\n\r\nB\r\n===\r\nb\r\n", nil, []piece{{"A", "# A\r\n\r\na"}, {"B", "B\r\n===\r\nb"}}},
		{"Chinese", "# 手册\n\n## 安全\n请勿打开盖子。\n\n## 使用\n按下按钮。", nil, []piece{{"手册 > 安全", "# 手册\n\n## 安全\n请勿打开盖子。"}, {"手册 > 使用", "## 使用\n按下按钮。"}}},
		{"a rule under a sentence", "It ends.\n---\nAnother.", nil, []piece{{"", "It ends.\n---\nAnother."}}},
		{"front matter", "---\ntitle: x\n---\ntext", nil, []piece{{"", "---\ntitle: x\n---\ntext"}}},
		{"a fence that is not closed", "~~~\n# code\n\n# code", nil, []piece{{"", "~~~\n# code\n\n# code"}}},
		{"a long title", "# " + strings.Repeat("长", 90) + "\nx", nil, []piece{{strings.Repeat("长", 80) + "…", "# " + strings.Repeat("长", 90) + "\nx"}}},
		{"blank", " \n\t\n\u3000", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []piece
			for _, s := range segment.Split(tt.text, tt.o) {
				got = append(got, piece{s.Heading, s.Text})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Split (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPacking(t *testing.T) {
	five := "Aaaa aaaa aaaa aa. Bbbb bbbb bbbb bb. Cccc cccc cccc cc. Dddd dddd dddd dd. Eeee eeee eeee ee." // 18 each
	for _, tt := range []struct {
		name, text string
		o          segment.Options
		want       []string
	}{
		{"all of it", five, segment.Options{}, []string{five}},
		{"shared out evenly", five, segment.Options{Max: 80}, []string{five[:56], five[57:]}},
		{"a paragraph's end is preferred", strings.Replace(five, "bb. C", "bb.\n\nC", 1), segment.Options{Max: 80},
			[]string{"Aaaa aaaa aaaa aa. Bbbb bbbb bbbb bb.", "Cccc cccc cccc cc. Dddd dddd dddd dd. Eeee eeee eeee ee."}},
		{"one sentence over", five, segment.Options{Max: 60, Overlap: 20}, []string{five[:37], five[19:75], five[57:]}},
		{"no sentence is short enough to repeat", five, segment.Options{Max: 60, Overlap: 10}, []string{five[:37], five[38:75], five[76:]}},
		{"a long sentence is cut at commas", "one two three four, five six seven eight, nine ten eleven", segment.Options{Max: 32},
			[]string{"one two three four,", "five six seven eight,", "nine ten eleven"}},
		{"else at spaces", "one two three four five six seven eight nine", segment.Options{Max: 32}, []string{"one two three four five six", "seven eight nine"}},
		{"else anywhere", strings.Repeat("x", 70), segment.Options{Max: 32}, []string{strings.Repeat("x", 32), strings.Repeat("x", 32), strings.Repeat("x", 6)}},
		{"a Han character is two columns", strings.Repeat("汉", 40), segment.Options{Max: 32}, []string{strings.Repeat("汉", 16), strings.Repeat("汉", 16), strings.Repeat("汉", 8)}},
		{"Chinese clauses", "长江发源于青藏高原，流经十一个省，最后注入东海", segment.Options{Max: 32}, []string{"长江发源于青藏高原，", "流经十一个省，最后注入东海"}},
		{"marks stay with their letter", strings.Repeat("e\u0301", 20), segment.Options{Max: 33}, []string{strings.Repeat("e\u0301", 16), strings.Repeat("e\u0301", 4)}},
		{"flags stay whole", strings.Repeat("🇩🇪", 20), segment.Options{Max: 33}, []string{strings.Repeat("🇩🇪", 16), strings.Repeat("🇩🇪", 4)}},
		{"families too", strings.Repeat("👨‍👩‍👧", 8), segment.Options{Max: 32}, []string{strings.Repeat("👨‍👩‍👧", 6), strings.Repeat("👨‍👩‍👧", 2)}},
		{"a limit below the least", five, segment.Options{Max: 1}, []string{five[:18], five[19:37], five[38:56], five[57:75], five[76:]}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range segment.Split(tt.text, &tt.o) {
				got = append(got, s.Text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Split (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLength(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "汉字": 4, "，": 2, "Ａ": 2, "カナ": 4, "한": 2, "👍": 1, "\xff\xfe": 2} {
		if got := segment.Length(s); got != want {
			t.Errorf("Length(%q) = %d, want %d", s, got, want)
		}
	}
}

// verify checks every promise of the package on one text.
func verify(t interface{ Fatalf(string, ...any) }, text string, o *segment.Options) {
	limit := 1000
	if o.Max != 0 {
		limit = max(o.Max, 32)
	}
	end, last := 0, 0
	for i, s := range segment.Split(text, o) {
		if s.Start < 0 || s.End > len(text) || s.Start >= s.End || s.Text != text[s.Start:s.End] {
			t.Fatalf("piece %d: [%d,%d) of %d bytes, text %q, want that of its range", i, s.Start, s.End, len(text), s.Text)
		}
		if s.Text != strings.TrimFunc(s.Text, unicode.IsSpace) {
			t.Fatalf("piece %d has blank ends: %q", i, s.Text)
		}
		if n := segment.Length(s.Text); n > limit {
			t.Fatalf("piece %d has %d columns, limit %d: %q", i, n, limit, s.Text)
		}
		if utf8.ValidString(text) && !utf8.ValidString(s.Text) {
			t.Fatalf("piece %d cuts a character: %q", i, s.Text)
		}
		if s.Start < last || s.End <= end || o.Overlap <= 0 && s.Start < end {
			t.Fatalf("piece %d is [%d,%d) after [%d,%d): out of order or repeated", i, s.Start, s.End, last, end)
		}
		if gap := text[min(end, s.Start):s.Start]; strings.TrimFunc(gap, blank) != "" {
			t.Fatalf("lost before piece %d: %q", i, gap)
		}
		last, end = s.Start, s.End
	}
	if rest := text[end:]; strings.TrimFunc(rest, blank) != "" {
		t.Fatalf("lost at the end: %q", rest)
	}
}

func blank(c rune) bool { return unicode.IsSpace(c) || c == '\ufeff' }

func TestPromisesOnRandomDocuments(t *testing.T) {
	parts := rapid.SampledFrom([]string{
		"The cat sat on the mat. ", "Dr. Who left, then came back! ", "我昨天去了北京。", "你去过吗？", "“好。”他说。", "no stop", " ", "\n", "\n\n", "# Head\n", "\n## 标题\n",
		"\n- item", "```\n", "| a | b |\n", "Under\n---\n", "x", strings.Repeat("long", 30), strings.Repeat("长", 60), "e\u0301", "🇩🇪", "👨‍👩‍👧", "...", "…", "\t", "\r\n", "\ufeff", "3.14",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(parts, 0, 60).Draw(t, "parts"), "")
		o := &segment.Options{Max: rapid.IntRange(0, 200).Draw(t, "max"), Overlap: rapid.IntRange(0, 80).Draw(t, "overlap"), Plain: rapid.Bool().Draw(t, "plain")}
		verify(t, text, o)
	})
}

// However a document is cut, no piece has text from two sections: each section
// here has a word of its own.
func TestNoPieceStraddlesAHeading(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		n := rapid.IntRange(1, 8).Draw(t, "sections")
		for i := range n {
			fmt.Fprintf(&b, "%s Head %d\n\n", strings.Repeat("#", rapid.IntRange(1, 6).Draw(t, "level")), i)
			for range rapid.IntRange(1, 12).Draw(t, "sentences") {
				fmt.Fprintf(&b, "The word of this section is w%dw. ", i)
			}
			b.WriteString("\n\n")
		}
		o := &segment.Options{Max: rapid.IntRange(32, 300).Draw(t, "max"), Overlap: rapid.IntRange(0, 100).Draw(t, "overlap")}
		for _, s := range segment.Split(b.String(), o) {
			sections := 0
			for i := range n {
				if strings.Contains(s.Text, fmt.Sprintf("w%dw", i)) {
					sections++
					if want := fmt.Sprintf("Head %d", i); !strings.HasSuffix(s.Heading, want) {
						t.Fatalf("piece %q has the heading %q, want one that ends in %q", s.Text, s.Heading, want)
					}
				}
			}
			if sections > 1 {
				t.Fatalf("a piece with text of %d sections: %q", sections, s.Text)
			}
		}
	})
}

func FuzzSplit(f *testing.F) {
	f.Add(manual, 100, 20, false)
	f.Add("我昨天去了北京。“好。”他说。", 32, 0, true)
	f.Add("---\n---\n#\n##\n```", 0, 0, false)
	f.Add("\xff\xfe. \xf0\x9f\x87\xa9", 32, 16, false)
	f.Add("#"+strings.Repeat("\u0301", 100), 33, 40, false)
	f.Fuzz(func(t *testing.T, text string, limit, overlap int, plain bool) {
		verify(t, text, &segment.Options{Max: max(0, min(limit, 16<<10)), Overlap: overlap, Plain: plain})
		end := 0
		for _, s := range segment.Sentences(text) {
			if s.Start < end || s.End <= s.Start || strings.TrimFunc(text[end:s.Start], blank) != "" {
				t.Fatalf("sentence [%d,%d) after byte %d: out of order, empty, or text was lost", s.Start, s.End, end)
			}
			end = s.End
		}
		if strings.TrimFunc(text[end:], blank) != "" {
			t.Fatalf("lost after the last sentence: %q", text[end:])
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	for name, text := range map[string]string{"English": strings.Repeat("Dr. Smith went to the lake with her two children, and they talked. ", 1000), "Chinese": strings.Repeat("我昨天和朋友去看了一部电影，名字叫我是山姆。", 1000)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				segment.Split(text, nil)
			}
		})
	}
}
