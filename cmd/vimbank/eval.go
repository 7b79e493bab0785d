package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/eval"
)

func (a *app) evalCommand() *cobra.Command {
	var data, profiles []string
	cmd := &cobra.Command{
		Use:     "eval",
		Short:   "Measure what retrieval is worth on folders of items and probes",
		GroupID: groupMore,
		Args:    args(0, 0, "retrieval"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	retrieval := &cobra.Command{
		Use:   "retrieval",
		Short: "Recall, hits, MRR and nDCG of each set, profile and category",
		Long: `Put the items of each folder into a fresh engine in a temporary bank, ask its probes, and
print a line for each set, profile and category. Only a probe's question and its moment
reach the engine. A folder holds items.jsonl and probes.jsonl; the form is in the README.`,
		Example: `  vimbank eval retrieval --data data/locomo
  vimbank eval retrieval --data data/locomo --data data/scifact --profile default --profile bm25 --json`,
		Args: args(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.evalRetrieval(cmd.Context(), data, profiles) },
	}
	retrieval.Flags().StringArrayVar(&data, "data", nil, "`folder` with items.jsonl and probes.jsonl (repeatable)")
	retrieval.Flags().StringArrayVar(&profiles, "profile", nil, "default, paper, bm25, dense, rrf or convex (repeatable; default: default)")
	cmd.AddCommand(retrieval)
	return cmd
}

func (a *app) evalRetrieval(ctx context.Context, data, profiles []string) error {
	o, err := a.bankOptions(ctx, opening{})
	if err != nil {
		return err
	}
	o.Services = nil // a fresh bank each time, in a folder of its own
	o.Engine.Actor = "eval"
	bar := newProgress(a, "eval", 0)
	first := true
	return eval.Retrieval(ctx, eval.Options{
		Data: data, Profiles: profiles,
		Open:     func(ctx context.Context, dir string) (*engine.Engine, error) { return bank.Open(ctx, dir, o) },
		Progress: func(_ string, done, total int) { bar.to(done, total) },
	}, func(l eval.Line) error {
		bar.clear()
		if a.flags.json {
			if err := a.printJSON(l); err != nil {
				return err
			}
			return a.out.Flush()
		}
		if first {
			a.printf("%s\n", a.show.dim(fmt.Sprintf("%-14s %-8s %-18s %5s  %6s %6s %6s %6s %6s  %-13s %7s %7s", "set", "profile", "category", "n",
				"R@5", "R@10", "hit@1", "MRR", "nDCG", "95 % of R@5", "p50 ms", "p95 ms")))
			first = false
		}
		row := fmt.Sprintf("%-14s %-8s %-18s %5d  %6.3f %6.3f %6.3f %6.3f %6.3f  %.3f - %.3f %7.2f %7.2f", l.Set, l.Profile, l.Category, l.N,
			l.Recall5, l.Recall10, l.Hit1, l.MRR, l.NDCG10, l.CI95[0], l.CI95[1], l.P50, l.P95)
		if l.Category == eval.All {
			row = a.show.bold(row)
		}
		a.printf("%s\n", row)
		return a.out.Flush()
	})
}
