package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// maxKey is how long an idempotency key may be; a longer id is hashed.
const maxKey = 256

// readJSONL reads items and exported memories, one a line, also mixed.
func readJSONL(ls *lines, o *Options, yield func(Entry, error) bool) {
	for {
		l, err := ls.next()
		if err == io.EOF {
			return
		}
		if err != nil {
			if !yield(Entry{}, err) || memtypes.CodeOf(err) != memtypes.Invalid {
				return
			}
			continue
		}
		if len(bytes.TrimSpace(l.text)) == 0 {
			continue
		}
		e, err := parseLine(l, o)
		e.File, e.Line = ls.file, l.n
		if err != nil {
			e, err = Entry{}, bad(ls.file, l.n, err)
		}
		if !yield(e, err) {
			return
		}
	}
}

func parseLine(l line, o *Options) (Entry, error) {
	f, err := objectOf(l.text)
	if err != nil {
		if !l.ended {
			return Entry{}, fmt.Errorf("%w; it is the last line and has no end: is the file cut off?", cause(err))
		}
		return Entry{}, err
	}
	_, scoped := f.values["scope"]
	_, dated := f.values["created_at"]
	if scoped && dated {
		return exported(l.text, o)
	}
	it, err := f.item(o.Kind)
	if err != nil {
		return Entry{}, err
	}
	d := it.Draft
	if d.Scope, err = o.scopeOf(it.Bank); err != nil {
		return Entry{}, err
	}
	if d.Key = it.ID; len(d.Key) > maxKey {
		d.Key = "id:" + digest(it.ID)
	}
	return Entry{Draft: d}, nil
}

// cause takes op and code off an error that is to stand in another.
func cause(err error) error {
	if e, ok := errors.AsType[*memtypes.Error](err); ok {
		return e.Err
	}
	return err
}

func (o *Options) scopeOf(bank string) (memtypes.Scope, error) {
	if o.ScopeOf == nil {
		return o.Scope, nil
	}
	return o.ScopeOf(bank)
}

// exported reads a memory as `vimbank export` wrote it. Unknown fields are
// refused: a newer version may have meant something by them.
func exported(text []byte, o *Options) (Entry, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	m := &memtypes.Memory{}
	if err := dec.Decode(m); err != nil {
		if e, ok := errors.AsType[*memtypes.Error](err); ok {
			return Entry{}, e
		}
		msg := strings.TrimPrefix(err.Error(), "json: ")
		return Entry{}, memtypes.BadField(op, "line", errors.New(msg), "a memory as `vimbank export` of this version writes it")
	}
	if _, err := memtypes.ParseID(string(m.ID)); err != nil {
		return Entry{}, err
	}
	if _, err := memtypes.ParseKind(string(m.Kind)); err != nil {
		return Entry{}, err
	}
	if err := memtypes.CheckText(op, "text", m.Text); err != nil {
		return Entry{}, err
	}
	return Entry{Memory: m}, nil
}
