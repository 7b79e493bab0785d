package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
)

func (a *app) rebuildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rebuild",
		Short: "Make both indexes anew from the ledger",
		Long: `Make both indexes anew from the ledger, and switch to them when they are whole.
No memory is touched. It is also the way to another embedder: set embedder.* in the
settings, then rebuild.`,
		Example: `  vimbank rebuild
  VIMBANK_EMBEDDER_KIND=none vimbank rebuild`,
		GroupID: groupBank,
		Args:    args(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withBank(cmd.Context(), opening{adopt: true}, func(e *engine.Engine) error { return a.rebuild(cmd.Context(), e) })
		},
	}
}

func (a *app) rebuild(ctx context.Context, e *engine.Engine) error {
	bar := newProgress(a, "rebuild", 0)
	err := e.Rebuild(ctx, bar.to)
	bar.clear()
	if err != nil {
		return err
	}
	st := e.Stats()
	if a.flags.json {
		return a.printJSON(map[string]any{"sparse": st.Sparse, "dense": st.Dense, "embedder": st.Embedder})
	}
	a.printf("%s: %s by words, %d by vectors\n", a.show.good("rebuilt"), plural(st.Sparse, "memory", "memories"), st.Dense)
	return nil
}

func (a *app) reconcileCommand() *cobra.Command {
	var repair bool
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Compare both indexes with the ledger; --repair makes them agree",
		Long: `Compare the ids and revisions that each index holds with the ledger's. Exit code 4
if they do not agree and --repair was not given.`,
		Example: `  vimbank reconcile --json
  vimbank reconcile --repair`,
		GroupID: groupBank,
		Args:    args(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withBank(cmd.Context(), opening{}, func(e *engine.Engine) error {
				drifts, err := e.Reconcile(cmd.Context(), repair)
				if err != nil {
					return err
				}
				return a.printDrifts(drifts, repair)
			})
		},
	}
	cmd.Flags().BoolVar(&repair, "repair", false, "make the indexes agree")
	return cmd
}

func (a *app) printDrifts(drifts []engine.Drift, repaired bool) error {
	ok := true
	for i := range drifts {
		ok = ok && drifts[i].OK()
	}
	if a.flags.json {
		if err := a.printJSON(map[string]any{"ok": ok, "repaired": repaired && !ok, "indexes": drifts}); err != nil {
			return err
		}
	} else {
		for i := range drifts {
			d := &drifts[i]
			state := a.show.good("in step")
			if !d.OK() {
				state = a.show.warn(fmt.Sprintf("%d missing, %d stale, %d ghosts", len(d.Missing), len(d.Stale), len(d.Ghosts)))
			}
			a.printf("%s %s held, %s\n", pad(d.Index, 7), plural(d.Held, "memory", "memories"), state)
		}
		if repaired && !ok {
			a.printf("%s\n", a.show.good("repaired"))
		}
	}
	if !ok && !repaired {
		return memtypes.Errorf("vimbank", memtypes.Conflict, "the indexes do not agree with the ledger; --repair makes them")
	}
	return nil
}
