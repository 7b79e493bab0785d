package sparse

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
)

// search is one search under way and the memory it works in.
//
// It goes through the documents in windows (MaxScore, with the bounds of the
// blocks that a window meets). In each window, the lists that can add least
// are weak: a document that only weak lists hold stays below the floor, which
// is the score of the k-th best so far. So only the strong lists are read for
// candidates (gather.go). The weak ones are then asked about those alone, the
// strongest first, and candidates that cannot make it any more are dropped on
// the way (judge.go).
//
// What a list gives is single precision, sums are double: they are exact, and
// so the same in any order, unless parts differ by more than 2^25 times.
type search struct {
	shard      *shard
	place      int
	field      *postings
	inverse    norms
	foreign    *Stats // the query's own, if it has some
	exhaustive bool

	cursors  []cursor // all lists, by clause
	tables   []table  // by cursor
	clauses  []clause
	order    []*cursor // by what they give at most, least first
	filter   []uint64  // bit set: admitted; only if filtered
	filtered bool

	top   top
	floor float32 // below it, no document is kept

	widest, width uint32 // of the windows: at most, and of this one; powers of 2 from 64 up

	// Of the window, by place (the document's number modulo window):
	lengths *[window]uint8      // of the field's documents
	tail    [window]uint8       // lengths at the end of the field
	sums    [window]float64     // what documents have been given so far; 0 between windows
	best    peaks               // by one clause; 0 between clauses
	more    peaks               // the same of candidates, while they are completed
	few     bool                // few documents are touched: they are listed
	listed  [window + 1]uint32  // those, each once; the last is never one
	count   int                 // how many
	sorted  [window / 64]uint64 // scratch of sort; 0 otherwise
	alive   [window]uint32      // candidates
	living  int                 // how many
	weak    []*clause           // those with weak lists, the strongest first
	rest    []float64           // rest[i]: what weak[i:] can add together
}

// window is how many document numbers are taken at a time at most, shortest how
// many where the lists are long: what a search writes to all over should then
// fit the first cache. In between, a window has about as many postings as are
// wanted. The first is shorter still, and the next are twice as long each: as
// long as little is known of the floor, little should be read.
const (
	window   = 8192
	shortest = 2048
	wanted   = 2048
	first    = 1024
)

// peaks is the best of some scores, by place in the window: their bits, which
// for numbers that are not negative order as the numbers do.
type peaks [window]uint32

// seekCost is what one look-up costs, in postings read.
const seekCost = 10

// longShare is how many postings a window has, as one in so many documents,
// from which going over all of it is cheaper than listing what is touched.
const longShare = 4

// denseShare is how much of the floor weak lists may make up where the strong
// ones are long: with less, more postings are read, but fewer candidates are
// left, and asking for many costs more than reading.
const denseShare = .3

// clause is a term of the query with all that may stand in for it.
type clause struct {
	lists    []cursor
	weak     float32 // what its weak lists give at most in the window
	strong   int     // how many of its lists are strong there
	postings int     // about how many those have there
	best     *peaks  // what those have given, if there are weak ones too
}

// release lets go of the shard, so that the pool does not keep it alive, and
// of space that few queries need.
func (s *search) release() {
	clear(s.cursors)
	clear(s.order)
	s.shard, s.field, s.lengths, s.top.docs, s.foreign = nil, nil, nil, nil, nil
	if cap(s.tables) > 256 {
		s.tables = nil
	}
	if cap(s.clauses) > 64 {
		s.clauses = nil
	}
}

// run offers every document that may be among the best to s.top. It reports
// false if ctx ended first.
func (s *search) run(ctx context.Context) bool {
	s.order = s.order[:0]
	postings, docs := 0, len(s.shard.docs)
	for i := range s.cursors {
		s.order = append(s.order, &s.cursors[i])
		postings += int(s.cursors[i].list.df)
	}
	slices.SortStableFunc(s.order, func(a, b *cursor) int { return cmp.Compare(a.most, b.most) })
	widest := s.widest
	for widest > shortest && postings*int(widest) > docs*wanted {
		widest /= 2
	}
	s.floor = 0
	s.plant()
	for lo := uint32(0); int(lo) < docs; lo += s.width {
		if lo%(4*window) == 0 && ctx.Err() != nil {
			return false
		}
		s.width = min(max(first, lo&-lo), widest)
		s.scan(lo)
	}
	return true
}

// scan takes the window that begins at lo.
func (s *search) scan(lo uint32) {
	admitted := s.admitted(lo)
	if s.filtered && len(admitted) == 0 {
		return
	}
	strong, postings := s.split(lo)
	if strong == 0 {
		return
	}
	s.measure(lo)
	if s.filtered && count(admitted)*strong*seekCost < postings {
		s.weaken()
		s.few = true
		s.list(lo, admitted)
	} else {
		s.few = postings < int(s.width)/longShare
		for i := range s.clauses {
			s.gather(&s.clauses[i], lo)
		}
	}
	s.rank()
	s.collect(lo)
	s.judge(lo)
	s.wipe(lo)
}

// admitted is the part of the filter for the window at lo; nothing if it
// admits no document there.
func (s *search) admitted(lo uint32) []uint64 {
	if from := int(lo / 64); s.filtered && from < len(s.filter) {
		words := s.filter[from:min(from+int(s.width/64), len(s.filter))]
		if slices.ContainsFunc(words, func(w uint64) bool { return w != 0 }) {
			return words
		}
	}
	return nil
}

// list lists the documents of words as touched.
func (s *search) list(lo uint32, words []uint64) {
	for i, w := range words {
		for ; w != 0; w &= w - 1 {
			s.listed[s.count] = (lo + uint32(i*64+bits.TrailingZeros64(w))) % window
			s.count++
		}
	}
}

func count(words []uint64) (n int) {
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}

// measure sets s.lengths for the window at lo.
func (s *search) measure(lo uint32) {
	if all := s.field.lengths[lo&^(window-1):]; len(all) >= window {
		s.lengths = (*[window]uint8)(all)
	} else {
		copy(s.tail[:], all)
		s.lengths = &s.tail
	}
}

// split gives the lists their roles in the window at lo. It returns how many
// are strong, and about how many postings those have there.
func (s *search) split(lo uint32) (lists, postings int) {
	for _, l := range s.order {
		l.here = l.bound(lo, lo+s.width, &s.inverse)
	}
	if lists, postings = s.divide(s.floor); postings >= int(s.width)/longShare {
		lists, postings = s.divide(s.floor * denseShare)
	}
	return lists, postings
}

// divide makes lists weak, those that give least first, while they can give a
// document less than most together.
func (s *search) divide(most float32) (lists, postings int) {
	for i := range s.clauses {
		s.clauses[i].weak, s.clauses[i].strong, s.clauses[i].postings = 0, 0, 0
	}
	sum := 0.0 // what the weak lists can give a document together
	for _, l := range s.order {
		if l.role = absent; l.here == 0 {
			continue
		}
		c := &s.clauses[l.clause]
		more := float64(max(l.here, c.weak)) - float64(c.weak)
		if float32(sum+more) < most {
			l.role = weak
			c.weak = max(c.weak, l.here)
			sum += more
			continue
		}
		l.role = strong
		c.strong++
		n := s.share(l)
		c.postings += n
		postings += n
		lists++
	}
	return lists, postings
}

// share is about how many of the list's postings a window has.
func (s *search) share(l *cursor) int { return int(l.list.df)*int(s.width)/len(s.shard.docs) + 1 }

// weaken makes the strong lists weak, for when the candidates come from the filter.
func (s *search) weaken() {
	for i := range s.cursors {
		if l := &s.cursors[i]; l.role == strong {
			c := &s.clauses[l.clause]
			l.role, c.strong, c.weak = weak, 0, max(c.weak, l.here)
		}
	}
}

// rank sets s.weak and s.rest.
func (s *search) rank() {
	s.weak, s.rest = s.weak[:0], s.rest[:0]
	for i := range s.clauses {
		if s.clauses[i].weak > 0 {
			s.weak = append(s.weak, &s.clauses[i])
			s.rest = append(s.rest, 0)
		}
	}
	slices.SortStableFunc(s.weak, func(a, b *clause) int { return cmp.Compare(b.weak, a.weak) })
	sum := 0.0
	for i, c := range slices.Backward(s.weak) {
		sum += float64(c.weak)
		s.rest[i] = sum
	}
}

// wipe makes the sums zero again.
func (s *search) wipe(lo uint32) {
	if s.few {
		for _, at := range s.listed[:s.count] {
			s.sums[at%window] = 0
		}
		s.count = 0
		return
	}
	clear(s.sums[lo%window:][:s.width])
}
