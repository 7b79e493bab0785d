package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// build is what a binary knows of its making.
type build struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"` // made from files that were not committed
	Go       string `json:"go"`
	System   string `json:"system"`
}

func buildOf() build {
	b := build{Version: "devel", Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func versionLine() string {
	b := buildOf()
	s := "vimbank " + b.Version
	if b.Revision != "" {
		s += fmt.Sprintf(" (%.12s", b.Revision)
		if b.Modified {
			s += ", modified"
		}
		s += ")"
	}
	return s + " " + b.Go + " " + b.System
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print which program this is",
		GroupID: groupMore,
		Args:    args(0, 0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			if a.flags.json {
				return a.printJSON(buildOf())
			}
			a.printf("%s\n", versionLine())
			return nil
		},
	}
}
