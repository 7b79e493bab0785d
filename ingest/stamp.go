package ingest

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// DateOrder says how 05/03/2024 is read.
type DateOrder string

// The orders. A date that begins with its year needs none.
const (
	AnyOrder   DateOrder = ""    // told from the first dates of the file
	DayFirst   DateOrder = "dmy" // 5 March
	MonthFirst DateOrder = "mdy" // May 3
)

// ParseDateOrder accepts dmy, mdy and the empty string.
func ParseDateOrder(s string) (DateOrder, error) {
	switch o := DateOrder(s); o {
	case AnyOrder, DayFirst, MonthFirst:
		return o, nil
	}
	return "", memtypes.BadField("ingest.ParseDateOrder", "dates", s, "dmy or mdy, or nothing to tell it from the file")
}

// stamp is the time that a line of a chat log begins with.
type stamp struct {
	date, clock string // as written; one of them may be empty
}

// Parts of a stamp. Spaces may be the narrow and the no-break ones that phones write.
const (
	dateRE  = `\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{4}年\d{1,2}月\d{1,2}日|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})`
	clockRE = `(?:(?:上午|下午|凌晨|中午|晚上)\s?)?\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:[\s\x{202f}\x{a0}]?[AaPp]\.?[Mm]\.?)?(?:Z|[+-]\d{2}:?\d{2})?`
)

// patterns are compiled at the first chat log, not at the start of the program.
var patterns = sync.OnceValue(func() (p struct{ stamped, dateOnly, nameTime, timeName *regexp.Regexp }) {
	both := `(?:(` + dateRE + `)(?:,?[\s\x{202f}\x{a0}]+|T|,)(` + clockRE + `)|(` + dateRE + `)|(` + clockRE + `))`
	p.stamped = regexp.MustCompile(`^[\x{200e}\x{feff}\s]*(?:\[` + both + `\]\s*|\(` + both + `\)\s*|` + both + `(?:\s+[-–—]\s+|:?\s+))(\S.*)$`)
	p.dateOnly = regexp.MustCompile(`^[\s#*=_—–-]*(` + dateRE + `)[\s#*=_—–-]*$`)
	full := `(` + dateRE + `)[\s,T]+(` + clockRE + `)`
	p.nameTime = regexp.MustCompile(`^(\S.*?)\s+` + full + `$`)
	p.timeName = regexp.MustCompile(`^` + full + `\s+(\S.*)$`)
	return p
})

// splitStamp takes the stamp off a line; ok is false where there is none.
func splitStamp(s string) (st stamp, rest string, ok bool) {
	m := patterns().stamped.FindStringSubmatch(s)
	if m == nil {
		return stamp{}, s, false
	}
	for g := 1; g <= 9; g += 4 { // the three ways to bracket it
		st.date += m[g] + m[g+2]
		st.clock += m[g+1] + m[g+3]
	}
	return st, m[13], true
}

// day reads a date as year, month, day; ok is false for no such day.
func day(s string, order DateOrder) (y, m, d int, ok bool) {
	n := numbers(s)
	if len(n) != 3 {
		return 0, 0, 0, false
	}
	switch {
	case n[0] > 31:
		y, m, d = n[0], n[1], n[2]
	case order == MonthFirst:
		y, m, d = n[2], n[0], n[1]
	default:
		y, m, d = n[2], n[1], n[0]
	}
	if y < 100 {
		y += 2000
	}
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return y, m, d, t.Day() == d && int(t.Month()) == m
}

// numbers are the runs of digits in s.
func numbers(s string) (out []int) {
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return r < '0' || r > '9' }) {
		if v, err := strconv.Atoi(f); err == nil {
			out = append(out, v)
		}
	}
	return out
}

// clock reads a time of day as the time since midnight, and the zone if one is
// written; ok is false for no such time.
func clock(s string) (since time.Duration, zone *time.Location, ok bool) {
	s, zone = cutZone(s)
	half, s := cutHalf(s)
	n := numbers(strings.NewReplacer(".", " ", ",", " ").Replace(s))
	if len(n) < 2 || n[0] > 23 || n[1] > 59 || len(n) > 2 && n[2] > 59 || half != 0 && n[0] > 12 {
		return 0, nil, false
	}
	switch {
	case half == 'p' && n[0] < 12:
		n[0] += 12
	case half == 'a' && n[0] == 12:
		n[0] = 0
	}
	since = time.Duration(n[0])*time.Hour + time.Duration(n[1])*time.Minute
	if len(n) > 2 {
		since += time.Duration(n[2]) * time.Second
	}
	return since, zone, true
}

// cutHalf takes am, pm or its Chinese likes off a time of day.
func cutHalf(s string) (half byte, rest string) {
	low := strings.ToLower(s)
	for _, w := range []struct {
		word string
		half byte
	}{{"上午", 'a'}, {"凌晨", 'a'}, {"下午", 'p'}, {"中午", 'p'}, {"晚上", 'p'}, {"am", 'a'}, {"a.m", 'a'}, {"pm", 'p'}, {"p.m", 'p'}} {
		if strings.Contains(low, w.word) {
			if w.half == 'p' && numbers(s)[0] > 12 {
				return 0, s // 下午14:20 is written so too
			}
			return w.half, strings.Replace(low, w.word, " ", 1)
		}
	}
	return 0, s
}

// cutZone takes Z or an offset off a time of day.
func cutZone(s string) (string, *time.Location) {
	if rest, ok := strings.CutSuffix(s, "Z"); ok {
		return rest, time.UTC
	}
	i := strings.LastIndexAny(s, "+-")
	if i < 0 {
		return s, nil
	}
	digits := strings.ReplaceAll(s[i+1:], ":", "")
	hm, err := strconv.Atoi(digits)
	if err != nil || len(digits) != 4 {
		return s, nil
	}
	seconds := hm/100*3600 + hm%100*60
	if s[i] == '-' {
		seconds = -seconds
	}
	return s[:i], time.FixedZone("", seconds)
}
