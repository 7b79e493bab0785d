package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/guptarohit/asciigraph"
	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/forgetting"
	"github.com/vimbank/vimbank/memtypes"
)

type curveFlags struct {
	kind, recalls, horizon string
	linear                 bool
}

func (a *app) curveCommand() *cobra.Command {
	var f curveFlags
	cmd := &cobra.Command{
		Use:   "curve [ID]",
		Short: "Draw how retention falls, and what recalls do to it",
		Long: `Draw the curve of forgetting, R = R0 exp(-t/lambda): lambda is 1 (times forgetting.unit,
a day) at first and grows by 1 with each recall, which also sets t back to 0. The dashed
line is the threshold below which a decay run retires a memory.

With an ID, the curve of that memory from its last recall on, if it is left alone.
Without, that of a new memory which is recalled after the times of --recalls.`,
		Example: `  vimbank curve
  vimbank curve --recalls 5d,12d,30d --for 90d --kind dialogue
  vimbank curve --user ann ID --json`,
		GroupID: groupForget,
		Args:    args(0, 1, "the ID of a memory, or nothing"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.curveOfNew(&f)
			}
			return a.withMemory(cmd.Context(), args, func(m *memtypes.Memory) error { return a.curveOf(m, &f) })
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.kind, "kind", "dialogue", "whose threshold: knowledge, dialogue or task (without an ID)")
	fl.StringVar(&f.recalls, "recalls", "", "recalled after these times, such as 5d,12d,30d (without an ID)")
	fl.StringVar(&f.horizon, "for", "", "how long the curve is (default: a little beyond its end)")
	fl.BoolVar(&f.linear, "linear", false, "a linear scale: the curve as it is mostly drawn")
	return cmd
}

// curveOfNew draws what becomes of a memory that is stored now.
func (a *app) curveOfNew(f *curveFlags) error {
	l, err := a.settings()
	if err != nil {
		return err
	}
	o := l.Config.Forgetting.Options()
	kind, err := memtypes.ParseKind(f.kind)
	if err != nil {
		return err
	}
	now := time.Now().UTC().Truncate(time.Second)
	m := memtypes.Memory{Kind: kind, Created: now, Strength: memtypes.Strength{Initial: 1}}
	var recalls []time.Time
	for s := range strings.SplitSeq(f.recalls, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		d, ok := parseSpan(s)
		if !ok {
			return wrong("recalls", s, "times after storing, such as 5d,12d,36h")
		}
		recalls = append(recalls, now.Add(d))
	}
	strong := m
	for _, r := range recalls {
		strong.Strength = forgetting.Recalled(strong.Strength, r)
	}
	span, err := f.span(&o, &strong, now)
	if err != nil {
		return err
	}
	n := a.show.plotPoints()
	lines := []line{{o.Curve(1, now, nil, now, now.Add(span), n), "never recalled", solid(), asciigraph.DodgerBlue}}
	if len(recalls) > 0 {
		lines[0].stroke = dotted()
		lines = append(lines, line{o.Curve(1, now, recalls, now, now.Add(span), n), "recalled after " + f.recalls, solid(), asciigraph.Green})
	}
	return a.printCurves(&o, kind, lines, span, f.linear)
}

// curveOf draws what becomes of a memory from its last recall on.
func (a *app) curveOf(m *memtypes.Memory, f *curveFlags) error {
	l, err := a.settings()
	if err != nil {
		return err
	}
	o := l.Config.Forgetting.Options()
	from := forgetting.Since(m.Strength, m.Created)
	span, err := f.span(&o, m, from)
	if err != nil {
		return err
	}
	n := a.show.plotPoints()
	points := make([]forgetting.Point, n)
	for i := range points {
		at := from.Add(time.Duration(float64(span) * float64(i) / float64(n-1)))
		points[i] = forgetting.Point{At: at, Retention: o.Retention(m.Strength, m.Created, at)}
	}
	if !a.flags.json {
		now := time.Now().UTC()
		a.printf("%s\n%s\n", a.show.origin(m), clip(m.Text, a.show.width))
		a.printf("%s since %s; now %s\n\n", plural(m.Strength.Recalls, "recall", "recalls"), moment(m.Created), number(o.Retention(m.Strength, m.Created, now)))
	}
	return a.printCurves(&o, m.Kind, []line{{points, fmt.Sprintf("from %s on", moment(from)), solid(), asciigraph.Green}}, span, f.linear)
}

// span is how long the curve is drawn: to a little beyond the moment at which
// m is due, unless the caller says.
func (f *curveFlags) span(o *forgetting.Options, m *memtypes.Memory, from time.Time) (time.Duration, error) {
	if f.horizon != "" {
		d, ok := parseSpan(f.horizon)
		if !ok || d <= 0 {
			return 0, wrong("for", f.horizon, "a duration such as 60d or 12h")
		}
		return d, nil
	}
	if f.linear {
		return 6 * day, nil
	}
	pinned := *m
	pinned.Strength.Pinned = false // a pinned memory has a curve too
	if due, ok := o.Due(&pinned); ok {
		return (due.Sub(from)/(6*day) + 1) * 6 * day, nil // six even parts
	}
	return 60 * day, nil
}

func (a *app) printCurves(o *forgetting.Options, kind memtypes.Kind, lines []line, span time.Duration, linear bool) error {
	threshold := o.Threshold(kind)
	if a.flags.json {
		out := struct {
			Threshold float64                       `json:"threshold"`
			Curves    map[string][]forgetting.Point `json:"curves"`
		}{threshold, map[string][]forgetting.Point{}}
		for _, l := range lines {
			out.Curves[l.name] = l.points
		}
		return a.printJSON(out)
	}
	floor := 0.0
	if !linear {
		floor = lowest(lines, threshold)
	}
	if threshold > 0 && threshold >= floor {
		lines = append(lines, line{level(lines[0].points, threshold), fmt.Sprintf("threshold of %s, %s", kind, number(threshold)), dashed(), asciigraph.Red})
	}
	a.printf("%s\n", a.show.curves(lines, days(span), floor, 14))
	return nil
}

// lowest is where a logarithmic scale ends: a little below the threshold, or
// below the lowest point if that is higher up.
func lowest(lines []line, threshold float64) float64 {
	low := 1.0
	for _, l := range lines {
		for _, p := range l.points {
			low = min(low, p.Retention)
		}
	}
	return max(low, threshold/1000, 1e-300)
}
