// Package snapshot writes and reads the files in which the in-process indexes
// rest between two runs: one header, one payload, one checksum.
//
// A file is either whole or refused: Write goes through a temporary file and a
// rename, Read checks the checksum over everything before the first byte of
// the payload is used. A snapshot is never the only copy of anything, so a
// reader that is told Incompatible or NotFound rebuilds from the ledger.
package snapshot

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vimbank/vimbank/memtypes"
)

// Header says what a snapshot holds.
type Header struct {
	Kind    string // "dense", "sparse": at most 255 bytes
	Version uint32 // of the payload's format
	Mark    uint64 // the ledger's sequence number up to which changes are in it
	Note    string // what else must match, such as the embedder's fingerprint; at most 64 KiB
}

const magic = "VIMBSNAP"

var table = crc32.MakeTable(crc32.Castagnoli)

// Write makes path hold h and what body writes, durably and all at once.
func Write(path string, h Header, body func(io.Writer) error) (err error) {
	const op = "snapshot.Write"
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return memtypes.Errorf(op, memtypes.Unavailable, "%w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = memtypes.Errorf(op, memtypes.Unavailable, "%w", err)
		}
	}()
	sum := crc32.New(table)
	w := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<20)
	w.WriteString(magic) // a bufio.Writer keeps its first error for Flush
	w.Write(h.encode())
	if err = body(w); err != nil {
		return err
	}
	if err = w.Flush(); err != nil {
		return err
	}
	if _, err = f.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32())); err != nil {
		return err
	}
	if err = errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// Read checks the file at path and returns its header and payload. It fails
// with NotFound where there is no file, and with Incompatible where the file is
// foreign, damaged, of another kind or of another version than want's.
func Read(path string, want Header) (Header, []byte, error) {
	const op = "snapshot.Read"
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Header{}, nil, memtypes.Errorf(op, memtypes.NotFound, "%w", err)
	}
	if err != nil {
		return Header{}, nil, memtypes.Errorf(op, memtypes.Unavailable, "%w", err)
	}
	h, payload, err := decode(b)
	if err != nil {
		return Header{}, nil, memtypes.Errorf(op, memtypes.Incompatible, "%s: %w", filepath.Base(path), err)
	}
	if h.Kind != want.Kind || h.Version != want.Version {
		return Header{}, nil, memtypes.Errorf(op, memtypes.Incompatible, "%s: found %s version %d, wanted %s version %d",
			filepath.Base(path), h.Kind, h.Version, want.Kind, want.Version)
	}
	return h, payload, nil
}

func decode(b []byte) (Header, []byte, error) {
	if len(b) < len(magic)+4 || !bytes.HasPrefix(b, []byte(magic)) {
		return Header{}, nil, errors.New("not a snapshot")
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(body, table) != sum {
		return Header{}, nil, errors.New("checksum does not match")
	}
	return decodeHeader(body[len(magic):])
}

// encode lays the header out as: kind length (1 byte), kind, version (4), mark (8), note length (4), note.
func (h Header) encode() []byte {
	b := append([]byte{byte(len(h.Kind))}, h.Kind...)
	b = binary.LittleEndian.AppendUint32(b, h.Version)
	b = binary.LittleEndian.AppendUint64(b, h.Mark)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h.Note)))
	return append(b, h.Note...)
}

func decodeHeader(b []byte) (h Header, rest []byte, err error) {
	short := errors.New("header is cut short")
	if len(b) < 1 || len(b) < 1+int(b[0])+16 {
		return h, nil, short
	}
	n := int(b[0])
	h.Kind, b = string(b[1:1+n]), b[1+n:]
	h.Version, h.Mark = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint64(b[4:])
	note := binary.LittleEndian.Uint32(b[12:])
	if b = b[16:]; uint64(len(b)) < uint64(note) {
		return h, nil, short
	}
	h.Note = string(b[:note])
	return h, b[note:], nil
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
