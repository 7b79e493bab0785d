package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// PutVectors stores vectors in commits that are not synced; see ledger.Vectors.
// Those of memories that the bank does not know are passed over like the purged.
func (db *DB) PutVectors(ctx context.Context, fingerprint string, ids []memtypes.ID, hash []string, vs []memtypes.Vector) error {
	const op = "postgres.PutVectors"
	if len(hash) != len(ids) || len(vs) != len(ids) {
		return memtypes.BadField(op, "vectors", memtypes.Remark(fmt.Sprintf("%d ids, %d hashes, %d vectors", len(ids), len(hash), len(vs))), "as many of each")
	}
	if err := noNUL(op, "fingerprint", fingerprint); err != nil {
		return err
	}
	list, err := vectorsOf(ids, hash, vs)
	if err != nil {
		return err
	}
	return db.apart(ctx, op, unsynced, func(ctx context.Context, c *pgx.Conn) error {
		if err := db.writable(op); err != nil || len(list) == 0 {
			return err
		}
		b := &pgx.Batch{}
		b.Queue(db.sql("INSERT INTO {s}.embedders (fingerprint) SELECT $1::text WHERE NOT EXISTS (SELECT 1 FROM {s}.embedders WHERE fingerprint = $1::text) ON CONFLICT DO NOTHING"), fingerprint)
		chunks(list, func(s *stored) int { return 100 + len(s.vector) }, func(list []stored) { db.putChunk(b, fingerprint, list) })
		return c.SendBatch(ctx, b).Close()
	})
}

// stored is a row of the cache.
type stored struct {
	id, hash string
	vector   []byte
}

func vectorsOf(ids []memtypes.ID, hash []string, vs []memtypes.Vector) (list []stored, err error) {
	for i, id := range ids {
		if _, ok := ledger.KeyOf(id); !ok {
			return nil, memtypes.BadField("postgres.PutVectors", "id", string(id), "a memory's id")
		}
		if vs[i] != nil {
			list = append(list, stored{string(id), clean(hash[i]), packed(vs[i])})
		}
	}
	return list, nil
}

// putChunk locks the memories, so that a purge comes before or after: after, it
// takes the vectors away. Whoever puts locks them in one order.
func (db *DB) putChunk(b *pgx.Batch, fingerprint string, list []stored) {
	ids, hashes, vectors := make([]string, len(list)), make([]string, len(list)), make([][]byte, len(list))
	for i, s := range list {
		ids[i], hashes[i], vectors[i] = s.id, s.hash, s.vector
	}
	b.Queue(db.sql(`WITH m AS MATERIALIZED (
			SELECT id, tenant FROM {s}.memories WHERE id = ANY($2::text[]::uuid[]) AND state < 2 ORDER BY id FOR SHARE)
		INSERT INTO {s}.vectors (tenant, id, embedder, hash, vector)
		SELECT DISTINCT ON (m.id) m.tenant, m.id, (SELECT no FROM {s}.embedders WHERE fingerprint = $1), u.hash, u.vector
		FROM unnest($2::text[]::uuid[], $3::text[], $4::bytea[]) WITH ORDINALITY u(id, hash, vector, n) JOIN m ON m.id = u.id
		ORDER BY m.id, u.n DESC
		ON CONFLICT (id, embedder, tenant) DO UPDATE SET hash = excluded.hash, vector = excluded.vector`), fingerprint, ids, hashes, vectors)
}

// GetVectors returns the vectors that are still good; see ledger.Vectors.
func (db *DB) GetVectors(ctx context.Context, fingerprint string, ids []memtypes.ID, hash []string) (out []memtypes.Vector, err error) {
	const op = "postgres.GetVectors"
	if len(hash) != len(ids) {
		return nil, memtypes.BadField(op, "vectors", memtypes.Remark(fmt.Sprintf("%d ids, %d hashes", len(ids), len(hash))), "as many of each")
	}
	err = db.view(ctx, op, func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, db.sql(`SELECT id, hash, vector FROM {s}.vectors
			WHERE embedder = (SELECT no FROM {s}.embedders WHERE fingerprint = $1) AND id = ANY($2::text[]::uuid[])`), clean(fingerprint), keysOf(ids))
		if err != nil {
			return err
		}
		byID := make(map[memtypes.ID]stored, len(ids))
		var id ledger.Key
		var s stored
		_, err = pgx.ForEachRow(rows, []any{(*[16]byte)(&id), &s.hash, &s.vector}, func() error {
			byID[id.ID()] = s
			s.vector = nil
			return nil
		})
		out = make([]memtypes.Vector, len(ids))
		for i, id := range ids {
			if s, ok := byID[id]; ok && s.hash == clean(hash[i]) {
				out[i] = unpacked(s.vector)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// clean makes a hash, which may be any bytes, one that a text can hold.
func clean(s string) string {
	if strings.IndexByte(s, 0) < 0 && strings.ToValidUTF8(s, "") == s {
		return s
	}
	return fmt.Sprintf("%x", s)
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
