package postgres_test

import (
	"testing"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/ledgertest"
)

// TestTenants: nothing of one tenant is seen by another.
func TestTenants(t *testing.T) {
	url := live.Postgres(t)
	seed, ops := live.Operations(t, 3000)
	ledgertest.Tenants(t, func(t testing.TB) ledger.Ledger { return open(t, url, nil) }, seed, ops)
}
