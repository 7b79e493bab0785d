package admit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vimbank/vimbank/memtypes"
)

// A recalled text shorter than this comes back by chance as well: people say
// "How are you today?" twice. Eight words of English, or twelve Han
// characters, hardly ever.
const (
	echoWords = 8
	echoRunes = 12
)

// echo strikes when the draft is nothing but recalled texts, verbatim up to
// case, spaces and punctuation: one of them, or a list as an agent's context
// holds it, with bullets, times and names before each. A single word of its
// own lets the draft pass: "No longer true: ..." is news.
//
// Who asks a question again says it again, and the engine says what was asked.
// A task is never an echo, since doing again what was recalled is the point of
// recalling it; and what happened before the recall cannot echo it, so an old
// log can be imported at any time.
func (r *Rules) echo(v *Verdict, f *Facts) bool {
	d := &v.Draft
	if d.Kind == memtypes.TaskKind || len(f.Recalled) == 0 {
		return false
	}
	said := words(d.Text)
	var heard []Recalled
	for _, h := range f.Recalled {
		fresh := !h.At.After(f.Now) && f.Now.Sub(h.At) <= r.o.EchoWindow
		titled := d.Title == "" || strings.EqualFold(d.Title, h.Title)
		asked := h.Query != "" && slices.Equal(words(h.Query), said)
		if fresh && titled && !asked && h.ID != f.ID && (d.Event.IsZero() || !d.Event.Before(h.At)) {
			heard = append(heard, h)
		}
	}
	if len(heard) == 0 || d.Triple != nil {
		return false
	}
	of, ok := madeOf(said, heard)
	if !ok {
		of, ok = madeOf(words(r.undecorated(d.Text, heard)), heard)
	}
	if !ok {
		return false
	}
	v.Code, v.Of, v.Similarity = Echo, of.ID, 1
	v.Reason = fmt.Sprintf("this text was recalled %s ago as %s and only comes back", f.Now.Sub(of.At).Round(time.Second), of.ID)
	return true
}

// madeOf reports whether rest is made of the texts in heard, one after the
// other, and of nothing else; and the longest of those texts.
func madeOf(rest []string, heard []Recalled) (longest Recalled, ok bool) {
	type spoken struct {
		words []string
		of    Recalled
	}
	var all []spoken
	for _, h := range heard {
		if ws := words(h.Text); longEnough(ws) {
			all = append(all, spoken{ws, h})
		}
	}
	slices.SortStableFunc(all, func(a, b spoken) int { return cmp.Compare(len(b.words), len(a.words)) })
	most := 0
	for len(rest) > 0 {
		i := slices.IndexFunc(all, func(s spoken) bool {
			return len(s.words) <= len(rest) && slices.Equal(s.words, rest[:len(s.words)])
		})
		if i < 0 {
			return Recalled{}, false
		}
		if n := len(all[i].words); n > most {
			most, longest = n, all[i].of
		}
		rest = rest[len(all[i].words):]
	}
	return longest, most > 0
}

func longEnough(ws []string) bool {
	han := 0
	for _, w := range ws {
		if c, _ := utf8.DecodeRuneInString(w); unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana) {
			han++
		}
	}
	return len(ws)-han >= echoWords || han >= echoRunes
}

// prefix is what may stand before a recalled text in a list: a bullet or a
// number, then a day, with or without the time of day, in brackets or not.
const prefix = `^\s*(?:(?:[-*•·>]+|\d{1,3}[.)、])\s+)?` +
	`(?:[\[(（【]?(\d{4}-\d\d-\d\d)(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?[\])）】]?\s+)?`

// undecorated takes from the start of each line what a context block puts
// there: a bullet or a number, the day of a recalled memory, the name of its
// speaker, its title, or a role. Another day is left, and any other word
// before a colon, as it may deny what follows it.
func (r *Rules) undecorated(text string, heard []Recalled) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if m := r.prefix.FindStringSubmatchIndex(l); m[2] < 0 || isDay(l[m[2]:m[3]], heard) {
			l = l[m[1]:]
		}
		if name, rest, ok := strings.Cut(strings.Replace(l, "：", ":", 1), ":"); ok && isLabel(name, heard) {
			l = rest
		}
		lines[i] = l
	}
	return strings.Join(lines, "\n")
}

// isDay reports whether day is that of a memory in heard, give or take the
// time zone in which it was written down.
func isDay(day string, heard []Recalled) bool {
	t, err := time.Parse(time.DateOnly, day)
	return err == nil && slices.ContainsFunc(heard, func(h Recalled) bool {
		return h.When.Sub(t).Abs() <= 36*time.Hour
	})
}

func isLabel(name string, heard []Recalled) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "":
		return false
	case "user", "assistant", "agent", "system", "human", "ai", "memory", "memories", "relevant memories", "context", "用户", "助手", "记忆", "相关记忆":
		return true
	}
	return slices.ContainsFunc(heard, func(h Recalled) bool {
		return strings.EqualFold(name, h.Speaker) || strings.EqualFold(name, h.Title)
	})
}
