package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/sample"
)

// tourUser is whose memories the sample becomes.
const tourUser = "tour"

func (a *app) tourCommand() *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use:   "tour",
		Short: "See it all in a few seconds, on a bundled sample",
		Long: `Remember a bundled sample in English and Chinese (talk, documents, task trajectories) in a
temporary bank, ask it, explain an answer number by number, live through 60 days of
forgetting, and undo it. Nothing outside the temporary folder is touched, no network is
used. With --keep the bank stays, to go on with.`,
		Example: "  vimbank tour\n  vimbank tour --keep ./my-tour",
		GroupID: groupMemory,
		Args:    args(0, 0, "no argument"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.tour(cmd.Context(), keep) },
	}
	cmd.Flags().StringVar(&keep, "keep", "", "keep the bank in this new or empty `folder`")
	return cmd
}

// tour is one walk through a bank whose clock is moved by hand.
type tour struct {
	*app
	engine *engine.Engine
	scope  memtypes.Scope
	clock  atomic.Int64 // seconds since 1970
	dir    string
	report tourReport
}

// tourReport is what --json prints instead of the story.
type tourReport struct {
	Remembered int           `json:"remembered"`
	Questions  []tourAnswer  `json:"questions"`
	Due        int           `json:"due"` // after 60 days
	Stopped    string        `json:"stopped"`
	Retired    int           `json:"retired"`
	Restored   int           `json:"restored"`
	Took       time.Duration `json:"took_ns"`
}

type tourAnswer struct {
	Question string         `json:"question"`
	Hits     []memtypes.Hit `json:"hits"`
}

func (t *tour) now() time.Time       { return time.Unix(t.clock.Load(), 0).UTC() }
func (t *tour) move(d time.Duration) { t.clock.Add(int64(d / time.Second)) }

func (a *app) tour(ctx context.Context, keep string) (err error) {
	t := &tour{app: a, dir: keep}
	t.clock.Store(sample.Now().Unix())
	if keep == "" {
		if t.dir, err = os.MkdirTemp("", "vimbank-tour-*"); err != nil {
			return memtypes.Errorf("vimbank", memtypes.Unavailable, "%w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(t.dir)) }()
	}
	if t.scope, err = memtypes.NewScope("", tourUser, "", ""); err != nil {
		return err
	}
	if t.engine, err = bank.Open(ctx, t.dir, &bank.Options{Engine: engine.Options{Actor: "tour", Clock: t.now}}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.engine.Close(context.WithoutCancel(ctx))) }()
	start := time.Now()
	for _, scene := range []func(context.Context) error{t.remember, t.ask, t.explain, t.forget, t.takeBack} {
		if err := scene(ctx); err != nil {
			return err
		}
		if err := a.out.Flush(); err != nil {
			return err
		}
	}
	t.report.Took = time.Since(start)
	if a.flags.json {
		return a.printJSON(t.report)
	}
	t.goOn(keep)
	return nil
}

// say prints, unless the tour is for a program.
func (t *tour) say(format string, args ...any) {
	if !t.flags.json {
		t.printf(format, args...)
	}
}

// text prints paragraphs, wrapped.
func (t *tour) text(s string) {
	t.say("%s\n\n", strings.Join(wrap(s, t.show.width, 100), "\n"))
}

func (t *tour) heading(n int, s string) {
	line := fmt.Sprintf("── %d  %s ", n, s)
	t.say("\n%s\n\n", t.show.mark(line+strings.Repeat("─", max(0, t.show.width-len([]rune(line))))))
}

// remember takes the sample in, as `vimbank import` would.
func (t *tour) remember(ctx context.Context) error {
	t.heading(1, "Remember")
	t.text("Maya opens a bakery, her friend Tom helps; Lin Yue grows tea in Hangzhou. Here are their chat logs, the papers of the shop, and what an agent did for them, in the files they left them in:")
	im := &importer{app: &app{out: t.out, err: t.err, show: t.show}, engine: t.engine, batch: 64}
	im.opts.Scope = t.scope
	sources, err := folderSources(sample.FS(), "", im)
	if err != nil {
		return err
	}
	for _, s := range sources {
		before, start := im.Stored, time.Now()
		if err := errors.Join(im.source(ctx, s), im.flush(ctx)); err != nil {
			return err
		}
		t.say("  %s %s   %s\n", pad(s.name, 30), t.show.good(fmt.Sprintf("%3d stored", im.Stored-before)),
			t.show.dim(fmt.Sprintf("%5.1f ms", float64(time.Since(start).Microseconds())/1000)))
	}
	t.report.Remembered = im.Stored
	t.say("\n")
	t.text(fmt.Sprintf("%d memories are on the disk, verbatim, and found by words and by meaning. No service, no key: ledger, both indexes and the embedder are in this process.", im.Stored))
	return nil
}

// ask puts the sample's questions, without strengthening what is found: the
// sixty days that follow are to be seen by themselves.
func (t *tour) ask(ctx context.Context) error {
	t.heading(2, "Recall")
	for _, q := range sample.Questions() {
		k := 2
		if len(q.Kinds) == 0 && strings.Contains(q.Text, "E7") {
			k = 4
		}
		start := time.Now()
		a, err := t.engine.Recall(ctx, memtypes.Query{Scope: t.scope, Text: q.Text, Kinds: q.Kinds, K: k, Quiet: true})
		if err != nil {
			return err
		}
		took := time.Since(start)
		t.report.Questions = append(t.report.Questions, tourAnswer{q.Text, a.Hits})
		if t.flags.json {
			continue
		}
		t.say("%s  %s\n", t.show.bold("“"+q.Text+"”"), t.show.dim(fmt.Sprintf("%.1f ms", float64(took.Microseconds())/1000)))
		t.say("%s\n\n", t.show.dim(q.About))
		t.printAnswer(a, q.Text, false)
	}
	return nil
}

// explain takes one hit apart.
func (t *tour) explain(context.Context) error {
	t.heading(3, "Why this one?")
	first := t.report.Questions[0]
	if len(first.Hits) == 0 {
		return memtypes.Errorf("vimbank", memtypes.Internal, "the sample answers nothing to %q", first.Question)
	}
	t.text(fmt.Sprintf("Every score is a sum, and every hit carries its terms. The first answer to “%s”:", first.Question))
	if !t.flags.json {
		t.printHit(1, &first.Hits[0], wordsOf(first.Question), true)
	}
	t.text("What was measured, times the weight that the profile gives it, is the points it adds. `vimbank recall --explain` prints this for your own questions; `--profile paper` ranks as the paper has it.")
	return nil
}

// goOn says what to try next.
func (t *tour) goOn(keep string) {
	t.heading(6, "Go on")
	flag := ""
	if keep != "" {
		flag = " --bank " + keep
		t.text("The bank of this tour is kept. Ask it:")
		t.say("  vimbank recall%s --user %s \"who delivers to the hospital?\" --explain\n", flag, tourUser)
		t.say("  vimbank list%s --user %s --kind task\n\n", flag, tourUser)
	}
	t.text("With memories of your own:")
	t.say("  vimbank add --user me \"I park on level 3, next to the lift\"\n")
	t.say("  vimbank import --user me notes/ \"WhatsApp chat.txt\"\n")
	t.say("  vimbank recall --user me \"where is my car?\"\n")
	t.say("  vimbank decay --now +60d        %s\n", t.show.dim("what would fade by then?"))
	t.say("  vimbank curve --recalls 5d,20d  %s\n", t.show.dim("what a recall does"))
	if keep == "" {
		t.say("  vimbank tour --keep ./tour      %s\n", t.show.dim("this tour again, and its bank to play with"))
	}
	t.say("\n%s\n", t.show.dim(fmt.Sprintf("the tour took %.1f s", t.report.Took.Seconds())))
}
