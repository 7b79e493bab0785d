package sparse

import (
	"strings"
	"sync/atomic"

	"github.com/kljensen/snowball/english"
)

// stem gives what the index holds for a word: the stem of an English one (its
// dictionary form's, if it is irregular), every other as it is.
func (a *Analyzer) stem(w string) string {
	for i := range len(w) {
		if c := w[i]; (c < 'a' || c > 'z') && c != '\'' {
			return w
		}
	}
	return a.stems.get(w, a.stemNew)
}

func (a *Analyzer) stemNew(w string) string {
	if base, ok := a.lemmas[w]; ok {
		w = base
	}
	if a.whole[w] {
		return w
	}
	return english.Stem(w, true)
}

// stemCache remembers the stems of recent words: each word has one slot, which
// the latest takes. It is safe for concurrent use.
type stemCache [1 << 13]atomic.Pointer[Token]

func (c *stemCache) get(w string, stem func(string) string) string {
	h := uint32(2166136261) // FNV-1a
	for i := range len(w) {
		h = (h ^ uint32(w[i])) * 16777619
	}
	slot := &c[(h^h>>15)%uint32(len(c))]
	if t := slot.Load(); t != nil && t.Surface == w {
		return t.Token
	}
	t := &Token{Surface: strings.Clone(w)} // w may be a part of a whole text
	if t.Token = stem(t.Surface); t.Token == w {
		t.Token = t.Surface
	}
	slot.Store(t)
	return t.Token
}

// stopWords is the classic list of Lucene's English analyzer.
func stopWords() map[string]bool {
	stops := map[string]bool{}
	for w := range strings.FieldsSeq(`a an and are as at be but by for if in into is it no not of on or such
		that the their then there these they this to was will with`) {
		stops[w] = true
	}
	return stops
}

// whole are dictionary forms that the stemmer would make one with another
// word: evening with even, organize with organ, university with universe.
func whole() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq("evening university universal international internal interval organize emergency lateral") {
		words[w] = true
	}
	return words
}

// irregular maps irregular forms of verbs and nouns, and those of the whole
// words, to the dictionary form.
// Forms that are as often another word (rose, bit, lives, bore) are left out.
func irregular() map[string]string {
	const forms = `add added adding; become became; begin began begun; bend bent; bite bitten; bleed bled; blow blew blown;
		break broke broken; breed bred; bring brought; build built; burn burnt; buy bought; catch caught;
		choose chose chosen; come came; creep crept; deal dealt; dig dug; do does did done; draw drew drawn;
		dream dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt;
		fight fought; find found; flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten;
		forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go goes went gone;
		grow grew grown; hang hung; have has had; hear heard; hide hid hidden; hold held; keep kept; kneel knelt;
		know knew known; lay laid; lead led; leap leapt; learn learnt; leave left; lend lent; lose lost; make made;
		mean meant; meet met; mistake mistook mistaken; overcome overcame; pay paid; prove proven; ride rode ridden;
		ring rang rung; rise risen; run ran; say said; see saw seen; seek sought; sell sold; send sent; sew sewn;
		shake shook shaken; shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung;
		sink sank sunk; sit sat; sleep slept; slide slid; speak spoke spoken; spend spent; spin spun; stand stood;
		steal stole stolen; stick stuck; sting stung; strike struck; swear swore sworn; sweep swept; swim swam swum;
		swing swung; take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown;
		understand understood; wake woke woken; wear wore worn; weep wept; win won; withdraw withdrew withdrawn;
		write wrote written;
		child children; man men; woman women; person people; foot feet; tooth teeth; mouse mice; goose geese;
		ox oxen; wife wives; knife knives; wolf wolves; shelf shelves; thief thieves; loaf loaves; calf calves;
		half halves; scarf scarves;
		evening evenings; university universities; universal universally; international internationally; internal internally;
		interval intervals; organize organized organizes organizing organizer organizers organization organizations;
		emergency emergencies; lateral laterally`
	lemmas := map[string]string{}
	for entry := range strings.SplitSeq(forms, ";") {
		words := strings.Fields(entry)
		for _, form := range words[1:] {
			lemmas[form] = words[0]
		}
	}
	return lemmas
}
