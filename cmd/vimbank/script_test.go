package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// runWithCode is the script command `code N STDERR-TEXT ARGS...`: vimbank with
// ARGS must end with exit code N; what it wrote to standard error must be one
// line that begins "vimbank: " and holds STDERR-TEXT. An import may write
// more, a line for each entry that it leaves out.
func runWithCode(ts *testscript.TestScript, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: code N TEXT ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec("vimbank", args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	stderr := ts.ReadFile("stderr")
	if got != want {
		ts.Fatalf("exit code = %d, want %d; standard error:\n%s", got, want, stderr)
	}
	text := strings.TrimSuffix(stderr, "\n")
	if strings.Contains(text, "\n") && !slices.Contains(args, "import") || !strings.Contains(text, args[1]) {
		ts.Fatalf("standard error = %q, want one line that holds %q", text, args[1])
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "vimbank: ") {
			ts.Fatalf("standard error has the line %q, want it to begin %q", line, "vimbank: ")
		}
	}
}

// exported reads an export without revision numbers, which count a ledger's own changes.
func exported(ts *testscript.TestScript, file string) (out []map[string]any) {
	for line := range strings.Lines(ts.ReadFile(file)) {
		var m map[string]any
		ts.Check(json.Unmarshal([]byte(line), &m))
		delete(m, "rev")
		out = append(out, m)
	}
	return out
}

// makeNewer raises the version in the ledger's file: bytes 60 to 63 of a SQLite file.
func makeNewer(ts *testscript.TestScript, dir string) {
	f, err := os.OpenFile(filepath.Join(dir, "ledger.db"), os.O_RDWR, 0)
	ts.Check(err)
	_, err = f.WriteAt([]byte{0, 0, 0, 99}, 60)
	ts.Check(errors.Join(err, f.Close()))
}
