package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/ingest"
	"github.com/vimbank/vimbank/memtypes"
)

// someTime stands for any time where only a draft's content is looked at.
var someTime = time.Unix(0, 0)

// flush makes the batch durable, and then says so.
func (im *importer) flush(ctx context.Context) error {
	batch := im.waiting
	im.waiting = nil
	if len(batch) == 0 {
		return nil
	}
	results, err := im.commit(ctx, batch)
	for i, r := range results {
		im.count(batch[i], r)
	}
	if err != nil {
		return err
	}
	im.bar.items(im.Committed)
	if im.app.flags.json {
		if err := im.app.printJSON(map[string]int{"committed": im.Committed}); err != nil {
			return err
		}
		return im.app.out.Flush()
	}
	return nil
}

// commit returns what became of each entry; after an error, of those that were done.
func (im *importer) commit(ctx context.Context, batch []ingest.Entry) ([]engine.Remembered, error) {
	if batch[0].Memory != nil {
		memories := make([]memtypes.Memory, len(batch))
		for i := range batch {
			memories[i] = *batch[i].Memory
		}
		return im.engine.Load(ctx, memories, "import")
	}
	results, err := im.remember(ctx, batch)
	if c := memtypes.CodeOf(err); err == nil || c != memtypes.Conflict && c != memtypes.Invalid {
		return results, err
	}
	// One of them is at odds with what the bank holds: find out which, one by one.
	results = nil
	for _, e := range batch {
		r, err := im.remember(ctx, []ingest.Entry{e})
		switch c := memtypes.CodeOf(err); {
		case err == nil:
			results = append(results, r...)
		case c == memtypes.Conflict && derived(e.Draft.Key):
			results = append(results, engine.Remembered{Status: engine.Known})
		case c == memtypes.Conflict || c == memtypes.Invalid:
			results = append(results, engine.Remembered{Status: engine.Refused, Code: engine.Conflicting, Reason: oneLine(err)})
		default:
			return results, err
		}
	}
	return results, nil
}

// derived reports whether a key was made of the content: then the same key
// means the same words, whatever the file is called by now.
func derived(key string) bool {
	return strings.HasPrefix(key, "doc:") || strings.HasPrefix(key, "chat:")
}

// remember makes one commit and returns one result for each entry, also for a
// document that became several memories.
func (im *importer) remember(ctx context.Context, batch []ingest.Entry) ([]engine.Remembered, error) {
	drafts := make([]memtypes.Draft, len(batch))
	for i := range batch {
		drafts[i] = batch[i].Draft
	}
	receipt, err := im.engine.Remember(ctx, drafts, &engine.RememberOptions{Actor: "import"})
	if err != nil {
		return nil, err
	}
	out := make([]engine.Remembered, len(batch))
	for _, r := range receipt.Results {
		if o := &out[r.Draft]; o.Status == "" || better(r.Status, o.Status) {
			*o = r
		}
	}
	return out, nil
}

// better orders the statuses of a document's pieces: it is stored if one piece is.
func better(s, than engine.Status) bool {
	order := []engine.Status{engine.Refused, engine.Known, engine.Stored}
	return slices.Index(order, s) > slices.Index(order, than)
}

func (im *importer) count(e ingest.Entry, r engine.Remembered) {
	switch r.Status {
	case engine.Stored:
		im.Stored++
		im.Committed++
	case engine.Known:
		im.Known++
		im.Committed++
	case engine.Refused:
		im.refused(e, r)
	}
}

func (im *importer) refused(e ingest.Entry, r engine.Remembered) {
	if r.Code == engine.Conflicting {
		im.problem(at(e, &memtypes.Error{Code: memtypes.Invalid, Err: errors.New(r.Reason)}))
		return
	}
	if im.Refused == nil {
		im.Refused = map[string]int{}
	}
	if im.Refused[string(r.Code)]++; im.Refused[string(r.Code)] <= shown || im.app.flags.verbose {
		im.bar.clear()
		fmt.Fprintf(im.app.err, "%s:%d: refused: %s: %s\n", e.File, e.Line, r.Code, r.Reason)
	}
}

// start shows the bar.
func (im *importer) start(sources []source) {
	var total int64
	for _, s := range sources {
		total += s.size
	}
	im.bar = newProgress(im.app, "import", total)
}

// finish says what came of it all.
func (im *importer) finish() {
	im.bar.clear()
	if im.app.flags.json {
		if im.Refused == nil {
			im.Refused = map[string]int{}
		}
		_ = im.app.printJSON(struct {
			Done bool `json:"done"`
			tally
		}{true, im.tally}) // shows at the flush
		return
	}
	s := im.app.show
	im.app.printf("%s stored, %d known before", s.good(fmt.Sprint(im.Stored)), im.Known)
	for _, code := range slices.Sorted(maps.Keys(im.Refused)) {
		im.app.printf(", %s refused as %s", s.warn(fmt.Sprint(im.Refused[code])), strings.ReplaceAll(code, "_", " "))
	}
	if im.Bad > 0 {
		im.app.printf(", %s could not be read", s.bad(fmt.Sprint(im.Bad)))
	}
	im.app.printf("; from %s\n", plural(im.Files, "file", "files"))
}
