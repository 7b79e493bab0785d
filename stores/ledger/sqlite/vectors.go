package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// vectors is the cache of embeddings. It has a file of its own, because a
// vector is as long as its text and would double what each write of the
// ledger syncs; because it then can be WAL with synchronous NORMAL, which
// costs no sync a write and still cannot be torn; and because whoever wants the
// space back may delete it. The price is that a purge touches two files: see
// sweep. The file is opened, or made, when it is first needed.
type vectors struct {
	path     string
	readOnly bool
	ledger   *reader

	opening sync.Mutex // guards pool
	pool    *sql.DB

	writing sync.Mutex // held by whoever writes, which is one at a time
}

func vectorsSchema() []string {
	return []string{`
CREATE TABLE embedders (no INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE vectors (
	seq      INTEGER PRIMARY KEY,
	id       BLOB NOT NULL,
	embedder INTEGER NOT NULL,
	hash     BLOB NOT NULL,
	vector   BLOB NOT NULL, -- little-endian float32
	UNIQUE (id, embedder)
) STRICT;
CREATE TABLE purged (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL) STRICT; -- the ledger's purges up to seq are done
INSERT INTO purged VALUES (1, 0);`}
}

// open gives the pool; nil if there is no file yet and none is to be made, or
// if the bank cannot be written and the file cannot be read as it is.
func (v *vectors) open(ctx context.Context, create bool) (*sql.DB, error) {
	v.opening.Lock()
	defer v.opening.Unlock()
	if v.pool != nil {
		return v.pool, nil
	}
	if _, err := os.Stat(v.path); err != nil && !create {
		return nil, nil
	}
	var err error
	if v.readOnly {
		v.pool, err = v.openPassive(ctx)
		return v.pool, err
	}
	if v.pool, err = v.openWritable(ctx); damaged(err) {
		for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
			if err := os.Remove(v.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		}
		v.pool, err = v.openWritable(ctx)
	}
	return v.pool, err
}

// damaged says that a file cannot be used, so that a cache may be made anew.
func damaged(err error) bool {
	code := memtypes.CodeOf(fail("", err))
	return err != nil && (code == memtypes.Incompatible || code == memtypes.Internal)
}

func (v *vectors) openPassive(ctx context.Context) (*sql.DB, error) {
	how, err := passive(ctx, v.path, vectorsID, vectorsSchema())
	if err != nil {
		return nil, ctx.Err()
	}
	return openPool(v.path, how.params())
}

func (v *vectors) openWritable(ctx context.Context) (pool *sql.DB, err error) {
	err = patiently(ctx, vectorsBusy, func() error {
		pool, err = v.openOnce(ctx)
		return err
	})
	return pool, err
}

// vectorsBusy is how long one process waits for another that writes vectors.
const vectorsBusy = 10 * time.Second

func (v *vectors) openOnce(ctx context.Context) (_ *sql.DB, err error) {
	f, err := os.OpenFile(v.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	pool, err := openPool(v.path, pragmas("busy_timeout", vectorsBusy.Milliseconds(), "page_size", 16384, "auto_vacuum", 0, "journal_mode", "WAL",
		"synchronous", 1, "secure_delete", 1, "temp_store", 2))
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(3)
	defer func() {
		if err != nil {
			err = errors.Join(err, pool.Close())
		}
	}()
	c, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	err = migrate(ctx, c, vectorsID, vectorsSchema())
	if err = errors.Join(err, c.Close()); err != nil {
		return nil, err
	}
	return pool, v.sweepIn(ctx, pool)
}

func (v *vectors) close() error {
	if v.pool == nil {
		return nil
	}
	return v.pool.Close()
}

// sweep does the purges of the ledger that this file has missed. It follows the
// ledger's log, so a purge that a crash cut off between the two files, or that
// another process did, is made good by whoever comes next.
func (v *vectors) sweep(ctx context.Context) error {
	pool, err := v.open(ctx, false)
	if err != nil || pool == nil {
		return err
	}
	return v.sweepIn(ctx, pool)
}

func (v *vectors) sweepIn(ctx context.Context, pool *sql.DB) error {
	var done int64
	if err := pool.QueryRowContext(ctx, "SELECT seq FROM purged").Scan(&done); err != nil {
		return err
	}
	missed, err := all(ctx, v.ledger.pool, scanChange, "SELECT seq, id FROM log INDEXED BY log_purges WHERE op = 5 AND seq > ? ORDER BY seq", done)
	if err != nil || len(missed) == 0 {
		return err
	}
	err = v.update(ctx, pool, func(c *sql.Conn) error {
		for _, m := range missed {
			u, _ := ledger.KeyOf(m.ID)
			if _, err := c.ExecContext(ctx, "DELETE FROM vectors WHERE id = ?", u[:]); err != nil {
				return err
			}
		}
		_, err := c.ExecContext(ctx, "UPDATE purged SET seq = max(seq, ?)", int64(missed[len(missed)-1].Seq))
		return err
	})
	if err != nil {
		return err
	}
	return v.truncate(ctx, pool)
}

// truncate empties the WAL, where what was deleted may still stand.
func (v *vectors) truncate(ctx context.Context, pool *sql.DB) error {
	var busy bool
	var n, folded int
	err := pool.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &n, &folded)
	if err == nil && busy {
		err = memtypes.Errorf("sqlite.Checkpoint", memtypes.Unavailable, "a reader or another process still needs the WAL of the vectors")
	}
	return err
}

// checkpoint makes good all purges and empties the WAL.
func (v *vectors) checkpoint(ctx context.Context) error {
	pool, err := v.open(ctx, false)
	if err != nil || pool == nil {
		return err
	}
	return errors.Join(v.sweepIn(ctx, pool), v.truncate(ctx, pool))
}

// update runs do in a transaction under the write lock.
func (v *vectors) update(ctx context.Context, pool *sql.DB, do func(*sql.Conn) error) (err error) {
	v.writing.Lock()
	defer v.writing.Unlock()
	c, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if _, err := c.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err = do(c); err == nil {
		_, err = c.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		c.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // the cause is reported, not this
	}
	return err
}

// PutVectors stores vectors without syncing them; see ledger.Vectors.
func (db *DB) PutVectors(ctx context.Context, fingerprint string, ids []memtypes.ID, hash []string, vs []memtypes.Vector) error {
	const op = "sqlite.PutVectors"
	if len(hash) != len(ids) || len(vs) != len(ids) {
		return memtypes.BadField(op, "vectors", memtypes.Remark(fmt.Sprintf("%d ids, %d hashes, %d vectors", len(ids), len(hash), len(vs))), "as many of each")
	}
	if err := db.enter(ctx, op); err != nil {
		return err
	}
	defer db.leave()
	if db.readOnly {
		return memtypes.Errorf(op, memtypes.ReadOnly, "the bank %s is open for reading only", db.dir)
	}
	return fail(op, db.vectors.put(ctx, fingerprint, ids, hash, vs))
}

func (v *vectors) put(ctx context.Context, fingerprint string, ids []memtypes.ID, hash []string, vs []memtypes.Vector) error {
	pool, err := v.open(ctx, true)
	if err != nil {
		return err
	}
	return v.update(ctx, pool, func(c *sql.Conn) error {
		// Looked at under the lock: a purge that comes later will find what is put here.
		purged, err := all(ctx, v.ledger.pool, scanID,
			both("SELECT m.id ", "memory_id", "m.state = 2 AND m.id IN (SELECT unhex(value) FROM json_each(?1))", ""), idsJSON(ids))
		if err != nil {
			return err
		}
		if _, err := c.ExecContext(ctx, "INSERT INTO embedders (fingerprint) VALUES (?) ON CONFLICT DO NOTHING", fingerprint); err != nil {
			return err
		}
		st, err := c.PrepareContext(ctx, `INSERT INTO vectors (id, embedder, hash, vector)
			SELECT ?1, no, ?2, ?3 FROM embedders WHERE fingerprint = ?4
			ON CONFLICT (id, embedder) DO UPDATE SET hash = excluded.hash, vector = excluded.vector`)
		if err != nil {
			return err
		}
		defer st.Close()
		for i, id := range ids {
			u, ok := ledger.KeyOf(id)
			if !ok {
				return memtypes.BadField("sqlite.PutVectors", "id", string(id), "a memory's id")
			}
			if vs[i] == nil || slices.Contains(purged, u) {
				continue
			}
			if _, err := st.ExecContext(ctx, u[:], []byte(hash[i]), packed(vs[i]), fingerprint); err != nil {
				return err
			}
		}
		return nil
	})
}

// GetVectors returns the vectors that are still good; see ledger.Vectors.
func (db *DB) GetVectors(ctx context.Context, fingerprint string, ids []memtypes.ID, hash []string) ([]memtypes.Vector, error) {
	const op = "sqlite.GetVectors"
	if len(hash) != len(ids) {
		return nil, memtypes.BadField(op, "vectors", memtypes.Remark(fmt.Sprintf("%d ids, %d hashes", len(ids), len(hash))), "as many of each")
	}
	out := make([]memtypes.Vector, len(ids))
	err := db.view(ctx, op, func(*reader) error {
		pool, err := db.vectors.open(ctx, false)
		if err != nil || pool == nil {
			return err
		}
		list, err := all(ctx, pool, scanVector, `SELECT id, hash, vector FROM vectors
			WHERE embedder = (SELECT no FROM embedders WHERE fingerprint = ?) AND id IN `+idList, fingerprint, idsJSON(ids))
		if err != nil {
			return err
		}
		byID := make(map[ledger.Key]*stored, len(list))
		for i := range list {
			byID[list[i].id] = &list[i]
		}
		for i, id := range ids {
			u, _ := ledger.KeyOf(id)
			if s := byID[u]; s != nil && s.hash == hash[i] {
				out[i] = unpacked(s.vector)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// stored is a row of the cache.
type stored struct {
	id     ledger.Key
	hash   string
	vector []byte
}

func scanVector(scan func(...any) error) (s stored, err error) {
	var id []byte
	if err = scan(&id, &s.hash, &s.vector); err == nil {
		s.id = ledger.Key(id)
	}
	return s, err
}

func scanID(scan func(...any) error) (u ledger.Key, err error) {
	var id []byte
	if err = scan(&id); err == nil {
		u = ledger.Key(id)
	}
	return u, err
}

func packed(v memtypes.Vector) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

func unpacked(b []byte) memtypes.Vector {
	v := make(memtypes.Vector, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}
