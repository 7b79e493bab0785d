package postgres

import "testing"

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

// Setting is a setting of the connection that writes.
func (db *DB) Setting(t testing.TB, name string) (v string) {
	t.Helper()
	if err := db.write.pool.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&v); err != nil {
		t.Fatalf("current_setting(%s): %v", name, err)
	}
	return v
}
