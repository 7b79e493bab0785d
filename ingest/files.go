package ingest

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// ItemsFile is the file of items in a folder of evaluation data. Beside it,
// nothing is read: questions and their answers are no memories.
const ItemsFile = "items.jsonl"

// File is one file that a folder holds.
type File struct {
	Path string // within the folder, with slashes
	Size int64
	Note string // why it is left out; empty: it is to be read
}

// Files lists the files of a folder and its subfolders in the order of their
// names. Hidden ones are passed over; links and files of unknown endings are
// listed with a note. In a folder with an ItemsFile that is all there is.
func Files(fsys fs.FS) ([]File, error) {
	var out []File
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return memtypes.Errorf("ingest.Files", memtypes.Unavailable, "%w", err)
		case p != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			if st, err := fs.Stat(fsys, path.Join(p, ItemsFile)); err == nil && st.Mode().IsRegular() {
				out = append(out, File{Path: path.Join(p, ItemsFile), Size: st.Size()})
				return fs.SkipDir
			}
			return nil
		}
		f := File{Path: p, Note: leftOutFile(d)}
		if info, err := d.Info(); err == nil {
			f.Size = info.Size()
		}
		out = append(out, f)
		return nil
	})
	return out, err
}

// endings of the files that a folder is read for. A file that is named by
// itself is read whatever its ending.
var endings = []string{".jsonl", ".ndjson", ".md", ".markdown", ".txt", ".text", ".log"}

func leftOutFile(d fs.DirEntry) string {
	switch {
	case !d.Type().IsRegular():
		return "no regular file"
	case !slices.Contains(endings, strings.ToLower(path.Ext(d.Name()))):
		return "its ending is none of " + strings.Join(endings, " ")
	}
	return ""
}
