package sqlite

import (
	"os"
	"path/filepath"
	"testing"
)

// The file grows by room for many pages, while what is used of it grows by few.
func TestReserve(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wal")
	if err := os.WriteFile(path, make([]byte, 8<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	r := reserve{path: path}
	defer r.close()
	used, sizes := int64(8<<10), map[int64]int{}
	step := func() int64 {
		if r.due(func() int64 { return used }) {
			r.extend()
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sizes[st.Size()]++
		return st.Size()
	}
	for range 2000 {
		used += 4120
		if size := step(); size < used && size > 256<<10 {
			t.Fatalf("%d bytes are used of %d, want room", used, size)
		}
		if st, _ := os.Stat(path); st.Size() < used { // as SQLite would write there
			if err := os.Truncate(path, used); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(sizes) > 60 {
		t.Errorf("the file had %d sizes in 2000 commits, want few", len(sizes))
	}
	// Begun anew, it has room; cut off, it gets some.
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for used = 0; used < 1<<20; used += 4120 {
		if size := step(); size != was.Size() {
			t.Fatalf("the file has %d bytes, want %d as before", size, was.Size())
		}
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	used = 4120
	if err := os.Truncate(path, used); err != nil {
		t.Fatal(err)
	}
	for range 2 * reserveEvery {
		step()
	}
	if size := step(); size <= used {
		t.Errorf("the file has %d bytes after it was cut off, want room beyond %d", size, used)
	}
}
