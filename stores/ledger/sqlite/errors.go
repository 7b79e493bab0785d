package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"syscall"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/vimbank/vimbank/memtypes"
)

// refused is the error of a write that found, before it wrote anything, that
// it must not: its companions in the transaction go on.
type refused struct{ err error }

func (r refused) Error() string { return r.err.Error() }
func (r refused) Unwrap() error { return r.err }

// fail gives err its code and op; an error that has a code keeps both.
func fail(op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*memtypes.Error](err); ok {
		return e
	}
	return &memtypes.Error{Op: op, Code: codeOf(err), Err: err}
}

func codeOf(err error) memtypes.Code {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return memtypes.Canceled
	case errors.Is(err, sql.ErrConnDone):
		return memtypes.Unavailable
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EFBIG):
		return memtypes.Full
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return memtypes.ReadOnly
	}
	rc := resultOf(err)
	switch rc & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return memtypes.Unavailable
	case lib.SQLITE_INTERRUPT:
		return memtypes.Canceled
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return memtypes.ReadOnly
	case lib.SQLITE_FULL:
		return memtypes.Full
	case lib.SQLITE_NOTADB:
		return memtypes.Incompatible
	case lib.SQLITE_CANTOPEN:
		return memtypes.Unavailable
	}
	switch rc {
	// A quota and a file size limit come as a failed write, a full disk as
	// a shared-memory file that cannot grow.
	case lib.SQLITE_IOERR_WRITE, lib.SQLITE_IOERR_SHMSIZE, lib.SQLITE_IOERR_SHMMAP:
		return memtypes.Full
	}
	return memtypes.Internal
}

// resultOf is SQLite's extended result code of err, 0 if it is not SQLite's.
func resultOf(err error) int {
	if e, ok := errors.AsType[*driver.Error](err); ok {
		return e.Code()
	}
	return 0
}

// syncFailed says that the disk did not confirm a write. What it holds is then
// unknown, also to a second sync, so nothing may be acknowledged afterwards.
func syncFailed(err error) bool {
	switch resultOf(err) {
	case lib.SQLITE_IOERR_FSYNC, lib.SQLITE_IOERR_DIR_FSYNC, lib.SQLITE_IOERR_TRUNCATE, lib.SQLITE_IOERR_CLOSE:
		return true
	}
	return false
}

// cannotOpen says that SQLite could not open or create one of its files.
func cannotOpen(err error) bool { return resultOf(err)&0xff == lib.SQLITE_CANTOPEN }
