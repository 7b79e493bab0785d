package fusion

import (
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vimbank/vimbank/memtypes"
)

// fold makes one hit of the hits that say the same, keeping the best and
// naming the others in its Same. hits must be in their final order.
func fold(hits []memtypes.Hit) []memtypes.Hit {
	at := make(map[string]int, len(hits))
	out := hits[:0]
	var key []byte
	for i := range hits {
		key = appendSameness(key[:0], &hits[i].Memory)
		if j, ok := at[string(key)]; ok {
			out[j].Same = append(out[j].Same, hits[i].Memory.ID)
			continue
		}
		at[string(key)] = len(out)
		out = append(out, hits[i])
	}
	return out
}

// appendSameness writes a key that is equal for memories of which a reader needs
// only one: the same words, apart from case, spacing and punctuation, of the
// same kind and layer. What makes the words another fact belongs to it: who said
// them and in which sitting (or on which day), the title they stand under, what
// a run did and how it ended.
func appendSameness(key []byte, m *memtypes.Memory) []byte {
	key = appendPart(append(key, m.Kind...), string(m.Layer))
	key = appendSqueezed(append(key, 0), m.Text)
	switch m.Kind {
	case memtypes.Dialogue:
		key = appendPart(key, m.Talk.Speaker)
		if m.Talk.Session != "" {
			return appendPart(key, m.Talk.Session)
		}
		return m.Event.UTC().AppendFormat(append(key, 0), time.DateOnly)
	case memtypes.Knowledge:
		return appendSqueezed(append(key, 0), m.Title)
	case memtypes.TaskKind:
		if t := m.Task; t != nil {
			for _, part := range []string{t.Steps(), t.Result, string(t.Outcome), t.Observation} {
				key = appendPart(key, part)
			}
		}
	}
	return key
}

func appendPart(key []byte, part string) []byte { return append(append(key, 0), part...) }

// appendSqueezed writes the letters and digits of s in lower case with single
// spaces between; what has nothing but signs is written as it is, for then they
// are the words.
func appendSqueezed(key []byte, s string) []byte {
	start, gap := len(key), false
	for _, r := range s {
		if !isWord(r) {
			gap = true
			continue
		}
		if gap && len(key) > start {
			key = append(key, ' ')
		}
		gap = false
		if r < utf8.RuneSelf {
			key = append(key, lower(byte(r)))
		} else {
			key = utf8.AppendRune(key, unicode.ToLower(r))
		}
	}
	if len(key) == start {
		return append(key, s...)
	}
	return key
}

// lower is an ASCII letter or digit in lower case.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
