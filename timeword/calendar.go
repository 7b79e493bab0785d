package timeword

import "time"

// calendar makes ranges around now, in now's location.
type calendar struct{ now time.Time }

func (c calendar) date(y int, m time.Month, d int) time.Time {
	return time.Date(y, m, d, 0, 0, 0, 0, c.now.Location())
}

// today is the midnight with which now's day began.
func (c calendar) today() time.Time {
	y, m, d := c.now.Date()
	return c.date(y, m, d)
}

// day is the day that lies offset days from today.
func (c calendar) day(offset int) Range {
	from := c.today().AddDate(0, 0, offset)
	return Range{From: from, To: from.AddDate(0, 0, 1), Unit: Day}
}

// dayOf is the day y-m-d; not ok if there is none.
func (c calendar) dayOf(y, m, d int) (Range, bool) {
	from := c.date(y, time.Month(m), d)
	if m < 1 || m > 12 || d < 1 || from.Day() != d {
		return Range{}, false
	}
	return Range{From: from, To: from.AddDate(0, 0, 1), Unit: Day}, true
}

// latestDay is the last m-d that is not after now; a 29 February may lie
// eight years back.
func (c calendar) latestDay(m, d int) (Range, bool) {
	for y := c.now.Year(); y >= c.now.Year()-8; y-- {
		if r, ok := c.dayOf(y, m, d); ok && !r.From.After(c.now) {
			return r, true
		}
	}
	return Range{}, false
}

func (c calendar) month(y, m int) Range {
	from := c.date(y, time.Month(m), 1)
	return Range{From: from, To: from.AddDate(0, 1, 0), Unit: Month}
}

// latestMonth is the last m that has begun.
func (c calendar) latestMonth(m int) Range {
	y := c.now.Year()
	if m > int(c.now.Month()) {
		y--
	}
	return c.month(y, m)
}

func (c calendar) year(y int) Range {
	from := c.date(y, time.January, 1)
	return Range{From: from, To: from.AddDate(1, 0, 0), Unit: Year}
}

// week is the one, from Monday, that lies offset weeks from the one of t.
func (c calendar) week(t time.Time, offset int) Range {
	y, m, d := t.Date()
	back := (int(t.Weekday()) + 6) % 7
	from := c.date(y, m, d-back+7*offset)
	return Range{From: from, To: from.AddDate(0, 0, 7), Unit: Week}
}

// weekend is the Saturday and Sunday of a week.
func (c calendar) weekend(week Range) Range {
	return Range{From: week.From.AddDate(0, 0, 5), To: week.To, Unit: Weekend}
}

// weekday is the day d of a week.
func (c calendar) weekday(week Range, d time.Weekday) Range {
	from := week.From.AddDate(0, 0, (int(d)+6)%7)
	return Range{From: from, To: from.AddDate(0, 0, 1), Unit: Day}
}

// weekdayBefore is the last d before today; with today, today counts too.
func (c calendar) weekdayBefore(d time.Weekday, today bool) Range {
	back := (int(c.now.Weekday()) - int(d) + 7) % 7
	if back == 0 && !today {
		back = 7
	}
	return c.day(-back)
}

// far bounds the numbers of "N days ago": beyond them nobody means a memory.
var far = map[Unit]int{Day: 36500, Week: 5200, Month: 1200, Year: 200}

// back is the day, week, month or year that lies n of them before now.
func (c calendar) back(n int, u Unit) (Range, bool) {
	if n < 1 || n > far[u] {
		return Range{}, false
	}
	switch u {
	case Day:
		return c.day(-n), true
	case Week:
		return c.week(c.now, -n), true
	case Month:
		return c.month(c.now.Year(), int(c.now.Month())-n), true
	case Year:
		return c.year(c.now.Year() - n), true
	}
	return Range{}, false
}

// last is the n days, weeks, months or years that end with today.
func (c calendar) last(n int, u Unit) (Range, bool) {
	if n < 1 || n > far[u] {
		return Range{}, false
	}
	to := c.today().AddDate(0, 0, 1)
	from := to
	switch u {
	case Day:
		from = to.AddDate(0, 0, -n-1)
	case Week:
		from = to.AddDate(0, 0, -7*n-1)
	case Month:
		from = to.AddDate(0, -n, -1)
	case Year:
		from = to.AddDate(-n, 0, -1)
	}
	return Range{From: from, To: to, Unit: Span}, true
}
