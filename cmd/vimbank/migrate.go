package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/memtypes"
)

func (a *app) migrateCommand() *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "migrate --from PLACE --to PLACE",
		Short: "Move the bank from its folder to the services of a cluster, or back",
		Long: `Copy the whole bank, losing nothing: memories with every revision, what was forgotten
and erased, the audit trail with its hashes, recalls, runs and settings. "embedded" is the
folder (--bank), "cluster" what the settings name (--config, or VIMBANK_PROFILE=cluster).
Both ledgers are verified entry by entry, the indexes of the new place made and compared.

The bank that is moved is only read; nobody may write it meanwhile. The new place must be
empty, or hold the beginning of the same migration: an interrupted one is resumed by the
same command.`,
		Example: `  vimbank migrate --from embedded --to cluster --bank DIR --config cluster.yaml
  vimbank migrate --from cluster --to embedded --bank NEWDIR --config cluster.yaml`,
		GroupID: groupBank,
		Args:    args(0, 0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case from != embedded && from != cluster:
				return wrong("from", from, "embedded or cluster")
			case to != embedded && to != cluster:
				return wrong("to", to, "embedded or cluster")
			case from == to:
				return wrong("to", to, "the other place")
			}
			return a.migrate(cmd.Context(), from == embedded)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "where the bank is: embedded or cluster")
	cmd.Flags().StringVar(&to, "to", "", "where it is to be: embedded or cluster")
	return cmd
}

// The places of a migration.
const embedded, cluster = "embedded", "cluster"

func (a *app) migrate(ctx context.Context, outward bool) error {
	dir, err := a.folder()
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return memtypes.Errorf("vimbank", memtypes.Invalid, "field %q: %w", "bank", err)
	}
	o, err := a.bankOptions(ctx, opening{})
	if err != nil {
		return err
	}
	if o.Services == nil {
		return wrong("profile", a.conf.Config.Profile, "settings that name services (VIMBANK_PROFILE=cluster, or ledger.kind, dense.kind and sparse.kind)")
	}
	local := *o
	local.Services = nil
	home, away := bank.Place{Dir: dir, Options: &local}, bank.Place{Dir: dir, Options: o}
	from, to := home, away
	if !outward {
		from, to = away, home
	}
	bars := map[string]*progress{}
	m, err := bank.Migrate(ctx, from, to, &bank.MigrateOptions{Each: func(step string, done, total int) {
		if _, known := bars[step]; !known {
			bars[step] = newProgress(a, step, int64(total))
		}
		bars[step].to(done, total)
	}})
	for _, b := range bars {
		b.clear()
	}
	if err != nil {
		return err
	}
	return a.printMoved(&m)
}

func (a *app) printMoved(m *bank.Moved) error {
	if a.flags.json {
		if err := a.printJSON(map[string]any{"ledger": m.Sum, "digest": fmt.Sprintf("%x", m.Sum.Digest), "indexes": m.Indexes}); err != nil {
			return err
		}
	} else {
		a.printf("%s: %s\n", a.show.good("moved and verified"), m.Sum)
		for i := range m.Indexes {
			a.printf("%s %s held, %s\n", pad(m.Indexes[i].Index, 7), plural(m.Indexes[i].Held, "memory", "memories"), a.show.good("in step"))
		}
	}
	for i := range m.Indexes {
		if d := &m.Indexes[i]; !d.OK() {
			return memtypes.Errorf("vimbank", memtypes.Conflict, "%s: %d missing, %d stale, %d ghosts; run vimbank reconcile --repair",
				d.Index, len(d.Missing), len(d.Stale), len(d.Ghosts))
		}
	}
	return nil
}
