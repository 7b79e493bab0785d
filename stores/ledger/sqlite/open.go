package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	driver "modernc.org/sqlite"

	"github.com/vimbank/vimbank/memtypes"
)

// access is how a bank can be opened.
type access int

const (
	writable access = iota
	readable        // for reading, beside others that may write
	frozen          // for reading, in a folder where nobody can write
)

// params are those of a SQLite URI.
func (a access) params() string {
	switch a {
	case readable:
		return "mode=ro"
	case frozen:
		return "mode=ro&immutable=1"
	}
	return "mode=rw"
}

// prepare finds out what dir holds, creates or migrates the ledger where it
// must and may, and says how to open it. It writes nothing before it knows
// that the file is ours.
func prepare(ctx context.Context, dir string, opt *Options) (access, error) {
	path := filepath.Join(dir, ledgerFile)
	size, err := look(dir, path, opt)
	if err != nil {
		return 0, err
	}
	if size > 0 {
		if err := inspect(ctx, path); err != nil {
			return 0, fail("sqlite.Open", err)
		}
	}
	if opt.ReadOnly {
		how, err := passive(ctx, path, ledgerID, ledgerSchema())
		return how, fail("sqlite.Open", err)
	}
	err = setUp(ctx, path, opt)
	if code := memtypes.CodeOf(fail("", err)); err != nil && size > 0 && (code == memtypes.ReadOnly || code == memtypes.Unavailable && cannotOpen(err)) {
		how, err := passive(ctx, path, ledgerID, ledgerSchema())
		return how, fail("sqlite.Open", err)
	}
	return writable, fail("sqlite.Open", err)
}

// look returns the size of the ledger's file after making the folder and an
// empty file where there is none.
func look(dir, path string, opt *Options) (int64, error) {
	st, err := os.Stat(path)
	switch {
	case err == nil && !st.Mode().IsRegular():
		return 0, memtypes.Errorf("sqlite.Open", memtypes.Incompatible, "%s: found a %s, wanted a file", path, kindOf(st.Mode()))
	case err == nil && (st.Size() > 0 || !opt.ReadOnly):
		return st.Size(), nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		if errors.Is(err, fs.ErrPermission) {
			return 0, memtypes.Errorf("sqlite.Open", memtypes.Unavailable, "%w", err)
		}
		return 0, memtypes.Errorf("sqlite.Open", memtypes.Incompatible, "found no bank folder: %w", err)
	}
	if opt.ReadOnly {
		return 0, memtypes.Errorf("sqlite.Open", memtypes.ReadOnly, "found no ledger in %s, and may not create one", dir)
	}
	return 0, fail("sqlite.Open", create(dir, path, opt))
}

func kindOf(m fs.FileMode) string {
	if m.IsDir() {
		return "folder"
	}
	return "special file"
}

// create makes the folder, for its owner alone, and an empty file in it.
func create(dir, path string, opt *Options) error {
	_, err := os.Stat(dir)
	missing := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot create the bank folder: %w", err)
	}
	if missing {
		if err := syncDir(filepath.Dir(dir)); err != nil {
			return err
		}
	}
	if err := stranger(dir, opt.Beside); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // another process was quicker
	}
	if err != nil {
		return fmt.Errorf("cannot create the ledger: %w", err)
	}
	return f.Close()
}

// stranger refuses to make a bank of a folder that holds other things.
func stranger(dir string, beside []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("cannot read the bank folder: %w", err)
	}
	for _, e := range entries {
		n := e.Name()
		if strings.HasPrefix(n, ".") || n == "lost+found" || strings.HasPrefix(n, ledgerFile) ||
			strings.HasPrefix(n, vectorsFile) || slices.Contains(beside, n) {
			continue
		}
		return memtypes.Errorf("sqlite.Open", memtypes.Incompatible, "%s is not a bank: found %q and no %s, wanted a bank or an empty folder", dir, n, ledgerFile)
	}
	return nil
}

// syncDir makes the names in dir durable, where the system can do that.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// inspect checks whose file it is without a lock, a WAL or any other trace. It
// reads the header alone: the rest may be half written, by another process that
// makes the bank just now or by one that was killed over it.
func inspect(ctx context.Context, path string) error {
	app, version, err := header(path)
	if err != nil {
		return err
	}
	if app == 0 && version == 0 {
		var tables int
		err := withConn(ctx, path, frozen.params(), func(c *sql.Conn) error {
			return c.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables)
		})
		if err != nil || tables == 0 {
			return err // empty: a creation that was cut off
		}
	}
	return known(app, version, ledgerID, len(ledgerSchema()))
}

// header reads the application id and the schema version where SQLite's file
// format has them (https://sqlite.org/fileformat2.html#the_database_header).
func header(path string) (app int32, version int, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrPermission) {
		return 0, 0, memtypes.Errorf("sqlite.Open", memtypes.Unavailable, "%w", err)
	} else if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	b := make([]byte, 100)
	if _, err := io.ReadFull(f, b); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return 0, 0, err
	}
	if !strings.HasPrefix(string(b), "SQLite format 3\x00") {
		return 0, 0, memtypes.Errorf("sqlite.Open", memtypes.Incompatible, "%s: found a file that is not SQLite's, wanted a ledger", path)
	}
	return int32(binary.BigEndian.Uint32(b[68:])), int(int32(binary.BigEndian.Uint32(b[60:]))), nil
}

// setUp brings the ledger to this program's version and into WAL mode.
func setUp(ctx context.Context, path string, opt *Options) error {
	return patiently(ctx, opt.Busy, func() error { return setUpOnce(ctx, path, opt) })
}

// patiently does what may meet another process that makes the same file, again
// and again for as long as busy. SQLite itself waits for no lock where it
// changes the mode of a file.
func patiently(ctx context.Context, busy time.Duration, do func() error) error {
	wait, cancel := context.WithTimeout(ctx, busy)
	defer cancel()
	for {
		err := do()
		if err == nil || !isBusy(err) {
			return err
		}
		select {
		case <-wait.Done():
			return err
		case <-time.After(busyPause):
		}
	}
}

const busyPause = 10 * time.Millisecond

func setUpOnce(ctx context.Context, path string, opt *Options) error {
	return withConn(ctx, path, pragmas("busy_timeout", opt.Busy.Milliseconds(), "auto_vacuum", 0), func(c *sql.Conn) error {
		if err := migrate(ctx, c, ledgerID, ledgerSchema()); err != nil {
			return err
		}
		var mode string
		if err := c.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
			return err
		}
		if mode != "wal" {
			return memtypes.Errorf("sqlite.Open", memtypes.Incompatible, "%s: found journal mode %q, wanted a file system with shared memory", path, mode)
		}
		return nil
	})
}

// passive finds how the bank can be read where it cannot be written. Without
// write access SQLite can follow a WAL only if its -shm file is there; where
// there is no WAL either, the file alone is the whole truth.
func passive(ctx context.Context, path string, app int32, steps []string) (access, error) {
	try := func(how access) error {
		return withConn(ctx, path, how.params(), func(c *sql.Conn) error {
			found, version, err := identity(ctx, c)
			if err != nil {
				return err
			}
			if err := known(found, version, app, len(steps)); err != nil {
				return err
			}
			if n := len(steps); version < n {
				return memtypes.Errorf("sqlite.Open", memtypes.ReadOnly, "found schema version %d, wanted %d: open it once where it can be written", version, n)
			}
			return nil
		})
	}
	err := try(readable)
	if err == nil {
		return readable, nil
	}
	if !cannotOpen(err) && codeOf(err) != memtypes.ReadOnly {
		return 0, fail("sqlite.Open", err)
	}
	if st, statErr := os.Stat(path + "-wal"); statErr == nil && st.Size() > 0 {
		return 0, memtypes.Errorf("sqlite.Open", memtypes.ReadOnly,
			"the bank was not closed and must be recovered from %s-wal: open it once where it can be written: %w", path, err)
	}
	return frozen, fail("sqlite.Open", try(frozen))
}

// withConn runs do on a connection of its own.
func withConn(ctx context.Context, path, params string, do func(*sql.Conn) error) (err error) {
	pool, err := openPool(path, params)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	c, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return do(c)
}

// openPool makes a pool whose connections have params of a SQLite URI.
func openPool(path, params string) (*sql.DB, error) {
	p := filepath.ToSlash(path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // a Windows drive
	}
	u := url.URL{Scheme: "file", Path: p, RawQuery: "_error_rc=1&_dqs=0&" + params}
	c, err := driver.NewConnector(u.String())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// pragmas renders name, value pairs for openPool.
func pragmas(kv ...any) string {
	var b strings.Builder
	for i := 0; i < len(kv); i += 2 {
		fmt.Fprintf(&b, "_pragma=%v(%v)&", kv[i], kv[i+1])
	}
	return strings.TrimSuffix(b.String(), "&")
}
