package dense

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/snapshot"
)

// Load reads what Save wrote and returns it with its mark; o may be nil. It
// fails with NotFound where there is no file, and with Incompatible where the
// file is damaged or foreign, or was saved with another dimension or note:
// rebuild the index from the ledger then.
func Load(path string, dim int, note string, o *Options) (*Flat, uint64, error) {
	const op = "dense.Load"
	f, err := Open(dim, o)
	if err != nil {
		return nil, 0, err
	}
	h, err := snapshot.Scan(path, snapshot.Header{Kind: snapshotKind, Version: snapshotVersion}, func(h snapshot.Header, r *bufio.Reader) error {
		if h.Note != note {
			return memtypes.Errorf(op, memtypes.Incompatible, "%s: found an index of %q, wanted one of %q", filepath.Base(path), h.Note, note)
		}
		if err := f.decode(r); err != nil {
			return memtypes.Errorf(op, memtypes.Incompatible, "%s: %w", filepath.Base(path), err)
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return f, h.Mark, nil
}

// decode fills f, which is empty, from a payload.
func (f *Flat) decode(r *bufio.Reader) error {
	f.write.Lock()
	defer f.write.Unlock()
	d := &decoder{r: r, dim: f.dim, names: map[string]string{}}
	if dim := d.uint(); d.err == nil && dim != uint64(f.dim) {
		return fmt.Errorf("found vectors of %d dimensions, wanted %d", dim, f.dim)
	}
	var docs []Doc
	for n := uint64(0); ; n++ {
		tag := d.byte()
		if tag == tagDoc {
			docs = append(docs, d.doc(2*len(docs)))
		}
		if tag != tagDoc || len(docs) == group || d.err != nil {
			if err := f.settle(docs, d.err); err != nil {
				return err
			}
			docs = docs[:0]
		}
		switch tag {
		case tagDoc:
		case tagDeleted:
			f.bury(d)
		case tagEnd:
			return d.end(n)
		default:
			return fmt.Errorf("record %d has the unknown tag %d", n, tag)
		}
	}
}

// settle puts docs as they were saved, unless reading them failed with err.
func (f *Flat) settle(docs []Doc, err error) error {
	if err == nil {
		err = CheckDocs("dense.Load", docs, f.dim)
	}
	if err == nil {
		f.putAll(docs, func(r *row, v memtypes.Vector) {
			copy(r.vec, v)
			r.encode()
		})
	}
	return err
}

// bury reads a deletion.
func (f *Flat) bury(d *decoder) {
	id, rev := memtypes.ID(d.string()), d.uint()
	if p, ok := f.places[id]; d.err == nil && (!ok || p.rev <= rev) {
		f.drop(id, p, &grave{id, rev})
	}
}

// decoder reads a payload; after the first error every value is zero.
type decoder struct {
	r     *bufio.Reader
	err   error
	dim   int
	names map[string]string // one copy of each facet
	vecs  []memtypes.Vector // scratch, used again for each group
}

// maxString is above any string in a payload, and within what the reader can show at once.
const maxString = 1 << 16

// take is the next n bytes, valid until the next read, or nil.
func (d *decoder) take(n uint64) []byte {
	if d.err == nil && n > maxString && n != uint64(4*d.dim) {
		d.err = fmt.Errorf("a string of %d bytes", n)
	}
	if d.err != nil {
		return nil
	}
	b, err := d.r.Peek(int(n))
	if d.failed(err) {
		return nil
	}
	d.r.Discard(int(n)) // cannot fail: these bytes have been seen
	return b
}

// failed keeps the first error.
func (d *decoder) failed(err error) bool {
	if d.err == nil && err != nil {
		d.err = err
		if errors.Is(err, io.EOF) {
			d.err = errors.New("the payload is cut short")
		}
	}
	return d.err != nil
}

func (d *decoder) byte() byte {
	b, err := d.r.ReadByte()
	if d.failed(err) {
		return tagEnd
	}
	return b
}

func (d *decoder) uint() uint64 {
	x, err := binary.ReadUvarint(d.r)
	if d.failed(err) {
		return 0
	}
	return x
}

func (d *decoder) int() int64 {
	x, err := binary.ReadVarint(d.r)
	if d.failed(err) {
		return 0
	}
	return x
}

func (d *decoder) string() string { return string(d.take(d.uint())) }

// name is a string that comes again and again.
func (d *decoder) name() string {
	b := d.take(d.uint())
	s, ok := d.names[string(b)]
	if !ok {
		s = string(b)
		d.names[s] = s
	}
	return s
}

// doc reads a document, its vectors into scratch from number at on.
func (d *decoder) doc(at int) Doc {
	doc := Doc{ID: memtypes.ID(d.string()), Rev: d.uint()}
	tenant, user, agent, run := d.name(), d.name(), d.name(), d.name()
	doc.Facets = memtypes.Facets{Kind: memtypes.Kind(d.name()), Layer: memtypes.Layer(d.name()), Session: d.name()}
	doc.Facets.When = time.Unix(d.int(), 0).UTC()
	if d.err == nil {
		doc.Facets.Scope, d.err = memtypes.NewScope(tenant, user, agent, run)
	}
	switch n := d.byte(); n {
	case 2:
		doc.Text, doc.Context = d.vector(at), d.vector(at+1)
	case 1:
		doc.Text = d.vector(at)
	case 0:
	default:
		d.err = fmt.Errorf("a document of %d vectors", n)
	}
	return doc
}

func (d *decoder) vector(at int) memtypes.Vector {
	b := d.take(uint64(4 * d.dim))
	if b == nil {
		return nil
	}
	for len(d.vecs) <= at {
		d.vecs = append(d.vecs, make(memtypes.Vector, d.dim))
	}
	v := d.vecs[at]
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// end reads the number of records, which must be n, and that nothing follows.
func (d *decoder) end(n uint64) error {
	switch want := d.uint(); {
	case d.err != nil:
		return d.err
	case want != n:
		return fmt.Errorf("found %d records, wanted %d", n, want)
	}
	if _, err := d.r.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.New("there are bytes after the end")
	}
	return nil
}
