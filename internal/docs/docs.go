// Package docs reads the project's Markdown, so that tests can hold it to the
// code: links that lead nowhere, settings, variables and commands that do not
// exist, and Go that is not compiled anywhere.
//
// It knows as much Markdown as the project's pages use: ATX headings, fenced
// blocks, code spans and inline links.
package docs

import (
	"regexp"
	"strings"
	"unicode"
)

// Page is one Markdown file, taken apart.
type Page struct {
	Blocks   []Block  // fenced code, in order
	Links    []string // targets of inline links, in order
	Spans    []string // inline code, in order
	Headings []string // anchors of the headings, as a hub makes them
}

// Block is one fenced block.
type Block struct {
	Info string // what stands behind the opening fence: "go", "yaml"
	Line int    // of the opening fence, from 1
	Text string // without the fences, each line ended
}

var (
	spanPattern = regexp.MustCompile("`([^`]+)`")
	linkPattern = regexp.MustCompile(`\]\(([^()\s]+)\)`)
)

// Parse takes a page apart.
func Parse(markdown string) Page {
	var p Page
	var open *Block
	var fence string
	for i, line := range strings.Split(markdown, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case open != nil && trimmed == fence:
			p.Blocks, open = append(p.Blocks, *open), nil
		case open != nil:
			open.Text += line + "\n"
		case strings.HasPrefix(trimmed, "```"):
			fence = trimmed[:len(trimmed)-len(strings.TrimLeft(trimmed, "`"))]
			open = &Block{Info: strings.TrimSpace(strings.TrimLeft(trimmed, "`")), Line: i + 1}
		default:
			p.prose(line)
		}
	}
	return p
}

// prose takes a line outside of blocks apart.
func (p *Page) prose(line string) {
	for _, m := range spanPattern.FindAllStringSubmatch(line, -1) {
		p.Spans = append(p.Spans, m[1])
	}
	for _, m := range linkPattern.FindAllStringSubmatch(spanPattern.ReplaceAllString(line, ""), -1) {
		p.Links = append(p.Links, m[1])
	}
	if text := strings.TrimLeft(line, "#"); text != line && strings.HasPrefix(text, " ") {
		p.Headings = append(p.Headings, anchor(text))
	}
}

// anchor is the fragment of a heading: lower case, blanks to hyphens, other
// signs dropped.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// Commands lists the calls of program in the shell blocks of p, each as its
// words after the program's name. A call may stand behind a prompt, a pipe,
// a variable or `go run ./cmd/PROGRAM`; lines that end in \ go on.
func (p Page) Commands(program string) [][]string {
	var out [][]string
	for _, b := range p.Blocks {
		switch b.Info {
		case "sh", "bash", "console", "shell":
		default:
			continue
		}
		for _, line := range strings.Split(strings.ReplaceAll(b.Text, "\\\n", " "), "\n") {
			line, _, _ = strings.Cut(line, " #")
			for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '|' || r == ';' || r == '&' }) {
				if words, ok := call(part, program); ok {
					out = append(out, words)
				}
			}
		}
	}
	return out
}

// call finds program among the first words of a command and gives the words behind it.
func call(part, program string) ([]string, bool) {
	words := Words(part)
	for len(words) > 0 {
		switch w := words[0]; {
		case w == program || w == "./bin/"+program || w == "bin/"+program || w == "./cmd/"+program:
			return beforeRedirect(words[1:]), true
		case w == "$" || w == "go" || w == "run" || w == "time" || w == "!" || strings.Contains(w, "="):
			words = words[1:]
		default:
			return nil, false
		}
	}
	return nil, false
}

// beforeRedirect leaves out where a call's input and output go.
func beforeRedirect(words []string) []string {
	for i, w := range words {
		if strings.HasPrefix(strings.TrimLeft(w, "012"), ">") || strings.HasPrefix(w, "<") {
			return words[:i]
		}
	}
	return words
}

// Words cuts a command into words as a shell does, as far as quotes go.
func Words(s string) []string {
	var out []string
	var word strings.Builder
	var quote rune
	started := false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, started = r, true
		case unicode.IsSpace(r):
			if started {
				out = append(out, word.String())
				word.Reset()
			}
			started = false
		default:
			word.WriteRune(r)
			started = true
		}
	}
	if started {
		out = append(out, word.String())
	}
	return out
}
