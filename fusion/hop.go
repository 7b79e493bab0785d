package fusion

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/vimbank/vimbank/memtypes"
)

// How far the hop reaches.
const (
	hopFrom  = 3  // the best candidates, from which it starts
	hopTo    = 60 // the best candidates, among which it looks
	hopSharp = 4  // how much the best start counts beside the others
	hopBack  = .7 // what naming a start is worth beside being named by it
)

// hop finds the second of two steps: a question may ask for what a passage says
// of a thing that only another passage names. From each of the best candidates
// it goes to those whose title stands in its text, and, for less, to those in
// whose text its title stands. Triples are left out: those of one head all name
// it, and the hop would go to every one of them. score is the ranking so far, by
// place.
func (r *recipe) hop(score []float64) (value []float64, any bool) {
	value = make([]float64, len(r.cands))
	reach := r.top(hopTo, func(i int) float64 { return score[i] })
	starts := reach[:min(hopFrom, len(reach))]
	if len(starts) < 1 || len(reach) < 2 {
		return value, false
	}
	heads, texts := map[int]string{}, map[int]string{}
	for _, i := range reach {
		if m := &r.cands[i].Memory; m.Triple == nil {
			if h := headOf(m); h != "" {
				heads[i] = h
			}
		}
	}
	if len(heads) == 0 {
		return value, false
	}
	for _, i := range reach {
		texts[i] = " " + plainWords(r.cands[i].Memory.Text) + " "
	}
	sum := 0.0
	part := make([]float64, len(starts))
	for j, d := range starts {
		part[j] = math.Exp(hopSharp * (score[d] - score[starts[0]]))
		sum += part[j]
	}
	for j, d := range starts {
		p := part[j] / sum
		for _, i := range reach {
			switch {
			case i == d || heads[i] == heads[d]:
			case heads[i] != "" && standsIn(heads[i], texts[d]):
				value[i], any = max(value[i], p), true
			case heads[d] != "" && standsIn(heads[d], texts[i]):
				value[i], any = max(value[i], hopBack*p), true
			}
		}
	}
	return value, any
}

// headOf is what a memory is about, as plain words: the title without what
// stands in brackets, or the head of its triple. Empty if that is too short to
// be told from other words.
func headOf(m *memtypes.Memory) string {
	title := m.Title
	if title == "" && m.Triple != nil {
		title = m.Triple.Head
	}
	head := plainWords(withoutBrackets(title))
	if first, _ := utf8.DecodeRuneInString(head); isHan(first) {
		if utf8.RuneCountInString(head) < 2 {
			return ""
		}
		return head
	}
	if utf8.RuneCountInString(head) <= 3 {
		return ""
	}
	return head
}

func withoutBrackets(s string) string {
	for _, b := range []string{"()", "（）"} {
		open, shut := string([]rune(b)[0]), string([]rune(b)[1])
		for {
			i := strings.Index(s, open)
			j := strings.Index(s, shut)
			if i < 0 || j < i {
				break
			}
			s = s[:i] + " " + s[j+len(shut):]
		}
	}
	return s
}

// standsIn reports whether head, in plain words, stands in words, a plainWords
// text between spaces: as whole words, or anywhere if it is Chinese.
func standsIn(head, words string) bool {
	if first, _ := utf8.DecodeRuneInString(head); isHan(first) {
		return strings.Contains(words, head)
	}
	return strings.Contains(words, " "+head+" ")
}
