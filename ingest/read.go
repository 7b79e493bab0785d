package ingest

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Options say how to read. Scope or ScopeOf is needed.
type Options struct {
	Format Format // empty means Auto
	// Scope is whose the drafts become.
	Scope memtypes.Scope
	// ScopeOf gives the scope of an item's bank; nil means that all have Scope.
	// An exported memory has its own.
	ScopeOf func(bank string) (memtypes.Scope, error)
	// Kind is what an item without a kind, a turn or a document becomes; empty
	// means dialogue for talk and knowledge for documents, and that an item
	// must name its own.
	Kind memtypes.Kind
	// Session is what the sittings of a chat log are named after; empty means
	// the file's name.
	Session string
	// Title is that of a document; empty means its first heading or the file's name.
	Title string
	// Zone is that of a chat log's times; nil means UTC.
	Zone *time.Location
	// Dates is how a chat log writes them; empty means that the log tells.
	Dates DateOrder
}

func (o *Options) kind(k memtypes.Kind) memtypes.Kind { return cmp.Or(o.Kind, k) }

func (o *Options) zone() *time.Location {
	if o.Zone == nil {
		return time.UTC
	}
	return o.Zone
}

func (o *Options) session(file string) string { return cmp.Or(o.Session, stem(file)) }

// stem is a file's name without folder and ending.
func stem(file string) string {
	base := path.Base(strings.ReplaceAll(file, "\\", "/"))
	return cmp.Or(strings.TrimSuffix(base, path.Ext(base)), base)
}

// Read gives what r holds, in order, in bounded memory. file names it in
// errors, and is where a document's title and a log's sessions come from.
//
// An error of code Invalid is about one line, which it names, and the sequence
// goes on; any other error ends it.
func Read(r io.Reader, file string, o *Options) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		ls := newLines(r, file)
		head, err := ls.r.Peek(headSize)
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			yield(Entry{}, memtypes.Errorf(op, memtypes.Unavailable, "%s: %w", file, err))
			return
		}
		format := cmp.Or(o.Format, Auto)
		if format == Auto {
			format, err = Detect(file, head)
		} else if err = checkText(head); err == nil && format != JSONL && format != Chat {
			err = checkUTF8(head)
		}
		if err != nil {
			yield(Entry{}, bad(file, 1, err))
			return
		}
		switch format {
		case JSONL:
			readJSONL(ls, o, yield)
		case Chat:
			readChat(ls, o, yield)
		default:
			readDocument(ls, o, format == Markdown, yield)
		}
	}
}

// digest names content: the same parts give the same 32 characters.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
