package timeword

import "time"

// dayWord: yesterday, last night, the day before yesterday ...
func (p *parser) dayWord(i int) (found, int) {
	switch p.tok(i).word {
	case "yesterday":
		return found{Range: p.cal.day(-1)}, 1
	case "today", "tonight":
		return found{Range: p.cal.day(0)}, 1
	case "tomorrow":
		return found{Range: p.cal.day(1)}, 1
	case "last":
		if p.is(i+1, "night", "evening") {
			return found{Range: p.cal.day(-1)}, 2
		}
	case "this":
		if p.is(i+1, "morning", "afternoon", "evening") {
			return found{Range: p.cal.day(0)}, 2
		}
	case "day":
		switch {
		case p.is(i+1, "before") && p.is(i+2, "yesterday"):
			return found{Range: p.cal.day(-2)}, 3
		case p.is(i+1, "after") && p.is(i+2, "tomorrow"):
			return found{Range: p.cal.day(2)}, 3
		}
	}
	return found{}, 0
}

// which says how many units from the current one "last", "this" and "next" point.
func (p *parser) which(i int) (offset int, ok bool) {
	switch p.tok(i).word {
	case "last", "previous":
		return -1, true
	case "this", "current":
		return 0, true
	case "next":
		return 1, true
	}
	return 0, false
}

// unitWord: last week, this month, next year, last weekend, the week before last.
func (p *parser) unitWord(i int) (found, int) {
	if u := units[p.tok(i).word]; u != "" && p.is(i+1, "before") && p.is(i+2, "last") {
		r, ok := p.cal.back(2, u)
		if ok && u != Day {
			return found{Range: r}, 3
		}
	}
	offset, ok := p.which(i)
	if p.is(i, "past") && p.is(i+1, "weekend") {
		offset, ok = -1, true
	}
	if !ok {
		return found{}, 0
	}
	now := p.cal.now
	switch p.tok(i + 1).word {
	case "week":
		if p.is(i+2, "of", "in") { // the last week of the course
			return found{}, 0
		}
		return found{Range: p.cal.week(now, offset)}, 2
	case "weekend":
		return found{Range: p.cal.weekend(p.cal.week(now, offset))}, 2
	case "month":
		return found{Range: p.cal.month(now.Year(), int(now.Month())+offset)}, 2
	case "year":
		return found{Range: p.cal.year(now.Year() + offset)}, 2
	}
	return found{}, 0
}

var weekdays = map[string]time.Weekday{
	"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6,
}

// weekdayWord: last Tuesday (the latest before today), this Tuesday (of this
// week), next Tuesday (the first after today), on Tuesday (the latest).
func (p *parser) weekdayWord(i int) (found, int) {
	d, ok := weekdays[p.tok(i+1).word]
	if !ok {
		return found{}, 0
	}
	switch p.tok(i).word {
	case "last", "past", "previous":
		return found{Range: p.cal.weekdayBefore(d, false)}, 2
	case "on":
		return found{Range: p.cal.weekdayBefore(d, true)}, 2
	case "this":
		return found{Range: p.cal.weekday(p.cal.week(p.cal.now, 0), d)}, 2
	case "next":
		ahead := (int(d) - int(p.cal.now.Weekday()) + 7) % 7
		if ahead == 0 {
			ahead = 7
		}
		return found{Range: p.cal.day(ahead)}, 2
	}
	return found{}, 0
}

// units in English, in both numbers.
var units = map[string]Unit{
	"day": Day, "days": Day, "week": Week, "weeks": Week, "month": Month, "months": Month, "year": Year, "years": Year,
}

var counts = map[string]int{
	"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
	"seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}

// countAt is the number at token i, in digits or as a word.
func (p *parser) countAt(i int) int {
	if t := p.tok(i); t.kind == number {
		return t.num
	}
	return counts[p.tok(i).word]
}

// ago: three weeks ago, a month ago, 2 days earlier is not: earlier than what?
// "About three weeks ago", and "a day or two ago", are vague and give nothing.
func (p *parser) ago(i int) (found, int) {
	n, u := p.countAt(i), units[p.tok(i+1).word]
	if n <= 0 || u == "" || !p.is(i+2, "ago") {
		return found{}, 0
	}
	if p.is(i-1, "about", "around", "roughly", "almost", "over", "or", "than", "least", "most", "-", "–", ".", "to") {
		return found{}, 3
	}
	r, _ := p.cal.back(n, u)
	return found{Range: r}, 3
}

// rolling: the past week, the last 3 days, in the past two months.
func (p *parser) rolling(i int) (found, int) {
	if !p.is(i, "last", "past", "previous") {
		return found{}, 0
	}
	if u := units[p.tok(i+1).word]; u != "" && p.is(i, "past") && p.is(i-1, "the", "this") {
		r, _ := p.cal.last(1, u)
		return found{Range: r}, 2
	}
	n, u := p.countAt(i+1), units[p.tok(i+2).word]
	if n <= 0 || u == "" || p.is(i+1, "a", "an") {
		return found{}, 0
	}
	r, _ := p.cal.last(n, u)
	return found{Range: r}, 3
}
