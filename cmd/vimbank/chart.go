package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/guptarohit/asciigraph"

	"github.com/vimbank/vimbank/forgetting"
)

// line is one curve of a picture.
type line struct {
	points []forgetting.Point
	name   string
	stroke asciigraph.CharSet
	colour asciigraph.AnsiColor
}

// strokes tell curves apart also without colours.
func solid() asciigraph.CharSet  { return asciigraph.DefaultCharSet }
func dotted() asciigraph.CharSet { return asciigraph.CreateCharSet("·") }
func dashed() asciigraph.CharSet {
	c := asciigraph.CreateCharSet("-")
	return c
}

// curves draws retention over days. With a floor the scale is logarithmic from
// 1 down to it, so that an exponential is a straight line and the long tail,
// where it is decided what is forgotten, can be seen; without, it is linear.
func (s *show) curves(lines []line, days float64, floor float64, height int) string {
	logarithmic := floor > 0
	data, names := make([][]float64, len(lines)), make([]string, len(lines))
	o := []asciigraph.Option{
		asciigraph.Height(height), asciigraph.Width(s.width - 12), asciigraph.UpperBound(1), asciigraph.LowerBound(0),
		asciigraph.XAxisRange(0, days), asciigraph.XAxisTickCount(7),
		asciigraph.XAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%.0fd", v) }),
		asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%7s", number(v)) }),
	}
	if logarithmic {
		o = append(o, asciigraph.UpperBound(0), asciigraph.LowerBound(math.Log10(floor)),
			asciigraph.YAxisValueFormatter(func(v float64) string { return fmt.Sprintf("%7s", power(v)) }))
	}
	var strokes []asciigraph.CharSet
	var colours []asciigraph.AnsiColor
	for i, l := range lines {
		for _, p := range l.points {
			v := p.Retention
			switch {
			case logarithmic && v < floor:
				v = math.NaN() // gone: a gap
			case logarithmic:
				v = math.Log10(v)
			}
			data[i] = append(data[i], v)
		}
		strokes, colours = append(strokes, l.stroke), append(colours, l.colour)
		names[i] = l.stroke.Horizontal + l.stroke.Horizontal + " " + l.name
	}
	o = append(o, asciigraph.SeriesChars(strokes...))
	if s.colour {
		o = append(o, asciigraph.SeriesColors(colours...))
	}
	return asciigraph.PlotMany(data, o...) + "\n\n" + strings.Repeat(" ", 10) + strings.Join(names, "    ")
}

// power writes 10^v: 1, .1, 1e-05.
func power(v float64) string {
	if v > -2 {
		return number(math.Pow(10, v))
	}
	return fmt.Sprintf("1e%.0f", v)
}

// level is a straight line at v over the same points.
func level(points []forgetting.Point, v float64) []forgetting.Point {
	out := make([]forgetting.Point, len(points))
	for i, p := range points {
		out[i] = forgetting.Point{At: p.At, Retention: v}
	}
	return out
}

// plotPoints is how many points a curve has: one for each column.
func (s *show) plotPoints() int { return s.width - 12 }

// days counts the days of d.
func days(d time.Duration) float64 { return d.Hours() / 24 }
