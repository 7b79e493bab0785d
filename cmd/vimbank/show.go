package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// maxWidth is how wide text is at most: lines longer than this are hard to read.
const maxWidth = 100

// show knows how to show text: how wide, and whether in colours.
type show struct {
	out      io.Writer
	width    int
	colour   bool
	terminal bool

	bold, dim, good, warn, bad, mark func(string) string
}

// newShow looks at what out is: a terminal gets its own width and colours.
func newShow(out io.Writer, noColor bool) *show {
	s := &show{out: out, width: maxWidth}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		s.terminal = true
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w >= 40 {
			s.width = min(w, maxWidth)
		}
	}
	s.colour = s.terminal && !noColor && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	style := func(attrs ...color.Attribute) func(string) string {
		c := color.New(attrs...)
		if s.colour {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return func(t string) string { return c.Sprint(t) }
	}
	s.bold, s.dim, s.mark = style(color.Bold), style(color.Faint), style(color.FgCyan, color.Bold)
	s.good, s.warn, s.bad = style(color.FgGreen), style(color.FgYellow), style(color.FgRed)
	return s
}

// bar draws a share of 1 as width cells, in eighths of a cell.
func bar(share float64, width int) string {
	if math.IsNaN(share) {
		share = 0
	}
	eighths := int(math.Round(max(0, min(1, share)) * float64(width) * 8))
	full, rest := eighths/8, eighths%8
	s := strings.Repeat("█", full)
	if rest > 0 {
		s += string([]rune(" ▏▎▍▌▋▊▉")[rest])
		full++
	}
	return s + strings.Repeat("·", width-full)
}

// number writes a value short enough to read: .37, 12.4, 3.1e-09.
func number(v float64) string {
	switch a := math.Abs(v); {
	case v == 0:
		return "0"
	case a < .001:
		return fmt.Sprintf("%.1e", v)
	case a < 10:
		s := fmt.Sprintf("%.3f", v)
		return strings.Replace(strings.TrimRight(strings.TrimRight(s, "0"), "."), "0.", ".", 1)
	case a < 1000:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// moment writes a time as people and scripts both read it, in UTC.
func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	if t = t.UTC(); t.Hour()+t.Minute()+t.Second() == 0 {
		return t.Format(time.DateOnly)
	}
	return t.Format("2006-01-02 15:04")
}

// pad fills s with spaces up to width cells of a terminal.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-uniseg.StringWidth(s)))
}

// clip cuts s to width cells of a terminal, on one line.
func clip(s string, width int) string {
	s = strings.Join(strings.Fields(s), " ")
	if uniseg.StringWidth(s) <= width {
		return s
	}
	var b strings.Builder
	room := width - 1
	for state := -1; s != "" && room > 0; {
		var c string
		var w int
		c, s, w, state = uniseg.FirstGraphemeClusterInString(s, state)
		if room -= w; room >= 0 {
			b.WriteString(c)
		}
	}
	return b.String() + "…"
}

// wrap breaks s into lines of at most width cells, at most most of them.
func wrap(s string, width, most int) []string {
	var lines []string
	for para := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		lines = append(lines, wrapLine(strings.TrimRight(para, " \t\r"), width)...)
		if len(lines) > most {
			lines = lines[:most]
			lines[most-1] = clip(lines[most-1]+" …", width)
			return lines
		}
	}
	return lines
}

func wrapLine(s string, width int) (lines []string) {
	var b strings.Builder
	used := 0
	for state := -1; s != ""; {
		var seg string
		seg, s, _, state = uniseg.FirstLineSegmentInString(s, state)
		w := uniseg.StringWidth(strings.TrimRight(seg, " "))
		if used > 0 && used+w > width {
			lines = append(lines, strings.TrimRight(b.String(), " "))
			b.Reset()
			used = 0
		}
		for w > width { // one word wider than the line
			head := strings.TrimSuffix(clip(seg, width), "…")
			if head == "" {
				break
			}
			lines = append(lines, head)
			seg = seg[len(head):]
			w = uniseg.StringWidth(strings.TrimRight(seg, " "))
		}
		b.WriteString(seg)
		used += uniseg.StringWidth(seg)
	}
	if b.Len() > 0 || len(lines) == 0 {
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// plural writes "1 memory", "3 memories".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
