package timeword

import (
	"strings"
	"time"
)

// months in English; the short ones count only beside a day or a year.
var months = func() map[string]int {
	out := map[string]int{"sept": 9}
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		out[name], out[name[:3]] = int(m), int(m)
	}
	return out
}()

// monthAt is the month that token i names, and how many tokens that takes
// (two with the dot of "Sept."); 0 if none.
func (p *parser) monthAt(i int) (m, n int) {
	t := p.tok(i)
	m = months[t.word]
	if t.kind != word || m == 0 {
		return 0, 0
	}
	if len(t.word) <= 4 && t.word != "may" && t.word != "june" && t.word != "july" && p.is(i+1, ".") {
		return m, 2
	}
	return m, 1
}

// yearAt is the year that token i names, by itself or after a comma, "of" or
// "in"; n is 0 if none.
func (p *parser) yearAt(i int) (y, n int) {
	if p.is(i, ",", "of", "in") {
		n = 1
	}
	t := p.tok(i + n)
	if t.kind != number || len(t.word) != 4 || t.end-t.start != 4 || !plausible(t.num) || p.is(i+n+1, "%") {
		return 0, 0
	}
	return t.num, n + 1
}

func plausible(year int) bool { return year >= 1000 && year < 3000 }

// dayAt is the day of a month that token i names.
func (p *parser) dayAt(i int) (int, bool) {
	t := p.tok(i)
	return t.num, t.kind == number && len(t.word) <= 2 && t.num >= 1
}

// dateOf makes a whole date; without a year (0) the latest. One that does not
// exist is zero, and takes its tokens all the same.
func (p *parser) dateOf(y, m, d, n int) (found, int) {
	var r Range
	if y == 0 {
		r, _ = p.cal.latestDay(m, d)
	} else {
		r, _ = p.cal.dayOf(y, m, d)
	}
	return found{Range: r, date: true, yearless: y == 0}, n
}

// isoDate: 2023-05-02, 2023/5/2, 2023.5.2; and the month 2023-05.
func (p *parser) isoDate(i int) (found, int) {
	y, m := p.tok(i), p.tok(i+2)
	sep := p.tok(i + 1).word
	if y.kind != number || len(y.word) != 4 || !plausible(y.num) || m.kind != number || len(m.word) > 2 ||
		sep != "-" && sep != "/" && sep != "." || p.tok(i+1).apart || m.apart || p.glued(i-1, i) {
		return found{}, 0
	}
	if d := p.tok(i + 4); p.is(i+3, sep) && d.kind == number && !d.apart {
		if len(d.word) > 2 {
			return found{}, 0
		}
		return p.dateOf(y.num, m.num, d.num, 5)
	}
	if sep != "-" || len(m.word) != 2 || m.num < 1 || m.num > 12 || p.glued(i+2, i+3) {
		return found{}, 0
	}
	return found{Range: p.cal.month(y.num, m.num)}, 3
}

// glued reports whether tokens i and j, neighbours, are one run of characters
// that makes a number something else than a date: a version, a range.
func (p *parser) glued(i, j int) bool {
	if i < 0 || j >= len(p.toks) || p.toks[j].apart {
		return false
	}
	return p.is(i, "-", "/", ".", "+", "$", "#") || p.is(j, "-", "/", "+")
}

// monthDay: May 2nd, May 2, 2023, Sept. 5th of 2022, May 2-9.
func (p *parser) monthDay(i int) (found, int) {
	m, n := p.monthAt(i)
	if m == 0 {
		return found{}, 0
	}
	at := i + n
	if p.is(at, "the") {
		at++
	}
	d, ok := p.dayAt(at)
	if !ok || p.timeOfDay(at) {
		return found{}, 0
	}
	at++
	if last, ok := p.dayAt(at + 1); ok && p.is(at, "-", "–", "—") && last > d {
		y, k := p.yearAt(at + 2)
		return p.daysOf(y, m, d, last, at+2+k-i)
	}
	y, k := p.yearAt(at)
	return p.dateOf(y, m, d, at+k-i)
}

// timeOfDay reports whether the number at i is an hour: 5 pm, 5:30.
func (p *parser) timeOfDay(i int) bool { return p.is(i+1, "am", "pm", ":") }

// dayMonth: 2 May 2023, the 2nd of May, 11-15 August, 11 and 15 August (as two
// ends only after "between").
func (p *parser) dayMonth(i int) (found, int) {
	d, ok := p.dayAt(i)
	if !ok {
		return found{}, 0
	}
	at, last := i+1, 0
	if p.is(at, "-", "–", "—", "to") || p.is(at, "and") && p.is(i-1, "between") {
		if x, ok := p.dayAt(at + 1); ok && x > d {
			last, at = x, at+2
		}
	}
	if p.is(at, "of") {
		at++
	}
	m, n := p.monthAt(at)
	if m == 0 {
		return found{}, 0
	}
	y, k := p.yearAt(at + n)
	if t := p.tok(at); k == 0 && (t.word == "may" || t.word == "march") && !t.upper && !p.named(i) {
		return found{}, 0 // the first 5 may come
	}
	if last > 0 {
		return p.daysOf(y, m, d, last, at+n+k-i)
	}
	return p.dateOf(y, m, d, at+n+k-i)
}

// named reports whether the number at i is meant as a day by what is around it.
func (p *parser) named(i int) bool {
	t := p.tok(i)
	return t.end-t.start > len(t.word) || p.is(i+1, "of") || p.is(i-1, "on", "from", "of", "since", "until", "by")
}

// daysOf makes the days from first to last of one month.
func (p *parser) daysOf(y, m, first, last, n int) (found, int) {
	f, _ := p.dateOf(y, m, first, n)
	if f.From.IsZero() {
		return found{}, n
	}
	end, ok := p.cal.dayOf(f.From.Year(), m, last)
	if !ok {
		return found{}, n
	}
	f.To, f.Unit = end.To, Span
	return f, n
}

// ordinals of weeks in a month.
var ordinals = map[string]int{"first": 1, "second": 2, "third": 3, "fourth": 4, "last": -1}

// weekOfMonth: the first week of June (2023): its days 1 to 7, and so on; the
// last week is its last seven days.
func (p *parser) weekOfMonth(i int) (found, int) {
	nth := ordinals[p.tok(i).word]
	if nth == 0 || !p.is(i+1, "week") || !p.is(i+2, "of", "in") {
		return found{}, 0
	}
	m, n := p.monthAt(i + 3)
	if m == 0 {
		return found{}, 0
	}
	y, k := p.yearAt(i + 3 + n)
	r := p.cal.latestMonth(m)
	if k > 0 {
		r = p.cal.month(y, m)
	}
	if nth < 0 {
		r.From = r.To.AddDate(0, 0, -7)
	} else {
		r.From = r.From.AddDate(0, 0, 7*(nth-1))
	}
	r.To, r.Unit = r.From.AddDate(0, 0, 7), Week
	return found{Range: r}, 3 + n + k
}

// monthAlone: May 2023, in May, last May. A name that may be something else
// needs a word before it that can only stand before a time.
func (p *parser) monthAlone(i int) (found, int) {
	m, n := p.monthAt(i)
	if m == 0 {
		return found{}, 0
	}
	if y, k := p.yearAt(i + n); k > 0 {
		return found{Range: p.cal.month(y, m)}, n + k
	}
	if len(p.tok(i).word) == 3 && p.tok(i).word != "may" {
		return found{}, 0 // Jan, Mar, Dec: names and abbreviations of much else
	}
	r := p.cal.latestMonth(m)
	switch {
	case p.is(i-1, "in", "during", "throughout", "this", "early", "late", "mid", "-"):
	case p.is(i-1, "of") && !p.is(i-2, "march", "may"):
	case p.is(i-1, "last", "past", "previous"):
		if r.To.After(p.cal.now) {
			r = p.cal.month(r.From.Year()-1, m)
		}
	case p.is(i-1, "next"):
		if r.From.Before(p.cal.now) {
			r = p.cal.month(r.From.Year()+1, m)
		}
	default:
		return found{}, 0
	}
	if p.is(i-1, "-") && !p.is(i-2, "mid") {
		return found{}, 0
	}
	return found{Range: r}, n
}

// yearAlone: in 2022, the year 2022.
func (p *parser) yearAlone(i int) (found, int) {
	y, n := p.yearAt(i)
	if n != 1 || y < 1900 || y > 2100 || !p.is(i-1, "in", "during", "throughout", "year") {
		return found{}, 0
	}
	if next := p.tok(i + 1); next.kind == word && !next.apart { // in 1980s
		return found{}, 0
	}
	return found{Range: p.cal.year(y)}, 1
}
