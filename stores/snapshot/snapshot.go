// Package snapshot writes and reads the files in which the in-process indexes
// rest between two runs: one header, one payload, one checksum.
//
// A file is either whole or refused: Write goes through a temporary file and a
// rename, Read and Scan check the checksum over everything before the first
// byte of the payload is used. A snapshot is never the only copy of anything,
// so a reader that is told Incompatible or NotFound rebuilds from the ledger.
// What the payload means is left to each index.
package snapshot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/vimbank/vimbank/memtypes"
)

// Header says what a snapshot holds.
type Header struct {
	Kind    string // "dense", "sparse": at most 255 bytes
	Version uint32 // of the payload's format
	Mark    uint64 // the ledger's sequence number up to which changes are in it
	Note    string // what else must match, such as the embedder's fingerprint; at most 64 KiB
}

const (
	magic   = "VIMBSNAP"
	maxNote = 64 << 10
)

var table = crc32.MakeTable(crc32.Castagnoli)

// Write makes path hold h and what body writes, durably and all at once. An
// error of body that is a memtypes.Error comes back as it is; else the code is
// Full, ReadOnly or Unavailable. A file that was at path stays until the new
// one is whole.
func Write(path string, h Header, body func(io.Writer) error) (err error) {
	const op = "snapshot.Write"
	if len(h.Kind) > 255 || len(h.Note) > maxNote {
		return memtypes.BadField(op, "header", memtypes.Remark(fmt.Sprintf("kind of %d, note of %d bytes", len(h.Kind), len(h.Note))), "at most 255 and 65536")
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return coded(op, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = coded(op, err)
		}
	}()
	sum := crc32.New(table)
	w := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<20)
	w.Write(h.encode()) // a bufio.Writer keeps its first error for Flush
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

// coded gives err the code that says what can be done about it.
func coded(op string, err error) error {
	if _, ok := errors.AsType[*memtypes.Error](err); ok {
		return err
	}
	code := memtypes.Unavailable
	switch {
	case errors.Is(err, syscall.ENOSPC):
		code = memtypes.Full
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		code = memtypes.ReadOnly
	}
	return memtypes.Errorf(op, code, "%w", err)
}

// Read checks the file at path and returns its header and payload. It fails
// with NotFound where there is no file, and with Incompatible where the file is
// foreign, damaged, of another kind or of another version than want's. A large
// payload is better read with Scan.
func Read(path string, want Header) (Header, []byte, error) {
	var payload []byte
	h, err := Scan(path, want, func(_ Header, r *bufio.Reader) (err error) {
		payload, err = io.ReadAll(r)
		return err
	})
	if err != nil {
		return Header{}, nil, err
	}
	return h, payload, nil
}

// Scan is Read for a payload that need not be in memory at once: the file is
// read twice, first for its checksum, then for body, whose reader gives the
// payload, ends at its end, and lets Peek see 1 MiB. An error of body comes
// back as it is.
func Scan(path string, want Header, body func(Header, *bufio.Reader) error) (Header, error) {
	const op = "snapshot.Read"
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Header{}, memtypes.Errorf(op, memtypes.NotFound, "%w", err)
	}
	if err != nil {
		return Header{}, memtypes.Errorf(op, memtypes.Unavailable, "%w", err)
	}
	defer f.Close()
	size, err := verify(f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	r := bufio.NewReaderSize(io.LimitReader(f, size), 1<<20)
	var h Header
	if err == nil {
		h, err = decodeHeader(r)
	}
	if err == nil && (h.Kind != want.Kind || h.Version != want.Version) {
		err = fmt.Errorf("found %s version %d, wanted %s version %d", h.Kind, h.Version, want.Kind, want.Version)
	}
	if err != nil {
		return Header{}, memtypes.Errorf(op, memtypes.Incompatible, "%s: %w", filepath.Base(path), err)
	}
	return h, body(h, r)
}

// verify checks the checksum of f and returns the size of what it covers.
func verify(f io.Reader) (size int64, err error) {
	r := bufio.NewReaderSize(f, 1<<20)
	if b, err := r.Peek(len(magic)); err != nil || string(b) != magic {
		return 0, errors.New("not a snapshot")
	}
	sum := crc32.New(table)
	for {
		b, err := r.Peek(1 << 16)
		if n := len(b) - 4; n > 0 { // the last 4 bytes of the file are not covered
			sum.Write(b[:n])
			size += int64(n)
			r.Discard(n)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, io.EOF) {
			return 0, err
		}
		if b, _ = r.Peek(4); len(b) < 4 || binary.LittleEndian.Uint32(b) != sum.Sum32() {
			return 0, errors.New("the checksum does not match: the file is damaged or cut short")
		}
		return size, nil
	}
}

// encode lays the header out as: magic, kind length (1 byte), kind, version
// (4), mark (8), note length (4), note. Numbers are little-endian.
func (h Header) encode() []byte {
	b := append([]byte(magic), byte(len(h.Kind)))
	b = append(b, h.Kind...)
	b = binary.LittleEndian.AppendUint32(b, h.Version)
	b = binary.LittleEndian.AppendUint64(b, h.Mark)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h.Note)))
	return append(b, h.Note...)
}

func decodeHeader(r *bufio.Reader) (h Header, err error) {
	next := func(n int) []byte { // what is missing is zeros: the first error is kept
		b := make([]byte, n)
		if _, e := io.ReadFull(r, b); e != nil && err == nil {
			err = errors.New("the header is cut short")
		}
		return b
	}
	next(len(magic))
	h.Kind = string(next(int(next(1)[0])))
	h.Version = binary.LittleEndian.Uint32(next(4))
	h.Mark = binary.LittleEndian.Uint64(next(8))
	n := binary.LittleEndian.Uint32(next(4))
	if n > maxNote {
		return Header{}, fmt.Errorf("found a note of %d bytes, wanted at most %d", n, maxNote)
	}
	h.Note = string(next(int(n)))
	return h, err
}

// syncDir makes a rename durable. Windows has no such call for a folder.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
