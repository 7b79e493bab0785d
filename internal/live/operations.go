package live

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// The variables that make a random run longer, and make it again.
const (
	TenantOpsVar  = "VIMBANK_TENANT_OPS"  // how many operations of two tenants are made
	TenantSeedVar = "VIMBANK_TENANT_SEED" // what they are drawn from: a failure names it
)

// Operations is how many operations of two tenants a test makes, and from what
// seed: usual (a tenth of it with -short) from a new one, unless the environment
// says otherwise.
func Operations(t testing.TB, usual int) (seed uint64, ops int) {
	t.Helper()
	if testing.Short() {
		usual /= 10
	}
	seed = number(t, TenantSeedVar, rand.Uint64())
	return seed, int(number(t, TenantOpsVar, uint64(usual)))
}

func number(t testing.TB, variable string, otherwise uint64) uint64 {
	t.Helper()
	v := os.Getenv(variable)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q, want a whole number", variable, v)
	}
	return n
}
