package admit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// Finding is one secret found in a draft. It does not hold the secret.
type Finding struct {
	Name  string `json:"name"`  // what it is: "GitHub token", "card number"
	Field string `json:"field"` // where: "text", "meta.note", "task.commands.2.result"
	Start int    `json:"start"` // in bytes from the start of the field
	End   int    `json:"end"`
}

// span is a stretch of a text, in bytes.
type span struct{ start, end int }

func (s span) len() int { return s.end - s.start }

// Scan finds the secrets in one text, in order, none overlapping another.
func (r *Rules) Scan(text string) []Finding {
	if text == "" {
		return nil
	}
	var found []Finding
	low, has := "", bytesOf(text)
	for i := range r.patterns {
		p := &r.patterns[i]
		in := text
		if p.fold {
			if low == "" {
				low = strings.ToLower(text)
			}
			in = low
		}
		if !slices.ContainsFunc(p.hints, func(h string) bool { return (p.fold || has.all(h)) && strings.Contains(in, h) }) {
			continue
		}
		for _, m := range p.re.FindAllStringSubmatchIndex(text, -1) {
			if len(m) > 2 {
				m = m[2:]
			}
			if p.real == nil || p.real(text[m[0]:m[1]], text[m[1]:]) {
				found = append(found, Finding{Name: p.name, Start: m[0], End: m[1]})
			}
		}
	}
	for _, c := range cards(text) {
		found = append(found, Finding{Name: "card number", Start: c.start, End: c.end})
	}
	return apart(found)
}

// byteSet says which bytes a text holds. Most texts lack one that a key has, and
// need not be searched for the rest of it.
type byteSet [256]bool

func bytesOf(text string) *byteSet {
	var b byteSet
	for i := range len(text) {
		b[text[i]] = true
	}
	return &b
}

// all reports whether each byte of s is in b.
func (b *byteSet) all(s string) bool {
	for i := range len(s) {
		if !b[s[i]] {
			return false
		}
	}
	return true
}

// apart sorts and keeps, of findings that overlap, the first and longest, in
// the order of the table where they are equal.
func apart(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	end := 0
	return slices.DeleteFunc(found, func(f Finding) bool {
		if f.Start < end {
			return true
		}
		end = f.End
		return false
	})
}

// secrets looks through every field of the draft that can hold text, and
// refuses, redacts or only reports.
func (r *Rules) secrets(v *Verdict) {
	walk(&v.Draft, func(field, s string) string {
		for _, f := range r.Scan(s) {
			f.Field = field
			v.Findings = append(v.Findings, f)
		}
		return s
	})
	if len(v.Findings) == 0 || r.o.Secrets == Allow {
		return
	}
	v.Action, v.Code, v.Reason = r.o.Secrets, Secret, describe(v.Findings)
	if r.o.Secrets == Redact {
		v.Draft = clone(v.Draft)
		walk(&v.Draft, func(field, s string) string { return redact(field, s, v.Findings) })
		v.Reason += "; removed, the rest is kept"
	}
}

func describe(found []Finding) string {
	f := found[0]
	s := fmt.Sprintf("%s found in %s at byte %d", f.Name, f.Field, f.Start)
	if n := len(found) - 1; n > 0 {
		s += fmt.Sprintf(", and %d more", n)
	}
	return s
}

// redact puts the name of each finding of field in its place.
func redact(field, s string, found []Finding) string {
	var b strings.Builder
	last := 0
	for _, f := range found {
		if f.Field == field {
			b.WriteString(s[last:f.Start] + "[" + f.Name + " removed]")
			last = f.End
		}
	}
	b.WriteString(s[last:])
	return b.String()
}

// walk hands every field that can hold text to f, and stores what it returns
// where that is different.
func walk(d *memtypes.Draft, f func(field, s string) string) {
	edit := func(field string, s *string) {
		if t := f(field, *s); t != *s {
			*s = t
		}
	}
	edit("text", &d.Text)
	edit("title", &d.Title)
	edit("source.uri", &d.Source.URI)
	for _, k := range slices.Sorted(maps.Keys(d.Meta)) {
		if v := f("meta."+k, d.Meta[k]); v != d.Meta[k] {
			d.Meta[k] = v
		}
	}
	if t := d.Triple; t != nil {
		edit("triple.head", &t.Head)
		edit("triple.relation", &t.Relation)
		edit("triple.tail", &t.Tail)
	}
	if t := d.Task; t != nil {
		edit("task.name", &t.Name)
		edit("task.object", &t.Object)
		edit("task.place", &t.Place)
		edit("task.observation", &t.Observation)
		edit("task.result", &t.Result)
		for i := range t.Commands {
			c := &t.Commands[i]
			at := fmt.Sprintf("task.commands.%d.", i)
			edit(at+"name", &c.Name)
			edit(at+"result", &c.Result)
			for j := range c.Args {
				edit(fmt.Sprintf("%sargs.%d", at, j), &c.Args[j])
			}
		}
	}
}

// clone copies what walk may change, so that the caller's draft stays as it is.
func clone(d memtypes.Draft) memtypes.Draft {
	d.Meta = maps.Clone(d.Meta)
	if d.Triple != nil {
		t := *d.Triple
		d.Triple = &t
	}
	if d.Task != nil {
		t := *d.Task
		t.Commands = slices.Clone(t.Commands)
		for i := range t.Commands {
			t.Commands[i].Args = slices.Clone(t.Commands[i].Args)
		}
		d.Task = &t
	}
	return d
}
