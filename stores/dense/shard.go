package dense

import (
	"sync"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/facet"
)

// The banks of a shard. A search in a space scans lone and the space's own: no
// vector is stored twice, and none is scanned in vain.
const (
	lone      = iota // text vectors of documents without a context vector: they serve both spaces
	ofText           // text vectors of documents that have a context vector
	ofContext        // the context vectors
	banks
)

// none is the row of a document that has no vector there.
const none = ^uint32(0)

// spot is the rows of a document: text in bank lone if context is none, else
// in bank ofText.
type spot struct{ text, context uint32 }

// shard is the documents of one tenant. A document's number stays the same for
// as long as it is held; the numbers of removed ones are given again.
type shard struct {
	tenant string

	mu     sync.RWMutex // guards what follows
	ids    []memtypes.ID
	facets []memtypes.Facets
	revs   []uint64
	spots  []spot
	free   []uint32
	set    facet.Set
	banks  [banks]bank
}

func newShard(tenant string, pad int) *shard {
	s := &shard{tenant: tenant}
	for i := range s.banks {
		s.banks[i].pad = pad
	}
	return s
}

// add takes in d, which is not held yet, and returns its number.
func (s *shard) add(d *Doc, rows *[2]*row) uint32 {
	doc := uint32(len(s.ids))
	if n := len(s.free); n > 0 {
		doc, s.free = s.free[n-1], s.free[:n-1]
	} else {
		s.ids, s.facets = append(s.ids, ""), append(s.facets, memtypes.Facets{})
		s.revs, s.spots = append(s.revs, 0), append(s.spots, spot{none, none})
	}
	s.set.Put(doc, d.Facets, nil)
	s.ids[doc], s.facets[doc], s.revs[doc] = d.ID, s.set.Shared(d.Facets), d.Rev
	s.place(doc, rows)
	return doc
}

// replace makes d the content of doc.
func (s *shard) replace(doc uint32, d *Doc, rows *[2]*row) {
	s.set.Put(doc, d.Facets, &s.facets[doc])
	s.facets[doc], s.revs[doc] = s.set.Shared(d.Facets), d.Rev
	s.clear(doc)
	s.place(doc, rows)
}

// remove forgets doc.
func (s *shard) remove(doc uint32) {
	s.set.Remove(doc, s.facets[doc])
	s.clear(doc)
	s.ids[doc], s.facets[doc], s.revs[doc] = "", memtypes.Facets{}, 0
	s.free = append(s.free, doc)
}

// place adds the text and context rows of doc, either of which may be nil.
func (s *shard) place(doc uint32, rows *[2]*row) {
	switch at := &s.spots[doc]; {
	case rows[0] == nil:
	case rows[1] == nil:
		at.text = s.banks[lone].add(doc, rows[0])
	default:
		at.text = s.banks[ofText].add(doc, rows[0])
		at.context = s.banks[ofContext].add(doc, rows[1])
	}
}

// clear removes the rows of doc.
func (s *shard) clear(doc uint32) {
	at := s.spots[doc]
	s.spots[doc] = spot{none, none}
	switch {
	case at.text == none:
	case at.context == none:
		if moved, ok := s.banks[lone].remove(at.text); ok {
			s.spots[moved].text = at.text
		}
	default:
		if moved, ok := s.banks[ofText].remove(at.text); ok {
			s.spots[moved].text = at.text
		}
		if moved, ok := s.banks[ofContext].remove(at.context); ok {
			s.spots[moved].context = at.context
		}
	}
}

// of is the bank and the row in which doc is found in sp; ok is false if it has no vector.
func (s *shard) of(doc uint32, sp Space) (b *bank, n int, ok bool) {
	switch at := s.spots[doc]; {
	case at.text == none:
		return nil, 0, false
	case at.context == none:
		return &s.banks[lone], int(at.text), true
	case sp == Context:
		return &s.banks[ofContext], int(at.context), true
	default:
		return &s.banks[ofText], int(at.text), true
	}
}

// in is the two banks that make up a space.
func (s *shard) in(sp Space) [2]*bank {
	if sp == Context {
		return [2]*bank{&s.banks[lone], &s.banks[ofContext]}
	}
	return [2]*bank{&s.banks[lone], &s.banks[ofText]}
}
