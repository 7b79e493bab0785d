package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/vimbank/vimbank/memtypes"
)

// maxLine bounds one line of a file, in bytes: what is longer is no item and
// no line of talk.
const maxLine = 4 << 20

// utf8BOM may stand at the start of a file and means nothing.
var utf8BOM = []byte("\xef\xbb\xbf")

// lines reads a file line by line in bounded memory.
type lines struct {
	r    *bufio.Reader
	file string
	n    int
	buf  []byte
}

// line is one line without its end. text is valid until the next call.
type line struct {
	n     int // 1-based
	text  []byte
	ended bool // with a newline: false for the last line of a file that lacks one
}

func newLines(r io.Reader, file string) *lines {
	return &lines{r: bufio.NewReaderSize(r, headSize), file: file}
}

// next gives the next line. An error of code Invalid is about this line only
// and the next call goes on; io.EOF ends the file; any other ends the reading.
func (l *lines) next() (line, error) {
	l.n++
	l.buf = l.buf[:0]
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.buf)+len(part) > maxLine {
			long = true
		} else {
			l.buf = append(l.buf, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return line{}, memtypes.Errorf(op, memtypes.Unavailable, "%s: %w", l.file, err)
		}
		if err != nil && len(part) == 0 && len(l.buf) == 0 && !long {
			return line{}, io.EOF
		}
		return l.finish(long, err == nil)
	}
}

func (l *lines) finish(long, ended bool) (line, error) {
	if long {
		return line{}, bad(l.file, l.n, memtypes.BadField(op, "line", memtypes.Remark(fmt.Sprintf("more than %d bytes", maxLine)), "a shorter line"))
	}
	text := bytes.TrimSuffix(bytes.TrimSuffix(l.buf, []byte("\n")), []byte("\r"))
	if l.n == 1 {
		text = bytes.TrimPrefix(text, utf8BOM)
	}
	if at := invalidUTF8(text); at >= 0 {
		return line{}, bad(l.file, l.n, memtypes.BadField(op, "line", memtypes.Remark(fmt.Sprintf("invalid UTF-8 at byte %d", at+1)), "UTF-8 text"))
	}
	return line{n: l.n, text: text, ended: ended}, nil
}

// invalidUTF8 is the place of the first byte that is not UTF-8, or -1.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return -1
}
