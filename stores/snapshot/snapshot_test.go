package snapshot_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/snapshot"
)

var header = snapshot.Header{Kind: "dense", Version: 3, Mark: 1 << 40, Note: "local-v1 256 wörter"}

func write(t testing.TB, path string, h snapshot.Header, payload []byte) {
	t.Helper()
	err := snapshot.Write(path, h, func(w io.Writer) error {
		_, err := w.Write(payload)
		return err
	})
	if err != nil {
		t.Fatalf("Write: %v", err)
	}
}

func wantCode(t testing.TB, err error, want memtypes.Code) {
	t.Helper()
	if err == nil || memtypes.CodeOf(err) != want {
		t.Errorf("error = %v, want one with code %q", err, want)
	}
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dense.snap")
	for name, payload := range map[string][]byte{
		"empty": {}, "one byte": {7}, "the window of the checksum": bytes.Repeat([]byte{1}, 1<<16),
		"beyond the buffers": bytes.Repeat([]byte("abcdefg"), 1<<19),
	} {
		for hname, h := range map[string]snapshot.Header{
			"full": header, "plain": {Kind: "dense", Version: 3},
			"largest": {Kind: "dense", Version: 3, Mark: 1<<64 - 1, Note: strings.Repeat("n", 64<<10)},
		} {
			t.Run(name+", "+hname, func(t *testing.T) {
				write(t, path, h, payload) // over what is there
				got, b, err := snapshot.Read(path, header)
				if err != nil {
					t.Fatalf("Read: %v", err)
				}
				if diff := cmp.Diff(h, got); diff != "" {
					t.Errorf("header (-want +got):\n%s", diff)
				}
				if !bytes.Equal(b, payload) {
					t.Errorf("payload: got %d bytes, want the %d that were written", len(b), len(payload))
				}
			})
		}
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("the folder has %v, want the snapshot alone", got)
	}
}

func TestScan(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dense.snap")
	payload := bytes.Repeat([]byte("0123456789"), 150_000)
	write(t, path, header, payload)
	_, err := snapshot.Scan(path, header, func(h snapshot.Header, r *bufio.Reader) error {
		if h != header {
			t.Errorf("header = %+v, want %+v", h, header)
		}
		if b, err := r.Peek(1 << 20); err != nil || !bytes.Equal(b, payload[:1<<20]) {
			t.Errorf("Peek(1 MiB) = %d bytes, %v; want the beginning of the payload", len(b), err)
		}
		got, err := io.ReadAll(r)
		if !bytes.Equal(got, payload) {
			t.Errorf("read %d bytes, want the payload of %d and no checksum", len(got), len(payload))
		}
		return err
	})
	if err != nil {
		t.Errorf("Scan: %v", err)
	}
	mine := errors.New("mine")
	if _, err := snapshot.Scan(path, header, func(snapshot.Header, *bufio.Reader) error { return mine }); err != mine {
		t.Errorf("error = %v, want the body's own", err)
	}
}

// TestDamage changes or cuts every byte of a small file, one at a time.
func TestDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dense.snap")
	write(t, path, header, []byte("payload"))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, at int, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := snapshot.Scan(path, header, func(snapshot.Header, *bufio.Reader) error {
			t.Errorf("%s at %d: the payload was used", what, at)
			return nil
		})
		if memtypes.CodeOf(err) != memtypes.Incompatible {
			t.Errorf("%s at %d: error = %v, want Incompatible", what, at, err)
		}
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 0x10
		refused("a changed bit", i, b)
		refused("cut", i, whole[:i])
	}
	refused("one byte more", len(whole), append(bytes.Clone(whole), 0))
	refused("twice", len(whole), append(bytes.Clone(whole), whole...))
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "dense.snap")
	_, _, err := snapshot.Read(path, header)
	wantCode(t, err, memtypes.NotFound)

	write(t, path, header, nil)
	_, _, err = snapshot.Read(path, snapshot.Header{Kind: "sparse", Version: 3})
	wantCode(t, err, memtypes.Incompatible)
	if want := "found dense version 3, wanted sparse version 3"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want one that says %q", err, want)
	}
	_, _, err = snapshot.Read(path, snapshot.Header{Kind: "dense", Version: 4})
	wantCode(t, err, memtypes.Incompatible)
	_, _, err = snapshot.Read(dir, header)
	if err == nil {
		t.Error("Read of a folder: no error")
	}
	for _, h := range []snapshot.Header{{Kind: strings.Repeat("k", 256)}, {Note: strings.Repeat("n", 64<<10+1)}} {
		err := snapshot.Write(path, h, func(io.Writer) error { t.Error("body was called"); return nil })
		wantCode(t, err, memtypes.Invalid)
	}
}

// TestFailedWriteLeavesTheOldFile and no litter.
func TestFailedWriteLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dense.snap")
	write(t, path, header, []byte("old"))
	mine := memtypes.Errorf("dense.Save", memtypes.Internal, "mine")
	for name, c := range map[string]struct {
		body error
		want memtypes.Code
	}{
		"a plain error":    {errors.New("plain"), memtypes.Unavailable},
		"an error of ours": {mine, memtypes.Internal},
		"a full disk":      {&os.PathError{Op: "write", Path: "x", Err: errFull}, memtypes.Full},
	} {
		t.Run(name, func(t *testing.T) {
			err := snapshot.Write(path, header, func(w io.Writer) error {
				w.Write(bytes.Repeat([]byte("new"), 1<<20))
				return c.body
			})
			wantCode(t, err, c.want)
			if _, b, err := snapshot.Read(path, header); err != nil || string(b) != "old" {
				t.Errorf("Read = %q, %v; want the old payload", b, err)
			}
			if got := files(t, filepath.Dir(path)); len(got) != 1 {
				t.Errorf("the folder has %v, want the snapshot alone", got)
			}
		})
	}
	err := snapshot.Write(filepath.Join(path, "x"), header, func(io.Writer) error { return nil })
	wantCode(t, err, memtypes.Unavailable)
}

// FuzzRead gives Read arbitrary files, with and without a right checksum: it
// must refuse them, or give what writing the same again gives.
func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed")
	write(f, path, header, []byte("payload"))
	seed, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed[:len(seed)-4])
	f.Add([]byte("VIMBSNAP\x05dense\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		path := filepath.Join(t.TempDir(), "f")
		sum := binary.LittleEndian.AppendUint32(nil, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
		for _, b := range [][]byte{body, append(bytes.Clone(body), sum...)} {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			h, payload, err := snapshot.Read(path, header)
			if err != nil {
				wantCode(t, err, memtypes.Incompatible)
				continue
			}
			write(t, path+"2", h, payload)
			if again, err := os.ReadFile(path + "2"); err != nil || !bytes.Equal(again, b) {
				t.Errorf("Read and Write of %q gives %q, %v", b, again, err)
			}
		}
	})
}
