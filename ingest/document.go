package ingest

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/vimbank/vimbank/memtypes"
)

// chunk is how much of a section is gathered before it is cut into pieces, in
// bytes: so a document of any length takes this much memory.
const chunk = 32 << 10

// document reads text and Markdown: sections, each cut into pieces on the ends
// of sentences. A piece knows its document's title, its place in it, and under
// which headings it stands.
type document struct {
	lines    *lines
	o        *Options
	markdown bool
	yield    func(Entry, error) bool

	title    string
	headings []heading // above the present line, outermost first
	fence    string    // that closes the code block under way; empty: none
	body     strings.Builder
	first    int  // the line where body begins; 0: nowhere yet
	bare     bool // body holds nothing but its heading
	part     int
	again    map[string]int // how often the same text came, for its key
}

// heading is one of Markdown.
type heading struct {
	level int // 1..6
	text  string
}

func readDocument(ls *lines, o *Options, markdown bool, yield func(Entry, error) bool) {
	d := &document{lines: ls, o: o, markdown: markdown, yield: yield, title: o.Title, again: map[string]int{}}
	if !d.frontMatter() {
		return
	}
	for {
		l, err := ls.next()
		switch {
		case err == io.EOF:
			d.flush()
			return
		case err != nil:
			if !yield(Entry{}, err) || memtypes.CodeOf(err) != memtypes.Invalid {
				return
			}
		case !d.line(l.n, strings.TrimRight(string(l.text), " \t")):
			return
		}
	}
}

// line adds one line to the section under way, or begins the next.
func (d *document) line(n int, s string) bool {
	if h, ok := d.heading(s); ok {
		if !d.flush() {
			return false
		}
		for len(d.headings) > 0 && d.headings[len(d.headings)-1].level >= h.level {
			d.headings = d.headings[:len(d.headings)-1]
		}
		d.headings = append(d.headings, h)
		d.title = cmp.Or(d.title, h.text)
		d.first, d.bare = n, true
		d.body.WriteString(s + "\n")
		return true
	}
	if s == "" && d.body.Len() == 0 {
		return true
	}
	if d.first == 0 {
		d.first = n
	}
	if d.bare = d.bare && s == ""; !d.markdown {
		d.title = cmp.Or(d.title, titleOf(s, n))
	}
	d.body.WriteString(s + "\n")
	if d.body.Len() > chunk && (s == "" || d.body.Len() > 2*chunk) {
		return d.flush()
	}
	return true
}

// titleOf is the first line of a plain text, if it is short enough for a title.
func titleOf(s string, n int) string {
	s = strings.TrimSpace(s)
	if last, _ := utf8.DecodeLastRuneInString(s); n == 1 && utf8.RuneCountInString(s) <= 80 && !strings.ContainsRune(".,;:。，；：", last) {
		return s
	}
	return ""
}

// heading reads "## text", outside of code.
func (d *document) heading(s string) (heading, bool) {
	if !d.markdown {
		return heading{}, false
	}
	trimmed := strings.TrimLeft(s, " ")
	for _, f := range []string{"```", "~~~"} {
		if strings.HasPrefix(trimmed, f) && (d.fence == "" || d.fence == f) {
			d.fence = map[bool]string{true: f, false: ""}[d.fence == ""]
			return heading{}, false
		}
	}
	level := len(trimmed) - len(strings.TrimLeft(trimmed, "#"))
	if d.fence != "" || len(s)-len(trimmed) > 3 || level < 1 || level > 6 || len(trimmed) == level || trimmed[level] != ' ' {
		return heading{}, false
	}
	text := strings.TrimSpace(strings.TrimRight(trimmed[level:], "# "))
	return heading{level, text}, text != ""
}

// flush hands out what was gathered, in pieces. A heading with nothing under
// it is no piece: it stands in the title and the section of what follows.
func (d *document) flush() bool {
	body, first := d.body.String(), d.first
	d.body.Reset()
	d.first = 0
	if d.bare || strings.TrimSpace(body) == "" {
		d.bare = false
		return true
	}
	for _, p := range cut(body) {
		line := first + strings.Count(body[:p.start], "\n")
		if !d.yield(Entry{File: d.lines.file, Line: line, Draft: d.draft(p.text)}, nil) {
			return false
		}
	}
	return true
}

func (d *document) draft(text string) memtypes.Draft {
	out := memtypes.Draft{
		Scope: d.o.Scope, Kind: d.o.kind(memtypes.Knowledge), Text: text, Title: cmp.Or(d.title, stem(d.lines.file)), Part: d.part,
		Source: memtypes.Source{URI: d.lines.file, Trust: memtypes.Normal},
	}
	if s := d.section(); s != "" {
		out.Meta = map[string]string{"section": s}
	}
	out.Key = "doc:" + digest(string(out.Kind), out.Title, fmt.Sprint(out.Part), text)
	d.part++
	return out
}

// section names the headings below the title.
func (d *document) section() string {
	var names []string
	for _, h := range d.headings {
		if h.text != d.title {
			names = append(names, h.text)
		}
	}
	return strings.Join(names, " › ")
}

// frontMatter takes the title from a block between lines of three dashes at
// the start of a Markdown file; the rest of it is noted, not remembered.
func (d *document) frontMatter() bool {
	head, _ := d.lines.r.Peek(len(utf8BOM) + 5)
	s := strings.TrimPrefix(string(head), string(utf8BOM))
	if !d.markdown || !strings.HasPrefix(s, "---\n") && !strings.HasPrefix(s, "---\r\n") {
		return true
	}
	for {
		l, err := d.lines.next()
		if err != nil {
			return err == io.EOF || d.yield(Entry{}, err) && memtypes.CodeOf(err) == memtypes.Invalid
		}
		s := string(l.text)
		if l.n > 1 && (s == "---" || s == "...") {
			return d.yield(Entry{File: d.lines.file, Line: 1, Note: "front matter: only its title is taken"}, nil)
		}
		if v, ok := strings.CutPrefix(s, "title:"); ok {
			d.title = cmp.Or(d.title, strings.Trim(strings.TrimSpace(v), `"'`))
		}
	}
}
