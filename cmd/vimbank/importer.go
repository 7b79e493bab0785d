package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/ingest"
	"github.com/vimbank/vimbank/memtypes"
)

// importer takes entries of files to an engine, batch by batch.
type importer struct {
	app    *app
	engine *engine.Engine
	opts   ingest.Options
	batch  int
	byBank bool // an item's bank becomes its user: no scope was given

	waiting []ingest.Entry // one batch at most; all drafts or all memories
	bar     *progress
	tally

	unscoped  bool // a turn or a document is nobody's
	conflicts int  // among the refused: their key or ID names other content
}

// tally counts what became of the items.
type tally struct {
	Committed int            `json:"committed"` // stored or known, and on the disk
	Stored    int            `json:"stored"`
	Known     int            `json:"known"`
	Refused   map[string]int `json:"refused"` // by the code of the reason
	Bad       int            `json:"bad"`     // could not be read, or be a memory
	Skipped   int            `json:"skipped"` // hold nothing to remember: headings, pictures left out
	Files     int            `json:"files"`
}

// shown bounds how many single lines of one sort are named on standard error.
const shown = 10

// scopes sets whose the drafts become: the scope that is given, or else the
// user that an item's bank names.
func (im *importer) scopes() error {
	l, err := im.app.settings()
	if err != nil {
		return err
	}
	s := l.Config.Scope
	im.byBank = s.User == "" && s.Agent == "" && s.Run == ""
	if !im.byBank {
		im.opts.Scope, err = im.app.scope()
		return err
	}
	im.opts.ScopeOf = func(bank string) (memtypes.Scope, error) {
		if bank == "" {
			return memtypes.Scope{}, wrong("scope", memtypes.Remark("no bank in the item and no scope in the command"), "a bank, or --user, --agent or --run")
		}
		return memtypes.NewScope(s.Tenant, bank, "", "")
	}
	return nil
}

// source reads one file into batches.
func (im *importer) source(ctx context.Context, s source) (err error) {
	f, err := s.open()
	if err != nil {
		im.problem(memtypes.Errorf("vimbank", memtypes.Invalid, "%s: %w", s.name, err))
		return nil
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	im.Files++
	for entry, err := range ingest.Read(io.TeeReader(f, im.bar), s.name, &im.opts) {
		if err == nil {
			err = im.take(ctx, entry)
		}
		if err != nil && (im.unscoped || memtypes.CodeOf(err) != memtypes.Invalid) {
			return err
		}
		if err != nil {
			im.problem(err)
		}
	}
	return nil
}

// take puts one entry into the batch. Invalid means that the entry cannot be a
// memory; the batch goes on without it.
func (im *importer) take(ctx context.Context, e ingest.Entry) error {
	if e.Note != "" {
		im.Skipped++
		im.say("%s:%d: left out: %s", e.File, e.Line, e.Note)
		return ctx.Err()
	}
	if e.Memory != nil {
		if err := im.rescope(&e); err != nil {
			return at(e, err)
		}
	} else if e.Draft.Scope.IsZero() {
		_, err := im.app.scope() // no line of this file has one: it ends the import
		im.unscoped = true
		return at(e, err)
	} else if err := im.possible(e.Draft); err != nil {
		return at(e, err)
	}
	if len(im.waiting) > 0 && (im.waiting[0].Memory != nil) != (e.Memory != nil) {
		if err := im.flush(ctx); err != nil {
			return err
		}
	}
	if im.waiting = append(im.waiting, e); len(im.waiting) >= im.batch {
		return im.flush(ctx)
	}
	return nil
}

// possible checks a draft before it joins a batch, which one impossible draft
// would spoil. A long document is cut by the engine, so its length is fine.
func (im *importer) possible(d memtypes.Draft) error {
	if d.Kind == memtypes.Knowledge && len(d.Text) > memtypes.MaxText {
		d.Text = d.Text[:1]
	}
	_, err := memtypes.New(d, someTime)
	return err
}

// rescope gives an exported memory the scope of the command, if it has one: as
// a memory of its own, with an ID of its own.
func (im *importer) rescope(e *ingest.Entry) error {
	m := e.Memory
	if im.byBank || m.Scope == im.opts.Scope {
		return nil
	}
	n, err := memtypes.New(memtypes.Draft{
		Scope: im.opts.Scope, Kind: m.Kind, Layer: m.Layer, Text: m.Text, Title: m.Title, Part: m.Part, Talk: m.Talk, Task: m.Task,
		Triple: m.Triple, Meta: m.Meta, Source: m.Source, Event: m.Event, Key: m.Key,
	}, m.Created)
	if err != nil {
		return err
	}
	m.ID, m.Scope = n.ID, n.Scope
	return nil
}

// at names the place of an entry in an error about it.
func at(e ingest.Entry, err error) error {
	return &memtypes.Error{Op: "vimbank.import", Code: memtypes.CodeOf(err), Err: &ingest.Place{File: e.File, Line: e.Line, Err: cause(err)}}
}

// cause is err without op and code.
func cause(err error) error {
	if e, ok := errors.AsType[*memtypes.Error](err); ok {
		return e.Err
	}
	return err
}

// problem reports something that could not be read.
func (im *importer) problem(err error) {
	im.Bad++
	if im.Bad <= shown {
		im.bar.clear()
		fmt.Fprintf(im.app.err, "vimbank: import: %s\n", oneLine(err))
	} else if im.Bad == shown+1 {
		im.bar.clear()
		fmt.Fprintf(im.app.err, "vimbank: import: more of them follow and are counted\n")
	}
}

// leftOut notes a file that is not read.
func (im *importer) leftOut(name, why string) { im.say("%s: left out: %s", name, why) }

// say speaks with -v only.
func (im *importer) say(format string, args ...any) {
	if im.app.flags.verbose {
		im.bar.clear()
		fmt.Fprintf(im.app.err, format+"\n", args...)
	}
}
