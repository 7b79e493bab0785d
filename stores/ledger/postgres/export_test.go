package postgres

// Schema is where the bank's tables are.
func (db *DB) Schema() string { return db.opt.Schema }

// Channel is what commits are told on.
func (db *DB) Channel() string { return db.channel() }

// Listening reports whether this process hears of commits.
func (db *DB) Listening() bool {
	db.listen.mu.Lock()
	defer db.listen.mu.Unlock()
	return db.listen.up
}
