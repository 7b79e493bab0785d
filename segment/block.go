package segment

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// atom is what a piece is made of: a sentence, a heading, a line of code.
type atom struct {
	Span
	last  bool   // it ends a paragraph
	level int    // of a heading, 1 to 6; 0: no heading
	title string // of a heading
}

// line is a line of the text without its end.
type line struct {
	Span
	text string
}

// atoms cuts text into its atoms, in order, none blank. Paragraphs end at
// blank lines; headings (of both Markdown forms), code between fences and a
// front matter are told from prose unless plain.
func atoms(text string, plain bool) []atom {
	p := parser{text: text, lines: linesOf(text)}
	for p.i = 0; p.i < len(p.lines); p.i++ {
		l := p.lines[p.i]
		level, title := 0, ""
		if !plain {
			level, title = atx(l.text)
		}
		switch {
		case strings.TrimFunc(l.text, isBlank) == "":
			p.endParagraph()
		case level > 0:
			p.endParagraph()
			p.add(atom{Span: l.Span, last: true, level: level, title: title})
		case !plain && p.i == 0 && strings.TrimRight(l.text, " \t\r") == "---" && p.hasLine("---"):
			p.verbatim("---")
		case !plain && fence(l.text) != "":
			p.endParagraph()
			p.verbatim(fence(l.text))
		case strings.HasPrefix(strings.TrimLeft(l.text, " \t"), "|"): // a row of a table
			p.endParagraph()
			p.add(atom{Span: l.Span})
		case !plain && p.isSetext(l.text):
			p.setext(l)
		default:
			p.para = append(p.para, l)
		}
	}
	p.endParagraph()
	return p.out
}

type parser struct {
	text  string
	lines []line
	i     int    // the line looked at
	para  []line // the paragraph so far
	out   []atom
}

func linesOf(text string) []line {
	var out []line
	for start := 0; start < len(text); {
		end, next := len(text), len(text)
		if n := strings.IndexByte(text[start:], '\n'); n >= 0 {
			end, next = start+n, start+n+1
		}
		out = append(out, line{Span{start, end}, text[start:end]})
		start = next
	}
	return out
}

func (p *parser) add(a atom) {
	if t, ok := trim(p.text, a.Span); ok {
		a.Span = t
		p.out = append(p.out, a)
	}
}

// endParagraph cuts the paragraph so far into sentences.
func (p *parser) endParagraph() {
	n := len(p.out)
	for i := 0; i < len(p.para); {
		j := i + 1
		for j < len(p.para) && flows(p.para[j-1].text, p.para[j].text) {
			j++
		}
		for _, s := range sentences(p.text, Span{p.para[i].Start, p.para[j-1].End}) {
			p.add(atom{Span: s})
		}
		i = j
	}
	if len(p.out) > n {
		p.out[len(p.out)-1].last = true
	}
	p.para = p.para[:0]
}

// verbatim takes every line from the present one to the next that closes with
// mark, or to the end, as an atom of its own: code and tables have no sentences.
func (p *parser) verbatim(mark string) {
	p.add(atom{Span: p.lines[p.i].Span})
	for p.i++; p.i < len(p.lines); p.i++ {
		l := p.lines[p.i]
		p.add(atom{Span: l.Span})
		if t := strings.TrimSpace(l.text); strings.HasPrefix(t, mark) && strings.Trim(t, mark[:1]) == "" {
			break
		}
	}
	p.out[len(p.out)-1].last = true
}

func (p *parser) hasLine(mark string) bool {
	for _, l := range p.lines[p.i+1:] {
		if strings.TrimRight(l.text, " \t\r") == mark {
			return true
		}
	}
	return false
}

// isSetext reports whether l underlines the line before it as a heading. Only
// a paragraph of one line counts, and only if it does not end as a sentence
// does: under anything else a rule is a rule.
func (p *parser) isSetext(l string) bool {
	t := strings.TrimRight(l, " \t\r")
	if len(p.para) != 1 || len(t) < 3 || strings.Trim(t, "=") != "" && strings.Trim(t, "-") != "" {
		return false
	}
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(p.para[0].text, isBlank))
	return !isStop(end) && len(p.para[0].text) <= 200
}

func (p *parser) setext(l line) {
	level := 1
	if l.text[0] == '-' {
		level = 2
	}
	p.add(atom{Span: Span{p.para[0].Start, l.End}, last: true, level: level, title: strings.TrimFunc(p.para[0].text, isBlank)})
	p.para = p.para[:0]
}

// atx reads a heading of the form "## Title ##".
func atx(l string) (level int, title string) {
	l = strings.TrimPrefix(l, "\ufeff")
	t := strings.TrimLeft(l, " ")
	for level < len(t) && t[level] == '#' {
		level++
	}
	if level == 0 || level > 6 || len(l)-len(t) > 3 || level < len(t) && !unicode.IsSpace(rune(t[level])) {
		return 0, ""
	}
	title = strings.TrimSpace(t[level:])
	if bare := strings.TrimRight(title, "#"); bare == "" || strings.HasSuffix(bare, " ") {
		title = strings.TrimSpace(bare)
	}
	return level, title
}

// fence gives the marks that open a block of code, or nothing.
func fence(l string) string {
	t := strings.TrimLeft(l, " \t")
	for _, c := range []byte{'`', '~'} {
		n := 0
		for n < len(t) && t[n] == c {
			n++
		}
		if n >= 3 && (c == '~' || !strings.Contains(t[n:], "`")) {
			return t[:n]
		}
	}
	return ""
}

// flows reports whether a sentence may go on from line a to line b: lines are
// wrapped anywhere in Western text, but not after a Han character, nor before
// an item of a list, a quotation or an indented line.
func flows(a, b string) bool {
	end, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(a, isBlank))
	t := strings.TrimLeft(b, " \t\u3000")
	if isWide(end) || strings.HasPrefix(b, "\u3000") || t == "" || len(b)-len(t) >= 4 && len(a)-len(strings.TrimLeft(a, " \t")) < 4 {
		return false
	}
	return !strings.HasPrefix(t, ">") && !isItem(t)
}

// isItem reports whether t starts an item of a list: "- ", "* ", "+ ", "• ",
// "12. ", "3) ", "一、".
func isItem(t string) bool {
	for _, m := range []string{"- ", "* ", "+ ", "• ", "– "} {
		if strings.HasPrefix(t, m) {
			return true
		}
	}
	n := 0
	for n < len(t) && n < 3 && t[n] >= '0' && t[n] <= '9' {
		n++
	}
	return n > 0 && (strings.HasPrefix(t[n:], ". ") || strings.HasPrefix(t[n:], ") ") || strings.HasPrefix(t[n:], "、"))
}

// section is the atoms under one heading, or under a heading and the ones
// below it that follow with nothing in between.
type section struct {
	path  string
	atoms []atom
}

func sections(as []atom) []section {
	var out []section
	var titles [7]string
	level := 7 // of the open section's last heading; 7 once it has text, so that any heading closes it
	for _, a := range as {
		if len(out) == 0 || a.level > 0 && a.level <= level {
			out = append(out, section{})
		}
		if level = 7; a.level > 0 {
			level = a.level
			titles[level] = short(a.title)
			clear(titles[level+1:])
		}
		s := &out[len(out)-1]
		s.path, s.atoms = path(titles[1:]), append(s.atoms, a)
	}
	return out
}

func path(titles []string) string {
	var given []string
	for _, t := range titles {
		if t != "" {
			given = append(given, t)
		}
	}
	return strings.Join(given, " > ")
}

// short keeps the first 80 characters of a title.
func short(title string) string {
	n := 0
	for i := range title {
		if n++; n > 80 {
			return title[:i] + "…"
		}
	}
	return title
}
