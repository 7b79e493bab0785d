package dense

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/snapshot"
)

// The payload of a snapshot, integers as unsigned varints unless said otherwise:
//
//	dim
//	records, each a tag byte and then
//	  tagDoc:     id, rev, tenant, user, agent, run, kind, layer, session, when (Unix seconds, signed varint),
//	              vectors (0, 1 or 2), each dim float32, little-endian: text, context
//	  tagDeleted: id, rev, in the order of deletion
//	  tagEnd:     the number of records before it; nothing follows
//
// A string is its length and its bytes. One-byte codes and one-bit codes are
// made again from the vectors.
const (
	snapshotKind    = "dense"
	snapshotVersion = 1

	tagEnd     = 0
	tagDoc     = 1
	tagDeleted = 2
)

// saveGroup is how many documents are copied out while their shard is locked.
const saveGroup = 64

// Save writes the index to path, with mark, the ledger's sequence number up to
// which every change has been made here before Save was called, and note, what
// Load must find again, such as the fingerprint of the embedder. Searches and
// writes go on meanwhile: a later change may be in the file or not, so replay
// all that came after mark.
func (f *Flat) Save(path string, mark uint64, note string) error {
	const op = "dense.Save"
	f.mu.RLock()
	closed := f.closed
	shards := make([]*shard, 0, len(f.shards))
	for _, s := range f.shards {
		shards = append(shards, s)
	}
	f.mu.RUnlock()
	if closed {
		return memtypes.Errorf(op, memtypes.Unavailable, "the index is closed")
	}
	h := snapshot.Header{Kind: snapshotKind, Version: snapshotVersion, Mark: mark, Note: note}
	return snapshot.Write(path, h, func(w io.Writer) error {
		e := &encoder{w: bufio.NewWriterSize(w, 1<<16)}
		e.uint(uint64(f.dim))
		for _, s := range shards {
			e.shard(s, f.dim)
		}
		for _, g := range f.remembered() {
			e.tag(tagDeleted)
			e.string(string(g.id))
			e.uint(g.rev)
		}
		n := e.records
		e.tag(tagEnd)
		e.uint(n)
		return e.w.Flush()
	})
}

// remembered is the deletions that still hold, oldest first.
func (f *Flat) remembered() []grave {
	f.write.Lock()
	defer f.write.Unlock()
	var out []grave
	for _, g := range f.graves {
		if p, ok := f.places[g.id]; ok && p.shard == nil && p.rev == g.rev {
			out = append(out, g)
		}
	}
	return out
}

// encoder writes records; w keeps the first error for Flush.
type encoder struct {
	w       *bufio.Writer
	records uint64
	buf     []byte
}

func (e *encoder) tag(t byte) {
	e.records++
	e.w.WriteByte(t)
}

func (e *encoder) uint(x uint64) {
	e.buf = binary.AppendUvarint(e.buf[:0], x)
	e.w.Write(e.buf)
}

func (e *encoder) string(s string) {
	e.uint(uint64(len(s)))
	e.w.WriteString(s)
}

// shard writes the documents of s, holding its lock for a group at a time.
func (e *encoder) shard(s *shard, dim int) {
	var held []byte
	for from, more := 0, true; more; from += saveGroup {
		held, more = s.dump(held[:0], from, dim, e)
		e.w.Write(held)
	}
}

// dump appends the records of the documents [from, from+saveGroup); more is
// false if they were the last.
func (s *shard) dump(b []byte, from, dim int, e *encoder) (out []byte, more bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	to := min(from+saveGroup, len(s.ids))
	for doc := from; doc < to; doc++ {
		if s.ids[doc] != "" {
			e.records++
			b = s.appendDoc(b, uint32(doc), dim)
		}
	}
	return b, to < len(s.ids)
}

func (s *shard) appendDoc(b []byte, doc uint32, dim int) []byte {
	f := &s.facets[doc]
	b = append(b, tagDoc)
	b = appendString(b, string(s.ids[doc]))
	b = binary.AppendUvarint(b, s.revs[doc])
	for _, v := range []string{f.Scope.Tenant(), f.Scope.User(), f.Scope.Agent(), f.Scope.Run(), string(f.Kind), string(f.Layer), f.Session} {
		b = appendString(b, v)
	}
	b = binary.AppendVarint(b, f.When.Unix())
	switch at := s.spots[doc]; {
	case at.text == none:
		return append(b, 0)
	case at.context == none:
		return appendVector(append(b, 1), s.banks[lone].vec(int(at.text))[:dim])
	default:
		b = appendVector(append(b, 2), s.banks[ofText].vec(int(at.text))[:dim])
		return appendVector(b, s.banks[ofContext].vec(int(at.context))[:dim])
	}
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendVector(b []byte, v []float32) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}
