package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/server/admin"
)

func (a *app) healthCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "health [ADDRESS]",
		Short: "Ask a running vimbank upkeep whether it is ready",
		Long: `Ask the admin address of a running "vimbank upkeep" (its /readyz) whether it is ready, and
end with 0 if so: for the check of a container that has no shell. A part that can be done
without, such as an index, may be at fault then; it is shown. The address is that of the
setting admin.addr where none is given. The bank is not opened.`,
		Example: "  vimbank health\n  vimbank health 127.0.0.1:9464 --json",
		GroupID: groupBank,
		Args:    args(0, 1, "the address, host:port"),
		RunE: func(cmd *cobra.Command, given []string) error {
			l, err := a.settings()
			if err != nil {
				return err
			}
			addr := l.Config.Admin.Addr
			if len(given) > 0 {
				addr = given[0]
			}
			if addr == "" {
				return wrong("admin.addr", memtypes.Remark("nothing"), "the address that vimbank upkeep serves its health at, such as 127.0.0.1:9464")
			}
			h, err := admin.Probe(cmd.Context(), addr, 0)
			if err != nil {
				return err
			}
			if err := a.printHealth(&h); err != nil {
				return err
			}
			if !h.Ready() {
				return memtypes.Errorf("vimbank", memtypes.Unavailable, "%s is %s, wanted ready", addr, h.Status)
			}
			return nil
		},
	}
}

func (a *app) printHealth(h *admin.Health) error {
	if a.flags.json {
		return a.printJSON(h)
	}
	status := a.show.good(h.Status)
	if h.Status != "ready" {
		status = a.show.bad(h.Status)
	}
	a.printf("%s\n", status)
	if h.Error != "" {
		a.printf("  %s\n", h.Error)
	}
	for _, f := range h.Findings {
		if !f.OK {
			a.printf("  %s %s: found %s, wanted %s%s\n", f.Part, f.Check, f.Found, cmp.Or(f.Wanted, "better"), mend(f.Mend))
		}
	}
	return nil
}

// mend is what to do about a finding, where that is known.
func mend(s string) string {
	if s == "" {
		return ""
	}
	return "; " + s
}
