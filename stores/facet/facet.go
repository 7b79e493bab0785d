// Package facet keeps, for an in-process index, which documents have which
// facets, as compressed bitmaps, and answers a memtypes.Filter with the bitmap
// of the documents it admits. A filter therefore makes a search cheaper.
//
// It leaves locking, tenants (one Set a tenant) and the numbering of documents
// to the index that owns the Set. Numbers should be small and given again after
// a Remove: a time is kept for each number up to the highest.
package facet

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/vimbank/vimbank/memtypes"
)

// Set is the facets of the documents of one tenant. The zero Set is empty and
// ready to use. It is not safe for concurrent use while Put or Remove runs;
// its other methods may run side by side.
type Set struct {
	live  roaring.Bitmap
	by    [facets]map[string]*docs
	whens []int64 // Unix seconds, by document
}

// docs is the documents that have one value of a facet.
type docs struct {
	value string
	roaring.Bitmap
}

// The facets that a Filter can name, besides time.
const (
	user = iota
	agent
	run
	kind
	layer
	session
	facets
)

func values(f *memtypes.Facets) [facets]string {
	return [facets]string{
		user: f.Scope.User(), agent: f.Scope.Agent(), run: f.Scope.Run(),
		kind: string(f.Kind), layer: string(f.Layer), session: f.Session,
	}
}

// unasked reports whether no Filter can ask for v: an empty name stands for
// "any" there, but an empty kind or layer is a kind or layer like others.
func unasked(facet int, v string) bool { return v == "" && facet != kind && facet != layer }

// Put sets the facets of doc, replacing what it had if old is not nil.
func (s *Set) Put(doc uint32, f memtypes.Facets, old *memtypes.Facets) {
	if old != nil {
		s.Remove(doc, *old)
	}
	s.live.Add(doc)
	for int(doc) >= len(s.whens) {
		s.whens = append(s.whens, 0)
	}
	s.whens[doc] = f.When.Unix()
	for i, v := range values(&f) {
		if unasked(i, v) {
			continue
		}
		if s.by[i] == nil {
			s.by[i] = map[string]*docs{}
		}
		b := s.by[i][v]
		if b == nil {
			b = &docs{value: v}
			s.by[i][v] = b
		}
		b.Add(doc)
	}
}

// Remove forgets doc, which was put with f.
func (s *Set) Remove(doc uint32, f memtypes.Facets) {
	s.live.Remove(doc)
	for i, v := range values(&f) {
		if b := s.by[i][v]; b != nil {
			b.Remove(doc)
			if b.IsEmpty() {
				delete(s.by[i], v)
			}
		}
	}
}

// Shared is f, whose document has been put, with the Set's own copies of its
// names: an index that keeps it does not keep each document's own strings alive.
func (s *Set) Shared(f memtypes.Facets) memtypes.Facets {
	v := values(&f)
	for i := range v {
		if b := s.by[i][v[i]]; b != nil {
			v[i] = b.value
		}
	}
	f.Kind, f.Layer, f.Session = memtypes.Kind(v[kind]), memtypes.Layer(v[layer]), v[session]
	if scope, err := memtypes.NewScope(f.Scope.Tenant(), v[user], v[agent], v[run]); err == nil {
		f.Scope = scope
	}
	return f
}

// Len is the number of documents.
func (s *Set) Len() int { return int(s.live.GetCardinality()) }

// Admitted returns the documents that q admits, nil if it admits all; its
// tenant is the owner's to check. number tells the document of an ID. The
// bitmap may be the Set's own: it must not be changed, nor be used after the
// next Put or Remove. A facet that all documents share costs nothing.
func (s *Set) Admitted(q *memtypes.Filter, number func(memtypes.ID) (uint32, bool)) *roaring.Bitmap {
	var room [facets + 1]*roaring.Bitmap
	parts := room[:0] // all of them must hold a document
	if q.IDs != nil {
		parts = append(parts, s.numbers(q.IDs, number))
	}
	parts = s.require(parts, user, q.Scope.User())
	parts = s.require(parts, agent, q.Scope.Agent())
	parts = s.require(parts, run, q.Scope.Run())
	parts = s.require(parts, session, q.Session)
	parts = anyOf(s, parts, kind, q.Kinds)
	parts = anyOf(s, parts, layer, q.Layers)
	in := intersect(parts)
	if !q.From.IsZero() || !q.To.IsZero() {
		in = s.during(in, q.From, q.To)
	}
	return in
}
