package ingest

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/vimbank/vimbank/memtypes"
)

// Format is how a file is written.
type Format string

// The formats.
const (
	Auto     Format = "auto"     // told from the name and the first lines
	JSONL    Format = "jsonl"    // items or exported memories, one JSON object a line
	Chat     Format = "chat"     // "Name: text" lines, with or without times
	Text     Format = "text"     // a document: paragraphs between blank lines
	Markdown Format = "markdown" // a document with headings
)

// headSize is how much of a file is looked at before it is read.
const headSize = 64 << 10

// ParseFormat accepts the names of the formats; empty is Auto.
func ParseFormat(s string) (Format, error) {
	switch f := Format(s); f {
	case "":
		return Auto, nil
	case Auto, JSONL, Chat, Text, Markdown:
		return f, nil
	}
	return "", memtypes.BadField("ingest.ParseFormat", "format", s, "auto, jsonl, chat, text or markdown")
}

// Detect tells the format of a file from its name and its first bytes. The
// name decides where it can; a plain text file is a chat log if most of its
// lines say who speaks. It is Invalid for what is no text, and for a document
// that is not in UTF-8.
func Detect(name string, head []byte) (Format, error) {
	if err := checkText(head); err != nil {
		return "", err
	}
	f, err := detect(name, bytes.TrimSpace(bytes.TrimPrefix(head, utf8BOM)))
	if err == nil && (f == Text || f == Markdown) {
		err = checkUTF8(head)
	}
	return f, err
}

func detect(name string, head []byte) (Format, error) {
	switch strings.ToLower(path.Ext(name)) {
	case ".jsonl", ".ndjson":
		return JSONL, nil
	case ".md", ".markdown":
		return Markdown, nil
	}
	switch {
	case bytes.HasPrefix(head, []byte("{")):
		return JSONL, nil
	case bytes.HasPrefix(head, []byte("[{")) || bytes.HasPrefix(head, []byte("[\n")):
		return "", memtypes.BadField(op, "file", memtypes.Remark("a JSON array"), "JSON Lines: one object a line, without brackets around them")
	case looksLikeChat(string(head)):
		return Chat, nil
	case bytes.HasPrefix(head, []byte("# ")) || bytes.Contains(head, []byte("\n# ")) || bytes.Contains(head, []byte("\n## ")):
		return Markdown, nil
	}
	return Text, nil
}

// checkText refuses what is no text that one reads line by line.
func checkText(head []byte) error {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return memtypes.BadField(op, "file", memtypes.Remark("UTF-16 text"), "UTF-8 text")
	case bytes.IndexByte(head, 0) >= 0:
		return memtypes.BadField(op, "file", memtypes.Remark("a NUL byte: a binary file"), "UTF-8 text")
	}
	return nil
}

// checkUTF8 refuses a document in another encoding: with holes in it, it would
// not be the document. Of items and turns only the broken ones are lost. The
// head may end within a character.
func checkUTF8(head []byte) error {
	if at := invalidUTF8(head); at >= 0 && at < len(head)-utf8.UTFMax {
		return memtypes.BadField(op, "file", memtypes.Remark(fmt.Sprintf("invalid UTF-8 at byte %d", at+1)), "UTF-8 text")
	}
	return nil
}
