package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/upkeep"
)

func (a *app) upkeepCommand() *cobra.Command {
	var once, list bool
	cmd := &cobra.Command{
		Use:   "upkeep",
		Short: "Run the background jobs: decay, purge, reconcile, snapshot",
		Long: `Run the background jobs of the bank at their times until it is interrupted: decay
retires what has faded, purge erases what was retired longer ago than the grace,
reconcile compares the indexes with the ledger and repairs them, snapshot lets the
indexes rest on disk. The times are the settings upkeep.*, cron specs in UTC; an empty
one leaves its job out. What was missed while nothing ran is made good at the start.

Several processes may do this on one bank: each job has one runner. An interrupt waits
for the job that runs; a second one does not. A job that fails is reported and runs
again at its next time; with --once the exit code is that of the first that failed.`,
		Example: `  vimbank upkeep
  vimbank upkeep --once          what is due now, for a cron or a timer of your own
  vimbank upkeep --list`,
		GroupID: groupBank,
		Args:    args(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if once && list {
				return wrong("upkeep", memtypes.Remark("both --once and --list"), "one of them")
			}
			return a.withBank(cmd.Context(), opening{}, func(e *engine.Engine) error {
				k := &keeper{app: a, ctx: cmd.Context()}
				switch {
				case list:
					return k.list(e)
				case once:
					return k.once(e)
				}
				return k.foreground(e)
			})
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "run what is due now, and end")
	cmd.Flags().BoolVar(&list, "list", false, "show the jobs, their times and their last runs, and end")
	return cmd
}

// keeper is one call of the command.
type keeper struct {
	app *app
	ctx context.Context

	mu sync.Mutex // held while a report is printed: jobs may end at the same time
}

// scheduler makes that of the settings; Invalid if they have no job.
func (k *keeper) scheduler(e *engine.Engine) (*upkeep.Scheduler, error) {
	l, err := k.app.settings()
	if err != nil {
		return nil, err
	}
	specs := bank.Specs(l.Config.Upkeep)
	if specs == (bank.Specs{}) {
		return nil, wrong("upkeep", memtypes.Remark("no job"), "a cron spec in one of upkeep.decay, purge, reconcile or snapshot")
	}
	return bank.Upkeep(e, specs, &upkeep.Options{Ended: k.print})
}

// foreground runs the jobs at their times until the context ends, and then
// waits for those that run.
func (k *keeper) foreground(e *engine.Engine) error {
	s, err := k.scheduler(e)
	if err != nil {
		return err
	}
	door, err := k.door(e)
	if err != nil {
		return err
	}
	if err := s.Start(context.WithoutCancel(k.ctx)); err != nil {
		return errors.Join(err, door())
	}
	if !k.app.flags.json {
		k.app.note("upkeep of %s until it is interrupted; times are UTC", k.app.bankName())
	}
	<-k.ctx.Done()
	return errors.Join(door(), s.Close())
}

func (k *keeper) once(e *engine.Engine) error {
	s, err := k.scheduler(e)
	if err != nil {
		return err
	}
	ran, err := s.RunDue(k.ctx)
	if len(ran) == 0 && err == nil && !k.app.flags.json {
		k.app.note("nothing is due")
	}
	return err
}

// print reports a run that has ended, at once: one line, or one JSON object.
func (k *keeper) print(r upkeep.Report) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a := k.app
	if r.Job = jobName(r.Job); a.flags.json {
		_ = a.printJSON(r) // what cannot be written shows at the flush
	} else {
		a.printf("%s  %s\n", pad(r.Job, 9), k.outcome(&r))
	}
	_ = a.out.Flush()
}

// outcome says how a run went: "2026-03-15 03:17  done in 12ms".
func (k *keeper) outcome(r *upkeep.Report) string {
	s := k.app.show
	took := r.Ended.Sub(r.Started).Round(time.Millisecond)
	if r.Error == "" {
		return moment(r.Started) + "  " + s.good("done") + " in " + took.String()
	}
	return moment(r.Started) + "  " + s.bad("failed") + ": " + strings.Join(strings.Fields(r.Error), " ")
}

func (k *keeper) list(e *engine.Engine) error {
	s, err := k.scheduler(e)
	if err != nil {
		return err
	}
	jobs, err := s.Status(k.ctx)
	if err != nil {
		return err
	}
	a := k.app
	if !a.flags.json {
		a.printf("%s\n", a.show.dim(pad("job", 9)+"  "+pad("spec (UTC)", 16)+"  "+pad("next", 16)+"  last run"))
	}
	for i := range jobs {
		j := &jobs[i]
		j.Job, j.Last.Job = jobName(j.Job), jobName(j.Last.Job)
		if a.flags.json {
			if err := a.printJSON(j); err != nil {
				return err
			}
			continue
		}
		last := a.show.dim("never")
		if !j.Last.Started.IsZero() {
			last = k.outcome(&j.Last)
		}
		a.printf("%s  %s  %s  %s\n", pad(j.Job, 9), pad(j.Spec, 16), pad(moment(j.Next), 16), last)
	}
	return nil
}

// jobName is a job's name as the settings have it.
func jobName(job string) string { return strings.TrimPrefix(job, bank.JobPrefix) }
