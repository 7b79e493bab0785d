package fusion

import (
	"slices"

	"github.com/vimbank/vimbank/memtypes"
)

// Merge makes one ranking of the rankings of several kinds, at most k hits of
// it, in Rank's order.
func Merge(rankings [][]memtypes.Hit, k int) []memtypes.Hit {
	all := slices.Concat(rankings...)
	slices.SortFunc(all, before)
	return all[:min(k, len(all))]
}
