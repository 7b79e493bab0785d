package sqlite

import "context"

// File has the indexes take all memories that are loose, as the writer does
// when it has time: tests choose the moment.
func (db *DB) File(ctx context.Context) error {
	return db.write.queue.submit(ctx, &write{job: func() error { return db.write.transact(nil, true) }})
}

// FirstSchema is the ledger as version 1 made it.
func FirstSchema() string { return ledgerSchema()[0] }
