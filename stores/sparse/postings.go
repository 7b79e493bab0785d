package sparse

import "slices"

// A posting says that a document holds a token, and how often: the document's
// number above, the frequency below. Frequencies from tfMany up are kept as
// tfMany; the document's own list of terms has the true one.
type posting uint32

const (
	tfBits  = 6
	tfMany  = 1<<tfBits - 1
	maxDocs = 1 << (32 - tfBits)
)

func newPosting(doc uint32, tf int) posting { return posting(doc<<tfBits | uint32(min(tf, tfMany))) }

func (p posting) doc() uint32 { return uint32(p >> tfBits) }
func (p posting) tf() int     { return int(p & tfMany) }

// blockSize bounds a block: small enough that an insert moves little, large
// enough that skipping by blocks pays.
const blockSize = 256

// block is a run of postings by document number.
type block struct {
	posts       []posting
	first, last uint32 // documents
	peak        peak
}

// peak says how well the postings of a block can score at most, whatever the
// mean length is: for each class of frequency, the shortest document. It is
// never too low; after a removal or a growing document it is made exact again.
type peak struct {
	shortest [tfClasses]uint8 // length bytes; 0: no posting of the class
	most     uint8            // the highest frequency
}

// Frequencies 1, 2, 3 to 4, and above.
const tfClasses = 4

func tfClass(tf int) int {
	switch {
	case tf <= 2:
		return tf - 1
	case tf <= 4:
		return 2
	}
	return 3
}

// add widens p by a posting.
func (p *peak) add(tf int, length uint8) {
	if s := &p.shortest[tfClass(tf)]; *s == 0 || length < *s {
		*s = length
	}
	p.most = max(p.most, uint8(tf))
}

// join widens p by o.
func (p *peak) join(o *peak) {
	for c, s := range o.shortest {
		if s != 0 && (p.shortest[c] == 0 || s < p.shortest[c]) {
			p.shortest[c] = s
		}
	}
	p.most = max(p.most, o.most)
}

// madeBy reports whether p may be lower without one posting of tf and length
// (there are others).
func (p *peak) madeBy(tf int, length uint8) bool {
	return p.shortest[tfClass(tf)] == length || tf > 1 && int(p.most) == tf
}

// bound is the highest score of a posting under p.
func (p *peak) bound(weight float32, inverse *norms) float32 {
	if p.most == tfMany {
		return weight
	}
	best := float32(0)
	for c, s := range p.shortest {
		if s == 0 {
			continue
		}
		tf := [tfClasses]uint8{1, 2, min(4, p.most), p.most}[c]
		best = max(best, saturate(weight, float32(tf), inverse[s]))
	}
	return best
}

// list is the postings of one token in one field, by document number.
type list struct {
	blocks []block
	df     uint32
	peak   peak // over all blocks
}

// find gives the block that holds doc or, if none does, the one where it
// belongs. A list has at least one block.
func (l *list) find(doc uint32) int {
	i, _ := slices.BinarySearchFunc(l.blocks, doc, func(b block, doc uint32) int {
		if b.last < doc {
			return -1
		}
		return 1
	})
	return min(i, len(l.blocks)-1)
}

// insert adds a posting of a document that the list does not hold. length is
// the document's length byte, lengths those of all documents.
func (l *list) insert(p posting, lengths []uint8) {
	l.df++
	length := lengths[p.doc()]
	l.peak.add(p.tf(), length)
	if len(l.blocks) == 0 {
		l.blocks = append(l.blocks, block{first: p.doc()})
	}
	i := l.find(p.doc())
	if b := &l.blocks[i]; len(b.posts) == blockSize {
		if i == len(l.blocks)-1 && p.doc() > b.last { // in order, blocks stay full
			l.blocks = append(l.blocks, block{first: p.doc()})
			i++
		} else {
			l.split(i, lengths)
			if p.doc() > l.blocks[i].last {
				i++
			}
		}
	}
	b := &l.blocks[i]
	at, _ := slices.BinarySearch(b.posts, p)
	b.posts = slices.Insert(b.posts, at, p)
	b.first, b.last = b.posts[0].doc(), b.posts[len(b.posts)-1].doc()
	b.peak.add(p.tf(), length)
}

// split cuts block i into two halves.
func (l *list) split(i int, lengths []uint8) {
	posts := l.blocks[i].posts
	half := len(posts) / 2
	l.blocks[i].posts = posts[:half:half]
	l.blocks = slices.Insert(l.blocks, i+1, block{posts: slices.Clone(posts[half:])})
	l.blocks[i].refresh(lengths)
	l.blocks[i+1].refresh(lengths)
}

// remove takes out a posting that the list holds; length is the length byte
// that the document had when it was inserted or last resized.
func (l *list) remove(p posting, length uint8, lengths []uint8) {
	l.df--
	i := l.find(p.doc())
	b := &l.blocks[i]
	at, _ := slices.BinarySearch(b.posts, p)
	b.posts = slices.Delete(b.posts, at, at+1)
	switch {
	case len(b.posts) == 0:
		l.blocks = slices.Delete(l.blocks, i, i+1)
	case i+1 < len(l.blocks) && len(b.posts)+len(l.blocks[i+1].posts) <= blockSize/2:
		b.posts = append(b.posts, l.blocks[i+1].posts...)
		l.blocks = slices.Delete(l.blocks, i+1, i+2)
		l.blocks[i].refresh(lengths)
	case at == 0 || at == len(b.posts) || b.peak.madeBy(p.tf(), length):
		b.refresh(lengths)
	}
	l.lower(p.tf(), length)
}

// resize tells the list that a document it holds has another length byte now.
func (l *list) resize(p posting, old uint8, lengths []uint8) {
	b := &l.blocks[l.find(p.doc())]
	length := lengths[p.doc()]
	if old < length && b.peak.shortest[tfClass(p.tf())] == old {
		b.refresh(lengths)
	} else {
		b.peak.add(p.tf(), length)
	}
	l.peak.add(p.tf(), length)
	if old < length {
		l.lower(p.tf(), old)
	}
}

// lower makes the peak of the list exact after a posting of tf and length has
// gone, if it may have been the best of its class.
func (l *list) lower(tf int, length uint8) {
	if !l.peak.madeBy(tf, length) {
		return
	}
	l.peak = peak{}
	for i := range l.blocks {
		l.peak.join(&l.blocks[i].peak)
	}
}

// refresh sets everything about b that follows from its postings.
func (b *block) refresh(lengths []uint8) {
	b.first, b.last = b.posts[0].doc(), b.posts[len(b.posts)-1].doc()
	b.peak = peak{}
	for _, p := range b.posts {
		b.peak.add(p.tf(), lengths[p.doc()])
	}
}
