package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/internal/docs"
)

// TestPagesShowCommandsThatExist: every call of vimbank in a shell block of a
// page, and in the examples of the help texts, is of a command that exists, with
// flags and as many arguments as it takes. Nothing is run.
func TestPagesShowCommandsThatExist(t *testing.T) {
	const root = "../.."
	seen := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (d.Name()[0] == '.' || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(p) != ".md":
			return nil
		}
		b, err := os.ReadFile(filepath.Join(root, p))
		for _, words := range docs.Parse(string(b)).Commands("vimbank") {
			seen++
			checkCall(t, p, words)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range all(newRoot()) {
		for line := range strings.Lines(cmd.Example) {
			call, _, _ := strings.Cut(strings.TrimSpace(line), "  ") // a remark stands behind two blanks
			for _, words := range docs.Parse("```sh\n" + call + "\n```\n").Commands("vimbank") {
				seen++
				checkCall(t, "the help of "+cmd.CommandPath(), words)
			}
		}
	}
	if seen == 0 {
		t.Error("no call of vimbank was found in any page or help text")
	}
}

func newRoot() *cobra.Command {
	var out, err bytes.Buffer
	return newApp(strings.NewReader(""), &out, &err).root()
}

// all lists cmd and every command below it.
func all(cmd *cobra.Command) []*cobra.Command {
	out := []*cobra.Command{cmd}
	for _, c := range cmd.Commands() {
		out = append(out, all(c)...)
	}
	return out
}

// checkCall parses one call with a command tree of its own.
func checkCall(t *testing.T, where string, words []string) {
	t.Helper()
	root := newRoot()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(words)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil && cmd.Runnable() {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil {
		t.Errorf("%s shows `vimbank %s`: %v", where, strings.Join(words, " "), err)
	}
}
