package sqlite_test

import (
	"testing"

	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/ledgertest"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

func TestContract(t *testing.T) {
	ledgertest.Run(t, func(t testing.TB) ledger.Ledger { return open(t, t.TempDir(), nil) })
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
