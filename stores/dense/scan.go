package dense

import "sync"

// minShare is how many vectors a goroutine of a scan gets at least.
const minShare = 50_000

// scan shows every chunk of the space to look, by several goroutines where it
// is worth it, and gives the r best documents. The result does not depend on
// how the chunks were shared out: the order of candidates is total.
func (p *search) scan(look func(*chunk, int, *best), r int) []uint32 {
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
func (p *search) share(w, workers int, look func(*chunk, int, *best), top *best) {
	for _, b := range p.shard.in(p.space) {
		n := (b.n + chunkRows - 1) / chunkRows
		for c := w * n / workers; c < (w+1)*n/workers; c++ {
			if p.ctx.Err() != nil {
				return
			}
			look(&b.chunks[c], b.rows(c), top)
		}
	}
}

// scanCodes looks at n rows of c by their int8 codes. The scale of the query
// is the same for all, so it is left out.
func (p *search) scanCodes(c *chunk, n int, top *best) {
	var out [chunkRows]int32
	p.kernel.DotInt8(p.q.codes, c.codes, out[:n])
	scale, docs := c.scale[:n], c.docs[:n]
	for i, dot := range out[:n] {
		if s := float64(dot) * float64(scale[i]); s >= top.floor && p.admits(docs[i]) {
			top.add(s, docs[i])
		}
	}
}

// scanBits looks at n rows of c by their one-bit codes: fewer different signs are better.
func (p *search) scanBits(c *chunk, n int, top *best) {
	var out [chunkRows]int32
	whole := (n + 7) &^ 7 // the last block may hold rows that are not in use
	p.kernel.Hamming(p.q.bits, c.bits, out[:whole])
	docs := c.docs[:n]
	for i, distance := range out[:n] {
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
