package bank

import (
	"context"
	"errors"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

// Report says what a bank's ledger holds and whether it is sound.
type Report struct {
	ReadOnly bool         `json:"read_only"` // it cannot be written by this user
	Stats    sqlite.Stats `json:"stats"`
	Embedder string       `json:"embedder"` // whose vectors the bank carries: a fingerprint; empty: none yet
	// Damage is what the checks of the file and of the audit trail found; empty: nothing.
	Damage string `json:"damage,omitempty"`
}

// Inspect looks at the ledger of an existing bank without changing it, and
// reads all of it. Damage is in the report; an error means that the folder
// could not be opened as a bank.
func Inspect(ctx context.Context, dir string) (r Report, err error) {
	if !Exists(dir) {
		return r, memtypes.Errorf("bank.Inspect", memtypes.NotFound, "no bank in %s", dir)
	}
	db, err := sqlite.Open(ctx, dir, &sqlite.Options{Beside: []string{denseFile, sparseFile}})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	r.ReadOnly = db.ReadOnly()
	settings, err := db.Settings(ctx)
	if err != nil {
		return r, err
	}
	r.Embedder = settings["embedder"]
	if r.Stats, err = db.Stats(ctx); err != nil {
		return r, err
	}
	var tenants []string
	for _, c := range r.Stats.Counts {
		if !slices.Contains(tenants, c.Tenant) {
			tenants = append(tenants, c.Tenant)
		}
	}
	found := db.Check(ctx)
	for _, t := range tenants {
		found = errors.Join(found, db.VerifyAudit(ctx, t))
	}
	if ctx.Err() != nil {
		return r, memtypes.Errorf("bank.Inspect", memtypes.Canceled, "%w", ctx.Err())
	}
	if found != nil {
		r.Damage = found.Error()
	}
	return r, nil
}
