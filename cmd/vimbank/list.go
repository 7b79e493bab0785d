package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// filterFlags narrow what is looked at.
type filterFlags struct {
	kinds             []string
	session, from, to string
}

func (f *filterFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVar(&f.kinds, "kind", nil, "only this `kind`: knowledge, dialogue or task (repeatable)")
	fl.StringVar(&f.session, "session", "", "only of this `sitting`")
	fl.StringVar(&f.from, "from", "", "only at or after this `time` (2026-03-15, -7d)")
	fl.StringVar(&f.to, "to", "", "only before this `time`")
}

// read turns the flags into a filter within scope.
func (f *filterFlags) read(scope memtypes.Scope, now time.Time) (out memtypes.Filter, err error) {
	out = memtypes.Filter{Scope: scope, Session: f.session}
	for _, name := range f.kinds {
		k, err := memtypes.ParseKind(name)
		if err != nil {
			return out, err
		}
		out.Kinds = append(out.Kinds, k)
	}
	if out.From, err = parseTime("from", f.from, now); err != nil {
		return out, err
	}
	if out.To, err = parseTime("to", f.to, now); err != nil {
		return out, err
	}
	if !out.From.IsZero() && !out.To.IsZero() && !out.From.Before(out.To) {
		return out, wrong("from", f.from, "a time before --to "+f.to)
	}
	return out, nil
}

type listFlags struct {
	filterFlags
	limit   int
	cursor  string
	retired bool
}

func (a *app) listCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List memories in the order of time",
		Long: `List the memories of a scope, oldest first. With --json one memory a line; when there
are more than --limit, standard error names the cursor of the next page.`,
		Example: `  vimbank list --user ann --kind dialogue --from 2026-03-01
  vimbank list --user ann --json --limit 1000 | jq -r .text
  vimbank list --user ann --retired`,
		GroupID: groupMemory,
		Args:    args(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := a.listQuery(&f)
			if err != nil {
				return err
			}
			return a.withBank(cmd.Context(), opening{}, func(e *engine.Engine) error { return a.list(cmd.Context(), e, q) })
		},
	}
	f.register(cmd)
	cmd.Flags().IntVar(&f.limit, "limit", 100, "1 to 10000")
	cmd.Flags().StringVar(&f.cursor, "cursor", "", "go on after the last page")
	cmd.Flags().BoolVar(&f.retired, "retired", false, "what was forgotten and can still be restored, instead")
	return cmd
}

func (a *app) listQuery(f *listFlags) (q ledger.ListQuery, err error) {
	scope, err := a.scope()
	if err != nil {
		return q, err
	}
	if f.limit < 1 || f.limit > ledger.MaxLimit {
		return q, wrong("limit", f.limit, "1 to 10000")
	}
	q = ledger.ListQuery{Limit: f.limit, Cursor: f.cursor}
	if f.retired {
		q.States = []memtypes.State{memtypes.Retired}
	}
	q.Filter, err = f.read(scope, time.Now())
	return q, err
}

func (a *app) list(ctx context.Context, e *engine.Engine, q ledger.ListQuery) error {
	page, err := e.List(ctx, q)
	if err != nil {
		return err
	}
	for i := range page.Memories {
		m := &page.Memories[i]
		if a.flags.json {
			if err := a.printJSON(m); err != nil {
				return err
			}
			continue
		}
		a.printRow(m)
	}
	if page.Next != "" {
		a.note("more: --cursor %s", page.Next)
	} else if len(page.Memories) == 0 {
		a.note("nothing here")
	}
	return nil
}

// printRow shows a memory on two lines.
func (a *app) printRow(m *memtypes.Memory) {
	state := ""
	if m.State == memtypes.Retired {
		state = "  " + a.show.warn("forgotten "+moment(m.Strength.Retired))
	}
	if m.Strength.Pinned {
		state += "  " + a.show.mark("pinned")
	}
	a.printf("%s  %s%s\n    %s\n", a.show.dim(string(m.ID)), a.show.origin(m), state, clip(m.Text, a.show.width-4))
}
