package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/ingest"
	"github.com/vimbank/vimbank/memtypes"
)

// outline renders drafts as "part title [section]: text".
func outline(ds []memtypes.Draft) (out []string) {
	for _, d := range ds {
		out = append(out, fmt.Sprintf("%d %s [%s]: %s", d.Part, d.Title, d.Meta["section"], d.Text))
	}
	return out
}

func TestDocument(t *testing.T) {
	for _, tt := range []struct {
		name, file, text string
		want             []string
	}{
		{"sections", "oven.md", "# Oven\n\nIntro.\n\n## Heating\n\nFifty minutes.\n\n### Rye\n\nAt 250.\n\n## Steam\n\nThree seconds.\n", []string{
			"0 Oven []: # Oven\n\nIntro.", "1 Oven [Heating]: ## Heating\n\nFifty minutes.",
			"2 Oven [Heating › Rye]: ### Rye\n\nAt 250.", "3 Oven [Steam]: ## Steam\n\nThree seconds."}},
		{"a heading with nothing under it is no piece", "oven.md", "# Oven\n\n## Heating\n\n### Rye\nAt 250.\n",
			[]string{"0 Oven [Heating › Rye]: ### Rye\nAt 250."}},
		{"a hash in code is no heading", "x.md", "# Run\n\n```sh\n# not a heading\nmake\n```\nDone.\n",
			[]string{"0 Run []: # Run\n\n```sh\n# not a heading\nmake\n```\nDone."}},
		{"front matter gives the title", "x.md", "---\ntitle: \"The oven\"\ndate: 2026\n---\n\nText.\n", []string{"0 The oven []: Text."}},
		{"no heading: the file's name", "notes/oven.md", "Text.\n", []string{"0 oven []: Text."}},
		{"plain text: a short first line", "a.txt", "The oven\n\nIt is hot.\n", []string{"0 The oven []: The oven\n\nIt is hot."}},
		{"plain text: a sentence is no title", "notes/a.txt", "It is hot.\n\nVery.\n", []string{"0 a []: It is hot.\n\nVery."}},
		{"nothing", "a.md", "\n\n", nil},
		{"no tag of a heading", "a.md", "#hash\n", []string{"0 a []: #hash"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entries, errs := read(t, tt.file, tt.text, ingest.Options{})
			if errs != nil {
				t.Fatal(errs)
			}
			if d := cmp.Diff(tt.want, outline(drafts(entries))); d != "" {
				t.Errorf("pieces (-want +got):\n%s", d)
			}
		})
	}
}

func TestDocumentSource(t *testing.T) {
	entries, _ := read(t, "notes/oven.md", "# Oven\n\nHot.\n", ingest.Options{Title: "Mine"})
	d := entries[0].Draft
	if want := (memtypes.Source{URI: "notes/oven.md", Trust: memtypes.Normal}); d.Source != want || d.Kind != memtypes.Knowledge || d.Title != "Mine" {
		t.Errorf("draft = %+v, want knowledge called Mine from %+v", d, want)
	}
	other, _ := read(t, "elsewhere/oven.md", "# Oven\n\nHot.\n", ingest.Options{Title: "Mine"})
	if other[0].Draft.Key != d.Key {
		t.Errorf("the same words under another name have the key %s, want %s", other[0].Draft.Key, d.Key)
	}
}

// TestLongDocument: a long text is cut into pieces of bounded length that say
// where they stand, and nothing is lost on the way.
func TestLongDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Long\n\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "This is sentence number %d of a long document. ", i)
		if i%7 == 6 {
			b.WriteString("\n\n")
		}
	}
	entries, errs := read(t, "long.md", b.String(), ingest.Options{})
	if errs != nil {
		t.Fatal(errs)
	}
	lines := strings.Split(b.String(), "\n")
	for i, e := range entries {
		if e.Draft.Part != i || len(e.Draft.Text) > 4096 {
			t.Errorf("piece %d: part %d of %d bytes, want part %d of at most 4096", i, e.Draft.Part, len(e.Draft.Text), i)
		}
		head := e.Draft.Text[:min(20, len(e.Draft.Text), strings.IndexByte(e.Draft.Text+"\n", '\n'))]
		if !strings.Contains(lines[e.Line-1], head) {
			t.Errorf("piece %d is said to begin in line %d, %q; it begins %q", i, e.Line, lines[e.Line-1], head)
		}
	}
	if got, want := letters(joined(entries)), letters(b.String()); got != want {
		t.Errorf("the pieces hold %d letters, want %d, in the same order", len(got), len(want))
	}
}

func joined(entries []ingest.Entry) string {
	var b strings.Builder
	for _, d := range drafts(entries) {
		b.WriteString(d.Text)
	}
	return b.String()
}

// letters is s without space.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

func TestDocumentOtherEncoding(t *testing.T) {
	entries, errs := read(t, "a.txt", "Ein caf\xe9 am Morgen.\n", ingest.Options{})
	if len(entries) != 0 || len(errs) != 1 || !strings.Contains(errs[0].Error(), `a.txt:1: field "file": found invalid UTF-8 at byte 8`) {
		t.Errorf("entries = %v, errors = %v, want one error about the file", entries, errs)
	}
}

// FuzzDocument: any UTF-8 text is read without a panic, and no character of a
// plain text that can be seen is lost.
func FuzzDocument(f *testing.F) {
	for _, s := range []string{"# A\n\nb\n", "a\n\nb", "---\ntitle: x\n---\ny", "```\n# a\n", "标题\n\n正文。第二句。", "\ufeffa\r\nb\r\n", "####### x\n# \n"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, markdown bool) {
		o := ingest.Options{Format: ingest.Text}
		if markdown {
			o.Format = ingest.Markdown
		}
		entries, errs := read(t, "a.txt", text, o)
		for _, d := range drafts(entries) {
			if _, err := memtypes.New(d, time.Unix(0, 0)); err != nil {
				t.Errorf("the draft %+v is no memory: %v", d, err)
			}
		}
		if got, want := letters(joined(entries)), letters(strings.TrimPrefix(text, "\ufeff")); errs == nil && !markdown && got != want {
			t.Errorf("pieces hold %q, want %q", got, want)
		}
	})
}

// FuzzParseItem: any line is an item that can be stored, or an error with code Invalid.
func FuzzParseItem(f *testing.F) {
	for _, s := range []string{`{"kind":"task","text":"x","meta":{"commands":[{"name":"a","args":["b"]}]}}`, `{"kind":"dialogue","meta":{"query":"q","response":"r"}}`,
		`{"id":1,"kind":"knowledge","text":"a","time":"2024-01-01T00:00:00Z","meta":{"head":"h","relation":"r","tail":"t"}}`, `{`, `null`, `{"text":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		it, err := ingest.ParseItem(line)
		if err != nil {
			if memtypes.CodeOf(err) != memtypes.Invalid {
				t.Errorf("code = %s (%v), want invalid", memtypes.CodeOf(err), err)
			}
			return
		}
		if err := memtypes.CheckText("test", "text", it.Draft.Text); err != nil {
			t.Errorf("the text of an accepted item: %v", err)
		}
	})
}
