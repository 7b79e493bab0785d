package timeword

import (
	"slices"
	"strings"
	"time"
)

// Unit is how precisely a Range was named.
type Unit string

// The units, finest first.
const (
	Day     Unit = "day"
	Weekend Unit = "weekend" // Saturday and Sunday
	Week    Unit = "week"    // Monday to Sunday, or seven days of a month
	Span    Unit = "span"    // some days, weeks, months or years in a row
	Month   Unit = "month"
	Year    Unit = "year"
)

// Range is one named time: [From,To), in the location of the now it is
// relative to.
type Range struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Unit Unit      `json:"unit"`
	Text string    `json:"text"` // the matched words, as written
}

// Find returns the times that text names, in the order in which they stand in
// it, never overlapping. Relative words count from now; a date without a year
// is the latest such date not after now. If text names a whole date, words that
// are relative to now, months and years beside it are left out: "On May 2nd I
// said that I was ill last week" asks for a day. Find never fails; text in no
// known language, and invalid UTF-8, have no times.
func Find(text string, now time.Time) []Range {
	p := &parser{text: text, toks: lex(text), cal: calendar{now}}
	var all []found
	for i := 0; i < len(p.toks); {
		f, n := p.at(i)
		if n == 0 {
			i++
			continue
		}
		if !f.To.IsZero() {
			f.first, f.last = i, i+n-1
			all = append(all, f)
		}
		i += n
	}
	return p.ranges(datesOnly(p.closed(p.joined(all))))
}

// found is a time and the tokens that name it.
type found struct {
	Range
	date        bool // a whole date, not relative to now
	yearless    bool // whose year is a guess
	first, last int
}

// parser holds a text in tokens.
type parser struct {
	text string
	toks []token
	cal  calendar
}

// at tries every rule at token i and returns what the first that fits makes of
// it, and how many tokens it took; 0 if none fits. A zero Range with tokens
// taken is a time that does not exist.
func (p *parser) at(i int) (found, int) {
	for _, rule := range []func(int) (found, int){
		p.isoDate, p.hanDate, p.hanRelative, p.hanAgo, p.hanWeek,
		p.monthDay, p.dayMonth, p.weekOfMonth, p.monthAlone, p.yearAlone,
		p.dayWord, p.unitWord, p.weekdayWord, p.ago, p.rolling,
	} {
		if f, n := rule(i); n > 0 {
			return f, n
		}
	}
	return found{}, 0
}

// joined makes one span of two dates that stand as "between A and B", "from A
// to B", "A - B" or "A到B".
func (p *parser) joined(all []found) []found {
	var out []found
	for _, f := range all {
		if n := len(out); n > 0 && f.Unit == Day && out[n-1].Unit == Day && p.reach(out[n-1], f) {
			if from := out[n-1].before(f.From); from.Before(f.From) {
				out[n-1].From, out[n-1].To, out[n-1].Unit, out[n-1].last = from, f.To, Span, f.last
				continue
			}
		}
		out = append(out, f)
	}
	return out
}

// before is where f begins; without a year of its own, in the year that brings
// it before end: "April 30 to May 31, 2023".
func (f *found) before(end time.Time) time.Time {
	from := f.From
	if f.yearless && !from.Before(end) {
		from = from.AddDate(end.Year()-from.Year(), 0, 0)
	}
	return from
}

// reach reports whether what stands between x and y, and before x, makes them
// the two ends of one time.
func (p *parser) reach(x, y found) bool {
	if y.first-x.last != 2 {
		return false
	}
	switch p.toks[x.last+1].word {
	case "-", "–", "—", "~", "～", "to", "until", "till", "through", "到", "至":
		return true
	case "and", "和", "与":
		return x.first > 0 && p.toks[x.first-1].word == "between"
	}
	return false
}

// closed leaves out the times of which only one end is meant: "before May 2nd",
// "since last week", "5月2日以前", "a week from today".
func (p *parser) closed(all []found) []found {
	return slices.DeleteFunc(all, func(f found) bool {
		i := f.first - 1
		if p.is(i, "the") {
			i--
		}
		before := p.is(i, "before", "after", "since", "until", "till", "by") || p.is(i, "from") && units[p.tok(i-1).word] != ""
		i = f.last + 1
		return before || p.is(i, "前", "后", "起") || p.is(i, "以", "之") && p.is(i+1, "前", "后", "来")
	})
}

// datesOnly keeps the whole dates, if there are any.
func datesOnly(all []found) []found {
	var dates []found
	for _, f := range all {
		if f.date {
			dates = append(dates, f)
		}
	}
	if len(dates) > 0 {
		return dates
	}
	return all
}

func (p *parser) ranges(all []found) []Range {
	var out []Range
	for _, f := range all {
		f.Text = strings.Clone(p.text[p.toks[f.first].start:p.toks[f.last].end])
		out = append(out, f.Range)
	}
	return out
}
