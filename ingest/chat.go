package ingest

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// chat reads a log of talk, turn by turn. What counts as a turn, and how time
// is written, the first lines of the file tell (see formOf).
//
// Sittings: with dates, a day is one; without, a gap of blank lines (or a line
// of dashes) ends one.
type chat struct {
	lines *lines
	o     *Options
	form  chatForm
	name  string // what sessions are named after
	yield func(Entry, error) bool

	turn     *turn           // the one being read
	day      [3]int          // of the last heading; zero: none yet
	blank    int             // blank lines since the last line
	apart    bool            // a gap stands between the last turn and the next
	sitting  int             // of a log without dates, from 1
	speakers map[string]bool // who has spoken, at most maxSpeakers
	seen     map[string]int  // how often the same turn was said, for its key
}

const (
	maxSpeakers = 1000
	maxSeen     = 1 << 18
)

// turn is what one person says at a time.
type turn struct {
	line    int
	stamp   stamp
	speaker string
	text    strings.Builder
	size    int // of the text, also of what was not kept because it is too long
}

func readChat(ls *lines, o *Options, yield func(Entry, error) bool) {
	head, _ := ls.r.Peek(headSize)
	form, err := formOf(strings.TrimPrefix(string(head), string(utf8BOM)), o.Dates)
	if err != nil {
		yield(Entry{}, bad(ls.file, 1, err))
		return
	}
	c := &chat{lines: ls, o: o, form: form, name: o.session(ls.file), yield: yield, sitting: 1,
		speakers: map[string]bool{}, seen: map[string]int{}}
	for c.step() {
	}
}

// step reads one line; false ends the reading.
func (c *chat) step() bool {
	l, err := c.lines.next()
	switch {
	case err == io.EOF:
		c.flush()
		return false
	case err != nil:
		return c.yield(Entry{}, err) && memtypes.CodeOf(err) == memtypes.Invalid
	}
	s := strings.TrimSpace(string(l.text))
	if s == "" {
		c.blank++
		c.apart = c.apart || c.blank >= c.form.gap
		return true
	}
	ok := c.line(l.n, s, strings.TrimRight(string(l.text), " \t"))
	c.blank = 0
	return ok
}

// line reads one that is not blank: s without, whole with the space before it.
func (c *chat) line(n int, s, whole string) bool {
	if _, at, ok := dayHeading(s, c.form.order); ok {
		if !c.flush() {
			return false
		}
		c.day = at
		return c.note(n, "the heading of a day")
	}
	if strings.Trim(s, "-=*_ ") == "" && len(s) >= 3 {
		c.apart = true
		return c.flush()
	}
	if c.form.layout == block {
		if st, name, ok := blockHead(s); ok {
			return c.begin(n, st, name, "")
		}
		return c.more(n, whole)
	}
	st, rest, hasStamp := splitStamp(s)
	if hasStamp && c.form.layout == stamped {
		name, text, ok := splitSpeaker(rest, false)
		if !ok {
			return c.flush() && c.note(n, "nobody says it: a chat program's own message")
		}
		return c.begin(n, st, name, text)
	}
	name, text, ok := splitSpeaker(s, true)
	if ok && (c.form.layout == bare || c.speakers[name]) {
		return c.begin(n, stamp{}, name, text)
	}
	return c.more(n, whole)
}

// begin ends the last turn and starts one.
func (c *chat) begin(n int, st stamp, name, text string) bool {
	if !c.flush() {
		return false
	}
	if c.apart && len(c.speakers) > 0 {
		c.sitting++
	}
	c.apart = false
	if len(c.speakers) < maxSpeakers {
		c.speakers[name] = true
	}
	c.turn = &turn{line: n, stamp: st, speaker: name}
	c.turn.add(text, 0)
	return true
}

// more adds a line to the turn under way.
func (c *chat) more(n int, s string) bool {
	if c.turn == nil {
		return c.note(n, "it belongs to no turn")
	}
	c.apart = false // the blank lines were within the turn
	c.turn.add(s, c.blank)
	return true
}

// add appends a line, after the blank lines that stood before it.
func (t *turn) add(s string, blank int) {
	if t.text.Len() > 0 {
		s = strings.Repeat("\n", 1+min(blank, 8)) + s
	}
	if t.size += len(s); t.size <= memtypes.MaxText {
		t.text.WriteString(s)
	}
}

// flush hands out the turn under way; false ends the reading.
func (c *chat) flush() bool {
	t := c.turn
	c.turn = nil
	switch {
	case t == nil:
		return true
	case t.size > memtypes.MaxText:
		return c.yield(Entry{}, bad(c.lines.file, t.line, memtypes.BadField(op, "text",
			fmt.Errorf("%d bytes", t.size), fmt.Sprintf("at most %d bytes in one turn", memtypes.MaxText))))
	case t.text.Len() == 0:
		return c.note(t.line, "nothing said")
	case isLeftOut(t.text.String()):
		return c.note(t.line, "a picture or a recording that the log leaves out")
	}
	d, err := c.draft(t)
	if err != nil {
		return c.yield(Entry{}, bad(c.lines.file, t.line, err))
	}
	return c.yield(Entry{File: c.lines.file, Line: t.line, Draft: d}, nil)
}

func (c *chat) note(n int, why string) bool {
	return c.yield(Entry{File: c.lines.file, Line: n, Note: why}, nil)
}

// draft places a turn in time and in its sitting.
func (c *chat) draft(t *turn) (memtypes.Draft, error) {
	d := memtypes.Draft{Scope: c.o.Scope, Kind: c.o.kind(memtypes.Dialogue), Text: t.text.String(), Source: memtypes.Source{Trust: memtypes.Normal}}
	at, dated, err := c.when(t.stamp)
	if err != nil {
		return d, err
	}
	d.Talk = memtypes.Talk{Session: fmt.Sprintf("%s/%d", c.name, c.sitting), Speaker: t.speaker}
	if dated {
		d.Event, d.Talk.Session = at, c.name+"/"+at.Format(time.DateOnly)
	} else if t.stamp.clock != "" {
		d.Meta = map[string]string{"clock": t.stamp.clock}
	}
	again := digest(d.Talk.Session, t.stamp.date, t.stamp.clock, t.speaker, d.Text)
	if len(c.seen) >= maxSeen {
		clear(c.seen)
	}
	c.seen[again]++
	d.Key = "chat:" + digest(again, fmt.Sprint(c.seen[again]))
	return d, nil
}

// when is the moment of a turn: its own date, or the last heading's; dated is
// false where neither is there.
func (c *chat) when(st stamp) (at time.Time, dated bool, err error) {
	var since time.Duration
	zone := c.o.zone()
	if st.clock != "" {
		s, z, ok := clock(st.clock)
		if !ok {
			return at, false, memtypes.BadField(op, "time", st.clock, "a time of day such as 14:22")
		}
		if since = s; z != nil {
			zone = z
		}
	}
	ymd := c.day
	if st.date != "" {
		y, m, d, ok := day(st.date, c.form.order)
		if !ok {
			return at, false, memtypes.BadField(op, "date", st.date, "a day of the calendar, in the order "+string(c.form.order))
		}
		ymd = [3]int{y, m, d}
		c.day = ymd
	}
	if ymd == [3]int{} {
		return at, false, nil
	}
	midnight := time.Date(ymd[0], time.Month(ymd[1]), ymd[2], 0, 0, 0, 0, zone)
	h, m, s := int(since.Hours()), int(since.Minutes())%60, int(since.Seconds())%60
	return time.Date(midnight.Year(), midnight.Month(), midnight.Day(), h, m, s, 0, zone), true, nil
}
