package sparse

import (
	"encoding/binary"
	"fmt"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/snapshot"
)

// Load opens the index that Save wrote to path, with Save's mark. It fails
// with NotFound where there is no file, and with Incompatible where the file
// is damaged, foreign, of another version, or was saved with another note; an
// index is then rebuilt from the ledger.
func Load(path, note string, o *Options) (*Inverted, uint64, error) {
	const op = "sparse.Load"
	h, payload, err := snapshot.Read(path, snapshotHeader)
	if err != nil {
		return nil, 0, err
	}
	if h.Note != note {
		return nil, 0, memtypes.Errorf(op, memtypes.Incompatible, "found a snapshot of %q, wanted one of %q", h.Note, note)
	}
	ix, err := Open(o)
	if err != nil {
		return nil, 0, err
	}
	if err := ix.decode(payload); err != nil {
		return nil, 0, memtypes.Errorf(op, memtypes.Incompatible, "snapshot: %w", err)
	}
	return ix, h.Mark, nil
}

// decode fills an empty index. The documents keep parts of payload.
func (ix *Inverted) decode(payload []byte) error {
	r := reader{rest: payload}
	for range r.count() {
		s, err := ix.decodeShard(&r)
		if err != nil {
			return err
		}
		ix.shards[s.tenant] = s
	}
	for range r.count() {
		id, rev := memtypes.ID(r.string()), r.uvarint()
		if _, twice := ix.held[id]; twice {
			return fmt.Errorf("memory %s is there twice", id)
		}
		ix.held[id] = position{rev: rev}
	}
	if r.bad || len(r.rest) > 0 {
		return fmt.Errorf("it is cut short or has %d bytes too many", len(r.rest))
	}
	return nil
}

func (ix *Inverted) decodeShard(r *reader) (*shard, error) {
	s := &shard{tenant: r.string()}
	if ix.shards[s.tenant] != nil {
		return nil, fmt.Errorf("tenant %q is there twice", s.tenant)
	}
	if err := s.words.decode(r); err != nil {
		return nil, err
	}
	for range r.count() {
		f, err := decodeLabel(s.tenant, r)
		if err != nil {
			return nil, err
		}
		s.labels.number(f)
	}
	if err := ix.decodeDocs(s, r); err != nil {
		return nil, err
	}
	return s, s.fill()
}

// decode reads the names of the terms; their uses are counted in fill.
func (d *dictionary) decode(r *reader) error {
	n := r.count()
	d.names, d.uses, d.numbers = make([]string, n), make([]uint32, n), make(map[string]uint32, n)
	for i := range d.names {
		name := r.string()
		if _, twice := d.numbers[name]; twice {
			return fmt.Errorf("term %q is there twice", name)
		}
		if d.names[i] = name; name == "" {
			d.free = append(d.free, uint32(i))
		} else {
			d.numbers[name] = uint32(i)
		}
	}
	return nil
}

func decodeLabel(tenant string, r *reader) (memtypes.Facets, error) {
	user, agent, run := r.string(), r.string(), r.string()
	f := memtypes.Facets{Kind: memtypes.Kind(r.string()), Layer: memtypes.Layer(r.string()), Session: r.string()}
	var err error
	f.Scope, err = memtypes.NewScope(tenant, user, agent, run)
	return f, err
}

func (ix *Inverted) decodeDocs(s *shard, r *reader) error {
	n := r.count()
	if n == 0 || n > maxDocs {
		return fmt.Errorf("tenant %q has %d documents", s.tenant, n)
	}
	s.docs = make([]document, n)
	for i := range s.docs {
		d := &s.docs[i]
		d.id = memtypes.ID(r.string())
		rev, label, when := r.uvarint(), r.uvarint(), r.varint()
		d.packed = r.bytes()
		if _, twice := ix.held[d.id]; twice || d.id == "" || label >= uint64(len(s.labels.facets)) {
			return fmt.Errorf("memory %q, number %d of tenant %q, is there twice or has no facets", d.id, i, s.tenant)
		}
		d.label, d.when = uint32(label), when
		f := s.facetsOf(d)
		d.session = s.labels.sessions[f.Session]
		s.facets.Put(uint32(i), f, nil)
		ix.held[d.id] = position{rev, s, uint32(i)}
		ix.live++
	}
	return nil
}

// fill makes the postings from the documents' packed terms.
func (s *shard) fill() error {
	if err := s.countUses(); err != nil {
		return err
	}
	var next [fields][]int    // by term: where in all its next posting goes
	var all [fields][]posting // by term
	for f := range s.fields {
		next[f], all[f] = s.fields[f].starts()
	}
	for n := range s.docs {
		s.old.unpack(s.docs[n].packed)
		for f, ts := range s.old.terms {
			next, all := next[f], all[f]
			for _, t := range ts {
				all[next[t.term]] = newPosting(uint32(n), int(t.tf))
				next[t.term]++
			}
		}
	}
	for f := range s.fields {
		s.fields[f].cut(all[f])
	}
	return nil
}

// countUses sets the lengths and the document frequencies, and checks that
// the packed terms are in the dictionary, and nothing else is.
func (s *shard) countUses() error {
	for f := range s.fields {
		s.fields[f].lengths = make([]uint8, len(s.docs))
		s.fields[f].lists = make([]list, len(s.words.names))
	}
	for n := range s.docs {
		if !s.old.unpack(s.docs[n].packed) {
			return fmt.Errorf("the terms of memory %s cannot be read", s.docs[n].id)
		}
		for f, ts := range s.old.terms {
			p := &s.fields[f]
			if length := s.old.lengths[f]; length > 0 {
				p.lengths[n] = encodeLength(length)
				p.docs++
				p.tokens += int64(length)
			}
			for _, t := range ts {
				if int(t.term) >= len(s.words.names) {
					return fmt.Errorf("memory %s has a term of no name", s.docs[n].id)
				}
				p.lists[t.term].df++
				s.words.uses[t.term]++
			}
		}
	}
	for i, name := range s.words.names {
		if (name == "") != (s.words.uses[i] == 0) {
			return fmt.Errorf("term %q has %d uses", name, s.words.uses[i])
		}
	}
	return nil
}

// starts makes one piece of memory for the postings of all lists, and tells
// where in it each list begins.
func (p *postings) starts() ([]int, []posting) {
	starts, sum := make([]int, len(p.lists)), 0
	for i := range p.lists {
		starts[i] = sum
		sum += int(p.lists[i].df)
	}
	return starts, make([]posting, sum)
}

// cut gives each list its blocks of all, which holds the postings by list.
func (p *postings) cut(all []posting) {
	size := func(df uint32) int { return (int(df) + blockSize - 1) / blockSize }
	blocks := 0
	for i := range p.lists {
		blocks += size(p.lists[i].df)
	}
	room := make([]block, blocks)
	for i := range p.lists {
		l := &p.lists[i]
		n := size(l.df)
		l.blocks, room = room[:n:n], room[n:]
		rest := int(l.df)
		for j := range l.blocks {
			b, n := &l.blocks[j], min(blockSize, rest)
			b.posts, all, rest = all[:n:n], all[n:], rest-n
			b.refresh(p.lengths)
			l.peak.join(&b.peak)
		}
	}
}

// reader takes a snapshot apart. After the first bad read it gives zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) fail() {
	r.bad, r.rest = true, nil
}

func (r *reader) uvarint() uint64 {
	v, ok := uvarint(&r.rest)
	if !ok {
		r.fail()
	}
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.rest)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// count reads how many of something follow; each takes a byte at least.
func (r *reader) count() int {
	n := r.uvarint()
	if n > uint64(len(r.rest)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) bytes() []byte {
	n := r.count()
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) string() string { return string(r.bytes()) }
