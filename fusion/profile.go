package fusion

import (
	"slices"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// Profile names a way of ranking.
type Profile string

// The profiles.
const (
	Default Profile = "default" // what measures best: see docs/ranking.md
	Paper   Profile = "paper"   // VIMBank eq. 2-5 as printed
	BM25    Profile = "bm25"    // plain BM25 of the memory's own text
	Dense   Profile = "dense"   // cosine alone
	RRF     Profile = "rrf"     // reciprocal rank fusion of text and dense, k 60
	Convex  Profile = "convex"  // .5 of each, min-max normalised
)

// Profiles lists the profiles in their fixed order.
func Profiles() []Profile { return []Profile{Default, Paper, BM25, Dense, RRF, Convex} }

// ParseProfile accepts the names of Profiles; the empty string is Default.
func ParseProfile(s string) (Profile, error) {
	if s == "" {
		return Default, nil
	}
	names := make([]string, 0, len(Profiles()))
	for _, p := range Profiles() {
		if s == string(p) {
			return p, nil
		}
		names = append(names, string(p))
	}
	return "", memtypes.BadField("fusion.ParseProfile", "profile", s, strings.Join(names, ", "))
}

// Needs lists the channels that the profile reads for memories of the kinds
// (none given: of all), in their fixed order. Whatever else a candidate carries
// is ignored.
func (p Profile) Needs(kinds ...memtypes.Kind) []Channel {
	switch p {
	case BM25:
		return []Channel{Text}
	case Dense:
		return []Channel{Vector}
	case Paper, RRF, Convex:
		return []Channel{Text, Vector}
	}
	if len(kinds) == 0 || slices.Contains(kinds, memtypes.Dialogue) {
		return []Channel{Text, Turn, Window, Vector, Context}
	}
	if slices.Contains(kinds, memtypes.Knowledge) {
		return []Channel{Text, Turn, Vector}
	}
	return []Channel{Text, Vector}
}

// PlainTerms reports whether the profile's text channel wants the query as it
// stands: every word that the analyzer leaves, unweighted, without neighbours.
// Default wants QueryText's words, weighted and expanded.
func (p Profile) PlainTerms() bool { return p != Default }
