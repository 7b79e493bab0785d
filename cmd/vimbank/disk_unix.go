//go:build unix

package main

import "golang.org/x/sys/unix"

// freeBytes is what an ordinary user may still write to the file system of path.
func freeBytes(path string) (int64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}
