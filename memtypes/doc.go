// Package memtypes holds the nouns that every room of VIMBank shares: a
// Memory and its Kind, the Scope it belongs to, a Query and its Hits, and the
// one Error type that crosses a room's door.
//
// It promises values that are valid by construction: a Scope cannot be empty,
// a Memory made by New has passed every check that a store relies on, and the
// same content in the same scope has the same ID. It uses the standard library
// only, does no I/O and never looks at the clock. How memories are kept,
// found, ranked and forgotten is left to the other rooms.
package memtypes
