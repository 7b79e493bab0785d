package sqlite_test

import (
	"sync/atomic"
	"testing"

	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/ledgertest"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

func TestContract(t *testing.T) {
	var opened atomic.Int64
	ledgertest.Run(t, func(t testing.TB) ledger.Ledger {
		db := open(t, t.TempDir(), nil)
		if opened.Add(1)%2 == 0 {
			return &restless{DB: db}
		}
		return db
	})
}

// open opens a bank; whoever asks closes it.
func open(t testing.TB, dir string, o *sqlite.Options) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return db
}
