package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/ingest"
	"github.com/vimbank/vimbank/memtypes"
)

type importFlags struct {
	format, kind, session, title, zone, dates string
	batch                                     int
}

func (a *app) importCommand() *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import PATH... | -",
		Short: "Remember files: JSON Lines, chat logs, documents, folders of them",
		Long: `Remember what files hold. The format is told from the name and the first lines:

  jsonl     one item a line: {"id", "bank", "kind", "text", "time", "speaker", "session",
            "meta"}; only kind and text are needed. Or what "vimbank export" wrote.
            An item's bank becomes its user, unless --user is given.
  chat      "Name: text" lines. Times may stand before, as "[18:04]", "[2026-03-15 18:04]",
            "15/03/2026, 18:04 - " or "2026-03-15T18:04:00Z "; a line with only a date
            begins a day; "Name 2026-03-15 18:04" with the text below works too. A day is
            one sitting; without dates a gap of blank lines ends one. Other lines go on
            with the turn above them.
  markdown  sections under their headings; the first heading is the title
  text      paragraphs; the first short line, or the file's name, is the title

Running the same import again adds nothing twice, so one that was interrupted is resumed
by running it again. Each batch is on the disk before the next is read; with --json a
line {"committed": N} says so. A line that cannot be read is named and costs that line
only; the exit code is 2 then. So does an id that comes back with another text, which
changes nothing; the exit code is 4. What admission refuses is named, with exit code 0.`,
		Example: `  vimbank import --user ann "WhatsApp chat.txt" notes/
  vimbank import data/locomo                  each item's bank becomes its user
  vimbank import --user ann --format chat --dates mdy --zone America/New_York log.txt
  vimbank export --user ann | vimbank import --bank copy -`,
		GroupID: groupMemory,
		Args:    args(1, -1, "files or folders, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			im, err := a.newImporter(&f)
			if err != nil {
				return err
			}
			sources, err := a.sources(args, im)
			if err != nil {
				return err
			}
			return a.withBank(cmd.Context(), opening{create: true}, func(e *engine.Engine) error {
				im.engine = e
				return im.all(cmd.Context(), sources)
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.format, "format", "auto", "auto, jsonl, chat, text or markdown")
	fl.StringVar(&f.kind, "kind", "", "of what names none (default dialogue for talk, knowledge for documents)")
	fl.StringVar(&f.session, "session", "", "what the sittings of a chat log are named after (default the file's name)")
	fl.StringVar(&f.title, "title", "", "of a document (default its first heading)")
	fl.StringVar(&f.zone, "zone", "UTC", "time zone of a chat log, such as Europe/Berlin or Local")
	fl.StringVar(&f.dates, "dates", "", "how a chat log writes 05/03/2026: dmy or mdy (default: the log tells)")
	fl.IntVar(&f.batch, "batch", 256, "items a durable batch, 1 to 4096")
	return cmd
}

// newImporter reads the flags.
func (a *app) newImporter(f *importFlags) (*importer, error) {
	im := &importer{app: a, batch: f.batch}
	o := &im.opts
	var err error
	if o.Format, err = ingest.ParseFormat(f.format); err != nil {
		return nil, err
	}
	if f.kind != "" {
		if o.Kind, err = memtypes.ParseKind(f.kind); err != nil {
			return nil, err
		}
	}
	if o.Dates, err = ingest.ParseDateOrder(f.dates); err != nil {
		return nil, err
	}
	if o.Zone, err = time.LoadLocation(f.zone); err != nil {
		return nil, wrong("zone", f.zone, "a time zone such as Europe/Berlin, UTC or Local")
	}
	if f.batch < 1 || f.batch > 4096 {
		return nil, wrong("batch", f.batch, "1 to 4096")
	}
	o.Session, o.Title = f.session, f.title
	return im, im.scopes()
}

// source is one file to be read.
type source struct {
	name string // in errors, titles and sessions: the same wherever one stands
	size int64
	open func() (io.ReadCloser, error)
}

// sources lists the files that the arguments name, before anything is read.
func (a *app) sources(paths []string, im *importer) ([]source, error) {
	var out []source
	for _, p := range paths {
		if p == "-" {
			out = append(out, source{name: "stdin", open: func() (io.ReadCloser, error) { return io.NopCloser(a.in), nil }})
			continue
		}
		st, err := os.Stat(p)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, wrong("path", p, "a file or folder that exists")
			}
			return nil, memtypes.Errorf("vimbank", memtypes.Invalid, "path: %w", err)
		}
		if !st.IsDir() {
			out = append(out, source{name: filepath.Base(p), size: st.Size(), open: func() (io.ReadCloser, error) { return os.Open(p) }})
			continue
		}
		found, err := folderSources(os.DirFS(p), folderName(p), im)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	if len(out) == 0 {
		return nil, wrong("path", cmp.Or(paths[0], "-"), "a folder with files that can be read: .jsonl, .md, .txt, .log")
	}
	return out, nil
}

// folderName is what a folder is called, also where it is given as "." or "..".
func folderName(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		p = abs
	}
	return filepath.Base(p)
}

func folderSources(fsys fs.FS, name string, im *importer) (out []source, err error) {
	files, err := ingest.Files(fsys)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Note != "" {
			im.leftOut(path.Join(name, f.Path), f.Note)
			continue
		}
		out = append(out, source{name: path.Join(name, f.Path), size: f.Size, open: func() (io.ReadCloser, error) { return fsys.Open(f.Path) }})
	}
	return out, nil
}

// all imports the sources in order and says what became of them.
func (im *importer) all(ctx context.Context, sources []source) error {
	im.start(sources)
	var err error
	for _, s := range sources {
		if err = im.source(ctx, s); err != nil {
			break
		}
	}
	if err == nil {
		err = im.flush(ctx)
	}
	im.finish()
	switch {
	case err == nil && im.Bad > 0:
		return memtypes.Errorf("vimbank", memtypes.Invalid, "%s could not be read and left out; the other %d are in the bank",
			plural(im.Bad, "entry", "entries"), im.Stored+im.Known)
	case err == nil && im.conflicts > 0:
		return memtypes.Errorf("vimbank", memtypes.Conflict, "%s left out: another content has the name; the other %d are in the bank",
			plural(im.conflicts, "entry was", "entries were"), im.Stored+im.Known)
	case err != nil && ctx.Err() != nil:
		return memtypes.Errorf("vimbank", memtypes.Canceled, "stopped after %s; run it again to go on where it stopped", plural(im.Committed, "item", "items"))
	case err != nil && im.Committed > 0:
		return fmt.Errorf("after %s: %w", plural(im.Committed, "item", "items"), err)
	}
	return err
}
