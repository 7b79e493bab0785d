package timeword_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/timeword"
)

// now is a Wednesday.
var now = time.Date(2024, 5, 22, 15, 30, 0, 0, time.UTC)

// show renders ranges as "unit from..last day".
func show(rs []timeword.Range) []string {
	out := []string{}
	for _, r := range rs {
		from, last := r.From.Format(time.DateOnly), r.To.AddDate(0, 0, -1).Format(time.DateOnly)
		if from == last {
			out = append(out, string(r.Unit)+" "+from)
			continue
		}
		out = append(out, fmt.Sprintf("%s %s..%s", r.Unit, from, last))
	}
	return out
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		text string
		want string // ranges parted by "; "
	}{
		// dates in English
		{"On May 2nd, what did I read?", "day 2024-05-02"},
		{"what did i do on may 2", "day 2024-05-02"},
		{"It was May 2, 2023.", "day 2023-05-02"},
		{"the 2nd of May", "day 2024-05-02"},
		{"2 May 2023", "day 2023-05-02"},
		{"on 5 may", "day 2024-05-05"},
		{"on December 24th", "day 2023-12-24"},
		{"Sept. 5th of 2022", "day 2022-09-05"},
		{"Dec 3 2021", "day 2021-12-03"},
		{"2023-05-02", "day 2023-05-02"},
		{"at 2023-05-02T10:00:00Z", "day 2023-05-02"},
		{"2023/5/2 and 2023.5.3", "day 2023-05-02; day 2023-05-03"},
		{"on May 22", "day 2024-05-22"},
		{"on May 23", "day 2023-05-23"},
		{"on February 29th", "day 2024-02-29"},
		{"Feb 29, 2023", ""},
		{"on 31 February", ""},
		{"2023-02-30", ""},
		{"2023-13-01", ""},
		// several days
		{"between 11 and 15 August 2023", "span 2023-08-11..2023-08-15"},
		{"11-15 August 2023", "span 2023-08-11..2023-08-15"},
		{"May 2-9, 2023", "span 2023-05-02..2023-05-09"},
		{"from May 2 to May 9", "span 2024-05-02..2024-05-09"},
		{"between May 2 and May 9", "span 2024-05-02..2024-05-09"},
		{"on May 2 and May 9", "day 2024-05-02; day 2024-05-09"},
		{"April 30 - May 31, 2023", "span 2023-04-30..2023-05-31"},
		// months and years
		{"in May 2023", "month 2023-05-01..2023-05-31"},
		{"May, 2023", "month 2023-05-01..2023-05-31"},
		{"in June", "month 2023-06-01..2023-06-30"},
		{"during April", "month 2024-04-01..2024-04-30"},
		{"in may", "month 2024-05-01..2024-05-31"},
		{"last May", "month 2023-05-01..2023-05-31"},
		{"last April", "month 2024-04-01..2024-04-30"},
		{"next April", "month 2025-04-01..2025-04-30"},
		{"in mid-April", "month 2024-04-01..2024-04-30"},
		{"2023-05 was warm", "month 2023-05-01..2023-05-31"},
		{"the first week of June 2023", "week 2023-06-01..2023-06-07"},
		{"in the last week of February", "week 2024-02-23..2024-02-29"},
		{"in 2022", "year 2022-01-01..2022-12-31"},
		{"May I ask about June?", ""},
		{"Did April march with Jan?", ""},
		{"the first 5 may come", ""},
		{"in the 1980s, in 1980s", ""},
		{"I need 2022 of them", ""},
		// relative to now
		{"yesterday", "day 2024-05-21"},
		{"What did I say TODAY?", "day 2024-05-22"},
		{"the day before yesterday", "day 2024-05-20"},
		{"tomorrow", "day 2024-05-23"},
		{"last night", "day 2024-05-21"},
		{"this week", "week 2024-05-20..2024-05-26"},
		{"last week", "week 2024-05-13..2024-05-19"},
		{"the week before last", "week 2024-05-06..2024-05-12"},
		{"last weekend", "weekend 2024-05-18..2024-05-19"},
		{"this past weekend", "weekend 2024-05-18..2024-05-19"},
		{"last month's plan", "month 2024-04-01..2024-04-30"},
		{"next month", "month 2024-06-01..2024-06-30"},
		{"last year", "year 2023-01-01..2023-12-31"},
		{"last Tuesday", "day 2024-05-21"},
		{"last Wednesday", "day 2024-05-15"},
		{"on Wednesday", "day 2024-05-22"},
		{"this Friday", "day 2024-05-24"},
		{"next Wednesday", "day 2024-05-29"},
		{"on Tuesdays", ""},
		{"three days ago", "day 2024-05-19"},
		{"1 day ago", "day 2024-05-21"},
		{"two weeks ago", "week 2024-05-06..2024-05-12"},
		{"a month ago", "month 2024-04-01..2024-04-30"},
		{"6 months ago", "month 2023-11-01..2023-11-30"},
		{"two years ago", "year 2022-01-01..2022-12-31"},
		{"a few days ago", ""},
		{"a day or two ago", ""},
		{"about two weeks ago", ""},
		{"999999999999 days ago", ""},
		{"900 years ago", ""},
		{"in the past week", "span 2024-05-15..2024-05-22"},
		{"the last 3 days", "span 2024-05-19..2024-05-22"},
		{"recently", ""},
		// one end only
		{"before May 2nd", ""},
		{"since last week", ""},
		{"a week from today", ""},
		// a whole date beats the rest
		{"On May 2nd I said I was ill last week, in 2023", "day 2024-05-02"},
		// Chinese
		{"2023年5月2日我说了什么？", "day 2023-05-02"},
		{"二〇二三年五月二日", "day 2023-05-02"},
		{"5月2日", "day 2024-05-02"},
		{"５月２号", "day 2024-05-02"},
		{"十二月二十四日", "day 2023-12-24"},
		{"去年5月2号", "day 2023-05-02"},
		{"2月30日", ""},
		{"2023年5月", "month 2023-05-01..2023-05-31"},
		{"五月份", "month 2024-05-01..2024-05-31"},
		{"2023年", "year 2023-01-01..2023-12-31"},
		{"去年", "year 2023-01-01..2023-12-31"},
		{"前年的三月", "month 2022-03-01..2022-03-31"},
		{"昨天和前天", "day 2024-05-21; day 2024-05-20"},
		{"昨晚", "day 2024-05-21"},
		{"大前天", "day 2024-05-19"},
		{"今天", "day 2024-05-22"},
		{"上周", "week 2024-05-13..2024-05-19"},
		{"上个星期", "week 2024-05-13..2024-05-19"},
		{"这周", "week 2024-05-20..2024-05-26"},
		{"上周五", "day 2024-05-17"},
		{"上上周五", "day 2024-05-10"},
		{"上个礼拜天", "day 2024-05-19"},
		{"上周末", "weekend 2024-05-18..2024-05-19"},
		{"星期三", "day 2024-05-22"},
		{"周五", "day 2024-05-17"},
		{"上周一直在忙", "week 2024-05-13..2024-05-19"},
		{"每周五", ""},
		{"一周三次", ""},
		{"上个月", "month 2024-04-01..2024-04-30"},
		{"上上个月", "month 2024-03-01..2024-03-31"},
		{"上个月15号", "day 2024-04-15"},
		{"上个月31号", ""},
		{"三天前", "day 2024-05-19"},
		{"两周之前", "week 2024-05-06..2024-05-12"},
		{"2个月以前", "month 2024-03-01..2024-03-31"},
		{"十年前", "year 2014-01-01..2014-12-31"},
		{"几天前", ""},
		{"三个月", ""},
		{"过去三天", "span 2024-05-19..2024-05-22"},
		{"5月2日以前", ""},
		{"5月2日到5月9日", "span 2024-05-02..2024-05-09"},
		{"May 2nd 和 5月3日", "day 2024-05-02; day 2024-05-03"},
		// neither
		{"", ""},
		{"which version is 1.2.3-4?", ""},
		{"call 2023-555-0199", ""},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got := strings.Join(show(timeword.Find(tt.text, now)), "; ")
			if got != tt.want {
				t.Errorf("Find(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

func TestFindText(t *testing.T) {
	got := []string{}
	for _, r := range timeword.Find("Was it Last  Tuesday, or 三天前?", now) {
		got = append(got, r.Text)
	}
	if d := cmp.Diff([]string{"Last  Tuesday", "三天前"}, got); d != "" {
		t.Errorf("matched words (-want +got):\n%s", d)
	}
}

func TestAroundNewYear(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		now        time.Time
	}{
		{"last week", "week 2023-12-25..2023-12-31", time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"this week", "week 2024-12-30..2025-01-05", time.Date(2025, 1, 1, 9, 0, 0, 0, time.UTC)},
		{"last month", "month 2023-12-01..2023-12-31", time.Date(2024, 1, 31, 9, 0, 0, 0, time.UTC)},
		{"上个月", "month 2024-02-01..2024-02-29", time.Date(2024, 3, 31, 9, 0, 0, 0, time.UTC)},
		{"next month", "month 2024-02-01..2024-02-29", time.Date(2024, 1, 31, 9, 0, 0, 0, time.UTC)},
		{"yesterday", "day 2023-12-31", time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"on 29 February", "day 2096-02-29", time.Date(2103, 12, 31, 0, 0, 0, 0, time.UTC)},
		{"last weekend", "weekend 2024-05-18..2024-05-19", time.Date(2024, 5, 26, 9, 0, 0, 0, time.UTC)},
	} {
		t.Run(tt.text, func(t *testing.T) {
			if got := strings.Join(show(timeword.Find(tt.text, tt.now)), "; "); got != tt.want {
				t.Errorf("Find(%q) at %v = %q, want %q", tt.text, tt.now, got, tt.want)
			}
		})
	}
}

// A day is as long as the calendar of its place says, and begins there.
func TestFindKeepsLocation(t *testing.T) {
	berlin := time.FixedZone("CEST", 2*60*60)
	at := time.Date(2024, 5, 22, 0, 30, 0, 0, berlin) // still the 21st in UTC
	got := timeword.Find("yesterday", at)
	if len(got) != 1 || !got[0].From.Equal(time.Date(2024, 5, 20, 22, 0, 0, 0, time.UTC)) {
		t.Errorf("yesterday = %v, want from 2024-05-20 22:00 UTC", got)
	}
}

func ExampleFind() {
	at := time.Date(2024, 5, 22, 15, 30, 0, 0, time.UTC)
	for _, r := range timeword.Find("What did I cook last Friday, and 上个月?", at) {
		fmt.Println(r.Text, r.Unit, r.From.Format(time.DateOnly), r.To.Format(time.DateOnly))
	}
	// Output:
	// last Friday day 2024-05-17 2024-05-18
	// 上个月 month 2024-04-01 2024-05-01
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{"May 2nd, 2023", "the last 3 days", "二〇二三年五月二日到5月9日", "2023-05-02T", "1 \xff 五月", "between 1 and 2 may", "上周一"} {
		f.Add(s, int64(1716391800))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		at := time.Unix(unix%(1<<36), 0).UTC()
		rest := text
		for _, r := range timeword.Find(text, at) {
			if !r.From.Before(r.To) {
				t.Errorf("%q at %v: %v is not before %v", text, at, r.From, r.To)
			}
			i := strings.Index(rest, r.Text)
			if i < 0 || r.Text == "" {
				t.Fatalf("%q: matched words %q do not stand there in order", text, r.Text)
			}
			rest = rest[i+len(r.Text):]
		}
	})
}
