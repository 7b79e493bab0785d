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

// Commits is how many transactions were committed.
func (db *DB) Commits() int64 { return db.write.commits.Load() }

// DrawMost is how many entries of the log one claim draws at most, unless more are claimed.
const DrawMost = drawMost

// Bell is what wakes those who wait.
type Bell = bell

// Listen and Ring are its two ends.
func (b *Bell) Listen() <-chan struct{} { return b.listen() }
func (b *Bell) Ring(last uint64)        { b.ring(last) }
