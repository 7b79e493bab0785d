package fusion

import (
	"math"
	"slices"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// The weights of dialogue (docs/ranking.md says how they were found).
const (
	turnWeight    = 3.0 // the words of the turn, with the question it answers
	windowWeight  = 1.5 // the words around it, if it speaks of the speaker
	contextWeight = 2.5 // the sense of the turn among its neighbours
	sessionWeight = 2.5 // the best turn of its session
	textWeight    = 3.0 // outside a session: its words
	denseWeight   = 2.5 // and its sense
	saysWeight    = 1.2 // how much it says, rather than asks
	speakerWeight = 1.0 // the query names its speaker
	dayWeight     = 9.0 // the query names its day
	spanWeight    = 2.5 // the query names its week, month or year
)

// dialogue scores turns of talk. In a session, a turn stands among others: what
// was asked before it, what is said around it, how well the session as a whole
// fits. Outside of one it has its own words and sense alone.
func (r *recipe) dialogue(out [][]memtypes.Reason) {
	q := r.addressed()
	session := r.bestOfSession()
	for _, i := range r.places {
		m, s := &r.cands[i].Memory, r.scores(i)
		var fs []feature
		total := 0.0
		if name := m.Talk.Session; name != "" {
			around := 0.0
			if firstPerson(m.Text) {
				around = r.share(Window, s)
			}
			fs = []feature{
				{"turn", r.share(Turn, s), turnWeight},
				{"window", around, windowWeight},
				{"context", r.rise(Context, s), contextWeight},
				{"session", session[name], sessionWeight},
				{"says", says(m.Text), saysWeight},
			}
		} else {
			fs = []feature{{"text", r.share(Text, s), textWeight}, {"dense", r.rise(Vector, s), denseWeight}}
			if q.question {
				fs = append(fs, feature{"says", says(m.Text), saysWeight})
			}
		}
		fs = append(fs, q.features(m)...)
		for _, f := range fs {
			total += f.weight
		}
		out[i] = r.weigh(fs, total)
	}
}

// bestOfSession is the best share of the turn channel in each session.
func (r *recipe) bestOfSession() map[string]float64 {
	best := map[string]float64{}
	for _, i := range r.places {
		name := r.cands[i].Memory.Talk.Session
		best[name] = max(best[name], r.share(Turn, r.scores(i)))
	}
	return best
}

// addressed is what a query says of whom and when it means.
type addressed struct {
	question bool
	named    map[string]bool // speakers that the query speaks of
	spans    []Span
	days     []Span
}

func (r *recipe) addressed() addressed {
	q := addressed{question: isQuestion(r.Text), named: map[string]bool{}}
	words := " " + plainWords(r.Text) + " "
	me := firstPerson(r.Text)
	for _, i := range r.places {
		name := r.cands[i].Memory.Talk.Speaker
		if _, seen := q.named[name]; name != "" && !seen {
			if names(words, name) || me && isUser(name) {
				q.named[name] = true
			}
		}
	}
	for _, s := range r.Spans {
		if s.Day {
			q.days = append(q.days, s)
		} else {
			q.spans = append(q.spans, s)
		}
	}
	return q
}

// features has one for each thing that the query names, so that their weights
// are the same for every memory.
func (q *addressed) features(m *memtypes.Memory) []feature {
	var fs []feature
	if len(q.named) > 0 {
		fs = append(fs, feature{"speaker", truth(q.named[m.Talk.Speaker]), speakerWeight})
	}
	when := m.When()
	if len(q.days) > 0 {
		on := slices.ContainsFunc(q.days, func(s Span) bool { return s.holds(when) })
		fs = append(fs, feature{"day", truth(on), dayWeight})
	}
	if len(q.spans) > 0 {
		in := slices.ContainsFunc(q.spans, func(s Span) bool { return s.holds(when) })
		late := slices.ContainsFunc(q.spans, func(s Span) bool { return s.late(when) })
		fs = append(fs, feature{"span", max(truth(in), truth(late)/2), spanWeight})
	}
	return fs
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// names reports whether words, a plainWords text between spaces, holds name or
// its first word; one letter is no name.
func names(words, name string) bool {
	plain := plainWords(name)
	first, _, _ := strings.Cut(plain, " ")
	if len([]rune(first)) < 2 {
		return false
	}
	if r := []rune(first)[0]; isHan(r) {
		return strings.Contains(words, first)
	}
	return strings.Contains(words, " "+first+" ")
}

// isUser reports whether a speaker is the role that a client gives to the
// person it serves: to them, a query's "I" is their own.
func isUser(speaker string) bool {
	s := strings.ToLower(speaker)
	return s == "user" || s == "human"
}

// fullSaying is the number of words at which says is 1.
const fullSaying = 84

// says grows with the words of text outside its question sentences, in [0,1]:
// a turn that only asks, greets or agrees seldom holds an answer.
func says(text string) float64 {
	return unit(math.Log1p(stated(text)) / math.Log(fullSaying))
}
