package sqlite

import "context"

// File has the indexes take all memories that are loose, as the writer does
// when it has time: tests choose the moment.
func (db *DB) File(ctx context.Context) error {
	if err := db.enter(ctx, "sqlite.File"); err != nil {
		return err
	}
	defer db.leave()
	return db.write.queue.submit(ctx, &write{job: func() error { return db.write.transact(nil, nobody, true) }})
}

// FirstSchema is the ledger as version 1 made it.
func FirstSchema() string { return ledgerSchema()[0] }

// Loose is how many memories no index has.
func (db *DB) Loose(ctx context.Context) (n int, err error) {
	err = db.write.queue.submit(ctx, &write{job: func() error { n = len(db.write.ends.loose); return nil }})
	return n, err
}

// The bounds of what may be loose.
const (
	MaxLoose = maxLoose
	FewLoose = fewLoose
)
