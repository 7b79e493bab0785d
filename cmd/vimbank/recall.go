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
)

type recallFlags struct {
	filterFlags
	k              int
	profile, now   string
	quiet, explain bool
}

func (a *app) recallCommand() *cobra.Command {
	var f recallFlags
	cmd := &cobra.Command{
		Use:   "recall QUESTION",
		Short: "Find the memories that answer a question",
		Long: `Find the memories that answer a question best, by words and by meaning at once.
Time words in the question ("last Tuesday", "on 14 April", 上周三) are understood and
weigh in; --from and --to leave out what is outside. What is found is strengthened, as
every recall does, unless --quiet.

Scores go from 0 to 1 and compare within one answer. --explain prints every number
that made a score: what was measured x its weight = the points it gave.`,
		Example: `  vimbank recall --user ann "which nut is Tom allergic to?"
  vimbank recall --user ann "what did we do on 14 April" --now 2026-06-01 --explain
  vimbank recall --user ann "error E7 on the oven" --kind task --k 3
  vimbank recall --user ann 茶应该怎么泡 --json | jq -r '.hits[].memory.text'`,
		GroupID: groupMemory,
		Args:    args(1, 1, "one QUESTION in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			q, err := a.query(cmd, args[0], &f)
			if err != nil {
				return err
			}
			return a.withBank(cmd.Context(), opening{}, func(e *engine.Engine) error { return a.recall(cmd.Context(), e, q, f.explain) })
		},
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.IntVarP(&f.k, "k", "k", 0, "how many, 1 to 1000 (default recall.k, 10)")
	fl.StringVar(&f.profile, "profile", "", "`name` of the ranking: default, paper, bm25, dense, rrf or convex")
	fl.StringVar(&f.now, "now", "", "ask as of this `time` (2026-06-01, +3d)")
	fl.BoolVar(&f.quiet, "quiet", false, "do not strengthen what is found")
	fl.BoolVar(&f.explain, "explain", false, "print every number that made the scores")
	return cmd
}

func (a *app) query(cmd *cobra.Command, text string, f *recallFlags) (q memtypes.Query, err error) {
	l, err := a.settings()
	if err != nil {
		return q, err
	}
	scope, err := a.scope()
	if err != nil {
		return q, err
	}
	q = memtypes.Query{Scope: scope, Text: text, K: l.Config.Recall.K, Profile: f.profile, Quiet: f.quiet || !l.Config.Recall.Reinforce}
	if cmd.Flags().Changed("k") {
		if q.K = f.k; f.k < 1 || f.k > memtypes.MaxK {
			return q, wrong("k", f.k, fmt.Sprintf("1 to %d", memtypes.MaxK))
		}
	}
	if q.Now, err = parseTime("now", f.now, time.Now()); err != nil {
		return q, err
	}
	now := q.Now
	if now.IsZero() {
		now = time.Now()
	}
	filter, err := f.read(scope, now)
	q.Kinds, q.Session, q.From, q.To = filter.Kinds, filter.Session, filter.From, filter.To
	if err != nil {
		return q, err
	}
	return q, q.Check()
}

func (a *app) recall(ctx context.Context, e *engine.Engine, q memtypes.Query, explain bool) error {
	start := time.Now()
	answer, err := e.Recall(ctx, q)
	if err != nil {
		return err
	}
	took := time.Since(start)
	if a.flags.json {
		return a.printJSON(answer)
	}
	a.printAnswer(answer, q.Text, explain)
	weighed := fmt.Sprintf("%s weighed", plural(answer.Candidates, "memory", "memories"))
	a.printf("%s\n", a.show.dim(fmt.Sprintf("%s · profile %s · %.1f ms", weighed, answer.Profile, float64(took.Microseconds())/1000)))
	return nil
}

// printAnswer shows the hits, and what there is to say about the answer.
func (a *app) printAnswer(answer *engine.Answer, question string, explain bool) {
	for _, t := range answer.Times {
		a.printf("%s\n", a.show.dim("understood: "+timeWords(t)))
	}
	for _, name := range slices.Sorted(maps.Keys(answer.Degraded)) {
		a.printf("%s\n", a.show.warn(fmt.Sprintf("degraded: %s did not answer: %s", name, answer.Degraded[name])))
	}
	if len(answer.Hits) == 0 {
		a.printf("nothing found in this scope\n")
	}
	words := wordsOf(question)
	for i := range answer.Hits {
		a.printHit(i+1, &answer.Hits[i], words, explain)
	}
}

// printHit shows one memory found, on about three lines.
func (a *app) printHit(rank int, h *memtypes.Hit, words []string, explain bool) {
	const indent = "    "
	s := a.show
	a.printf("%2d  %s %s  %s\n", rank, s.mark(bar(h.Score, 12)), pad(fmt.Sprintf("%.2f", h.Score), 4), s.origin(&h.Memory))
	for _, line := range snippet(h.Memory.Text, words, s.width-len(indent), 3) {
		a.printf("%s%s\n", indent, s.highlight(line, words))
	}
	if t := h.Memory.Task; t != nil && len(t.Commands) > 0 {
		a.printf("%s\n", strings.Join(s.steps(t, indent, 6), "\n"))
	}
	tail := fmt.Sprintf("%s%s · retention %s", indent, h.Memory.ID, number(h.Retention))
	if n := h.Memory.Strength.Recalls; n > 0 {
		tail += " · " + plural(n, "recall", "recalls")
	}
	if n := len(h.Same); n > 0 {
		tail += fmt.Sprintf(" · %d more that say the same", n)
	}
	a.printf("%s\n", s.dim(tail))
	if explain {
		a.printReasons(h)
	}
	a.printf("\n")
}

// printReasons shows every number that made a score; the points add up to it.
func (a *app) printReasons(h *memtypes.Hit) {
	a.printf("      %s\n", a.show.dim(fmt.Sprintf("%-14s %10s   %8s   %8s", "reason", "measured", "weight", "points")))
	sum := 0.0
	for _, r := range h.Reasons {
		sum += r.Points
		a.printf("      %-14s %10s x %8s = %8s  %s\n", r.Name, number(r.Value), number(r.Weight), fmt.Sprintf("%+.4f", r.Points),
			a.show.mark(strings.TrimRight(bar(max(0, r.Points), 24), "·")))
	}
	a.printf("      %-14s %10s   %8s   %8s  %s\n", a.show.bold("score"+strings.Repeat(" ", 9)), "", "", fmt.Sprintf("%.4f", h.Score),
		a.show.dim(fmt.Sprintf("the points sum to %.4f", sum)))
}
