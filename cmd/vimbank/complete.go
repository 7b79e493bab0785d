package main

import (
	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/ingest"
	"github.com/vimbank/vimbank/memtypes"
)

// complete tells shells what the flags of cmd and of all commands below it
// take: one of a few words, a folder, a file, or nothing that can be guessed.
// Arguments are files for import alone.
func complete(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		complete(sub)
	}
	if cmd.Runnable() && cmd.Name() != "import" {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for name, values := range flagValues() {
		register(cmd, name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	for _, name := range []string{"bank", "keep", "data"} {
		register(cmd, name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	}
	register(cmd, "config", cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt))
	for _, name := range []string{"tenant", "user", "agent", "run", "session", "speaker", "title", "key", "meta", "time", "from", "to", "now",
		"k", "limit", "cursor", "reason", "text", "if-rev", "undo", "for", "recalls", "batch", "zone"} {
		register(cmd, name, cobra.NoFileCompletions)
	}
}

// flagValues are the words that a flag of this name takes.
func flagValues() map[string][]string {
	out := map[string][]string{
		"kind":    {string(memtypes.Knowledge), string(memtypes.Dialogue), string(memtypes.TaskKind)},
		"outcome": {string(memtypes.Success), string(memtypes.Failure)},
		"format":  {string(ingest.Auto), string(ingest.JSONL), string(ingest.Chat), string(ingest.Text), string(ingest.Markdown)},
		"dates":   {string(ingest.DayFirst), string(ingest.MonthFirst)},
		"trust":   {"0\tuntrusted", "1\tnormal", "2\tverified"},
	}
	for _, p := range fusion.Profiles() {
		out["profile"] = append(out["profile"], string(p))
	}
	return out
}

// register completes the flag of this name that cmd itself defines, if it does.
func register(cmd *cobra.Command, name string, by cobra.CompletionFunc) {
	if cmd.LocalFlags().Lookup(name) == nil || cmd.HasParent() && cmd.InheritedFlags().Lookup(name) != nil {
		return
	}
	if err := cmd.RegisterFlagCompletionFunc(name, by); err != nil { // told twice: a bug of this file
		panic(err)
	}
}
