package eval_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/eval"
	"github.com/vimbank/vimbank/memtypes"
)

var update = flag.Bool("update", false, "write the golden files anew")

func openBank(ctx context.Context, dir string) (*engine.Engine, error) {
	return bank.Open(ctx, dir, nil)
}

// data is the folder of the public evaluation sets, which the project does not ship.
func data(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("VIMBANK_TEST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no evaluation data in %s; VIMBANK_TEST_DATA names another folder", dir)
	}
	return dir
}

// TestGolden holds the ranking to what it was: every change of it shows in the
// diff of golden/retrieval.txt, category by category.
func TestGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("long: ranks three public sets")
	}
	dir := data(t)
	var b strings.Builder
	fmt.Fprintf(&b, "%-9s %-8s %-14s %4s %8s %8s %9s %6s %6s %6s %8s\n",
		"set", "profile", "category", "n", "recall@1", "recall@5", "recall@10", "hit@1", "hit@5", "mrr", "ndcg@10")
	o := eval.Options{Open: openBank, Profiles: []string{"default", "bm25", "paper"},
		Data: []string{filepath.Join(dir, "locomo"), filepath.Join(dir, "gvd-en"), filepath.Join(dir, "alfworld")}}
	err := eval.Retrieval(t.Context(), o, func(l eval.Line) error {
		fmt.Fprintf(&b, "%-9s %-8s %-14s %4d %8.3f %8.3f %9.3f %6.3f %6.3f %6.3f %8.3f\n",
			l.Set, l.Profile, l.Category, l.N, l.Recall1, l.Recall5, l.Recall10, l.Hit1, l.Hit5, l.MRR, l.NDCG10)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	const path = "golden/retrieval.txt"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("the ranking has changed (-golden +got); if it is meant, run `make golden` and look at the diff:\n%s", diff)
	}
}

// TestUnseenFolder measures a set that no recipe was made for.
func TestUnseenFolder(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, lines ...string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("items.jsonl",
		`{"id":"a","bank":"x","kind":"knowledge","text":"The harbour master keeps the spare keys.","time":null,"meta":{}}`,
		`{"id":"b","bank":"x","kind":"knowledge","text":"The library closes at six.","time":null,"meta":{}}`,
		`{"id":"c","bank":"y","kind":"dialogue","text":"My bicycle is green.","speaker":"Bo","session":"s","time":"2026-01-01T00:00:00Z"}`)
	put("probes.jsonl",
		`{"id":"1","bank":"x","query":"Who keeps the keys?","relevant":["a"],"category":"who","now":null}`,
		`{"id":"2","bank":"x","query":"Who paints the boats?","relevant":[],"category":"none","now":null}`,
		`{"id":"3","bank":"y","query":"What colour is Bo's bicycle?","relevant":["c"],"category":"what","now":"2026-02-01T00:00:00Z"}`)
	var lines []eval.Line
	progress := 0
	err := eval.Retrieval(t.Context(), eval.Options{Open: openBank, Data: []string{dir}, Profiles: []string{"default", "rrf"},
		Progress: func(_ string, done, total int) { progress = 100 * done / total }},
		func(l eval.Line) error { lines = append(lines, l); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 6 || progress != 100 {
		t.Fatalf("%d lines, progress %d %%, want six (two categories and all, twice) and 100 %%: %+v", len(lines), progress, lines)
	}
	for _, l := range lines {
		if l.Hit1 != 1 {
			t.Errorf("%+v: not found at once", l)
		}
	}
	if l := lines[2]; l.Category != eval.All || l.N != 2 {
		t.Errorf("the last line of a profile = %+v, want all, with the unanswerable probe left out", l)
	}
}

func TestUnknownProfile(t *testing.T) {
	err := eval.Retrieval(t.Context(), eval.Options{Open: openBank, Data: []string{t.TempDir()}, Profiles: []string{"best"}}, nil)
	if memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf("err = %v, want Invalid", err)
	}
}

// TestAnswersStayOut: what a probe says besides its question and its moment
// changes no ranking.
func TestAnswersStayOut(t *testing.T) {
	const items = `{"id":"a","bank":"x","kind":"knowledge","text":"The harbour master keeps the spare keys.","time":null}
{"id":"b","bank":"x","kind":"knowledge","text":"The library keeps its keys at the harbour.","time":null}
{"id":"c","bank":"x","kind":"knowledge","text":"The baker paints the boats.","time":null}`
	ask := func(extra string) eval.Line {
		dir := t.TempDir()
		probe := `{"id":"1","bank":"x","query":"Who keeps the keys of the harbour?","relevant":["c"],"category":"who","now":null` + extra + `}`
		for name, text := range map[string]string{"items.jsonl": items, "probes.jsonl": probe} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var last eval.Line
		if err := eval.Retrieval(t.Context(), eval.Options{Open: openBank, Data: []string{dir}}, func(l eval.Line) error { last = l; return nil }); err != nil {
			t.Fatal(err)
		}
		last.Set, last.P50, last.P95 = "", 0, 0
		return last
	}
	bare := ask("")
	told := ask(`,"answer":"The baker paints the boats.","meta":{"context":["The baker?"],"adversarial_answer":"the baker","gold_commands":[{"name":"paint"}]}`)
	if bare.N != 1 || bare.Hit1 != 0 {
		t.Fatalf("%+v: the question should not find what it does not ask for", bare)
	}
	if diff := cmp.Diff(bare, told); diff != "" {
		t.Errorf("the answer reached the engine (-without +with):\n%s", diff)
	}
}
