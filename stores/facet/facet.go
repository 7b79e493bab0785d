// Package facet keeps, for an in-process index, which documents have which
// facets, as compressed bitmaps, and answers a memtypes.Filter with the bitmap
// of the documents it admits. A filter therefore makes a search cheaper.
//
// It leaves locking, tenants (one Set a tenant) and the numbering of documents
// to the index that owns the Set.
package facet

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/vimbank/vimbank/memtypes"
)

// Set is the facets of the documents of one tenant. The zero Set is empty and
// ready to use. It is not safe for concurrent use while Put or Remove runs.
type Set struct {
	live  roaring.Bitmap
	by    [facets]map[string]*roaring.Bitmap
	whens map[uint32]int64 // Unix seconds
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

// Put sets the facets of doc, replacing what it had if old is not nil.
func (s *Set) Put(doc uint32, f memtypes.Facets, old *memtypes.Facets) {
	if old != nil {
		s.Remove(doc, *old)
	}
	if s.whens == nil {
		s.whens = map[uint32]int64{}
		for i := range s.by {
			s.by[i] = map[string]*roaring.Bitmap{}
		}
	}
	s.live.Add(doc)
	s.whens[doc] = f.When.Unix()
	for i, v := range values(&f) {
		if v == "" {
			continue
		}
		b := s.by[i][v]
		if b == nil {
			b = roaring.New()
			s.by[i][v] = b
		}
		b.Add(doc)
	}
}

// Remove forgets doc, which was put with f.
func (s *Set) Remove(doc uint32, f memtypes.Facets) {
	s.live.Remove(doc)
	delete(s.whens, doc)
	for i, v := range values(&f) {
		if b := s.by[i][v]; b != nil {
			b.Remove(doc)
			if b.IsEmpty() {
				delete(s.by[i], v)
			}
		}
	}
}

// Len is the number of documents.
func (s *Set) Len() int { return int(s.live.GetCardinality()) }

// Admitted returns the documents that q admits; its tenant is the owner's to
// check. number tells the document of an ID. The bitmap is the caller's own.
func (s *Set) Admitted(q *memtypes.Filter, number func(memtypes.ID) (uint32, bool)) *roaring.Bitmap {
	in := s.live.Clone()
	if q.IDs != nil {
		ids := roaring.New()
		for _, id := range q.IDs {
			if d, ok := number(id); ok {
				ids.Add(d)
			}
		}
		in.And(ids)
	}
	s.require(in, user, q.Scope.User())
	s.require(in, agent, q.Scope.Agent())
	s.require(in, run, q.Scope.Run())
	s.require(in, session, q.Session)
	anyOf(s, in, kind, q.Kinds)
	anyOf(s, in, layer, q.Layers)
	if !q.From.IsZero() || !q.To.IsZero() {
		s.during(in, q)
	}
	return in
}

// require keeps the documents whose facet has value v; an empty v keeps all.
func (s *Set) require(in *roaring.Bitmap, facet int, v string) {
	if v == "" {
		return
	}
	if b := s.by[facet][v]; b != nil {
		in.And(b)
	} else {
		in.Clear()
	}
}

// during keeps the documents of [q.From, q.To).
func (s *Set) during(in *roaring.Bitmap, q *memtypes.Filter) {
	out := roaring.New()
	for it := in.Iterator(); it.HasNext(); {
		d := it.Next()
		w := s.whens[d]
		if (q.From.IsZero() || w >= q.From.Unix()) && (q.To.IsZero() || w < q.To.Unix()) {
			out.Add(d)
		}
	}
	in.And(out)
}

// anyOf keeps the documents whose facet has one of vs; an empty vs keeps all.
func anyOf[T ~string](s *Set, in *roaring.Bitmap, facet int, vs []T) {
	if len(vs) == 0 {
		return
	}
	union := roaring.New()
	for _, v := range vs {
		if b := s.by[facet][string(v)]; b != nil {
			union.Or(b)
		}
	}
	in.And(union)
}
