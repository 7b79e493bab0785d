package sparse

import "math"

// gather adds what the strong lists of c give to the sums of the window at lo.
func (s *search) gather(c *clause, lo uint32) {
	switch {
	case c.strong == 0:
		return
	case c.strong == 1 && c.weak == 0:
		for i := range c.lists {
			if l := &c.lists[i]; l.role == strong {
				s.sum(l, lo)
			}
		}
		return
	}
	best := &s.best
	if c.weak > 0 { // they are compared again, in complete
		if c.best == nil {
			c.best = new(peaks)
		}
		best = c.best
		clear(best[lo%window:][:s.width])
	}
	// Where most documents have one, the best is added once it is known.
	long := c.postings >= int(s.width)/longShare
	for i := range c.lists {
		l := &c.lists[i]
		switch {
		case l.role != strong:
		case long:
			s.raise(l, lo, best)
		default:
			s.raiseSum(l, lo, best)
		}
	}
	if here := best[lo%window:][:s.width]; long {
		sums := s.sums[lo%window:][:len(here)]
		for i, b := range here {
			sums[i] += float64(math.Float32frombits(b))
		}
	}
	if c.weak == 0 {
		clear(best[lo%window:][:s.width])
	}
}

// sum adds what l gives to the sums of the window at lo.
func (s *search) sum(l *cursor, lo uint32) {
	sums, lengths, table, end := &s.sums, s.lengths, l.table, lo+s.width
	l.start(lo)
	for posts := l.take(end); len(posts) > 0; posts = l.take(end) {
		if s.few {
			s.enlist(posts)
		}
		for _, p := range posts {
			at := p.doc() % window
			score := table.at(p, lengths[at])
			if score == 0 {
				score = s.bits(l, p, at)
			}
			sums[at] += float64(math.Float32frombits(score))
		}
	}
}

// enlist lists the documents of posts that have been given nothing so far.
func (s *search) enlist(posts []posting) {
	n := s.count
	for _, p := range posts {
		at := p.doc() % window
		s.listed[n] = at
		if s.sums[at] == 0 {
			n++
		}
	}
	s.count = n
}

// raise makes best what l gives wherever that is more, in the window at lo.
func (s *search) raise(l *cursor, lo uint32, best *peaks) {
	lengths, table, end := s.lengths, l.table, lo+s.width
	l.start(lo)
	for posts := l.take(end); len(posts) > 0; posts = l.take(end) {
		for _, p := range posts {
			at := p.doc() % window
			score := table.at(p, lengths[at])
			if score == 0 {
				score = s.bits(l, p, at)
			}
			best[at] = max(best[at], score)
		}
	}
}

// raiseSum is raise, and adds to the sums what best has grown by.
func (s *search) raiseSum(l *cursor, lo uint32, best *peaks) {
	sums, lengths, table, end := &s.sums, s.lengths, l.table, lo+s.width
	l.start(lo)
	for posts := l.take(end); len(posts) > 0; posts = l.take(end) {
		if s.few {
			s.enlist(posts)
		}
		for _, p := range posts {
			at := p.doc() % window
			score := table.at(p, lengths[at])
			if score == 0 {
				score = s.bits(l, p, at)
			}
			before := best[at]
			after := max(score, before)
			best[at] = after
			sums[at] += float64(math.Float32frombits(after)) - float64(math.Float32frombits(before))
		}
	}
}
