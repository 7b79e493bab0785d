package admit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// comparable says whether d can be a duplicate: knowledge and thoughts are
// facts, which are known or not. What was said and what was done are events,
// which happen again.
func comparable(d *memtypes.Draft) bool {
	return (d.Kind == memtypes.Knowledge || d.Layer == memtypes.Thought) && d.Task == nil
}

// duplicate strikes when the scope has the draft already: the same words, or
// the same telling words in so far the same order that at least Similarity of
// the shingles agree. Whatever the draft has besides and the other has not -
// another title, time, triple, or higher trust - makes it news. Its place in a
// document, its address and its metadata do not.
func (r *Rules) duplicate(v *Verdict, f *Facts) bool {
	d := &v.Draft
	if !comparable(d) {
		return false
	}
	ws := words(d.Text)
	for i := range f.Similar {
		m := &f.Similar[i]
		if m.ID == f.ID || !sameFact(d, m) {
			continue
		}
		other := words(m.Text)
		if len(ws) == 0 && strings.TrimSpace(d.Text) != strings.TrimSpace(m.Text) {
			continue // symbols only: nothing to compare but themselves
		}
		if slices.Equal(ws, other) {
			v.Code, v.Of, v.Similarity = Duplicate, m.ID, 1
			v.Reason = fmt.Sprintf("this %s is known in the same words as %s", noun(d), m.ID)
			return true
		}
		a, b := telling(ws), telling(other)
		if s := similarity(a, b); s >= r.o.Similarity && s > v.Similarity && sameWords(a, b) {
			v.Code, v.Of, v.Similarity = NearDuplicate, m.ID, s
			v.Reason = fmt.Sprintf("this %s has no word, number or negation that %s has not, and reads %.0f %% the same", noun(d), m.ID, 100*s)
		}
	}
	return v.Code == NearDuplicate
}

// sameFact reports whether m can make d superfluous, their texts aside.
func sameFact(d *memtypes.Draft, m *memtypes.Memory) bool {
	layer := d.Layer
	if layer == "" {
		layer = memtypes.Raw
	}
	return m.State != memtypes.Retired && m.Scope == d.Scope && m.Kind == d.Kind && m.Layer == layer && m.Task == nil &&
		m.Source.Trust >= d.Source.Trust &&
		(d.Event.IsZero() || d.Event.Equal(m.Event)) &&
		(d.Title == "" || slices.Equal(words(d.Title), words(m.Title))) &&
		(d.Triple == nil || m.Triple != nil && sameTriple(d.Triple, m.Triple))
}

func sameTriple(a, b *memtypes.Triple) bool {
	return slices.Equal(words(a.Head), words(b.Head)) && slices.Equal(words(a.Relation), words(b.Relation)) && slices.Equal(words(a.Tail), words(b.Tail))
}

func noun(d *memtypes.Draft) string {
	if d.Layer == memtypes.Thought {
		return "thought"
	}
	return "text"
}
