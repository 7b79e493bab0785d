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

// commit returns what became of each entry, of a document of each of its
// pieces; after an error, of those that were done.
func (im *importer) commit(ctx context.Context, batch []ingest.Entry) ([][]engine.Remembered, error) {
	if batch[0].Memory != nil {
		memories := make([]memtypes.Memory, len(batch))
		for i := range batch {
			memories[i] = *batch[i].Memory
		}
		results, err := im.engine.Load(ctx, memories, "import")
		return byDraft(results, len(batch)), err
	}
	results, err := im.remember(ctx, batch)
	if err == nil || memtypes.CodeOf(err) != memtypes.Invalid {
		return results, err
	}
	// One of them cannot be a memory under the rules of admission, and spoils
	// the batch: find out which, one by one.
	results = make([][]engine.Remembered, len(batch))
	for i, e := range batch {
		r, err := im.remember(ctx, []ingest.Entry{e})
		switch {
		case err == nil:
			results[i] = r[0]
		case memtypes.CodeOf(err) == memtypes.Invalid:
			im.problem(at(e, err))
		default:
			return results, err
		}
	}
	return results, nil
}

// remember makes one commit.
func (im *importer) remember(ctx context.Context, batch []ingest.Entry) ([][]engine.Remembered, error) {
	drafts := make([]memtypes.Draft, len(batch))
	for i := range batch {
		drafts[i] = batch[i].Draft
	}
	receipt, err := im.engine.Remember(ctx, drafts, &engine.RememberOptions{Actor: "import"})
	if err != nil {
		return nil, err
	}
	return byDraft(receipt.Results, len(batch)), nil
}

// byDraft gathers what became of each of n drafts.
func byDraft(results []engine.Remembered, n int) [][]engine.Remembered {
	out := make([][]engine.Remembered, n)
	for _, r := range results {
		out[r.Draft] = append(out[r.Draft], r)
	}
	return out
}

// count adds one entry up: stored if one of its pieces is, else known if one
// is. Every piece that was refused is named, also of a document of which the
// rest is kept.
func (im *importer) count(e ingest.Entry, pieces []engine.Remembered) {
	has := map[engine.Status]bool{}
	for _, r := range pieces {
		if has[r.Status] = true; r.Status == engine.Refused {
			im.refused(e, r)
		}
	}
	switch {
	case has[engine.Stored]:
		im.Stored++
		im.Committed++
	case has[engine.Known]:
		im.Known++
		im.Committed++
	}
}

func (im *importer) refused(e ingest.Entry, r engine.Remembered) {
	err := r.Err()
	if memtypes.CodeOf(err) == memtypes.Conflict {
		if im.conflicts++; im.conflicts <= shown || im.app.flags.verbose {
			im.bar.clear()
			fmt.Fprintf(im.app.err, "vimbank: import: %s:%d: %s\n", e.File, e.Line, oneLine(conflict(e.Draft.Key, r.Of, err)))
		}
	} else if n := im.Refused[string(r.Code)]; n < shown || im.app.flags.verbose {
		im.bar.clear()
		fmt.Fprintf(im.app.err, "vimbank: import: %s:%d: %s\n", e.File, e.Line, oneLine(err))
	}
	if im.Refused == nil {
		im.Refused = map[string]int{}
	}
	im.Refused[string(r.Code)]++
}

// conflict says what err means where the key is none of the user's own making:
// it names the words, so what differs is how the file was read.
func conflict(key string, of memtypes.ID, err error) error {
	if !strings.HasPrefix(key, "doc:") && !strings.HasPrefix(key, "chat:") {
		return err
	}
	return &memtypes.Error{Op: "vimbank", Code: memtypes.Conflict, ID: of, Err: errors.New(
		"these words are in the bank with another kind or time: import them with the same --kind, --zone and --dates as before, or forget them first")}
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
