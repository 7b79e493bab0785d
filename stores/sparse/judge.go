package sparse

import (
	"math"
	"math/bits"
	"slices"
)

// cut is the least sum of a document that still makes it if it gets rest at
// most; it errs towards less, by far more than the roundings that it stands for.
func (s *search) cut(rest float64) float64 {
	return max(float64(s.floor)*(1-1e-6)-rest, 0)
}

// collect makes the documents that have been touched and are admitted the
// candidates, in order, but for those that cannot make it.
func (s *search) collect(lo uint32) {
	rest := 0.0
	if len(s.rest) > 0 {
		rest = s.rest[0]
	}
	if cut := s.cut(rest); s.few {
		s.collectListed(lo, cut)
	} else {
		s.collectAll(lo, max(cut, math.SmallestNonzeroFloat64)) // who was not touched has 0
	}
}

func (s *search) collectListed(lo uint32, cut float64) {
	n, base := 0, lo&^(window-1)
	for _, at := range s.listed[:s.count] {
		if s.sums[at%window] >= cut && s.admits(base+at) {
			s.alive[n%window] = at
			n++
		}
	}
	s.living = n
	if len(s.weak) > 0 && !slices.IsSorted(s.alive[:n]) { // they are sought in order
		s.sort()
	}
}

// sort puts the candidates in order: by a bit for each, and for each word of
// bits that is not 0 a bit in some.
func (s *search) sort() {
	var some [window / 64 / 64]uint64
	for _, at := range s.alive[:s.living] {
		word := at / 64 % (window / 64)
		s.sorted[word] |= 1 << (at % 64)
		some[word/64] |= 1 << (word % 64)
	}
	n := 0
	for i, words := range some {
		for ; words != 0; words &= words - 1 {
			word := i*64 + bits.TrailingZeros64(words)
			set := s.sorted[word%(window/64)]
			s.sorted[word%(window/64)] = 0
			for ; set != 0; set &= set - 1 {
				s.alive[n%window] = uint32(word*64 + bits.TrailingZeros64(set))
				n++
			}
		}
	}
}

func (s *search) collectAll(lo uint32, cut float64) {
	n, base := 0, lo&^(window-1)
	for i, sum := range s.sums[lo%window:][:s.width] {
		if at := lo%window + uint32(i); sum >= cut && s.admits(base+at) {
			s.alive[n%window] = at
			n++
		}
	}
	s.living = n
}

// admits reports whether the filter admits doc.
func (s *search) admits(doc uint32) bool {
	return !s.filtered || int(doc/64) < len(s.filter) && s.filter[doc/64]>>(doc%64)&1 == 1
}

// judge completes the candidates' scores and offers those that are left.
func (s *search) judge(lo uint32) {
	for i, c := range s.weak {
		if i > 0 {
			s.narrow(s.rest[i])
		}
		if s.living == 0 {
			break
		}
		s.complete(c, lo)
	}
	for _, at := range s.alive[:s.living] {
		if score := float32(s.sums[at%window]); score >= s.floor {
			s.top.offer(found{lo&^(window-1) + at, score})
			if !s.exhaustive {
				s.floor = max(s.floor, s.top.floor())
			}
		}
	}
}

// narrow drops the candidates that cannot make it if they get rest at most.
// It does not branch: which are dropped follows no pattern.
func (s *search) narrow(rest float64) {
	cut := int64(math.Float64bits(s.cut(rest)))
	n := 0
	for _, at := range s.alive[:s.living] {
		s.alive[n%window] = at
		less := (int64(math.Float64bits(s.sums[at%window])) - cut) >> 63 // -1 or 0
		n += 1 + int(less)
	}
	s.living = n
}

// complete adds what the weak lists of c give the candidates beyond what its
// strong lists have given.
func (s *search) complete(c *clause, lo uint32) {
	best, alive := &s.more, s.alive[:s.living]
	if c.strong > 0 {
		best = c.best
		for _, at := range alive {
			s.sums[at%window] -= float64(math.Float32frombits(best[at%window]))
		}
	} else {
		for _, at := range alive {
			best[at%window] = 0
		}
	}
	for i := range c.lists {
		l := &c.lists[i]
		switch {
		case l.role != weak:
		case s.share(l) < len(alive)*seekCost:
			s.raise(l, lo, best)
		default:
			s.seek(l, lo, best)
		}
	}
	for _, at := range alive {
		s.sums[at%window] += float64(math.Float32frombits(best[at%window]))
	}
}

// seek makes best what l gives the candidates wherever that is more.
func (s *search) seek(l *cursor, lo uint32, best *peaks) {
	here := math.Float32bits(l.here)
	for _, at := range s.alive[:s.living] {
		before := best[at%window]
		if here <= before {
			continue
		}
		if p, ok := l.seek(lo&^(window-1) + at); ok {
			best[at%window] = max(before, s.bits(l, p, at))
		}
	}
}
