package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestJSONOfEveryCommand runs each command with --json: all of its standard
// output must be JSON, one value a line. A command that is new and not listed
// here fails.
func TestJSONOfEveryCommand(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	items := write("set/items.jsonl", `{"id":"1","bank":"u","kind":"dialogue","text":"a red apple"}`+"\n"+`{"id":"2","bank":"u","kind":"dialogue","text":"a green pear"}`+"\n")
	write("set/probes.jsonl", `{"id":"p","bank":"u","query":"apple","relevant":["1"],"category":"fruit"}`+"\n")
	bank := filepath.Join(dir, "bank")
	id := idPattern.FindString(run(t, bank, "add", "--user", "ann", "the latch <of> the oven"))
	gone := idPattern.FindString(run(t, bank, "add", "--user", "ann", "a yellow lemon"))

	calls := map[string][][]string{ // by command, in the order of the keys below
		"vimbank add": {{"--user", "ann", "another text"}}, "vimbank import": {{"--user", "ann", items}},
		"vimbank recall": {{"--user", "ann", "latch"}, {"--user", "ann", "latch", "--explain"}, {"--user", "nobody", "latch"}},
		"vimbank list":   {{"--user", "ann"}}, "vimbank get": {{"--user", "ann", id}}, "vimbank history": {{"--user", "ann", id}},
		"vimbank update": {{"--user", "ann", id, "--text", "a new latch"}}, "vimbank pin": {{"--user", "ann", id}, {"--user", "ann", id, "--off"}},
		"vimbank forget":  {{"--user", "ann", gone}},
		"vimbank restore": {{"--user", "ann", gone}},
		"vimbank decay":   {{}, {"--apply"}, {"--runs"}, {"--now", "+90d"}},
		"vimbank curve":   {{}, {"--user", "ann", id}}, "vimbank upkeep": {{"--once"}, {"--list"}},
		"vimbank rebuild": {{}}, "vimbank reconcile": {{}, {"--repair"}}, "vimbank export": {{"--user", "ann"}}, "vimbank doctor": {{}}, "vimbank health": {{serveHealth(t)}},
		"vimbank eval retrieval": {{"--data", filepath.Dir(items)}}, "vimbank config print": {{}}, "vimbank config profiles": {{}},
		"vimbank dead": {{}, {"--retry", "--all"}}, "vimbank version": {{}}, "vimbank tour": {{}},
	}
	order := []string{"forget", "restore"} // these need each other; the rest may come in any order
	var names []string
	for _, cmd := range all(newRoot()) {
		name := cmd.CommandPath()
		prints := name == "vimbank" || name == "vimbank config" || name == "vimbank eval" || name == "vimbank exit" || // help
			strings.HasPrefix(name, "vimbank completion") || strings.HasPrefix(name, "vimbank help") ||
			name == "vimbank migrate" // wants services: TestMigrateCommand
		if _, ok := calls[name]; !ok && !prints {
			t.Errorf("%s has no call here", name)
		}
		if calls[name] != nil && !slices.Contains(order, cmd.Name()) {
			names = append(names, name)
		}
	}
	if len(names)+len(order) != len(calls) {
		t.Errorf("%d commands are there, %d are listed", len(names)+len(order), len(calls))
	}
	for _, name := range append(names, "vimbank forget", "vimbank restore") {
		for _, more := range calls[name] {
			args := append(strings.Fields(name)[1:], more...)
			onlyJSON(t, args, run(t, bank, append(args, "--json")...))
		}
	}
}

func onlyJSON(t *testing.T, args []string, out string) {
	t.Helper()
	if out == "" || !strings.HasSuffix(out, "\n") {
		t.Errorf("%q printed %q, want JSON", args, out)
	}
	for line := range strings.Lines(out) {
		if !json.Valid([]byte(line)) || bytes.Contains([]byte(line), []byte(`\u003c`)) {
			t.Errorf("%q printed the line %.200q, want one JSON value, with text as it is", args, line)
		}
	}
}
