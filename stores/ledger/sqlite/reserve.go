package sqlite

import "os"

// Bounds of the reserve.
const (
	maxReserve   = 1 << 20 // bytes by which the WAL grows at once
	reserveEvery = 16      // commits after which it is looked at again
)

// reserve keeps room at the end of the WAL. A sync of a file that became
// longer must write its new length, too, and takes twice as long as one of a
// file that was written over; so the WAL grows by many pages at once instead of
// with each commit. What is reserved are zeros, which SQLite does not take for
// a page of the WAL, now or after a crash: their checksum is wrong.
//
// It asks for the file's size as rarely as it can: on Linux, whoever asks makes
// the next write note a new time of change, and that is synced, too.
type reserve struct {
	path    string
	file    *os.File // nil until there is a WAL
	size    int64    // of the file, when last asked
	used    int64    // of it by pages, when last looked at
	commits int      // since then
}

// due says whether the WAL, of which used bytes hold pages, needs room.
func (r *reserve) due(used func() int64) bool {
	if r.commits++; r.commits < reserveEvery {
		return false
	}
	now := used()
	if now < r.used {
		r.size = 0 // it began anew, and may have been cut off: ask
	}
	r.commits, r.used = 0, now
	return r.size-now < r.size/4 || r.size == 0
}

// extend makes room if there is none. The caller must be in a transaction that
// writes, and must not have written yet: nobody else appends to the WAL then.
// What it writes is synced with the transaction. Where it fails, writing goes
// on, only slower.
func (r *reserve) extend() {
	if r.file == nil {
		var err error
		if r.file, err = os.OpenFile(r.path, os.O_WRONLY, 0); err != nil {
			return
		}
	}
	st, err := r.file.Stat()
	if err != nil {
		return
	}
	was := st.Size()
	if r.size = was; was-r.used >= was/4 {
		return // another process made room
	}
	n, err := r.file.WriteAt(make([]byte, min(was, maxReserve)), was)
	if r.size += int64(n); err != nil && r.file.Truncate(was) == nil {
		r.size = was // no room on the disk: what is left is for SQLite
	}
}

// close must come before SQLite removes the WAL.
func (r *reserve) close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
