package sparse

import (
	"encoding/binary"
	"io"
	"maps"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/snapshot"
)

// The snapshot of an index, in order (numbers are varints, strings have their
// length before them):
//
//	tenants, and of each: its name,
//	  terms, and of each: its name ("" for a free number)
//	  labels, and of each: user, agent, run, kind, layer, session
//	  documents, and of each: ID, revision, label, time, packed terms
//	deleted, and of each: ID, revision
//
// Postings are not in it: to make them anew from the packed terms is quicker
// than to read them.
var snapshotHeader = snapshot.Header{Kind: "sparse", Version: 1}

// Save writes the index to path, whole or not at all. mark is the ledger's
// sequence number up to which every change is in the index; note is what else
// must be the same when it is loaded, such as the analyzer's version. Writes
// wait only while the index is copied in memory, not for the disk.
func (ix *Inverted) Save(path string, mark uint64, note string) error {
	payload, err := ix.encode()
	if err != nil {
		return err
	}
	h := snapshotHeader
	h.Mark, h.Note = mark, note
	return snapshot.Write(path, h, func(w io.Writer) error {
		_, err := w.Write(payload)
		return err
	})
}

func (ix *Inverted) encode() ([]byte, error) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	if ix.closed {
		return nil, closedError("sparse.Save")
	}
	b := binary.AppendUvarint(nil, uint64(len(ix.shards)))
	for _, tenant := range slices.Sorted(maps.Keys(ix.shards)) {
		b = ix.appendShard(b, ix.shards[tenant])
	}
	return ix.appendDeleted(b), nil
}

func (ix *Inverted) appendShard(b []byte, s *shard) []byte {
	b = appendString(b, s.tenant)
	b = binary.AppendUvarint(b, uint64(len(s.words.names)))
	for _, name := range s.words.names {
		b = appendString(b, name)
	}
	b = binary.AppendUvarint(b, uint64(len(s.labels.facets)))
	for _, f := range s.labels.facets {
		for _, v := range [...]string{f.Scope.User(), f.Scope.Agent(), f.Scope.Run(), string(f.Kind), string(f.Layer), f.Session} {
			b = appendString(b, v)
		}
	}
	b = binary.AppendUvarint(b, uint64(s.live()))
	for i := range s.docs {
		if d := &s.docs[i]; d.id != "" {
			b = appendString(b, string(d.id))
			b = binary.AppendUvarint(b, ix.held[d.id].rev)
			b = binary.AppendUvarint(b, uint64(d.label))
			b = binary.AppendVarint(b, d.when)
			b = append(binary.AppendUvarint(b, uint64(len(d.packed))), d.packed...)
		}
	}
	return b
}

func (ix *Inverted) appendDeleted(b []byte) []byte {
	var gone []memtypes.ID
	for id, at := range ix.held {
		if at.shard == nil {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	b = binary.AppendUvarint(b, uint64(len(gone)))
	for _, id := range gone {
		b = binary.AppendUvarint(appendString(b, string(id)), ix.held[id].rev)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
