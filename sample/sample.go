// Package sample holds a small bank's worth of memories in English and
// Chinese, made up for the tour and for tests: two friends who open a bakery,
// two others in Hangzhou, the papers of the shop, and what an agent did for
// it, well and badly.
//
// The files are written as people's own files are, one in each form that
// package ingest reads. What is asked of them, and how it is shown, is left to
// the caller.
package sample

import (
	"embed"
	"io/fs"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

//go:embed data
var data embed.FS

// FS is the folder of sample files.
func FS() fs.FS {
	sub, err := fs.Sub(data, "data")
	if err != nil {
		panic(err) // only for a name that is no path
	}
	return sub
}

// Now is the moment at which the story stands still: a few days after its last turn.
func Now() time.Time { return time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC) }

// Question is one to ask the sample.
type Question struct {
	Text  string
	Kinds []memtypes.Kind // of the answer; empty: all are asked
	About string          // what the question shows
	Holds string          // words of the memory that answers it, to check an engine by
}

// Questions are of the three kinds, in both languages.
func Questions() []Question {
	return []Question{
		{"Which nut makes Tom's throat swell?", nil, "words in common, and the meaning of \"nut\"", "swells up from hazelnuts"},
		{"What colour is the front room?", nil, "the answer shares no word with the question: its neighbours do", "Sage green below"},
		{"What did Tom find out on 14 April?", []memtypes.Kind{memtypes.Dialogue}, "a date in the question, which no turn spells out", "E7 was only flour in the door latch"},
		{"林月的女儿在学什么乐器？", nil, "a question in Chinese", "学古筝"},
		{"用多热的水泡龙井？", []memtypes.Kind{memtypes.Knowledge}, "a document in Chinese, by its section", "八十到八十五度"},
		{"The oven shows E7 again. What should I do?", nil, "all three kinds at once: what was said, what the paper says, what worked", "brush"},
	}
}
