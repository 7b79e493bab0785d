package ingest

import (
	"errors"
	"fmt"

	"github.com/vimbank/vimbank/memtypes"
)

// Entry is one thing that a file holds. Exactly one of Draft (with a text),
// Memory and Note is filled.
type Entry struct {
	File  string // as the caller named it
	Line  int    // 1-based line where it begins
	Draft memtypes.Draft
	// Memory is one that an export wrote, whole: times, strength and state.
	Memory *memtypes.Memory
	// Note says why the line holds nothing to remember: a chat program's own
	// message, a day's heading.
	Note string
}

// Place names the line that an error is about.
type Place struct {
	File string
	Line int // 1-based
	Err  error
}

// Error renders "file:line: cause".
func (p *Place) Error() string { return fmt.Sprintf("%s:%d: %v", p.File, p.Line, p.Err) }

// Unwrap gives the cause.
func (p *Place) Unwrap() error { return p.Err }

const op = "ingest.Read"

// bad makes the Invalid error of one line; a cause that names a field keeps it.
func bad(file string, line int, err error) error {
	if e, ok := errors.AsType[*memtypes.Error](err); ok {
		err = e.Err
	}
	return &memtypes.Error{Op: op, Code: memtypes.Invalid, Err: &Place{File: file, Line: line, Err: err}}
}
