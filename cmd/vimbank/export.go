package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

func (a *app) exportCommand() *cobra.Command {
	var file string
	var retired bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the memories of a scope as JSON Lines that import reads back",
		Long: `Write the memories of a scope, one JSON object a line: text, times, strength, pins and
all, so that "vimbank import" of the file gives the same memories with the same IDs,
which fade no sooner and no later. Vectors are made anew; revisions before the present
one are not written. To back up a whole bank, copy its folder while nothing has it open.`,
		Example: `  vimbank export --user ann > ann.jsonl
  vimbank export --user ann --retired --out ann.jsonl
  vimbank import --bank other ann.jsonl`,
		GroupID: groupBank,
		Args:    args(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			scope, err := a.scope()
			if err != nil {
				return err
			}
			return a.withBank(cmd.Context(), opening{}, func(e *engine.Engine) error {
				x := exporter{engine: e, query: ledger.ListQuery{Filter: memtypes.Filter{Scope: scope}, Limit: 512}}
				if retired {
					x.query.States = []memtypes.State{memtypes.Active, memtypes.Retired}
				}
				return a.export(cmd.Context(), &x, file)
			})
		},
	}
	cmd.Flags().StringVar(&file, "out", "", "write to this `file`, which must not exist yet (default standard output)")
	cmd.Flags().BoolVar(&retired, "retired", false, "also what was forgotten and can still be restored")
	return cmd
}

func (a *app) export(ctx context.Context, x *exporter, file string) (err error) {
	x.out = a.out
	if file != "" {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return memtypes.Errorf("vimbank", memtypes.Invalid, "out: %w", err)
		}
		x.out = bufio.NewWriter(f)
		err = errors.Join(x.all(ctx), x.out.Flush(), f.Sync(), f.Close())
		if err != nil {
			return errors.Join(err, os.Remove(file)) // half an export is none
		}
	} else if err := x.all(ctx); err != nil {
		return err
	}
	a.note("%s", plural(x.n, "memory", "memories"))
	return nil
}

// exporter writes memories in an order that keeps the order of each sitting:
// by time, and within the same moment as they were inserted.
type exporter struct {
	engine *engine.Engine
	query  ledger.ListQuery
	out    *bufio.Writer
	n      int
	group  []memtypes.Memory // of the same moment, at most maxGroup
}

// maxGroup bounds how many memories of one moment are put in order at once.
const maxGroup = 4096

func (x *exporter) all(ctx context.Context) error {
	for {
		page, err := x.engine.List(ctx, x.query)
		if err != nil {
			return err
		}
		for _, m := range page.Memories {
			if len(x.group) >= maxGroup || len(x.group) > 0 && !x.group[0].When().Equal(m.When()) {
				if err := x.flush(ctx); err != nil {
					return err
				}
			}
			x.group = append(x.group, m)
		}
		if x.query.Cursor = page.Next; page.Next == "" {
			return x.flush(ctx)
		}
	}
}

// flush writes the memories of one moment in the order of their insertion.
func (x *exporter) flush(ctx context.Context) error {
	first := map[memtypes.ID]uint64{}
	for _, m := range x.group {
		if len(x.group) == 1 || m.Talk.Session == "" {
			continue // no order to keep
		}
		revs, err := x.engine.History(ctx, m.Scope, m.ID)
		if err != nil {
			return err
		}
		first[m.ID] = revs[0].Rev
	}
	slices.SortStableFunc(x.group, func(p, q memtypes.Memory) int { return cmp.Compare(first[p.ID], first[q.ID]) })
	enc := json.NewEncoder(x.out)
	enc.SetEscapeHTML(false)
	for i := range x.group {
		if err := enc.Encode(&x.group[i]); err != nil {
			return writeError(err)
		}
		x.n++
	}
	x.group = x.group[:0]
	return nil
}

func writeError(err error) error {
	return memtypes.Errorf("vimbank", memtypes.Full, "%w", fmt.Errorf("the export could not be written: %w", err))
}
