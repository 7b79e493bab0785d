package main

import (
	"bytes"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/vimbank/vimbank/configs"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Show the settings and where each comes from",
		GroupID: groupBank,
		Args:    args(0, 0, "print or profiles"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "print",
		Short: "Print every setting as YAML, with where it comes from; secrets as ***",
		Long: `Print every setting as YAML that --config reads back, each with where its value comes
from: default, profile, FILE:LINE, environment or flag. Secrets are shown as ***.

A setting comes from the profile, a YAML file (--config or VIMBANK_CONFIG), the
environment (VIMBANK_RECALL_K for recall.k) and the flags; the later wins.`,
		Example: "  vimbank config print\n  vimbank config print --config my.yaml > full.yaml",
		Args:    args(0, 0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			l, err := a.settings()
			if err != nil {
				return err
			}
			if !a.flags.json {
				return l.Print(a.out)
			}
			return a.printSettings(l)
		},
	}, &cobra.Command{
		Use:   "profiles",
		Short: "List the profiles that settings can start from",
		Args:  args(0, 0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			if a.flags.json {
				return a.printJSON(configs.Profiles())
			}
			for _, p := range configs.Profiles() {
				a.printf("%s\n", p)
			}
			return nil
		},
	})
	return cmd
}

// printSettings gives what Print writes as JSON: {"settings", "origins"}.
func (a *app) printSettings(l *configs.Loaded) error {
	var b bytes.Buffer
	if err := l.Print(&b); err != nil {
		return err
	}
	out := struct {
		Settings map[string]any    `json:"settings"`
		Origins  map[string]string `json:"origins"`
	}{Origins: map[string]string{}}
	if err := yaml.Unmarshal(b.Bytes(), &out.Settings); err != nil {
		return err
	}
	for _, key := range configs.Keys() {
		out.Origins[key] = l.Origin(key)
	}
	return a.printJSON(out)
}
