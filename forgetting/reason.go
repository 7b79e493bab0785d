package forgetting

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// retireReason says why c is due, in the numbers that made it so.
func (p *Planner) retireReason(c *candidate) string {
	idle := span(p.now.Sub(Since(c.strength, c.created)))
	last := fmt.Sprintf("stored %s ago, never recalled", idle)
	if c.Recalls > 0 {
		last = fmt.Sprintf("last recalled %s ago, %s", idle, count(c.Recalls, "recall"))
	}
	kept := ""
	if life := c.Due.Sub(Since(c.strength, c.created)); life > 0 {
		kept = fmt.Sprintf(" (good for %s)", span(life))
	}
	return fmt.Sprintf("retention %s below %s for %s; %s%s", number(c.Retention), number(c.Threshold), c.Kind, last, kept)
}

func (p *Planner) purgeReason(c *candidate) string {
	by := ""
	if c.strength.RunID != "" {
		by = " by run " + c.strength.RunID
	}
	return fmt.Sprintf("retired %s ago%s; the grace is %s", span(p.now.Sub(c.strength.Retired)), by, span(p.o.Grace))
}

// number writes a retention short enough to read: ".37", ".0041", "9.4e-14".
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < .001:
		return strconv.FormatFloat(v, 'e', 1, 64)
	}
	return strings.TrimPrefix(strconv.FormatFloat(v, 'g', 2, 64), "0")
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'g', 3, 64) + " %" }

// span writes a duration in the largest unit of which there are two or more.
func span(d time.Duration) string {
	switch {
	case d >= 2*day:
		return count(int(d/day), "day")
	case d >= 2*time.Hour:
		return count(int(d/time.Hour), "hour")
	case d >= 2*time.Minute:
		return count(int(d/time.Minute), "minute")
	}
	return count(int(max(d, 0)/time.Second), "second")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
