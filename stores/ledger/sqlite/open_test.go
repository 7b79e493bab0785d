package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

// exec runs SQL on a file, as another program would.
func execSQL(t *testing.T, path string, queries ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range queries {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// tree lists a folder's files with their content.
func tree(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		list = append(list, fmt.Sprintf("%s %x", path, b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// What is not a bank of ours is refused, with what was found and wanted, and
// left as it was.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir, file string)
		code memtypes.Code
		says string
	}{
		{"not a database", func(t *testing.T, _, file string) { write(t, file, strings.Repeat("these are my notes\n", 300)) }, memtypes.Incompatible, "not SQLite's"},
		{"a short text", func(t *testing.T, _, file string) { write(t, file, "hello") }, memtypes.Incompatible, "not SQLite's"},
		{"another program's database", func(t *testing.T, _, file string) {
			execSQL(t, file, "PRAGMA journal_mode = WAL", "CREATE TABLE places (url TEXT)", "INSERT INTO places VALUES ('x')")
		}, memtypes.Incompatible, "found application id 0x0"},
		{"an application's database", func(t *testing.T, _, file string) {
			execSQL(t, file, "PRAGMA application_id = 252006673", "CREATE TABLE t (a)")
		}, memtypes.Incompatible, "found application id 0xf055111, wanted 0x564d424c"},
		{"a newer version", func(t *testing.T, dir, file string) {
			if err := open(t, dir, nil).Close(); err != nil {
				t.Fatal(err)
			}
			execSQL(t, file, "PRAGMA user_version = 99")
		}, memtypes.Incompatible, "found schema version 99, wanted 1 to 3"},
		{"a folder", func(t *testing.T, _, file string) {
			if err := os.Mkdir(file, 0o700); err != nil {
				t.Fatal(err)
			}
		}, memtypes.Incompatible, "found a folder, wanted a file"},
		{"another program's folder", func(t *testing.T, dir, _ string) { write(t, filepath.Join(dir, "PG_VERSION"), "16\n") }, memtypes.Incompatible, `found "PG_VERSION"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir, filepath.Join(dir, "ledger.db"))
			before := tree(t, dir)
			_, err := sqlite.Open(t.Context(), dir, nil)
			if memtypes.CodeOf(err) != c.code || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Open: %v, want code %q and %q", err, c.code, c.says)
			}
			if after := tree(t, dir); !slices.Equal(after, before) {
				t.Errorf("Open changed the folder:\n%q\nwant\n%q", after, before)
			}
		})
	}
}

func TestOpenPlaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a file")
	write(t, file, "x")
	if _, err := sqlite.Open(t.Context(), file, nil); memtypes.CodeOf(err) != memtypes.Incompatible {
		t.Errorf("Open of a file: %v, want code %q", err, memtypes.Incompatible)
	}
	if _, err := sqlite.Open(t.Context(), t.TempDir(), &sqlite.Options{ReadOnly: true}); memtypes.CodeOf(err) != memtypes.ReadOnly {
		t.Errorf("Open of nothing, for reading: %v, want code %q", err, memtypes.ReadOnly)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlite.Open(ctx, t.TempDir(), nil); memtypes.CodeOf(err) != memtypes.Canceled {
		t.Errorf("Open with a canceled context: %v, want code %q", err, memtypes.Canceled)
	}
	for _, name := range []string{"deep/er/and deeper", "with ? and # and % 20", "日本"} {
		dir := filepath.Join(t.TempDir(), name)
		db := open(t, dir, nil)
		if err := db.Set(t.Context(), "a", "b"); err != nil {
			t.Errorf("Set in %q: %v", dir, err)
		}
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		st, err := os.Stat(filepath.Join(dir, "ledger.db"))
		if err != nil {
			t.Fatalf("the ledger of %q: %v", dir, err)
		}
		if mode := st.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("ledger.db has mode %o, want it for its owner alone", mode)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".DS_Store"), "")
	write(t, filepath.Join(dir, "indexes"), "")
	if err := open(t, dir, &sqlite.Options{Beside: []string{"indexes"}}).Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// A creation that was cut off is taken up again.
// Many that make the same bank at once all get it.
func TestOpenTogether(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				db, err := sqlite.Open(t.Context(), dir, nil)
				if err != nil {
					t.Errorf("Open: %v", err)
					return
				}
				set := db.Set(t.Context(), fmt.Sprint("opened by ", i), "yes")
				put := db.PutVectors(t.Context(), "m/1", []memtypes.ID{"0f8fad5b-d9cb-869f-8165-70867728950e"}, []string{"h"}, []memtypes.Vector{{1}})
				if err := errors.Join(set, put, db.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

func TestOpenAfterCutCreation(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "ledger.db"), "")
	db := open(t, dir, nil)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(t, dir, nil)
	defer db.Close()
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir, nil)
	m := memory("ann", 1)
	if _, err := w.Append(t.Context(), insertOf(m)); err != nil {
		t.Fatal(err)
	}
	if err := w.PutVectors(t.Context(), "m", []memtypes.ID{m.ID}, []string{"h"}, []memtypes.Vector{{1}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Follow(t.Context(), "a", 1); err != nil {
		t.Fatal(err)
	}
	records, err := w.Records(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, beside := range []bool{true, false} { // a writer that has the bank open
		r := open(t, dir, &sqlite.Options{ReadOnly: true})
		if ms, err := r.Get(t.Context(), user("ann"), []memtypes.ID{m.ID}); err != nil || len(ms) != 1 || !r.ReadOnly() {
			t.Errorf("Get = %d memories, %v, ReadOnly = %v; want 1, reading only", len(ms), err, r.ReadOnly())
		}
		if vs, err := r.GetVectors(t.Context(), "m", []memtypes.ID{m.ID}, []string{"h"}); err != nil || len(vs[0]) != 1 {
			t.Errorf("GetVectors = %v, %v; want what was put", vs, err)
		}
		if f := follower(t, r); f.Mark != 1 {
			t.Errorf("Followers = %+v, want mark 1", f)
		}
		for name, f := range map[string]func() error{
			"Follow":      func() error { return r.Follow(t.Context(), "a", 0) },
			"Unfollow":    func() error { return r.Unfollow(t.Context(), "a") },
			"Claim":       func() error { _, err := r.Claim(t.Context(), "a", "h", epoch, time.Minute, 1); return err },
			"Settle":      func() error { return r.Settle(t.Context(), "a", "h", nil) },
			"Revive":      func() error { _, err := r.Revive(t.Context(), "a", nil); return err },
			"Adopt":       func() error { return r.Adopt(t.Context(), records) },
			"AdoptLeases": func() error { return r.AdoptLeases(t.Context(), []ledger.Lease{{Name: "l", Fence: 1}}) },
			"Append":      func() error { _, err := r.Append(t.Context(), insertOf(memory("ann", 2))); return err },
			"Set":         func() error { return r.Set(t.Context(), "a", "b") },
			"Acquire":     func() error { _, err := r.Acquire(t.Context(), "a", "b", epoch, 1); return err },
			"Release":     func() error { return r.Release(t.Context(), ledger.Lease{}) },
			"PutVectors":  func() error { return r.PutVectors(t.Context(), "m", nil, nil, nil) },
			"Checkpoint":  func() error { return r.Checkpoint(t.Context()) },
		} {
			if err := f(); memtypes.CodeOf(err) != memtypes.ReadOnly {
				t.Errorf("%s: %v, want code %q", name, err, memtypes.ReadOnly)
			}
		}
		if beside {
			if _, err := w.Append(t.Context(), insertOf(memory("ann", 3))); err != nil {
				t.Fatal(err)
			}
			if n, err := r.Head(t.Context()); n != 2 || err != nil {
				t.Errorf("Head beside a writer = %d, %v; want 2", n, err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// A folder that may not be written is read; where SQLite would have to repair
// it first, that is said.
func TestUnwritableFolder(t *testing.T) {
	run := func(dir string) (out []string) {
		c := child(t, "read", dir, "ann")
		if os.Getuid() == 0 { // who may write everything, so be someone else
			self := filepath.Join(t.TempDir(), "test")
			b, err := os.ReadFile(c.Path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(self, b, 0o755); err != nil {
				t.Fatal(err)
			}
			for d := self; d != "/" && d != "."; d = filepath.Dir(d) {
				if st, err := os.Stat(d); err == nil && st.Mode().Perm()&0o005 != 0o005 {
					if err := os.Chmod(d, st.Mode().Perm()|0o005); err != nil {
						t.Fatal(err)
					}
				}
			}
			c.Path = self
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		lines(t, c, func(s string) { out = append(out, s) })
		return out
	}
	dir := filepath.Join(t.TempDir(), "bank")
	lock := func(folder, file os.FileMode) {
		t.Helper()
		for _, n := range []string{"ledger.db", "ledger.db-wal", "ledger.db-shm"} {
			if err := os.Chmod(filepath.Join(dir, n), file); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(dir, folder); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	check := func(what string, want ...string) {
		t.Helper()
		got := run(dir)
		if len(got) == len(want) {
			for i := range got {
				if !strings.HasPrefix(got[i], want[i]) {
					break
				}
				if i == len(got)-1 {
					return
				}
			}
		}
		t.Errorf("%s: the child said %q, want %q", what, got, want)
	}
	lock(0o555, 0)
	check("nothing there", "error read_only sqlite.Open: read_only: cannot create the ledger")
	lock(0o700, 0)
	db := open(t, dir, nil)
	if _, err := db.Append(t.Context(), insertOf(memory("ann", 0))); err != nil {
		t.Fatal(err)
	}
	lock(0o555, 0o444)
	check("a writer beside", "list 1 <nil>", "append read_only", "readonly true")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	lock(0o555, 0o444)
	check("closed", "list 1 <nil>", "append read_only", "readonly true")
	lock(0o755, 0o444)
	check("a file that may not be written", "list 1 <nil>", "append read_only", "readonly true")
	lock(0o700, 0o600)
	write(t, filepath.Join(dir, "ledger.db-wal"), strings.Repeat("x", 9000)) // left by a crash
	lock(0o555, 0o444)
	check("to be repaired", "error read_only sqlite.Open: read_only: the bank was not closed")
}
