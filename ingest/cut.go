package ingest

import (
	"strings"

	"github.com/vimbank/vimbank/segment"
)

// wholeUpTo is the length in bytes up to which a section stays one piece: it is
// found better whole than in halves.
const wholeUpTo = 4096

// piece is a part of a section, and where in it the part begins.
type piece struct {
	text  string
	start int
}

// cut parts a section on the ends of sentences, if it is long.
func cut(body string) (out []piece) {
	start := len(body) - len(strings.TrimLeft(body, " \t\n"))
	if len(body) <= wholeUpTo {
		return []piece{{strings.TrimSpace(body), start}}
	}
	for _, s := range segment.Split(body, nil) {
		out = append(out, piece{s.Text, s.Start})
	}
	return out
}
