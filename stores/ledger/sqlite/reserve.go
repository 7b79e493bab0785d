package sqlite

import (
	"errors"
	"os"
)

// maxReserve is by how much the WAL grows at once.
const maxReserve = 1 << 20

// reserve keeps room at the end of the WAL. A sync of a file that became
// longer must write its new length, too, and takes twice as long as one of a
// file that was written over; so the WAL grows by many pages at once instead of
// with each commit. What is reserved are zeros, which SQLite does not take for
// a page of the WAL, now or after a crash: their checksum is wrong.
type reserve struct {
	path string
	file *os.File // nil until there is a WAL
	size int64    // of the file, when last looked at
	grew bool     // by a commit: the room is used up
}

// committed looks whether the last commit still had room.
func (r *reserve) committed() {
	if r.file == nil {
		var err error
		if r.file, err = os.OpenFile(r.path, os.O_WRONLY, 0); err != nil {
			return // without room writing goes on, only slower
		}
	}
	st, err := r.file.Stat()
	if err != nil {
		return
	}
	r.grew = st.Size() > r.size
	r.size = st.Size()
}

// due says whether the file, of which used bytes hold pages, needs room. It may
// have grown because another process made some.
func (r *reserve) due(used func() int64) bool {
	if !r.grew {
		return false
	}
	r.grew = false
	return r.size-used() < r.size/4
}

// extend makes room. The caller must be in a transaction that writes, and must
// not have written yet: nobody else appends to the WAL then. What it writes is
// synced with the transaction.
func (r *reserve) extend() {
	st, err := r.file.Stat()
	if err != nil || st.Size() < r.size { // emptied since
		return
	}
	n, err := r.file.WriteAt(make([]byte, min(st.Size(), maxReserve)), st.Size())
	r.size = st.Size() + int64(n)
	if err != nil {
		// No room left, or none allowed: give back what was taken, and leave
		// it to SQLite to say so if it must.
		if r.file.Truncate(st.Size()) == nil {
			r.size = st.Size()
		}
	}
}

// close must come before SQLite removes the WAL.
func (r *reserve) close() error {
	if r.file == nil {
		return nil
	}
	return errors.Join(r.file.Close())
}
