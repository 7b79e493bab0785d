package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
)

type decayFlags struct {
	apply, confirm, purge, runs bool
	undo, now                   string
	limit                       int
}

func (a *app) decayCommand() *cobra.Command {
	var f decayFlags
	cmd := &cobra.Command{
		Use:   "decay",
		Short: "Forget what has faded: a preview, unless --apply",
		Long: `Show which memories have faded below the threshold of their kind, and why; with --apply,
retire them. Retiring is soft: for the grace period (7 days) a run can be undone whole
(--undo RUN) or one by one (vimbank restore). With --purge, what was retired longer ago
than that is erased for good.

A breaker stops a run that would retire too much at once (5 % of a tenant's memories), a
clock that jumped pauses it; --confirm goes on after you have seen the preview. Pinned
memories never fade. Without a scope the whole bank is looked at.`,
		Example: `  vimbank decay                        what would go today?
  vimbank decay --now +60d             what would go in 60 days, if nothing is recalled?
  vimbank decay --apply
  vimbank decay --runs
  vimbank decay --undo decay-20260601T031700Z-1f2e3d4c`,
		GroupID: groupForget,
		Args:    args(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.decayAs(cmd.Context(), &f)
		},
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.apply, "apply", false, "retire what is due")
	fl.BoolVar(&f.confirm, "confirm", false, "go on where the breaker or the clock would stop")
	fl.BoolVar(&f.purge, "purge", false, "also erase what was retired longer ago than the grace")
	fl.StringVar(&f.undo, "undo", "", "bring back what this `run` retired")
	fl.BoolVar(&f.runs, "runs", false, "list the runs so far, newest first")
	fl.StringVar(&f.now, "now", "", "as of this moment (2026-08-01, +60d); not with --apply")
	fl.IntVar(&f.limit, "limit", 20, "how many memories are shown, 0 to 10000")
	return cmd
}

// decayAs picks what the flags ask for.
func (a *app) decayAs(ctx context.Context, f *decayFlags) error {
	scope, err := a.scopeOrAll()
	if err != nil {
		return err
	}
	now, err := parseTime("now", f.now, time.Now())
	if err != nil {
		return err
	}
	switch {
	case f.limit < 0 || f.limit > 10_000:
		return wrong("limit", f.limit, "0 to 10000")
	case f.apply && !now.IsZero():
		return wrong("now", f.now, "no --now with --apply: what is retired counts from the real time")
	case f.apply && (f.undo != "" || f.runs) || f.undo != "" && f.runs:
		return wrong("decay", memtypes.Remark("several of --apply, --undo, --runs"), "one of them")
	}
	return a.withBank(ctx, opening{}, func(e *engine.Engine) error {
		switch {
		case f.runs:
			return a.decayRuns(ctx, e)
		case f.undo != "":
			return a.decayUndo(ctx, e, f.undo)
		}
		r := engine.DecayRequest{Scope: scope, Now: now, Apply: f.apply, Purge: f.purge, Confirm: f.confirm, Actor: "cli"}
		report, err := e.Decay(ctx, r)
		if report == nil {
			return err
		}
		if perr := a.printDecay(ctx, e, report, f); perr != nil {
			return perr
		}
		return err
	})
}

func (a *app) decayUndo(ctx context.Context, e *engine.Engine, run string) error {
	n, err := e.Undo(ctx, run)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.printJSON(map[string]any{"run_id": run, "restored": n})
	}
	a.printf("%s %s of run %s\n", a.show.good("restored"), plural(n, "memory", "memories"), run)
	return nil
}

func (a *app) decayRuns(ctx context.Context, e *engine.Engine) error {
	runs, err := e.Runs(ctx, engine.DecayJob, 100)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if a.flags.json {
			if err := a.printJSON(r); err != nil {
				return err
			}
			continue
		}
		of := "the whole bank"
		if !r.Scope.IsZero() {
			of = r.Scope.String()
		}
		a.printf("%s  %s  %s  %d retired, %d purged, %d left alone  %s\n", r.ID, moment(r.Started), pad(r.Status, 7),
			r.Counts["retired"], r.Counts["purged"], r.Counts["stale"], a.show.dim(of))
	}
	if len(runs) == 0 {
		a.note("no run so far")
	}
	return nil
}

// printDecay shows a report, with the texts that its plans leave out.
func (a *app) printDecay(ctx context.Context, e *engine.Engine, report *engine.DecayReport, f *decayFlags) error {
	if a.flags.json {
		return a.printJSON(report)
	}
	if len(report.Plans) == 0 {
		a.printf("nothing here to forget\n")
		return nil
	}
	for i := range report.Plans {
		if err := a.printPlan(ctx, e, &report.Plans[i], f.limit); err != nil {
			return err
		}
	}
	if report.RunID != "" {
		a.printf("%s %d, purged %d, left alone %d that changed meanwhile\n", a.show.good("retired"), report.Retired, report.Purged, report.Stale)
		a.printf("to undo: vimbank decay --undo %s\n", report.RunID)
	} else if !f.apply {
		a.printf("%s\n", a.show.dim("a preview: nothing was changed; --apply retires what is due"))
	}
	return nil
}

// memoryText is the text of a memory for a person to recognise it by.
func (a *app) memoryText(ctx context.Context, e *engine.Engine, scope memtypes.Scope, id memtypes.ID) string {
	m, err := e.Get(ctx, scope, id)
	if err != nil {
		return string(id)
	}
	who := ""
	if m.Talk.Speaker != "" {
		who = m.Talk.Speaker + ": "
	} else if m.Title != "" {
		who = m.Title + ": "
	}
	return who + m.Text
}
