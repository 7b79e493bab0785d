package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
)

func (a *app) updateCommand() *cobra.Command {
	var text, title string
	var meta []string
	var ifRev uint64
	cmd := &cobra.Command{
		Use:   "update ID",
		Short: "Change a memory; the old revision stays in its history",
		Example: `  vimbank update --user ann ID --text "I am allergic to all nuts"
  vimbank update --user ann ID --meta source=doctor --if-rev 12`,
		GroupID: groupMemory,
		Args:    args(1, 1, "the ID of a memory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope, ids, err := a.scopedIDs(args)
			if err != nil {
				return err
			}
			c := engine.Change{IfRev: ifRev}
			if cmd.Flags().Changed("text") {
				c.Text = &text
			}
			if cmd.Flags().Changed("title") {
				c.Title = &title
			}
			if c.Meta, err = parseMeta(meta); err != nil {
				return err
			}
			if c.Text == nil && c.Title == nil && c.Meta == nil {
				return wrong("change", memtypes.Remark("nothing"), "--text, --title or --meta")
			}
			return a.withBank(cmd.Context(), opening{}, func(e *engine.Engine) error {
				m, err := e.Update(cmd.Context(), scope, ids[0], c)
				if err != nil {
					return err
				}
				if a.flags.json {
					return a.printJSON(m)
				}
				a.printf("%s %s, revision %d\n", a.show.good("changed"), m.ID, m.Rev)
				return nil
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&text, "text", "", "the new text")
	fl.StringVar(&title, "title", "", "the new title")
	fl.StringArrayVar(&meta, "meta", nil, "`name=value` (repeatable); replaces all that is there")
	fl.Uint64Var(&ifRev, "if-rev", 0, "only if this is its present revision (exit code 4 if not)")
	return cmd
}

func (a *app) forgetCommand() *cobra.Command {
	var reason string
	var erase, yes bool
	cmd := &cobra.Command{
		Use:   "forget ID...",
		Short: "Forget memories now: softly, or with --erase for good",
		Long: `Forget memories: they are not recalled from now on. Within the grace period
(forgetting.grace, 7 days) "vimbank restore" brings them back.

With --erase the text, every revision and the vectors are gone for good; what stays is
that there was a memory with this ID, when it was erased, and why. All or none: if one
ID is not in the scope, nothing is forgotten.`,
		Example: `  vimbank forget --user ann ID --reason "asked by the user"
  vimbank forget --user ann ID --erase --yes`,
		GroupID: groupForget,
		Args:    args(1, -1, "the IDs of the memories to forget"),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope, ids, err := a.scopedIDs(args)
			if err != nil {
				return err
			}
			if erase && !yes && !a.confirm(fmt.Sprintf("Erase %s for good?", plural(len(ids), "memory", "memories"))) {
				return memtypes.Errorf("vimbank", memtypes.Refused, "nothing was erased: --erase cannot be undone, confirm it with --yes")
			}
			return a.withBank(cmd.Context(), opening{}, func(e *engine.Engine) error {
				did, do := "forgotten", e.Forget
				if erase {
					did, do = "erased", e.Erase
				}
				if err := do(cmd.Context(), scope, reason, ids...); err != nil {
					return err
				}
				return a.done(did, ids)
			})
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "kept in the audit trail; must not repeat the memory")
	cmd.Flags().BoolVar(&erase, "erase", false, "for good: cannot be undone")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask before erasing")
	return cmd
}

// confirm asks at a terminal; elsewhere the answer is no.
func (a *app) confirm(question string) bool {
	if !a.show.terminal {
		return false
	}
	fmt.Fprintf(a.err, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(a.in).ReadString('\n')
	return strings.EqualFold(strings.TrimSpace(answer), "y")
}

// done reports what was done to ids.
func (a *app) done(did string, ids []memtypes.ID) error {
	if a.flags.json {
		return a.printJSON(map[string]any{did: ids})
	}
	for _, id := range ids {
		a.printf("%s %s\n", a.show.good(did), id)
	}
	return nil
}

func (a *app) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "restore ID...",
		Short:   "Bring forgotten memories back, as they were",
		Long:    `Bring back what "vimbank forget" or a decay run retired. See "vimbank list --retired".`,
		Example: `  vimbank restore --user ann ID`,
		GroupID: groupForget,
		Args:    args(1, -1, "the IDs of forgotten memories"),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope, ids, err := a.scopedIDs(args)
			if err != nil {
				return err
			}
			return a.withBank(cmd.Context(), opening{}, func(e *engine.Engine) error {
				if err := e.Restore(cmd.Context(), scope, ids...); err != nil {
					return err
				}
				return a.done("restored", ids)
			})
		},
	}
}

func (a *app) pinCommand() *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use:     "pin ID...",
		Short:   "Never let decay forget a memory; --off lets it fade again",
		Example: "  vimbank pin --user ann ID\n  vimbank pin --user ann ID --off",
		GroupID: groupForget,
		Args:    args(1, -1, "the IDs of memories"),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope, ids, err := a.scopedIDs(args)
			if err != nil {
				return err
			}
			return a.withBank(cmd.Context(), opening{}, func(e *engine.Engine) error {
				for _, id := range ids {
					if err := e.Pin(cmd.Context(), scope, id, !off); err != nil {
						return err
					}
				}
				return a.done(map[bool]string{false: "pinned", true: "unpinned"}[off], ids)
			})
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "let it fade again")
	return cmd
}
