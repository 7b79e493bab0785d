package facet

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/vimbank/vimbank/memtypes"
)

// intersect is the documents in all parts, beginning with the smallest part,
// so that the work is bounded by it; nil if there are no parts.
func intersect(parts []*roaring.Bitmap) *roaring.Bitmap {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	slices.SortFunc(parts, func(a, b *roaring.Bitmap) int { return cmp.Compare(a.GetCardinality(), b.GetCardinality()) })
	in := roaring.And(parts[0], parts[1])
	for _, p := range parts[2:] {
		in.And(p)
	}
	return in
}

// numbers is the documents of ids.
func (s *Set) numbers(ids []memtypes.ID, number func(memtypes.ID) (uint32, bool)) *roaring.Bitmap {
	docs := make([]uint32, 0, len(ids))
	for _, id := range ids {
		if d, ok := number(id); ok {
			docs = append(docs, d)
		}
	}
	slices.Sort(docs) // a bitmap is made from numbers in order at once
	out := roaring.BitmapOf(docs...)
	out.And(&s.live) // what number says may be of a moment ago
	return out
}

// require adds the documents whose facet has value v, unless all have it; an
// empty v asks for nothing.
func (s *Set) require(parts []*roaring.Bitmap, facet int, v string) []*roaring.Bitmap {
	if v == "" {
		return parts
	}
	return s.add(parts, s.having(facet, v))
}

// add adds part to parts, unless it holds all documents.
func (s *Set) add(parts []*roaring.Bitmap, part *roaring.Bitmap) []*roaring.Bitmap {
	if part.GetCardinality() == s.live.GetCardinality() {
		return parts
	}
	return append(parts, part)
}

// anyOf adds the documents whose facet has one of vs, unless all have; an
// empty vs asks for nothing.
func anyOf[T ~string](s *Set, parts []*roaring.Bitmap, facet int, vs []T) []*roaring.Bitmap {
	switch len(vs) {
	case 0:
		return parts
	case 1:
		return s.add(parts, s.having(facet, string(vs[0])))
	}
	union := roaring.New()
	for _, v := range vs {
		union.Or(s.having(facet, string(v)))
	}
	return s.add(parts, union)
}

// having is a bitmap that only the Set may change.
func (s *Set) having(facet int, v string) *roaring.Bitmap {
	if b := s.by[facet][v]; b != nil {
		return &b.Bitmap
	}
	return roaring.New()
}

// during is the documents of in (nil: of all) whose time is in [from, to). It
// looks at the time of each, about a nanosecond apiece.
func (s *Set) during(in *roaring.Bitmap, from, to time.Time) *roaring.Bitmap {
	if in == nil {
		in = &s.live
	}
	lo, hi := seconds(from, -1<<63), seconds(to, 1<<63-1)
	words := in.ToDense()
	for i, w := range words {
		keep := w
		for ; w != 0; w &= w - 1 {
			bit := bits.TrailingZeros64(w)
			if t := s.whens[i<<6|bit]; t < lo || t >= hi {
				keep &^= 1 << bit
			}
		}
		words[i] = keep
	}
	return roaring.FromDense(words, false)
}

// seconds is the first whole second at or after t: a time of whole seconds is
// before t exactly if it is before that second. A zero t gives unbounded.
func seconds(t time.Time, unbounded int64) int64 {
	if t.IsZero() {
		return unbounded
	}
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return s
}
