package sparse

import (
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/facet"
)

// fields is how many Fields there are; inside the index a field is its place
// among them.
const fields = 3

// place is where f stands in Fields.
func (f Field) place() (int, bool) {
	for i, g := range Fields() {
		if f == g {
			return i, true
		}
	}
	return 0, false
}

// shard is the index of one tenant. Nothing in it depends on another tenant's
// documents: neither the statistics, nor the numbers.
type shard struct {
	tenant string
	docs   []document // by number
	free   []uint32   // numbers of documents that are gone
	words  dictionary
	fields [fields]postings
	facets facet.Set
	labels labels

	old, new parsed   // scratch of put and remove
	terms    []uint32 // scratch of put
}

// document is what is kept of a memory besides its postings.
type document struct {
	id      memtypes.ID // "" where the number is free
	label   uint32      // its facets but the time
	session uint32      // 0: none
	when    int64       // Unix seconds
	packed  []byte      // its terms, see parsed.pack
}

// postings is one field of a shard.
type postings struct {
	docs    int     // that have the field
	tokens  int64   // in them
	lengths []uint8 // the length byte of each document; 0 where it has no such field
	lists   []list  // by term
}

// labels numbers the facets that many documents share.
type labels struct {
	numbers  map[memtypes.Facets]uint32 // with a zero time
	facets   []memtypes.Facets
	sessions map[string]uint32 // from 1 up
}

func (l *labels) number(f memtypes.Facets) (label, session uint32) {
	if l.numbers == nil {
		l.numbers, l.sessions = map[memtypes.Facets]uint32{}, map[string]uint32{"": 0}
	}
	f.When = time.Time{}
	label, ok := l.numbers[f]
	if !ok {
		label = uint32(len(l.facets))
		l.facets = append(l.facets, f)
		l.numbers[f] = label
	}
	session, ok = l.sessions[f.Session]
	if !ok {
		session = uint32(len(l.sessions))
		l.sessions[f.Session] = session
	}
	return label, session
}

// facetsOf gives the facets of a document, as they were put.
func (s *shard) facetsOf(d *document) memtypes.Facets {
	f := s.labels.facets[d.label]
	f.When = time.Unix(d.when, 0).UTC()
	return f
}

// add puts a document that the shard does not hold and gives its number.
func (s *shard) add(d *Doc) uint32 {
	var n uint32
	if last := len(s.free) - 1; last >= 0 {
		n, s.free = s.free[last], s.free[:last]
	} else {
		n = uint32(len(s.docs))
		s.docs = append(s.docs, document{})
		for f := range s.fields {
			s.fields[f].lengths = append(s.fields[f].lengths, 0)
		}
	}
	s.old.clear()
	s.parse(d)
	s.change(n)
	s.describe(n, d, nil)
	return n
}

// replace puts a document in the place of number n. Only postings that differ
// are touched: most updates change a memory's neighbours, not its words.
func (s *shard) replace(n uint32, d *Doc) {
	s.old.unpack(s.docs[n].packed)
	s.parse(d)
	s.change(n)
	before := s.facetsOf(&s.docs[n])
	s.describe(n, d, &before)
}

// remove takes document n out.
func (s *shard) remove(n uint32) {
	d := &s.docs[n]
	s.old.unpack(d.packed)
	s.new.clear()
	s.change(n)
	s.facets.Remove(n, s.facetsOf(d))
	*d = document{}
	s.free = append(s.free, n)
}

// live is how many documents the shard holds.
func (s *shard) live() int { return len(s.docs) - len(s.free) }

// describe keeps what is known of d besides its postings; before is what its
// facets were, if it was held.
func (s *shard) describe(n uint32, d *Doc, before *memtypes.Facets) {
	label, session := s.labels.number(d.Facets)
	when := d.Facets.When.Unix()
	if old := &s.docs[n]; before == nil || old.label != label || old.when != when {
		s.facets.Put(n, d.Facets, before)
	}
	s.docs[n] = document{id: d.ID, label: label, session: session, when: when, packed: s.new.pack()}
}

// parse sets s.new to the terms of d.
func (s *shard) parse(d *Doc) {
	s.new.clear()
	for i, f := range Fields() {
		s.terms = s.terms[:0]
		for _, token := range d.Fields[f] {
			s.terms = append(s.terms, s.words.number(token))
		}
		s.new.lengths[i] = len(s.terms)
		s.new.terms[i] = countTerms(s.new.terms[i], s.terms)
	}
}

// change makes the postings of document n those of s.new, which were s.old's.
func (s *shard) change(n uint32) {
	for f := range s.fields {
		for _, t := range s.new.terms[f] { // first, so that no number is freed between
			s.words.use(t.term)
		}
		s.fields[f].grow(len(s.words.names))
		s.fields[f].change(n, s.old.terms[f], s.new.terms[f], s.old.lengths[f], s.new.lengths[f])
	}
	for f := range s.fields {
		for _, t := range s.old.terms[f] {
			s.words.drop(t.term)
		}
	}
}

// grow makes room for the lists of terms terms.
func (p *postings) grow(terms int) {
	for len(p.lists) < terms {
		p.lists = append(p.lists, list{})
	}
}

// change makes the field of document n hold now instead of was; both are
// sorted by term.
func (p *postings) change(n uint32, was, now []termFreq, oldLen, newLen int) {
	old, length := p.lengths[n], encodeLength(newLen)
	p.lengths[n] = length
	p.tokens += int64(newLen) - int64(oldLen)
	if oldLen > 0 {
		p.docs--
	}
	if newLen > 0 {
		p.docs++
	}
	for len(was) > 0 || len(now) > 0 {
		switch {
		case len(was) == 0 || len(now) > 0 && now[0].term < was[0].term:
			p.lists[now[0].term].insert(newPosting(n, int(now[0].tf)), p.lengths)
			now = now[1:]
		case len(now) == 0 || was[0].term < now[0].term:
			p.lists[was[0].term].remove(newPosting(n, int(was[0].tf)), old, p.lengths)
			was = was[1:]
		default:
			l, from, to := &p.lists[now[0].term], newPosting(n, int(was[0].tf)), newPosting(n, int(now[0].tf))
			if from != to {
				l.remove(from, old, p.lengths)
				l.insert(to, p.lengths)
			} else if old != length {
				l.resize(to, old, p.lengths)
			}
			was, now = was[1:], now[1:]
		}
	}
}

func (p *parsed) clear() {
	for f := range p.terms {
		p.terms[f], p.lengths[f] = p.terms[f][:0], 0
	}
}

// list gives the postings of token in a field; nil where no document has it.
func (s *shard) list(field int, token string) *list {
	n, ok := s.words.numbers[token]
	if !ok || int(n) >= len(s.fields[field].lists) || s.fields[field].lists[n].df == 0 {
		return nil
	}
	return &s.fields[field].lists[n]
}

// frequency is the true frequency of a list's token in a document that holds it.
func (s *shard) frequency(doc uint32, field int, l *list) int {
	var p parsed
	p.unpack(s.docs[doc].packed)
	for _, t := range p.terms[field] {
		if &s.fields[field].lists[t.term] == l {
			return int(t.tf)
		}
	}
	return tfMany
}
