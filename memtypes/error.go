package memtypes

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// Code says what kind of failure an Error is: act on it, never on the text.
type Code string

// The codes, each with one HTTP status and one exit code of the command.
const (
	Invalid      Code = "invalid"      // the caller's input is wrong; trying again changes nothing
	NotFound     Code = "not_found"    // no such memory in this scope
	Conflict     Code = "conflict"     // the memory has moved on, or another holds the lease
	Refused      Code = "refused"      // admission or a safety breaker said no
	Incompatible Code = "incompatible" // another program's data, a newer version, another embedder
	ReadOnly     Code = "read_only"    // the bank cannot be written
	Full         Code = "full"         // no room: the disk, a queue or a quota
	Unavailable  Code = "unavailable"  // a backend does not answer now; trying again may help
	Canceled     Code = "canceled"     // the caller gave up, or its deadline passed
	Internal     Code = "internal"     // a bug or a broken disk
)

// HTTPStatus is the status a REST door answers with.
func (c Code) HTTPStatus() int {
	switch c {
	case Invalid:
		return http.StatusBadRequest
	case NotFound:
		return http.StatusNotFound
	case Conflict, Incompatible:
		return http.StatusConflict
	case Refused:
		return http.StatusUnprocessableEntity
	case ReadOnly:
		return http.StatusForbidden
	case Full:
		return http.StatusInsufficientStorage
	case Unavailable:
		return http.StatusServiceUnavailable
	case Canceled:
		return 499
	}
	return http.StatusInternalServerError
}

// ExitCode is what the command ends with.
func (c Code) ExitCode() int {
	switch c {
	case Invalid:
		return 2
	case NotFound:
		return 3
	case Conflict:
		return 4
	case Refused:
		return 5
	case Incompatible:
		return 6
	case ReadOnly, Full:
		return 7
	case Unavailable:
		return 8
	case Canceled:
		return 130
	}
	return 1
}

// Error is the only error type that crosses a room's door.
type Error struct {
	Op   string // "dense.Search": package and method, no prose
	Code Code   // what to act on
	ID   ID     // the memory concerned, if one is
	Err  error  // the cause, never nil: it says what was found and what was wanted
}

// Error renders op, code, id where there is one, and the cause.
func (e *Error) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("%s: %s: %v", e.Op, e.Code, e.Err)
	}
	return fmt.Sprintf("%s: %s (id %s): %v", e.Op, e.Code, e.ID, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Field is the cause of an Invalid error: which input, what it held, what it
// should have held.
type Field struct {
	Name   string // as the caller wrote it: "kind", "event_time", "k"
	Found  string // what was there, shortened if long
	Wanted string // what would have been accepted
}

// Error names the field, what was found and what was wanted.
func (f *Field) Error() string {
	return fmt.Sprintf("field %q: found %s, wanted %s", f.Name, f.Found, f.Wanted)
}

// Remark is a found value that describes the input instead of repeating it,
// as "invalid UTF-8" does: it is not quoted.
type Remark string

// BadField makes the Invalid error for one input. found may be any value; a
// string is quoted, and shortened to its first 60 characters if it is longer.
func BadField(op, name string, found any, wanted string) *Error {
	s := fmt.Sprintf("%v", found)
	if str, ok := found.(string); ok {
		s = fmt.Sprintf("%q", shorten(str, 60))
	}
	return &Error{Op: op, Code: Invalid, Err: &Field{Name: name, Found: s, Wanted: wanted}}
}

// Rejected is the cause of an error of a batch in which a service refused some
// items and did all others. Each item's own code says whether to try it again
// (Unavailable) or never (anything else).
type Rejected struct {
	Items map[ID]*Error // never empty
}

// Error counts the items and gives the cause of the one with the lowest ID.
func (r *Rejected) Error() string {
	first := slices.Min(slices.Collect(maps.Keys(r.Items)))
	return fmt.Sprintf("%d refused, among them %s: %v", len(r.Items), first, r.Items[first])
}

// Errorf makes an Error from a format, with %w as in fmt.Errorf.
func Errorf(op string, code Code, format string, args ...any) *Error {
	return &Error{Op: op, Code: code, Err: fmt.Errorf(format, args...)}
}

// CodeOf reports the outermost code in err's chain; Internal if there is none.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

func shorten(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
