package sparse

import (
	"context"
	"math/bits"
	"slices"
)

// search is one search under way and the memory it works in.
//
// It goes through the documents in windows (MaxScore, with the bounds of the
// blocks that a window meets). A window's clauses stand in order of what they
// can add at most there. The weakest that together stay below the floor, the
// score of the k-th best so far, cannot bring a document among the best on
// their own: only the others' postings are read, and the weak ones are asked
// about those documents alone, until it is clear that one cannot make it.
type search struct {
	shard      *shard
	place      int
	field      *postings
	inverse    norms
	exhaustive bool

	clauses  []clause
	order    []*clause // by what they can add, weakest first
	rest     []float64 // what order[:i+1] can add together
	filter   []uint64  // bit set: admitted; only if filtered
	filtered bool
	admitted int // documents

	top  top
	sums [window]float64 // of a window's documents
	best [window]float32 // of one clause with several lists
	seen [window / 64]uint64
}

// window is how many document numbers are taken at a time.
const window = 2048

// clause is a term of the query with all that may stand in for it.
type clause struct {
	lists []cursor
	bound float32 // what it adds at most to any document
	here  float32 // in this window, or in any document
}

// release lets go of the shard, so that the pool does not keep it alive.
func (s *search) release() {
	for i := range s.clauses {
		clear(s.clauses[i].lists)
	}
	s.shard, s.field, s.clauses, s.top.docs = nil, nil, s.clauses[:0], nil
}

// newClause appends an empty clause, with the space of an earlier one.
func (s *search) newClause() *clause {
	if len(s.clauses) < cap(s.clauses) {
		s.clauses = s.clauses[:len(s.clauses)+1]
	} else {
		s.clauses = append(s.clauses, clause{})
	}
	c := &s.clauses[len(s.clauses)-1]
	c.lists, c.bound = c.lists[:0], 0
	return c
}

// run offers every document that may be among the best to s.top. It reports
// false if ctx ended first.
func (s *search) run(ctx context.Context) bool {
	s.order = s.order[:0]
	postings := 0
	lists := 0
	for i := range s.clauses {
		s.order = append(s.order, &s.clauses[i])
		for j := range s.clauses[i].lists {
			postings += int(s.clauses[i].lists[j].list.df)
			lists++
		}
	}
	// To look a document up costs about as much as ten postings read in a row.
	if s.filtered && s.admitted*lists*10 < postings {
		return s.byDocument(ctx)
	}
	return s.byWindow(ctx)
}

// byDocument asks about each admitted document.
func (s *search) byDocument(ctx context.Context) bool {
	s.rank(func(c *clause) float32 { return c.bound })
	asked := 0
	for i, word := range s.filter {
		for ; word != 0; word &= word - 1 {
			if asked++; asked%1024 == 0 && ctx.Err() != nil {
				return false
			}
			s.finish(uint32(i*64+bits.TrailingZeros64(word)), 0, len(s.order))
		}
	}
	return true
}

// byWindow goes through all windows in which a clause that matters has postings.
func (s *search) byWindow(ctx context.Context) bool {
	for turn, lo := 0, uint32(0); ; turn++ {
		if turn%16 == 0 && ctx.Err() != nil {
			return false
		}
		next, ok := s.next(lo)
		if !ok {
			return true
		}
		lo = next &^ (window - 1)
		s.scan(lo)
		lo += window
	}
}

// next is the least document from lo on in any list that matters.
func (s *search) next(lo uint32) (least uint32, ok bool) {
	strong := s.rank(func(c *clause) float32 { return c.bound })
	for _, c := range s.order[strong:] {
		for i := range c.lists {
			if doc, more := c.lists[i].next(lo); more && (!ok || doc < least) {
				least, ok = doc, true
			}
		}
	}
	return least, ok
}

// rank puts the clauses in order of what they can add at most, sums that up in
// s.rest, and gives the first of the strong ones: those before it, together,
// stay below the floor.
func (s *search) rank(most func(*clause) float32) (strong int) {
	for _, c := range s.order {
		c.here = most(c)
	}
	slices.SortStableFunc(s.order, func(a, b *clause) int {
		switch {
		case a.here < b.here:
			return -1
		case a.here > b.here:
			return 1
		}
		return 0
	})
	s.rest = s.rest[:0]
	sum := 0.0
	floor := s.floor()
	for _, c := range s.order {
		sum += float64(c.here)
		s.rest = append(s.rest, sum)
		if float32(sum) < floor {
			strong++
		}
	}
	return strong
}

func (s *search) floor() float32 {
	if s.exhaustive {
		return 0
	}
	return s.top.floor()
}

// scan takes the window that begins at lo.
func (s *search) scan(lo uint32) {
	strong := s.rank(func(c *clause) float32 {
		most := float32(0)
		for i := range c.lists {
			most = max(most, c.lists[i].bound(lo, lo+window, &s.inverse))
		}
		return most
	})
	for _, c := range s.order[strong:] {
		if c.here > 0 {
			s.gather(c, lo)
		}
	}
	for i, word := range s.seen {
		s.seen[i] = 0
		at := int(lo) + i*64
		if all := word; s.filtered {
			word &= s.admittedAt(at)
			for all &^= word; all != 0; all &= all - 1 {
				s.sums[i*64+bits.TrailingZeros64(all)] = 0
			}
		}
		for ; word != 0; word &= word - 1 {
			bit := bits.TrailingZeros64(word)
			score := s.sums[i*64+bit]
			s.sums[i*64+bit] = 0
			s.finish(uint32(at+bit), score, strong)
		}
	}
}

func (s *search) admittedAt(doc int) uint64 {
	if doc/64 < len(s.filter) {
		return s.filter[doc/64]
	}
	return 0
}

// finish adds to the score of doc what the weak clauses, order[:weak], give
// it, strongest first, and offers it, unless it is clear that it cannot pass.
func (s *search) finish(doc uint32, score float64, weak int) {
	for i := weak - 1; i >= 0; i-- {
		if float32(score+s.rest[i]) < s.floor() {
			return
		}
		most := float32(0)
		for j := range s.order[i].lists {
			most = max(most, s.scoreAt(&s.order[i].lists[j], doc))
		}
		score += float64(most)
	}
	s.top.offer(found{doc, float32(score)})
}

// scoreAt is what the list of c gives doc; 0 if doc is not in it.
func (s *search) scoreAt(c *cursor, doc uint32) float32 {
	p, ok := c.seek(doc)
	if !ok {
		return 0
	}
	return s.score(c, p)
}

func (s *search) score(c *cursor, p posting) float32 {
	tf := p.tf()
	if tf == tfMany {
		tf = s.shard.frequency(p.doc(), s.place, c.list)
	}
	return saturate(c.weight, float32(tf), s.inverse[s.field.lengths[p.doc()]])
}

// gather adds the scores of a clause to the sums of the window at lo.
func (s *search) gather(c *clause, lo uint32) {
	if len(c.lists) == 1 {
		l := &c.lists[0]
		for posts := range l.within(lo, lo+window) {
			for _, p := range posts {
				at := (p.doc() - lo) % window
				s.sums[at] += float64(s.score(l, p))
				s.seen[at/64] |= 1 << (at % 64)
			}
		}
		return
	}
	var touched [window / 64]uint64
	for i := range c.lists {
		l := &c.lists[i]
		for posts := range l.within(lo, lo+window) {
			for _, p := range posts {
				at := (p.doc() - lo) % window
				s.best[at] = max(s.best[at], s.score(l, p))
				touched[at/64] |= 1 << (at % 64)
			}
		}
	}
	for i, word := range touched {
		s.seen[i] |= word
		for ; word != 0; word &= word - 1 {
			at := i*64 + bits.TrailingZeros64(word)
			s.sums[at] += float64(s.best[at])
			s.best[at] = 0
		}
	}
}
