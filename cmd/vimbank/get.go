package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// scopedID reads what every command on one memory needs.
func (a *app) scopedIDs(args []string) (memtypes.Scope, []memtypes.ID, error) {
	scope, err := a.scope()
	if err != nil {
		return scope, nil, err
	}
	ids, err := parseIDs(args)
	return scope, ids, err
}

func parseIDs(args []string) (ids []memtypes.ID, err error) {
	ids = make([]memtypes.ID, len(args))
	for i, s := range args {
		if ids[i], err = memtypes.ParseID(s); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// withMemory hands the one memory that args name to do.
func (a *app) withMemory(ctx context.Context, args []string, do func(*memtypes.Memory) error) error {
	scope, ids, err := a.scopedIDs(args)
	if err != nil {
		return err
	}
	return a.withBank(ctx, opening{}, func(e *engine.Engine) error {
		m, err := e.Get(ctx, scope, ids[0])
		if err != nil {
			return err
		}
		return do(&m)
	})
}

func (a *app) getCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "get ID",
		Short:   "Show one memory, whole",
		Example: `  vimbank get --user ann 0f8fad5b-d9cb-869f-8165-70867728950e`,
		GroupID: groupMemory,
		Args:    args(1, 1, "the ID of a memory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withMemory(cmd.Context(), args, func(m *memtypes.Memory) error {
				if a.flags.json {
					return a.printJSON(m)
				}
				return a.printMemory(m)
			})
		},
	}
}

// printMemory shows everything that is known of a memory.
func (a *app) printMemory(m *memtypes.Memory) error {
	l, err := a.settings()
	if err != nil {
		return err
	}
	f := l.Config.Forgetting.Options()
	now := time.Now().UTC()
	a.printf("%s\n\n%s\n\n", a.show.origin(m), strings.Join(wrap(m.Text, a.show.width, 10_000), "\n"))
	if m.Task != nil && len(m.Task.Commands) > 0 {
		a.printf("%s\n\n", strings.Join(a.show.steps(m.Task, "  ", 10_000), "\n"))
	}
	rows := [][2]string{
		{"id", string(m.ID)}, {"scope", m.Scope.String()}, {"state", string(m.State)}, {"revision", fmt.Sprint(m.Rev)},
		{"happened", moment(m.Event)}, {"stored", moment(m.Created)}, {"changed", moment(m.Updated)},
		{"session", m.Talk.Session}, {"key", m.Key}, {"source", m.Source.URI},
		{"recalls", recallsOf(m.Strength)},
		{"retention", number(f.Retention(m.Strength, m.Created, now))},
	}
	if t := m.Triple; t != nil {
		rows = append(rows, [2]string{"fact", t.Head + " · " + t.Relation + " · " + t.Tail})
	}
	if due, ok := f.Due(m); ok && m.State == memtypes.Active {
		rows = append(rows, [2]string{"fades", moment(due) + " unless it is recalled before"})
	} else if m.Strength.Pinned {
		rows = append(rows, [2]string{"fades", "never: it is pinned"})
	}
	for _, k := range slices.Sorted(maps.Keys(m.Meta)) {
		rows = append(rows, [2]string{"meta." + k, clip(m.Meta[k], a.show.width-16)})
	}
	for _, r := range rows {
		if r[1] != "" && r[1] != "-" {
			a.printf("%s %s\n", a.show.dim(pad(r[0], 12)), r[1])
		}
	}
	return nil
}

func recallsOf(s memtypes.Strength) string {
	if s.Recalls == 0 {
		return "none so far"
	}
	return fmt.Sprintf("%d, last %s", s.Recalls, moment(s.LastRecall))
}

func (a *app) historyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "history ID",
		Short:   "Show every revision of a memory, oldest first",
		Example: `  vimbank history --user ann 0f8fad5b-d9cb-869f-8165-70867728950e`,
		GroupID: groupMemory,
		Args:    args(1, 1, "the ID of a memory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope, ids, err := a.scopedIDs(args)
			if err != nil {
				return err
			}
			return a.withBank(cmd.Context(), opening{}, func(e *engine.Engine) error {
				return a.history(cmd.Context(), e, scope, ids[0])
			})
		},
	}
}

func (a *app) history(ctx context.Context, e *engine.Engine, scope memtypes.Scope, id memtypes.ID) error {
	revs, err := e.History(ctx, scope, id)
	if err != nil {
		return err
	}
	var last string
	for i := range revs {
		r := &revs[i]
		if a.flags.json {
			if err := a.printJSON(r); err != nil {
				return err
			}
			continue
		}
		a.printRevision(r, last)
		last = r.Memory.Text
	}
	return nil
}

func (a *app) printRevision(r *ledger.Revision, last string) {
	by := "by " + r.Actor
	if r.RunID != "" {
		by += ", run " + r.RunID
	}
	if r.Reason != "" {
		by += ": " + r.Reason
	}
	a.printf("%s  %s  %s  %s\n", pad(fmt.Sprint(r.Rev), 6), moment(r.At), a.show.bold(pad(string(r.Op), 8)), a.show.dim(by))
	if r.Memory.Text != "" && r.Memory.Text != last {
		a.printf("        %s\n", clip(r.Memory.Text, a.show.width-8))
	}
}
