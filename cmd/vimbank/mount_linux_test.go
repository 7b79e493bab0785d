package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// mayMount reports whether this process may mount a file system.
func mayMount(t *testing.T) bool {
	dir := t.TempDir()
	return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k") == nil && syscall.Unmount(dir, 0) == nil
}

// mount puts a file system in memory of this size at dir, until the script
// ends; one that is there gets the size, or is made read-only by "ro".
func mount(ts *testscript.TestScript, dir, size string) {
	flags, data := uintptr(0), "mode=700,size="+size
	if size == "ro" {
		flags, data = syscall.MS_RDONLY, ""
	}
	if st, err := os.Stat(filepath.Join(dir, ".mounted")); err == nil && st.Mode().IsRegular() {
		ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", flags|syscall.MS_REMOUNT, data))
		return
	}
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", flags, data))
	ts.Defer(func() { ts.Check(syscall.Unmount(dir, syscall.MNT_DETACH)) })
	ts.Check(os.WriteFile(filepath.Join(dir, ".mounted"), nil, 0o600))
}
