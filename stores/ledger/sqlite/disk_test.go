package sqlite_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A full disk refuses writes with Full, loses nothing, is read from, and takes
// writes again when there is room. The limit on a file's size stands in for it.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	said, other := acked{}, []string{}
	lines(t, child(t, "fill", dir, "ann"), func(line string) {
		if strings.HasPrefix(line, "acked") {
			said.note(t, line)
		} else {
			other = append(other, line)
		}
	})
	if want := []string{"full full", "full full", "read 1 <nil>"}; !slices.Equal(other, want) {
		t.Errorf("the child said %q, want %q", other, want)
	}
	if n := len(said["ann"]); n < 10 {
		t.Errorf("%d pairs were acknowledged, want some before the disk was full and one after", n)
	}
	db := open(t, dir, nil)
	defer db.Close()
	said.verify(t, db)
}

// After a sync that failed nothing may be acknowledged, even if the next one
// seems to succeed: the system may have dropped what it could not write.
func TestSyncFails(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("needs strace, to make a sync fail")
	}
	dir := t.TempDir()
	if err := open(t, dir, nil).Close(); err != nil {
		t.Fatal(err)
	}
	c := child(t, "unsynced", dir, "ann")
	c.Args = append([]string{strace, "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:error=EIO:when=30", "--"}, c.Args...)
	c.Path = strace
	said, other := acked{}, []string{}
	lines(t, c, func(line string) {
		if strings.HasPrefix(line, "acked") {
			said.note(t, line)
		} else {
			other = append(other, line)
		}
	})
	if len(other) == 0 && len(said) == 0 {
		t.Skip("strace may not trace here")
	}
	want := append([]string{"failed internal"}, slices.Repeat([]string{"then internal"}, 20)...)
	if want = append(want, "read 1 <nil>"); !slices.Equal(other, want) {
		t.Errorf("the child said %q, want %q", other, want)
	}
	if n := len(said["ann"]); n < 5 {
		t.Errorf("%d pairs were acknowledged before the failure, want some", n)
	}
	db := open(t, dir, nil)
	defer db.Close()
	said.verify(t, db)
}
