package main

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
)

// deadLine is a dead letter as --json shows it.
type deadLine struct {
	Index  string      `json:"index"`
	ID     memtypes.ID `json:"id"`
	Tenant string      `json:"tenant"`
	Seq    uint64      `json:"seq"`
	Tries  int         `json:"tries"`
	At     time.Time   `json:"at"`
	Reason string      `json:"reason"`
}

func (a *app) deadCommand() *cobra.Command {
	var index string
	var retry, all bool
	var limit int
	cmd := &cobra.Command{
		Use:   "dead [ID]...",
		Short: "Show what a service's index could not take, or have it tried again",
		Long: `List the dead letters of the indexes behind a service: memories that Qdrant or
Elasticsearch refused for good, with the reason. They are safe in the ledger, and the
other index finds them. When the cause is mended, --retry ID... or --retry --all has
them tried again; so does any change of the memory. Without a service there are none.`,
		Example: "  vimbank dead\n  vimbank dead --index sparse --json\n  vimbank dead --retry --all",
		GroupID: groupBank,
		Args:    args(0, -1, "the IDs of memories, with --retry"),
		RunE: func(cmd *cobra.Command, given []string) error {
			ids, err := parseIDs(given)
			if err != nil {
				return err
			}
			switch {
			case index != "" && index != "dense" && index != "sparse":
				return wrong("index", index, "dense or sparse")
			case limit < 1 || limit > 10_000:
				return wrong("limit", limit, "1 to 10000")
			case !retry && (all || len(ids) > 0):
				return wrong("retry", memtypes.Remark("IDs or --all without it"), "--retry with them, or neither")
			case retry && all == (len(ids) > 0):
				return wrong("retry", memtypes.Remark("neither or both of IDs and --all"), "one of them")
			}
			return a.withBank(cmd.Context(), opening{}, func(e *engine.Engine) error {
				d := &undertaker{app: a, engine: e, limit: limit, indexes: a.serviced(index)}
				if retry {
					return d.retry(cmd.Context(), ids)
				}
				return d.list(cmd.Context())
			})
		},
	}
	cmd.Flags().StringVar(&index, "index", "", "of one `index` only: dense or sparse")
	cmd.Flags().BoolVar(&retry, "retry", false, "have them tried again")
	cmd.Flags().BoolVar(&all, "all", false, "with --retry: all of them")
	cmd.Flags().IntVar(&limit, "limit", 100, "list at most so `many` of each index")
	return cmd
}

// serviced are the indexes that a service holds, or of those the one named.
func (a *app) serviced(index string) []string {
	var out []string
	if c := &a.conf.Config; c.Dense.Kind == "qdrant" && c.Embedder.Kind != "none" {
		out = append(out, "dense")
	}
	if a.conf.Config.Sparse.Kind == "elasticsearch" {
		out = append(out, "sparse")
	}
	return slices.DeleteFunc(out, func(name string) bool { return index != "" && name != index })
}

// undertaker is one call of the command.
type undertaker struct {
	app     *app
	engine  *engine.Engine
	indexes []string
	limit   int
}

func (d *undertaker) list(ctx context.Context) error {
	a, lines := d.app, []deadLine{}
	for _, index := range d.indexes {
		letters, err := d.engine.DeadLetters(ctx, index, d.limit)
		if err != nil {
			return err
		}
		for _, l := range letters {
			lines = append(lines, deadLine{l.Index, l.ID, l.Tenant, l.Seq, l.Tries, l.At, l.Reason})
		}
	}
	if a.flags.json {
		return a.printJSON(map[string]any{"dead": lines})
	}
	for _, l := range lines {
		a.printf("%s  %s  %s  %s\n", moment(l.At), l.ID, a.show.dim(l.Index), l.Reason)
	}
	if len(lines) == 0 {
		a.note("no dead letters")
	}
	return nil
}

func (d *undertaker) retry(ctx context.Context, ids []memtypes.ID) error {
	total := 0
	for _, index := range d.indexes {
		n, err := d.engine.RetryDead(ctx, index, ids)
		if err != nil {
			return err
		}
		total += n
	}
	if d.app.flags.json {
		return d.app.printJSON(struct {
			Revived int `json:"revived"`
		}{total})
	}
	d.app.printf("%s due again\n", plural(total, "memory is", "memories are"))
	return nil
}
