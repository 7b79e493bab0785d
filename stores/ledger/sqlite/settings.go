package sqlite

import (
	"context"
	"unicode/utf8"

	"github.com/vimbank/vimbank/memtypes"
)

// Settings reads all settings of the bank; see ledger.Ledger.
func (db *DB) Settings(ctx context.Context) (map[string]string, error) {
	out := map[string]string{}
	err := db.view(ctx, "sqlite.Settings", func(r *reader) error {
		pairs, err := all(ctx, r.pool, func(scan func(...any) error) (p [2]string, err error) {
			err = scan(&p[0], &p[1])
			return p, err
		}, "SELECT key, value FROM settings")
		for _, p := range pairs {
			out[p[0]] = p[1]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Set writes one setting durably; see ledger.Ledger.
func (db *DB) Set(ctx context.Context, key, value string) error {
	const op = "sqlite.Set"
	if key == "" || !utf8.ValidString(key) || !utf8.ValidString(value) {
		return memtypes.BadField(op, "key", key, "a name and a value of UTF-8")
	}
	return db.update(ctx, op, func(t *tx) (err error) {
		if value == "" {
			_, err = t.w.stmts.unset.Exec(key)
		} else {
			_, err = t.w.stmts.set.Exec(key, value)
		}
		return err
	})
}
