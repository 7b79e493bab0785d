package segment_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/segment"
)

// Each text is written with a bar where a sentence ends.
func TestSentences(t *testing.T) {
	for _, group := range []struct {
		name  string
		texts []string
	}{
		{"English", []string{
			"Hello World.| My name is Jonas.",
			"What is your name?| My name is Jonas.",
			"There it is!| I found it.",
			"Really?!| Yes.",
			"really?| that's great", // a bare question mark ends, whatever follows
			"no full stop at the end",
			"Line one wraps\nat the margin.| Line two does not.",
		}},
		{"abbreviations", []string{
			"Dr. Smith met Mr. Jones and Mrs. Adams.| They talked.",
			"Use a tool, e.g. The Hammer, i.e. any.| Then go.",
			"Germany vs. France was the final.",
			"Apple Inc. Chairman Cook spoke.| He left.",
			"He works at Apple Inc.| The office is new.",
			"We need pens, paper, etc.| They are cheap.",
			"We need pens, etc. for the class.",
			"See Fig. 2 and No. 5 on pp. 10 to 12.| Next.",
			"No.| I don't think so.",
			"It was shown by Smith et al. in 1999.| It held.",
			"She lives on Main St.| It is quiet there.",
			"St. Petersburg is cold in Jan. and Feb. of each year.",
			"The cat sat.| Melanie laughed.",
		}},
		{"initials", []string{
			"J. K. Rowling and George R. R. Martin write.| They do.",
			"J. A. Smith signed.",
			"So did I.| Then we left.",
			"It is rich in vitamin C.| The patient needs it.",
			"The U.S. Senate met at 5 p.m. on Friday.| It was late.",
			"He came back to the U.S.| He stayed.",
			"She earned her Ph.D. in 2004.",
		}},
		{"numbers", []string{
			"Pi is 3.14159 and e is 2.718.| Both are real.",
			"It was in 1999.| He was ten.",
			"Version 1.2.3 is at example.com.| Get it.",
			"It costs $5.99.| Buy it.",
		}},
		{"quotes and brackets", []string{
			`"Stop!" he said.| She did.`,
			`He said "stop."| Then he left.`,
			"(It rained.)| We went home.",
			"“Is it far?” she asked.| “No.”| He smiled.",
			"**It is done.**| Next is the roof.",
			"It was found early.[12]| It was lost again.",
		}},
		{"ellipsis", []string{
			"Well... maybe not.| Fine.",
			"I waited...| Nobody came.",
			"Hmm… okay.| Let us go.",
		}},
		{"Chinese", []string{
			"我昨天去了北京。|你去过吗？|太好了！",
			"今天下雨；|明天天晴。",
			"他说：“我累了。”|然后就睡了。",
			"“你好。”他说。|“再见！”她回答道。",
			"他说：「走吧。」|我们就走了。",
			"『真的吗？』|窗外下着雨。",
			"我想……|还是算了吧。",
			"“不行！”，他摇头。",
			"太好了!|我们走吧.|明天见",
			"价格是3.5元，版本是1.2。|好的。",
			"《我是山姆（I am Sam）》是由杰茜·尼尔森执导的剧情片。|影片获得了多项提名。",
			"第一行没有句号|\n第二行也没有",
		}},
		{"both", []string{
			"我用 Go 1.26。|Dr. Smith 用 Python。|OK?| 好的。",
			"What?|什么？| Yes.",
		}},
		{"lists and tables", []string{
			"Buy:|\n- milk|\n- eggs and\nbread|\n- tea",
			"1. Mix it.|\n2. Bake it for 20 min. at most.|\n3) Eat",
			"一、准备|\n二、开始",
			"| a | b ||\n| 1. | 2. |",
			"first paragraph without a stop|\n\nsecond one",
		}},
	} {
		t.Run(group.name, func(t *testing.T) {
			for _, marked := range group.texts {
				if marked == "| a | b ||\n| 1. | 2. |" { // bars of its own
					check(t, "| a | b |\n| 1. | 2. |", []string{"| a | b |", "| 1. | 2. |"})
					continue
				}
				var want []string
				for s := range strings.SplitSeq(marked, "|") {
					want = append(want, strings.TrimSpace(s))
				}
				check(t, strings.ReplaceAll(marked, "|", ""), want)
			}
		})
	}
}

func check(t *testing.T, text string, want []string) {
	t.Helper()
	var got []string
	for _, s := range segment.Sentences(text) {
		got = append(got, text[s.Start:s.End])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Sentences(%q) (-want +got):\n%s", text, diff)
	}
}
