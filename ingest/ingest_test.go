package ingest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/ingest"
	"github.com/vimbank/vimbank/memtypes"
)

func scope(t testing.TB, user string) memtypes.Scope {
	t.Helper()
	s, err := memtypes.NewScope("", user, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// read collects what a text holds.
func read(t testing.TB, file, text string, o ingest.Options) (entries []ingest.Entry, errs []error) {
	t.Helper()
	if o.Scope.IsZero() && o.ScopeOf == nil {
		o.Scope = scope(t, "ann")
	}
	for e, err := range ingest.Read(strings.NewReader(text), file, &o) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		entries = append(entries, e)
	}
	return entries, errs
}

// drafts keeps the entries that hold something to remember.
func drafts(entries []ingest.Entry) (out []memtypes.Draft) {
	for _, e := range entries {
		if e.Note == "" {
			out = append(out, e.Draft)
		}
	}
	return out
}

func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		name, file, head string
		want             ingest.Format
	}{
		{"by ending", "a.jsonl", "", ingest.JSONL},
		{"a markdown file that looks like talk", "a.md", "Ann: hi\nBob: hi\n", ingest.Markdown},
		{"an object", "stdin", `  {"kind": "task"}`, ingest.JSONL},
		{"plain talk", "a.txt", "Ann: hi\nBob: hello\nAnn: how are you?\nBob: well\n", ingest.Chat},
		{"talk with times", "a.txt", "[2026-03-15 09:31] Ann: hi\nsome more\n[2026-03-15 09:32] Bob: yes\n", ingest.Chat},
		{"talk in blocks", "a.txt", "林月 2026-03-08 20:11:05\n你好\n陈浩 2026-03-08 20:12:40\n好\n", ingest.Chat},
		{"a glossary names each term once", "a.txt", "Ash: what is left\nBran: a part of the grain\nCrumb: the inside\nDough: unbaked\n", ingest.Text},
		{"headings", "notes", "# Bread\n\nText.\n", ingest.Markdown},
		{"prose", "a.txt", "It was late. Remember: nothing is lost.\nThe end.\n", ingest.Text},
		{"nothing", "a.txt", "", ingest.Text},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := ingest.Detect(tt.file, []byte(tt.head)); got != tt.want || err != nil {
				t.Errorf("Detect(%q, %q) = %q, %v, want %q", tt.file, tt.head, got, err, tt.want)
			}
		})
	}
}

func TestDetectRefuses(t *testing.T) {
	for _, tt := range []struct{ name, head, want string }{
		{"UTF-16", "\xff\xfeh\x00i\x00", "UTF-16"},
		{"binary", "\x7fELF\x00\x00", "NUL"},
		{"Latin-1", "caf\xe9 au lait, and more text after it", "invalid UTF-8 at byte 4"},
		{"a JSON array", `[{"kind": "task"}]`, "JSON Lines"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ingest.Detect("a.txt", []byte(tt.head))
			if memtypes.CodeOf(err) != memtypes.Invalid || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("Detect(%q): err = %v, want invalid, with %q", tt.head, err, tt.want)
			}
		})
	}
}

func TestParseNames(t *testing.T) {
	if f, err := ingest.ParseFormat(""); f != ingest.Auto || err != nil {
		t.Errorf(`ParseFormat("") = %q, %v, want auto`, f, err)
	}
	if _, err := ingest.ParseFormat("csv"); memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf(`ParseFormat("csv"): err = %v, want invalid`, err)
	}
	if o, err := ingest.ParseDateOrder("mdy"); o != ingest.MonthFirst || err != nil {
		t.Errorf(`ParseDateOrder("mdy") = %q, %v, want mdy`, o, err)
	}
	if _, err := ingest.ParseDateOrder("ymd"); memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf(`ParseDateOrder("ymd"): err = %v, want invalid`, err)
	}
}

func TestFiles(t *testing.T) {
	file := &fstest.MapFile{Data: []byte("x")}
	fsys := fstest.MapFS{
		"locomo/items.jsonl": file, "locomo/probes.jsonl": file, // questions and answers are no memories
		"notes/a.md": file, "notes/sub/b.TXT": file, "notes/photo.jpg": file,
		".git/config": file, "notes/.hidden.txt": file,
		"notes/link.txt": {Mode: 0o777 | 1<<27}, // fs.ModeSymlink
	}
	got, err := ingest.Files(fsys)
	if err != nil {
		t.Fatal(err)
	}
	var read, left []string
	for _, f := range got {
		if f.Note == "" {
			read = append(read, f.Path)
		} else {
			left = append(left, f.Path)
		}
	}
	if d := cmp.Diff([]string{"locomo/items.jsonl", "notes/a.md", "notes/sub/b.TXT"}, read); d != "" {
		t.Errorf("files to read (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"notes/link.txt", "notes/photo.jpg"}, left); d != "" {
		t.Errorf("files left out (-want +got):\n%s", d)
	}
}

// failing gives some text and then an error of the disk.
type failing struct{ text *strings.Reader }

func (f failing) Read(b []byte) (int, error) {
	if n, err := f.text.Read(b); err == nil {
		return n, nil
	}
	return 0, errors.New("the disk is gone")
}

func TestReadErrorEnds(t *testing.T) {
	for _, file := range []string{"a.jsonl", "a.md", "a.chat"} {
		var last error
		n := 0
		long := strings.Repeat("Ann: hi there\nBob: hello\n", 6000) // longer than what is looked at first
		for _, err := range ingest.Read(failing{strings.NewReader(long)}, file, &ingest.Options{Scope: scope(t, "ann")}) {
			last, n = err, n+1
		}
		if n == 0 || memtypes.CodeOf(last) != memtypes.Unavailable {
			t.Errorf("%s: the last of %d errors = %v, want unavailable", file, n, last)
		}
	}
}

// TestTwice: the same content gives the same memories, a grown log only adds.
func TestTwice(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	ids := func(file, text string) (out []memtypes.ID) {
		entries, errs := read(t, file, text, ingest.Options{})
		if errs != nil {
			t.Fatal(errs)
		}
		for _, d := range drafts(entries) {
			m, err := memtypes.New(d, now)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, m.ID)
		}
		return out
	}
	for _, tt := range []struct{ file, text, more string }{
		{"a.jsonl", `{"id":"1","kind":"dialogue","text":"hi"}` + "\n", `{"id":"2","kind":"dialogue","text":"hi"}` + "\n"},
		{"a.chat.txt", "Ann: ok\nBob: ok\nAnn: ok\n", "Ann: ok\nBob: bye\n"},
		{"a.txt", "[2026-03-15 09:31] Ann: ok\n[2026-03-15 09:31] Ann: ok\n", "[2026-03-16 09:31] Ann: ok\n"},
		{"a.md", "# Bread\n\nFlour.\n\n## Salt\n\nA pinch.\n", "\n## Water\n\nA cup.\n"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			first, again, grown := ids(tt.file, tt.text), ids(tt.file, tt.text), ids(tt.file, tt.text+tt.more)
			if d := cmp.Diff(first, again); d != "" {
				t.Errorf("the second reading differs:\n%s", d)
			}
			if len(grown) <= len(first) {
				t.Fatalf("the longer file gives %d memories, the shorter %d", len(grown), len(first))
			}
			if d := cmp.Diff(first, grown[:len(first)]); d != "" {
				t.Errorf("the longer file begins otherwise:\n%s", d)
			}
			seen := map[memtypes.ID]bool{}
			for i, id := range grown {
				if seen[id] {
					t.Errorf("memory %d has the ID of an earlier one", i)
				}
				seen[id] = true
			}
		})
	}
}
