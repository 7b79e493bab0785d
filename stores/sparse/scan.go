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
// candidates. The weak ones are then asked about those alone, the strongest
// first, and candidates that cannot make it any more are dropped on the way.
//
// What a list gives is single precision, sums are double: they are exact, and
// so the same in any order, unless parts differ by more than 2^25 times.
type search struct {
	shard      *shard
	place      int
	field      *postings
	inverse    norms
	exhaustive bool

	cursors  []cursor // all lists, by clause
	clauses  []clause
	order    []*cursor // by what they give at most, least first
	filter   []uint64  // bit set: admitted; only if filtered
	filtered bool

	top   top
	floor float32 // below it, no document is kept

	// Of the window, by place in it:
	seen  [window / 64]uint64 // documents of strong lists
	sums  [window]float64     // what documents have been given so far
	best  [window]float32     // by one clause
	piece [blockSize]float32  // what a piece of a block gives
	alive []uint32            // candidates
	weak  []*clause           // those with weak lists, the strongest first
	rest  []float64           // rest[i]: what weak[i:] can add together
}

// window is how many document numbers are taken at a time.
const window = 4096

// seekCost is how many postings can be read in the time of one look-up.
const seekCost = 10

// clause is a term of the query with all that may stand in for it.
type clause struct {
	lists  []cursor
	weak   float32          // what its weak lists give at most in the window
	strong int              // how many of its lists are strong there
	best   *[window]float32 // what those have given, if there are weak ones too
}

// release lets go of the shard, so that the pool does not keep it alive.
func (s *search) release() {
	clear(s.cursors)
	clear(s.order)
	s.shard, s.field, s.top.docs = nil, nil, nil
}

// run offers every document that may be among the best to s.top. It reports
// false if ctx ended first.
func (s *search) run(ctx context.Context) bool {
	s.order = s.order[:0]
	for i := range s.cursors {
		s.order = append(s.order, &s.cursors[i])
	}
	slices.SortStableFunc(s.order, func(a, b *cursor) int { return cmp.Compare(a.most, b.most) })
	s.floor = 0
	for lo := uint32(0); int(lo) < len(s.shard.docs); lo += window {
		if lo/window%16 == 0 && ctx.Err() != nil {
			return false
		}
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
	strong, candidates := s.split(lo)
	switch {
	case strong == 0:
		return
	case s.filtered && count(admitted)*strong*seekCost < candidates:
		s.weaken()
		s.rank()
		s.collect(admitted)
	default:
		for i := range s.clauses {
			s.gather(&s.clauses[i], lo)
		}
		if s.filtered {
			s.mask(admitted)
		}
		s.rank()
		s.collect(s.seen[:])
		clear(s.seen[:])
	}
	s.judge(lo)
	clear(s.sums[:])
}

// admitted is the part of the filter for the window at lo; nothing if it
// admits no document there.
func (s *search) admitted(lo uint32) []uint64 {
	if from := int(lo / 64); s.filtered && from < len(s.filter) {
		words := s.filter[from:min(from+window/64, len(s.filter))]
		if slices.ContainsFunc(words, func(w uint64) bool { return w != 0 }) {
			return words
		}
	}
	return nil
}

func count(words []uint64) (n int) {
	for _, w := range words {
		n += bits.OnesCount64(w)
	}
	return n
}

// split gives the lists their roles in the window at lo. It returns how many
// are strong, and about how many postings those have there.
func (s *search) split(lo uint32) (lists, postings int) {
	for i := range s.clauses {
		s.clauses[i].weak, s.clauses[i].strong = 0, 0
	}
	sum := 0.0 // what the weak lists can give a document together
	for _, l := range s.order {
		l.here, l.role = l.bound(lo, lo+window, &s.inverse), absent
		if l.here == 0 {
			continue
		}
		c := &s.clauses[l.clause]
		more := float64(max(l.here, c.weak)) - float64(c.weak)
		if float32(sum+more) < s.floor {
			l.role = weak
			c.weak = max(c.weak, l.here)
			sum += more
			continue
		}
		l.role = strong
		c.strong++
		lists++
		postings += l.share(len(s.shard.docs))
	}
	return lists, postings
}

// weaken makes the strong lists weak, for when the candidates come from the filter.
func (s *search) weaken() {
	for i := range s.cursors {
		if l := &s.cursors[i]; l.role == strong {
			c := &s.clauses[l.clause]
			l.role, c.strong, c.weak = weak, 0, max(c.weak, l.here)
		}
	}
}

// gather adds what the strong lists of c give to the sums of the window at lo.
func (s *search) gather(c *clause, lo uint32) {
	var best *[window]float32
	switch {
	case c.strong == 0:
		return
	case c.weak > 0: // they are compared again, in complete
		if c.best == nil {
			c.best = new([window]float32)
		}
		best = c.best
	case c.strong > 1:
		best = &s.best
	}
	if best != nil {
		clear(best[:])
	}
	for i := range c.lists {
		if l := &c.lists[i]; l.role == strong {
			s.read(l, lo, best, 1)
		}
	}
}

// read adds what l gives to the sums of the window at lo. If best is given,
// only what is over best is added, and best raised. Documents are marked as
// seen if mark is 1.
func (s *search) read(l *cursor, lo uint32, best *[window]float32, mark uint64) {
	l.start(lo)
	for posts := l.take(lo + window); len(posts) > 0; posts = l.take(lo + window) {
		scores := s.scores(l, posts, lo)
		if best == nil {
			for i, p := range posts {
				at := p.doc() % window
				s.sums[at] += float64(scores[i])
				s.seen[at/64] |= mark << (at % 64)
			}
			continue
		}
		for i, p := range posts {
			at := p.doc() % window
			s.seen[at/64] |= mark << (at % 64)
			if score, before := scores[i], best[at]; score > before {
				best[at] = score
				s.sums[at] += float64(score) - float64(before)
			}
		}
	}
}

// scores is what l gives the documents of posts, a piece of a block; the
// window begins at lo.
func (s *search) scores(l *cursor, posts []posting, lo uint32) []float32 {
	lengths := s.field.lengths[lo:min(int(lo)+window, len(s.field.lengths))]
	scores, weight := s.piece[:len(posts)], l.weight
	for i, p := range posts {
		scores[i] = saturate(weight, float32(p&tfMany), s.inverse[lengths[p.doc()%window]])
	}
	if l.list.peak.most == tfMany {
		for i, p := range posts {
			if p&tfMany == tfMany {
				scores[i] = s.score(l, p)
			}
		}
	}
	return scores
}

// score is what l gives the document of p.
func (s *search) score(l *cursor, p posting) float32 {
	doc, tf := p.doc(), p.tf()
	if tf == tfMany {
		tf = s.shard.frequency(doc, s.place, l.list)
	}
	return saturate(l.weight, float32(tf), s.inverse[s.field.lengths[doc]])
}

// mask takes the documents that are not admitted from the seen.
func (s *search) mask(admitted []uint64) {
	for i := range s.seen {
		if i < len(admitted) {
			s.seen[i] &= admitted[i]
		} else {
			s.seen[i] = 0
		}
	}
}

// collect makes the documents of words the candidates, but for those that
// cannot make it.
func (s *search) collect(words []uint64) {
	s.alive = s.alive[:0]
	rest := 0.0
	if len(s.rest) > 0 {
		rest = s.rest[0]
	}
	for i, word := range words {
		for ; word != 0; word &= word - 1 {
			at := i*64 + bits.TrailingZeros64(word)
			if float32(s.sums[at%window]+rest) >= s.floor {
				s.alive = append(s.alive, uint32(at))
			}
		}
	}
}

// judge completes the candidates' scores and offers those that are left.
func (s *search) judge(lo uint32) {
	for i, c := range s.weak {
		if i > 0 {
			s.narrow(s.rest[i])
		}
		if len(s.alive) == 0 {
			break
		}
		s.complete(c, lo)
	}
	for _, at := range s.alive {
		if score := float32(s.sums[at]); score >= s.floor {
			s.top.offer(found{lo + at, score})
			if !s.exhaustive {
				s.floor = s.top.floor()
			}
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

// narrow drops the candidates that cannot make it if they get rest at most.
func (s *search) narrow(rest float64) {
	kept := s.alive[:0]
	for _, at := range s.alive {
		if float32(s.sums[at]+rest) >= s.floor {
			kept = append(kept, at)
		}
	}
	s.alive = kept
}

// complete adds what the weak lists of c give the candidates beyond what its
// strong lists have given.
func (s *search) complete(c *clause, lo uint32) {
	best := &s.best
	if c.strong > 0 {
		best = c.best
	} else {
		for _, at := range s.alive {
			best[at] = 0
		}
	}
	for i := range c.lists {
		l := &c.lists[i]
		switch {
		case l.role != weak:
		case l.share(len(s.shard.docs)) < len(s.alive)*seekCost:
			s.read(l, lo, best, 0)
		default:
			s.seek(l, lo, best)
		}
	}
}

// seek adds what l gives the candidates over best.
func (s *search) seek(l *cursor, lo uint32, best *[window]float32) {
	for _, at := range s.alive {
		before := best[at]
		if l.here <= before {
			continue
		}
		p, ok := l.seek(lo + at)
		if !ok {
			continue
		}
		if score := s.score(l, p); score > before {
			best[at] = score
			s.sums[at] += float64(score) - float64(before)
		}
	}
}
