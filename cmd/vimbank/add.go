package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
)

type addFlags struct {
	kind, session, speaker, at, title, key, outcome string
	meta                                            []string
	pin                                             bool
	trust                                           int8
}

func (a *app) addCommand() *cobra.Command {
	var f addFlags
	cmd := &cobra.Command{
		Use:   "add TEXT | -",
		Short: "Remember one text",
		Long: `Remember one text, verbatim. With - the text comes from standard input.

When the command ends with exit code 0 the memory is on the disk and can be found.
The same text in the same scope is one memory, however often it is added; so is what
has the same --key. A key that names another text is a conflict, exit code 4, and
changes nothing. What admission refuses (a secret, a near-duplicate, the echo of
something recalled) is said with the reason, and the exit code is 5.`,
		Example: `  vimbank add --user ann "I am allergic to hazelnuts" --speaker Ann
  vimbank add --user ann --kind knowledge --title "Oven" "E7: the latch is dirty."
  vimbank add --user ann --kind task --outcome success "clear error E7" --meta tool=brush
  date | vimbank add --user ann -`,
		GroupID: groupMemory,
		Args:    args(1, 1, "one TEXT in quotes, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := a.draft(args[0], &f)
			if err != nil {
				return err
			}
			return a.withBank(cmd.Context(), opening{create: true}, func(e *engine.Engine) error { return a.add(cmd.Context(), e, d) })
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.kind, "kind", "dialogue", "knowledge, dialogue or task")
	fl.StringVar(&f.session, "session", "", "the sitting it belongs to")
	fl.StringVar(&f.speaker, "speaker", "", "who said it")
	fl.StringVar(&f.at, "time", "", "when it happened or was said (2026-03-15, an RFC 3339 time, -2h)")
	fl.StringVar(&f.title, "title", "", "of the document")
	fl.StringVar(&f.key, "key", "", "idempotency key: the same key is the same memory")
	fl.StringVar(&f.outcome, "outcome", "", "of a task: success or failure")
	fl.StringArrayVar(&f.meta, "meta", nil, "`name=value` to keep with it (repeatable)")
	fl.BoolVar(&f.pin, "pin", false, "never forget it")
	fl.Int8Var(&f.trust, "trust", int8(memtypes.Normal), "0 untrusted, 1 normal, 2 verified")
	return cmd
}

// draft makes a draft of the command line.
func (a *app) draft(text string, f *addFlags) (d memtypes.Draft, err error) {
	if text == "-" {
		b, err := io.ReadAll(io.LimitReader(a.in, memtypes.MaxText+3))
		if err != nil {
			return d, memtypes.Errorf("vimbank", memtypes.Unavailable, "standard input: %w", err)
		}
		text = strings.TrimRight(string(b), "\r\n")
	}
	if err := memtypes.CheckText("vimbank", "text", text); err != nil {
		return d, err
	}
	d = memtypes.Draft{
		Text: text, Title: f.title, Key: f.key, Pinned: f.pin,
		Talk: memtypes.Talk{Session: f.session, Speaker: f.speaker}, Source: memtypes.Source{Trust: memtypes.Trust(f.trust)},
	}
	if d.Kind, err = memtypes.ParseKind(f.kind); err != nil {
		return d, err
	}
	if d.Event, err = parseTime("time", f.at, time.Now()); err != nil {
		return d, err
	}
	if d.Meta, err = parseMeta(f.meta); err != nil {
		return d, err
	}
	if f.outcome != "" {
		d.Task = &memtypes.Task{Outcome: memtypes.Outcome(f.outcome)}
	}
	d.Scope, err = a.scope()
	return d, err
}

// parseMeta reads name=value pairs.
func parseMeta(pairs []string) (map[string]string, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	meta := map[string]string{}
	for _, p := range pairs {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, wrong("meta", p, "name=value")
		}
		meta[name] = value
	}
	return meta, nil
}

func (a *app) add(ctx context.Context, e *engine.Engine, d memtypes.Draft) error {
	receipt, err := e.Remember(ctx, []memtypes.Draft{d}, nil)
	if err != nil {
		return err
	}
	if a.flags.json {
		if err := a.printJSON(receipt); err != nil {
			return err
		}
	}
	refused := 0
	for i := range receipt.Results {
		r := &receipt.Results[i]
		if r.Status == engine.Refused {
			refused++
		}
		if !a.flags.json {
			a.printRemembered(r)
		}
	}
	for _, name := range receipt.Pending {
		fmt.Fprintf(a.err, "the memory is safe; the %s index does not find it yet and catches up by itself\n", name)
	}
	if refused == len(receipt.Results) {
		return receipt.Results[0].Err()
	}
	for i := range receipt.Results { // of a long document, of which the rest is kept
		if err := receipt.Results[i].Err(); err != nil {
			a.note("part %d of %d: %s", i+1, len(receipt.Results), oneLine(err))
		}
	}
	return nil
}

func (a *app) printRemembered(r *engine.Remembered) {
	switch r.Status {
	case engine.Stored:
		a.printf("%s %s\n", a.show.good("stored"), r.ID)
	case engine.Known:
		a.printf("%s  %s\n", a.show.warn("known"), r.ID)
	}
	if r.Status != engine.Refused && r.Reason != "" {
		a.printf("       %s\n", a.show.warn(r.Reason))
	}
}
