// Package fusion ranks what the indexes found: it joins the scores that several
// channels gave to the same memories into one ordered list of hits.
//
// A [Profile] is a way to do so. "paper" is VIMBank's equations 2 to 5 as
// printed; "bm25", "dense", "rrf" and "convex" are plain yardsticks; "default"
// is the recipe that measures best on public data (docs/ranking.md): one for
// each kind of memory, led by facts of the query and of the scores.
//
// The package is pure: it looks at no clock, keeps nothing and calls no index.
// It promises that every score lies in [0,1], that the points of a hit's reasons
// sum to its score, and that the order of the candidates never matters. Which
// texts are indexed, how a query is cut into terms and which candidates are
// fetched is the engine's business; QueryText and Profile.Needs say what it
// should ask for.
package fusion
