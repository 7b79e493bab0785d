// Package densetest is the contract of dense.Index as a test: a backend that
// passes Run can stand in for any other. It promises to use only what a remote
// service can hold: IDs are UUIDs, times are whole seconds, scores agree within
// 1e-4. Speed, persistence and recall on large banks are left to each backend.
// RunShared is what an index that several processes feed promises besides, and
// RunGenerations is the contract of dense.Generations.
package densetest

import (
	"testing"

	"github.com/vimbank/vimbank/stores/dense"
)

// Dim is the dimension of the indexes that Run is given.
const Dim = 8

// Run checks the indexes that open makes. Each must be empty, of dimension
// Dim, and is closed by Run, perhaps more than once.
func Run(t *testing.T, open func(testing.TB) dense.Index) {
	for _, c := range []struct {
		name string
		test func(*testing.T, dense.Index)
	}{
		{"Empty", empty},
		{"UpsertReplaces", upsertReplaces},
		{"OlderRevisionSkipped", olderRevisionSkipped},
		{"SameIDTwiceInABatch", sameIDTwice},
		{"DeleteAsOfRevision", deleteAsOfRevision},
		{"DeleteUnknown", deleteUnknown},
		{"Order", order},
		{"Ties", ties},
		{"K", bounds},
		{"NearlyUnit", nearlyUnit},
		{"BadVectors", badVectors},
		{"BadQueries", badQueries},
		{"AllOrNone", allOrNone},
		{"NoVector", noVector},
		{"Spaces", spaces},
		{"Filters", filters},
		{"Tenants", tenants},
		{"MovesToAnotherScope", moves},
		{"Revs", revs},
		{"Canceled", canceled},
		{"Concurrent", concurrent},
		{"AgreesWithAMap", agreesWithAMap},
		{"Closed", closed},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix := open(t)
			t.Cleanup(func() { ix.Close() })
			c.test(t, ix)
		})
	}
}
