package sparse

import (
	"iter"
	"slices"
)

// cursor goes through a list by ascending document numbers.
type cursor struct {
	list    *list
	weight  float32
	block   int     // all blocks before it are behind
	at      int     // all postings of the block before it are behind
	bounded int     // the block of the bound below; -1: none
	peak    float32 // bound of that block
}

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
	i, _ := slices.BinarySearch(b.posts[c.at:], newPosting(doc, 0))
	c.at += i
	if c.at == len(b.posts) || b.posts[c.at].doc() != doc {
		return 0, false
	}
	return b.posts[c.at], true
}

// next is the least document from doc on.
func (c *cursor) next(doc uint32) (uint32, bool) {
	if !c.skip(doc) {
		return 0, false
	}
	b := &c.list.blocks[c.block]
	if doc <= b.first {
		return b.first, true
	}
	i, _ := slices.BinarySearch(b.posts[c.at:], newPosting(doc, 0))
	return b.posts[c.at+i].doc(), true
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

// within gives the postings of the documents of [lo, hi), in pieces.
func (c *cursor) within(lo, hi uint32) iter.Seq[[]posting] {
	return func(yield func([]posting) bool) {
		if !c.skip(lo) {
			return
		}
		for i := c.block; i < len(c.list.blocks) && c.list.blocks[i].first < hi; i++ {
			b := &c.list.blocks[i]
			posts := b.posts
			if b.last >= hi {
				n, _ := slices.BinarySearch(posts, newPosting(hi, 0))
				posts = posts[:n]
			}
			if b.first < lo {
				n, _ := slices.BinarySearch(posts, newPosting(lo, 0))
				posts = posts[n:]
			}
			if !yield(posts) {
				return
			}
		}
	}
}
