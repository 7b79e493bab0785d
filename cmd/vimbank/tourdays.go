package main

import (
	"context"
	"fmt"
	"time"

	"github.com/guptarohit/asciigraph"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/forgetting"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/sample"
)

// The sixty days: on which of them the first question is asked again, and
// what is asked of a memory that nobody needs meanwhile.
const (
	tourDays     = 60
	lostQuestion = "How many loaves did they sell?"
)

func recallDays() []int { return []int{10, 25, 45} }

// forget lives through sixty days, draws them, and shows the run of decay at
// their end.
func (t *tour) forget(ctx context.Context) error {
	t.heading(4, "Sixty days pass")
	start := t.now()
	asked, err := t.liveOn(ctx, sample.Questions()[0].Text)
	if err != nil {
		return err
	}
	t.text(fmt.Sprintf("Retention is R = exp(-t/lambda): lambda is one day at first and one more with every recall, which also sets t back to 0. What Tom must not eat was asked for on days %d, %d and %d; nobody asked for anything else.",
		recallDays()[0], recallDays()[1], recallDays()[2]))
	var o forgetting.Options
	end, n := start.AddDate(0, 0, tourDays), t.show.plotPoints()
	never, strong := o.Curve(1, start, nil, start, end, n), o.Curve(1, start, asked, start, end, n)
	theta := o.Threshold(memtypes.Dialogue)
	t.say("%s\n\n", t.show.curves([]line{
		{level(never, theta), "threshold of dialogue", dashed(), asciigraph.Red},
		{never, "never recalled: gone on day 30", dotted(), asciigraph.DodgerBlue},
		{strong, "recalled three times", solid(), asciigraph.Green},
	}, tourDays, theta/4, 12))
	report, err := t.engine.Decay(ctx, engine.DecayRequest{Scope: t.scope})
	if err != nil {
		return err
	}
	t.text("What a run of forgetting would do on day 60 (a preview changes nothing):")
	for i := range report.Plans {
		t.report.Due += report.Plans[i].Counts.Due
		if !t.flags.json {
			if err := t.printPlan(ctx, t.engine, &report.Plans[i], 4); err != nil {
				return err
			}
		}
	}
	t.say("\n")
	return nil
}

// liveOn lets sixty days pass, and asks question on some of them. It returns
// the moments of these recalls.
func (t *tour) liveOn(ctx context.Context, question string) (asked []time.Time, err error) {
	last := 0
	for _, d := range recallDays() {
		t.move(time.Duration(d-last) * day)
		last = d
		before := t.engine.Stats().Reinforced
		a, err := t.engine.Recall(ctx, memtypes.Query{Scope: t.scope, Text: question, K: 1})
		if err != nil {
			return nil, err
		}
		asked = append(asked, t.now())
		if err := t.settle(ctx, before+int64(len(a.Hits))); err != nil {
			return nil, err
		}
	}
	t.move(time.Duration(tourDays-last) * day)
	return asked, nil
}

// settle waits until recalls are written down, which happens off the path of
// the answer: in the tour the next day comes at once.
func (t *tour) settle(ctx context.Context, want int64) error {
	for t.engine.Stats().Reinforced < want && t.engine.Stats().Lost == 0 {
		select {
		case <-ctx.Done():
			return memtypes.Errorf("vimbank", memtypes.Canceled, "%w", ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// takeBack applies the run against the breaker, shows what is gone, and undoes it.
func (t *tour) takeBack(ctx context.Context) error {
	t.heading(5, "Forget, and take it back")
	_, err := t.engine.Decay(ctx, engine.DecayRequest{Scope: t.scope, Apply: true})
	if memtypes.CodeOf(err) != memtypes.Refused {
		return fmt.Errorf("the breaker let a run through that forgets most of the bank: %w", err)
	}
	t.report.Stopped = oneLine(err)
	t.text("Applied as it is, a run that takes so much at once is stopped. After a look at the preview it is confirmed (--confirm):")
	t.say("  %s\n", t.show.bold("“"+lostQuestion+"”"))
	if err := t.showLost(ctx, "before"); err != nil {
		return err
	}
	report, err := t.engine.Decay(ctx, engine.DecayRequest{Scope: t.scope, Apply: true, Confirm: true})
	if err != nil {
		return err
	}
	t.report.Retired = report.Retired
	t.say("  %s\n", t.show.warn(fmt.Sprintf("run %s retired %s", report.RunID, plural(report.Retired, "memory", "memories"))))
	if err := t.showLost(ctx, "after"); err != nil {
		return err
	}
	if t.report.Restored, err = t.engine.Undo(ctx, report.RunID); err != nil {
		return err
	}
	t.say("  %s\n", t.show.good(fmt.Sprintf("undone: %s back, as they were", plural(t.report.Restored, "memory", "memories"))))
	if err := t.showLost(ctx, "undone"); err != nil {
		return err
	}
	t.say("\n")
	t.text("What was recalled stayed through it all. Pins (`vimbank pin`) never fade, erased text (`vimbank forget --erase`) never comes back.")
	return nil
}

// showLost asks for the memory that nobody recalled, and shows the best answer.
func (t *tour) showLost(ctx context.Context, when string) error {
	a, err := t.engine.Recall(ctx, memtypes.Query{Scope: t.scope, Text: lostQuestion, K: 1, Quiet: true,
		Kinds: []memtypes.Kind{memtypes.Dialogue}})
	if err != nil {
		return err
	}
	best := "nothing"
	if len(a.Hits) > 0 {
		h := &a.Hits[0]
		best = fmt.Sprintf("%.2f  %s", h.Score, clip(t.memoryText(ctx, t.engine, t.scope, h.Memory.ID), t.show.width-30))
	}
	t.say("  %s %s\n", t.show.dim(pad(when, 7)), best)
	return nil
}
