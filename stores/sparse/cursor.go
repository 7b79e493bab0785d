package sparse

// cursor goes through a list by ascending document numbers.
type cursor struct {
	list   *list
	table  *table
	weight float32
	clause int     // whose list it is
	most   float32 // what it gives at most to any document
	here   float32 // what it gives at most in the window
	role   role    // in the window

	block   int     // all blocks before it are behind
	at      int     // all postings of the block before it are behind
	bounded int     // the block whose bound is peak; -1: none
	peak    float32 //
}

// role is what a search does with a list in a window.
type role uint8

const (
	absent role = iota // it has no postings there
	weak               // it is asked about candidates
	strong             // its documents are candidates
)

// skip moves to the first block that reaches doc; false if there is none.
func (c *cursor) skip(doc uint32) bool {
	blocks := c.list.blocks
	if c.block >= len(blocks) {
		return false
	}
	if blocks[c.block].last >= doc {
		return true
	}
	// Gallop: the next block is the likeliest.
	step, lo := 1, c.block
	for lo+step < len(blocks) && blocks[lo+step].last < doc {
		lo += step
		step *= 2
	}
	hi := min(lo+step, len(blocks))
	for lo++; lo < hi; {
		if mid := (lo + hi) / 2; blocks[mid].last < doc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	c.block, c.at = lo, 0
	return lo < len(blocks)
}

// seek gives the posting of doc. Documents must be sought in ascending order.
func (c *cursor) seek(doc uint32) (posting, bool) {
	if !c.skip(doc) {
		return 0, false
	}
	b := &c.list.blocks[c.block]
	if doc < b.first {
		return 0, false
	}
	c.at = advance(b.posts, c.at, newPosting(doc, 0)) // the block reaches doc
	return b.posts[c.at], b.posts[c.at].doc() == doc
}

// advance is the first place from at on that is not before want; there must be
// one. It goes in strides: a block is short, and halving it would cost a wrong
// guess of the processor at every step.
func advance(posts []posting, at int, want posting) int {
	const stride = 8
	for at+stride <= len(posts) && posts[at+stride-1] < want {
		at += stride
	}
	for at < len(posts) && posts[at] < want {
		at++
	}
	return at
}

// start moves to the first posting from doc on.
func (c *cursor) start(doc uint32) {
	if c.skip(doc) {
		c.at = advance(c.list.blocks[c.block].posts, c.at, newPosting(doc, 0))
	}
}

// take gives the next postings before document hi, a piece at a time, and
// moves past them; nothing at the end.
func (c *cursor) take(hi uint32) []posting {
	if c.block >= len(c.list.blocks) {
		return nil
	}
	b, at := &c.list.blocks[c.block], c.at
	if b.last < hi {
		c.block, c.at = c.block+1, 0
		return b.posts[at:]
	}
	c.at = advance(b.posts, at, newPosting(hi, 0))
	return b.posts[at:c.at]
}

// bound is what the list gives at most to a document of [lo, hi).
func (c *cursor) bound(lo, hi uint32, inverse *norms) float32 {
	if !c.skip(lo) {
		return 0
	}
	most := float32(0)
	for i := c.block; i < len(c.list.blocks) && c.list.blocks[i].first < hi; i++ {
		if c.bounded != i {
			c.bounded, c.peak = i, c.list.blocks[i].peak.bound(c.weight, inverse)
		}
		most = max(most, c.peak)
	}
	return most
}
