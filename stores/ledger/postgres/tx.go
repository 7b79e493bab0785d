package postgres

import (
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// needs is what must be read before a write can be worked out.
type needs struct {
	whole   []ledger.Key            // memories with their content
	brief   []ledger.Key            // memories without
	scopes  map[memtypes.Scope]bool // of the edits; true: to be made where it is not known
	tenants []string                // to be made where they are not known, besides those of scopes
	leases  []string
	size    int // rows, about
	bytes   int // of their content, about
}

// tenantNames are the tenants whose trails' ends must be known.
func (n *needs) tenantNames() (out []string) {
	seen := map[string]bool{}
	add := func(t string) {
		if !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	for s := range n.scopes {
		add(s.Tenant())
	}
	for _, t := range n.tenants {
		add(t)
	}
	return out
}

// tx is one transaction: what it knows, and what it is going to write. Nothing
// of it is in the tables until it is flushed.
type tx struct {
	xid      string // the server's number of it
	noted    int64  // the newest number as the head's row has it
	was      int64  // the newest number as it was found
	head     int64
	tenants  map[string]*tenant
	scopes   map[int64]bool // numbers of scopes that are there
	mems     map[ledger.Key]*mem
	leases   map[string]*lease
	links    []link
	dirty    []*mem
	replaced []replaced
	purged   []string
	runs     []ledger.Run
	settings [][2]string
	scratch  []byte

	// records reads entries as they were when the transaction began.
	records func(after int64, limit int) ([]ledger.Record, error)
}

// tenant is the end of one tenant's trail.
type tenant struct {
	no   int64
	seq  int64
	hash []byte
}

// link is a row of the log.
type link struct {
	ledger.Link
	tenant int64
	hash   [32]byte
}

// replaced is the content that the revise rev put an end to.
type replaced struct {
	id  ledger.Key
	rev int64
	content
}

// lease is a row of leases.
type lease struct {
	holder  string
	fence   int64
	expires int64
	moved   bool
}

// empty says that there is nothing to commit.
func (t *tx) empty() bool {
	if len(t.links)+len(t.dirty)+len(t.runs)+len(t.settings) > 0 {
		return false
	}
	for _, l := range t.leases {
		if l.moved {
			return false
		}
	}
	return true
}

// size grows with all that t writes, but for leases.
func (t *tx) size() int {
	return len(t.links) + len(t.dirty) + len(t.replaced) + len(t.purged) + len(t.runs) + len(t.settings)
}
