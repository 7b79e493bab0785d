// Package sparsetest is the contract of package sparse as tests: every backend
// calls [Run] from a test of its own.
//
// Scores are compared with a tolerance of one part in 10^5, since backends
// compute in single precision. [RunExact] is for backends that promise more:
// statistics that are true after every write, and that are a tenant's own; and
// [RunStandIn] for those that can score by another's.
package sparsetest

import (
	"testing"

	"github.com/vimbank/vimbank/stores/sparse"
)

// Run checks the indexes that open makes; each must be empty. An index must
// show a write to every search that begins after the write has returned. Run
// closes the indexes.
func Run(t *testing.T, open func(testing.TB) sparse.Index) {
	run(t, open, []test{
		{"Formula", formula},
		{"FieldsHaveTheirOwnB", fieldsHaveTheirOwnB},
		{"LengthIsOneByte", lengthIsOneByte},
		{"ManyOccurrences", manyOccurrences},
		{"OnlyDocsWithTheFieldCount", onlyDocsWithTheFieldCount},
		{"Boost", boost},
		{"NearIsMaxNotSum", nearIsMaxNotSum},
		{"TermSaidTwice", termSaidTwice},
		{"NoTerms", noTerms},
		{"TiesByID", tiesByID},
		{"BadQueries", badQueries},
		{"UpsertReplaces", upsertReplaces},
		{"UpsertOlder", upsertOlder},
		{"UpsertTwiceInABatch", upsertTwiceInABatch},
		{"UpsertAllOrNone", upsertAllOrNone},
		{"Delete", deletes},
		{"DeleteBeforeUpsert", deleteBeforeUpsert},
		{"DeleteNewerStays", deleteNewerStays},
		{"Revs", revs},
		{"Filters", filters},
		{"TenantsApart", tenantsApart},
		{"BySession", bySession},
		{"DocFreq", docFreq},
		{"Statistics", describes},
		{"CanceledContext", canceledContext},
		{"Closed", closed},
		{"Concurrent", concurrent},
		{"RandomQueries", randomQueries},
	})
}

// RunExact checks what an index promises that keeps exact statistics.
func RunExact(t *testing.T, open func(testing.TB) sparse.Index) {
	run(t, open, []test{
		{"StatisticsAfterDelete", statisticsAfterDelete},
		{"StatisticsAfterReplace", statisticsAfterReplace},
		{"TenantsDoNotShareStatistics", tenantsDoNotShareStatistics},
		{"RandomHistory", randomHistory},
	})
}

// RunStandIn checks what an index promises that can stand in for a part of
// another one: it scores by that one's statistics, and takes an ID from
// whichever tenant it comes.
func RunStandIn(t *testing.T, open func(testing.TB) sparse.Index) {
	run(t, open, []test{
		{"QueryStats", queryStats},
		{"TenantMoves", tenantMoves},
		{"RandomStandIn", randomStandIn},
	})
}

type test struct {
	name  string
	check func(*testing.T, func(testing.TB) sparse.Index)
}

func run(t *testing.T, open func(testing.TB) sparse.Index, tests []test) {
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			c.check(t, func(tb testing.TB) sparse.Index {
				ix := open(tb)
				tb.Cleanup(func() { ix.Close() })
				return ix
			})
		})
	}
}
