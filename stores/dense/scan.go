package dense

import "sync"

// minShare is how many vectors a goroutine of a scan gets at least.
const minShare = 50_000

// scan shows every chunk of the space to look, by several goroutines where it
// is worth it, and gives the r best documents. The result does not depend on
// how the chunks were shared out: the order of candidates is total.
func (p *search) scan(look look, r int) []uint32 {
	workers := max(1, min(p.opt.Workers, p.total/minShare))
	tops := make([]*best, workers)
	var wg sync.WaitGroup
	for w := range tops {
		tops[w] = newBest(r, p.shard.ids)
		if w > 0 {
			wg.Go(func() { p.share(w, workers, look, tops[w]) })
		}
	}
	p.share(0, workers, look, tops[0])
	wg.Wait()
	for _, t := range tops[1:] {
		for _, c := range t.heap {
			tops[0].add(c.score, c.doc)
		}
	}
	return tops[0].docs()
}

// share looks at the chunks of worker w: the w-th part of each bank.
func (p *search) share(w, workers int, look look, top *best) {
	for _, b := range p.shard.in(p.space) {
		n := (b.n + chunkRows - 1) / chunkRows
		for c := w * n / workers; c < (w+1)*n/workers; c++ {
			if p.ctx.Err() != nil {
				return
			}
			p.parts(&b.chunks[c], b.rows(c), look, top)
		}
	}
}

// span is how many rows are looked at together, or passed over where the
// filter admits none of them: what came in together is often of one kind.
const span = 64

// parts shows look the parts of the first n rows of c that may hold admitted ones.
func (p *search) parts(c *chunk, n int, look look, top *best) {
	if p.member == nil {
		look(c, 0, n, top)
		return
	}
	for from := 0; from < n; {
		to := from
		for to < n && p.any(c.docs[to:min(to+span, n)]) {
			to += span
		}
		if to > from {
			look(c, from, min(to, n), top)
		}
		from = to + span
	}
}

// any reports whether the filter admits any of docs.
func (p *search) any(docs []uint32) bool {
	for _, doc := range docs {
		if p.member[doc/64]>>(doc%64)&1 == 1 {
			return true
		}
	}
	return false
}

// look offers a number of rows of a chunk, from one that is a multiple of span.
type look func(c *chunk, from, to int, top *best)

// scanCodes looks at rows of c by their int8 codes. The scale of the query is
// the same for all, so it is left out.
func (p *search) scanCodes(c *chunk, from, to int, top *best) {
	var room [chunkRows]int32
	out := room[:to-from]
	p.kernel.DotInt8(p.q.codes, c.codes[from*len(p.q.codes):], out)
	scale, docs := c.scale[from:to], c.docs[from:to]
	for i, dot := range out {
		if s := float64(dot) * float64(scale[i]); s >= top.floor && p.admits(docs[i]) {
			top.add(s, docs[i])
		}
	}
}

// scanBits looks at rows of c by their one-bit codes: fewer different signs are better.
func (p *search) scanBits(c *chunk, from, to int, top *best) {
	var room [chunkRows]int32
	whole := (to - from + 7) &^ 7 // the last block may hold rows that are not in use
	p.kernel.Hamming(p.q.bits, c.bits[from*len(p.q.bits):], room[:whole])
	docs := c.docs[from:to]
	for i, distance := range room[:to-from] {
		if s := -float64(distance); s >= top.floor && p.admits(docs[i]) {
			top.add(s, docs[i])
		}
	}
}

// docs is the r best in no order.
func (b *best) docs() []uint32 {
	b.cut()
	out := make([]uint32, len(b.heap))
	for i, c := range b.heap {
		out[i] = c.doc
	}
	return out
}
