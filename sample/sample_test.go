package sample_test

import (
	"io/fs"
	"strings"
	"testing"
	"unicode"

	"github.com/vimbank/vimbank/ingest"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/sample"
)

// entries reads every file of the sample as the tour does.
func entries(t *testing.T) (out []ingest.Entry) {
	t.Helper()
	scope, err := memtypes.NewScope("", "tour", "", "")
	if err != nil {
		t.Fatal(err)
	}
	files, err := ingest.Files(sample.FS())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Note != "" {
			t.Errorf("%s is not read: %s", f.Path, f.Note)
			continue
		}
		r, err := sample.FS().Open(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range ingest.Read(r, f.Path, &ingest.Options{Scope: scope}) {
			if err != nil {
				t.Error(err)
			}
			if e.Note == "" {
				out = append(out, e)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	return out
}

// TestSampleIsWhole: every file is read without an error, in both languages
// and all kinds, and nothing in it is later than its Now.
func TestSampleIsWhole(t *testing.T) {
	kinds, sessions, outcomes, han := map[memtypes.Kind]int{}, map[string]bool{}, map[memtypes.Outcome]int{}, 0
	for _, e := range entries(t) {
		m, err := memtypes.New(e.Draft, sample.Now())
		if err != nil {
			t.Errorf("%s:%d: %v", e.File, e.Line, err)
		}
		kinds[m.Kind]++
		if m.Kind == memtypes.Dialogue {
			sessions[m.Talk.Session] = true
		}
		if m.Task != nil {
			outcomes[m.Task.Outcome]++
		}
		if strings.ContainsFunc(m.Text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			han++
		}
		if m.Event.After(sample.Now()) {
			t.Errorf("%s:%d happens at %v, after %v", e.File, e.Line, m.Event, sample.Now())
		}
	}
	if kinds[memtypes.Dialogue] < 40 || kinds[memtypes.Knowledge] < 8 || kinds[memtypes.TaskKind] < 6 || len(sessions) < 8 || han < 15 ||
		outcomes[memtypes.Success] < 3 || outcomes[memtypes.Failure] < 2 {
		t.Errorf("kinds %v, %d sessions, %d in Chinese, outcomes %v: want at least 40 turns, 8 pieces, 6 tasks, 8 sessions, 15, 3 and 2",
			kinds, len(sessions), han, outcomes)
	}
}

// TestQuestionsHaveAnswers: the words that a question names stand in the sample.
func TestQuestionsHaveAnswers(t *testing.T) {
	all := entries(t)
	for _, q := range sample.Questions() {
		found := false
		for _, e := range all {
			d := e.Draft
			steps := ""
			if d.Task != nil {
				steps = d.Task.Steps()
			}
			found = found || strings.Contains(d.Text+steps, q.Holds)
		}
		if !found {
			t.Errorf("no memory holds %q, the answer to %q", q.Holds, q.Text)
		}
	}
}

func TestFS(t *testing.T) {
	if _, err := fs.Stat(sample.FS(), "tasks.jsonl"); err != nil {
		t.Error(err)
	}
}
