package ingest

import (
	"strings"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// layout is how a chat log marks a new turn.
type layout int

const (
	bare    layout = iota // "Name: text"
	stamped               // "[time] Name: text", "date, time - Name: text"
	block                 // "Name date time" or "date time Name" on a line of its own, the text below
)

// chatForm is what the first lines of a log tell of its writing.
type chatForm struct {
	layout layout
	order  DateOrder
	gap    int // blank lines that end a sitting, where no dates do
}

// census counts what the first lines of a file look like.
type census struct {
	lines, stamped, block, bare int
	speakers                    map[string]int
	dates                       []string // that do not begin with their year
	spaced, close               int      // turns that follow the last one with and without a blank line
}

func take(head string) *census {
	c := &census{speakers: map[string]int{}}
	blank, turns := 0, 0
	for l := range strings.Lines(head) {
		l = strings.TrimSpace(l)
		if l == "" {
			blank++
			continue
		}
		c.lines++
		if c.see(l) {
			if turns++; turns > 1 && blank > 0 {
				c.spaced++
			} else if turns > 1 {
				c.close++
			}
		}
		blank = 0
	}
	return c
}

// see counts one line, and says whether a turn begins with it.
func (c *census) see(l string) bool {
	if date, _, ok := dayHeading(l, DayFirst); ok || date != "" {
		c.date(date)
		return false
	}
	if st, name, ok := blockHead(l); ok {
		c.block++
		c.speakers[name]++
		c.date(st.date)
		return true
	}
	if st, rest, ok := splitStamp(l); ok {
		c.date(st.date)
		name, _, ok := splitSpeaker(rest, false)
		if ok {
			c.stamped++
			c.speakers[name]++
		}
		return ok
	}
	name, _, ok := splitSpeaker(l, true)
	if ok {
		c.bare++
		c.speakers[name]++
	}
	return ok
}

func (c *census) date(s string) {
	if n := numbers(s); len(n) == 3 && n[0] <= 31 {
		c.dates = append(c.dates, s)
	}
}

func (c *census) layout() layout {
	switch {
	case c.block > c.stamped && c.block*2 >= c.bare:
		return block
	case c.stamped > 0 && c.stamped*2 >= c.bare:
		return stamped
	}
	return bare
}

// looksLikeChat reports whether most of a file's first lines are turns.
func looksLikeChat(head string) bool {
	c := take(head)
	switch c.layout() {
	case stamped:
		return c.stamped >= 2 && c.stamped*4 >= c.lines
	case block:
		return c.block >= 2 && c.block*6 >= c.lines
	}
	// A list of "term: meaning" names each term once; talkers come back.
	return c.bare >= 2 && c.bare*5 >= c.lines*3 && (c.bare <= 3 || len(c.speakers)*2 <= c.bare)
}

// formOf tells how a log is written. It fails where a date can be read in two
// ways and nothing tells which.
func formOf(head string, order DateOrder) (chatForm, error) {
	c := take(head)
	f := chatForm{layout: c.layout(), order: order, gap: 1}
	if c.spaced > c.close {
		f.gap = 2 // a blank line between any two turns says nothing
	}
	if order != AnyOrder || len(c.dates) == 0 {
		return f, nil
	}
	f.order = orderOf(c.dates)
	if f.order == AnyOrder {
		return f, memtypes.BadField(op, "dates", c.dates[0], "to be told dmy or mdy: this log's dates can be read both ways")
	}
	return f, nil
}

// orderOf tells day and month apart: by a number above 12, or because only one
// reading runs forward in time.
func orderOf(dates []string) DateOrder {
	forward := map[DateOrder]bool{DayFirst: true, MonthFirst: true}
	for _, o := range []DateOrder{DayFirst, MonthFirst} {
		last := time.Time{}
		for _, s := range dates {
			y, m, d, ok := day(s, o)
			t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
			if !ok {
				return map[DateOrder]DateOrder{DayFirst: MonthFirst, MonthFirst: DayFirst}[o]
			}
			forward[o] = forward[o] && !t.Before(last)
			last = t
		}
	}
	switch {
	case forward[DayFirst] && !forward[MonthFirst]:
		return DayFirst
	case forward[MonthFirst] && !forward[DayFirst]:
		return MonthFirst
	case sameBothWays(dates):
		return DayFirst
	}
	return AnyOrder
}

func sameBothWays(dates []string) bool {
	for _, s := range dates {
		if n := numbers(s); n[0] != n[1] {
			return false
		}
	}
	return true
}

// blockHead reads a line that is nothing but who and when.
func blockHead(l string) (st stamp, name string, ok bool) {
	if m := patterns().timeName.FindStringSubmatch(l); m != nil && !strings.ContainsAny(m[3], ":：") && isName(m[3], true) {
		return stamp{m[1], m[2]}, m[3], true
	}
	if m := patterns().nameTime.FindStringSubmatch(l); m != nil && isName(m[1], true) {
		return stamp{m[2], m[3]}, m[1], true
	}
	return stamp{}, "", false
}

// headings that spell the month.
var headings = []string{"January 2, 2006", "2 January 2006", "Jan 2, 2006", "2 Jan 2006",
	"Monday, January 2, 2006", "Monday, 2 January 2006", "Monday 2 January 2006"}

// dayHeading reads a line that holds nothing but a date.
func dayHeading(l string, order DateOrder) (written string, at [3]int, ok bool) {
	if m := patterns().dateOnly.FindStringSubmatch(l); m != nil {
		y, mo, d, ok := day(m[1], order)
		return m[1], [3]int{y, mo, d}, ok
	}
	bare := strings.Trim(l, " #*=_—–-")
	for _, h := range headings {
		if t, err := time.Parse(h, bare); err == nil {
			return "", [3]int{t.Year(), int(t.Month()), t.Day()}, true
		}
	}
	return "", [3]int{}, false
}
