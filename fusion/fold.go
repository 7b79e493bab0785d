package fusion

import (
	"strings"
	"time"
	"unicode"

	"github.com/vimbank/vimbank/memtypes"
)

// fold makes one hit of the hits that say the same, keeping the best and
// naming the others in its Same. hits must be in their final order.
func fold(hits []memtypes.Hit) []memtypes.Hit {
	at := make(map[string]int, len(hits))
	out := hits[:0:0]
	for _, h := range hits {
		key := sameness(&h.Memory)
		if i, ok := at[key]; ok {
			out[i].Same = append(out[i].Same, h.Memory.ID)
			continue
		}
		at[key] = len(out)
		out = append(out, h)
	}
	return out
}

// sameness is equal for memories of which a reader needs only one: the same
// words, apart from case, spacing and punctuation, of the same kind and layer.
// What makes the words another fact belongs to it: who said them and in which
// sitting (or on which day), the title they stand under, what a run did and how
// it ended.
func sameness(m *memtypes.Memory) string {
	parts := []string{string(m.Kind), string(m.Layer), squeeze(m.Text)}
	switch m.Kind {
	case memtypes.Dialogue:
		sitting := m.Talk.Session
		if sitting == "" {
			sitting = m.Event.UTC().Format(time.DateOnly)
		}
		parts = append(parts, m.Talk.Speaker, sitting)
	case memtypes.Knowledge:
		parts = append(parts, squeeze(m.Title))
	case memtypes.TaskKind:
		if t := m.Task; t != nil {
			parts = append(parts, t.Steps(), t.Result, string(t.Outcome), t.Observation)
		}
	}
	return strings.Join(parts, "\x00")
}

// squeeze lowers s and keeps its letters and digits with single spaces between.
func squeeze(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(unicode.ToLower(r))
		default:
			gap = true
		}
	}
	if b.Len() == 0 {
		return s // nothing but signs: they are the words
	}
	return b.String()
}
