package dense

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/vimbank/vimbank/internal/kernel"
	"github.com/vimbank/vimbank/memtypes"
)

// The share of a space, as one in so many, below which the admitted documents
// are looked up one by one: what reading a row at random costs, counted in rows
// read in order. Measured at 100,000 x 384, rows in no cache.
const (
	listCodes = 4
	listBits  = 12
)

// search is one Search on its way, while its shard is locked for reading.
type search struct {
	ctx    context.Context
	kernel kernel.Kernel
	shard  *shard
	space  Space
	q      row
	k      int
	opt    Options
	total  int             // vectors in the space
	in     *roaring.Bitmap // documents that the filter admits; nil: all
	member []uint64        // the same as one bit a document; nil: all
}

// Search implements Index.
func (f *Flat) Search(ctx context.Context, q Query) ([]memtypes.Scored, error) {
	const op = "dense.Search"
	if err := CheckQuery(op, &q, f.dim); err != nil {
		return nil, err
	}
	if err := f.usable(ctx, op); err != nil {
		return nil, err
	}
	f.mu.RLock()
	s := f.shards[q.Filter.Scope.Tenant()]
	f.mu.RUnlock()
	if s == nil {
		return nil, nil
	}
	p := search{ctx: ctx, kernel: f.kernel, shard: s, space: q.Space, q: newRow(f.pad), k: q.K, opt: f.opt}
	p.q.set(q.Vector)
	s.mu.RLock()
	defer s.mu.RUnlock()
	hits := p.run(&q.Filter, f.number(s))
	if ctx.Err() != nil {
		return nil, canceled(ctx, op)
	}
	return hits, nil
}

// number tells the document of an ID in s.
func (f *Flat) number(s *shard) func(memtypes.ID) (uint32, bool) {
	return func(id memtypes.ID) (uint32, bool) {
		f.mu.RLock()
		defer f.mu.RUnlock()
		p := f.places[id]
		return p.doc, p.shard == s
	}
}

// run narrows the documents down in stages, each reading fewer bytes of more
// documents than the next: filter, one-bit codes, int8 codes, float32 vectors.
func (p *search) run(filter *memtypes.Filter, number func(memtypes.ID) (uint32, bool)) []memtypes.Scored {
	s := p.shard
	for _, b := range s.in(p.space) {
		p.total += b.n
	}
	p.k = min(p.k, p.total)
	admitted := s.set.Len()
	if p.in = s.set.Admitted(filter, number); p.in != nil {
		admitted = int(p.in.GetCardinality())
	}
	final, binary, list := p.rescored(), p.binary(), listCodes
	if binary {
		list = listBits
	}
	switch {
	case p.total == 0 || admitted == 0:
		return nil
	case admitted <= final:
		return p.exact(p.list())
	case p.in != nil && admitted*list < p.total:
		return p.exact(p.byCodes(p.list(), final))
	case binary:
		p.dense()
		return p.exact(p.byCodes(p.scan(p.scanBits, p.shortlist()), final))
	default:
		p.dense()
		return p.exact(p.scan(p.scanCodes, final))
	}
}

// binary reports whether one-bit codes are worth it: in a large bank, and where
// the shortlist is a small part of it.
func (p *search) binary() bool {
	return p.opt.BinaryAbove >= 0 && p.total > p.opt.BinaryAbove && p.total > 4*p.shortlist()
}

// rescored is how many of the best by int8 codes are scored again. Codes are
// off by about .001, so neighbours change places only over short distances.
func (p *search) rescored() int { return 2*p.k + 20 }

// shortlist is how many of the best by one-bit codes are scored by int8 codes.
func (p *search) shortlist() int { return max(400, 20*p.k) }

// list is the admitted documents in ascending order.
func (p *search) list() []uint32 {
	if p.in != nil {
		return p.in.ToArray()
	}
	docs := make([]uint32, 0, p.total)
	for doc := range p.shard.spots {
		docs = append(docs, uint32(doc)) // those without a vector drop out where they are scored
	}
	return docs
}

// dense makes the bitmap of the filter quick to ask.
func (p *search) dense() {
	if p.in != nil {
		p.member = make([]uint64, (len(p.shard.ids)+63)/64)
		p.in.WriteDenseTo(p.member)
	}
}

// admits reports whether the filter admits doc.
func (p *search) admits(doc uint32) bool {
	return p.member == nil || p.member[doc/64]>>(doc%64)&1 == 1
}

// byCodes keeps the r best of docs by their int8 codes.
func (p *search) byCodes(docs []uint32, r int) []uint32 {
	if len(docs) <= r {
		return docs
	}
	l := lookup{p: p, top: newBest(r, p.shard.ids)}
	for i, doc := range docs {
		if i%chunkRows == 0 && p.ctx.Err() != nil {
			return nil
		}
		if b, n, ok := p.shard.of(doc, p.space); ok {
			l.add(&b.chunks[n/chunkRows], uint32(n%chunkRows))
		}
	}
	l.flush()
	return l.top.docs()
}

// lookup gathers rows of one chunk and shows them to the kernel together.
type lookup struct {
	p   *search
	top *best
	c   *chunk
	n   int
	at  [64]uint32
	out [64]int32
}

func (l *lookup) add(c *chunk, at uint32) {
	if c != l.c || l.n == len(l.at) {
		l.flush()
		l.c = c
	}
	l.at[l.n] = at
	l.n++
}

func (l *lookup) flush() {
	if l.n == 0 {
		return
	}
	l.p.kernel.DotInt8At(l.p.q.codes, l.c.codes, l.at[:l.n], l.out[:])
	for i, at := range l.at[:l.n] {
		if s := float64(l.out[i]) * float64(l.c.scale[at]); s >= l.top.floor {
			l.top.add(s, l.c.docs[at])
		}
	}
	l.n = 0
}

// exact scores docs by their float32 vectors and gives the k best.
func (p *search) exact(docs []uint32) []memtypes.Scored {
	top, out := newBest(p.k, p.shard.ids), make([]float64, 1)
	for _, doc := range docs {
		if b, n, ok := p.shard.of(doc, p.space); ok {
			p.kernel.DotFloat32(p.q.vec, b.vec(n), out)
			if s := max(-1, min(1, out[0])); s >= top.floor {
				top.add(s, doc)
			}
		}
	}
	sorted := top.sorted()
	hits := make([]memtypes.Scored, len(sorted))
	for i, c := range sorted {
		hits[i] = memtypes.Scored{ID: p.shard.ids[c.doc], Score: c.score}
	}
	return hits
}
