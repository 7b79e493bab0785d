package ingest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/ingest"
	"github.com/vimbank/vimbank/memtypes"
)

// turns renders drafts as "session speaker time: text".
func turns(ds []memtypes.Draft) (out []string) {
	for _, d := range ds {
		at := "-"
		if !d.Event.IsZero() {
			at = d.Event.UTC().Format("2006-01-02T15:04:05")
		}
		if c := d.Meta["clock"]; c != "" {
			at += "(" + c + ")"
		}
		out = append(out, fmt.Sprintf("%s %s %s: %s", d.Talk.Session, d.Talk.Speaker, at, d.Text))
	}
	return out
}

func TestChatForms(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"names only, a gap ends a sitting", "Ann: hi\nBob: hello\nthere\n\nAnn: back again\nBob: good\n",
			[]string{"log/1 Ann -: hi", "log/1 Bob -: hello\nthere", "log/2 Ann -: back again", "log/2 Bob -: good"}},
		{"a blank line between any two turns ends none", "Ann: hi\n\nBob: hello\n\nAnn: well?\n\n\nBob: later\n",
			[]string{"log/1 Ann -: hi", "log/1 Bob -: hello", "log/1 Ann -: well?", "log/2 Bob -: later"}},
		{"dashes end a sitting", "user: hi\nassistant: hello\n---\nuser: bye\nassistant: bye\n",
			[]string{"log/1 user -: hi", "log/1 assistant -: hello", "log/2 user -: bye", "log/2 assistant -: bye"}},
		{"a blank line within a turn stays in it", "Ann: a list:\n\n  - one\n  - two\nBob: fine\nAnn: ok\nBob: ok\n",
			[]string{"log/1 Ann -: a list:\n\n  - one\n  - two", "log/1 Bob -: fine", "log/1 Ann -: ok", "log/1 Bob -: ok"}},
		{"a colon does not make a speaker", "Ann: hi\nBut remember: bring bread\nBob: see https://x.org: 10:30\nAnn: ok\n",
			[]string{"log/1 Ann -: hi\nBut remember: bring bread", "log/1 Bob -: see https://x.org: 10:30", "log/1 Ann -: ok"}},
		{"ISO times", "2026-03-15T09:31:00+02:00 Ann: hi\n2026-03-15 09:32 Bob: ho\n",
			[]string{"log/2026-03-15 Ann 2026-03-15T07:31:00: hi", "log/2026-03-15 Bob 2026-03-15T09:32:00: ho"}},
		{"a phone's export, in brackets", "[15/03/2026, 09:31:05] Ann: hi\n\u200e[15/03/2026, 09:31:09] Bob: \u200eimage omitted\n[15/03/2026, 9:32:00\u202fPM] Bob: ho\nmore\n",
			[]string{"log/2026-03-15 Ann 2026-03-15T09:31:05: hi", "log/2026-03-15 Bob 2026-03-15T21:32:00: ho\nmore"}},
		{"a phone's export, with dashes and months first", "3/15/26, 12:05 AM - Messages are encrypted.\n3/15/26, 12:05 AM - Ann Lee: hi\n3/16/26, 12:05 PM - +44 20 7946 0000: who?\n",
			[]string{"log/2026-03-15 Ann Lee 2026-03-15T00:05:00: hi", "log/2026-03-16 +44 20 7946 0000 2026-03-16T12:05:00: who?"}},
		{"days as headings", "# 2026-03-15\n[18:04] Ann: hi\n[18:05] Bob: ho\n\nMonday, 16 March 2026\n[08:00] Ann: up?\n",
			[]string{"log/2026-03-15 Ann 2026-03-15T18:04:00: hi", "log/2026-03-15 Bob 2026-03-15T18:05:00: ho", "log/2026-03-16 Ann 2026-03-16T08:00:00: up?"}},
		{"a clock without a day is kept as it is", "[18:04] Ann: hi\n[18:05] Bob: ho\n",
			[]string{"log/1 Ann -(18:04): hi", "log/1 Bob -(18:05): ho"}},
		{"Chinese, in blocks", "林月 2026-03-08 20:11:05\n你好：\n在吗\n\n陈浩 2026-03-08 20:12:40\n在\n",
			[]string{"log/2026-03-08 林月 2026-03-08T20:11:05: 你好：\n在吗", "log/2026-03-08 陈浩 2026-03-08T20:12:40: 在"}},
		{"Chinese, with times and a wide colon", "2026年3月8日 下午8:11 林月：你好\n2026年3月8日 20:12 陈浩:在\n",
			[]string{"log/2026-03-08 林月 2026-03-08T20:11:00: 你好", "log/2026-03-08 陈浩 2026-03-08T20:12:00: 在"}},
		{"names in angle brackets and in bold", "[18:04] <ann> hi\n[18:05] **Bob:** ho\n",
			[]string{"log/1 ann -(18:04): hi", "log/1 Bob -(18:05): ho"}},
		{"a known speaker without a time", "[2026-03-15 09:31] Ann: hi\n[2026-03-15 09:32] Bob: ho\nAnn: still me\n",
			[]string{"log/2026-03-15 Ann 2026-03-15T09:31:00: hi", "log/2026-03-15 Bob 2026-03-15T09:32:00: ho", "log/2026-03-15 Ann 2026-03-15T00:00:00: still me"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entries, errs := read(t, "chats/log.txt", tt.text, ingest.Options{Format: ingest.Chat})
			if errs != nil {
				t.Fatal(errs)
			}
			if d := cmp.Diff(tt.want, turns(drafts(entries))); d != "" {
				t.Errorf("turns (-want +got):\n%s", d)
			}
		})
	}
}

// TestChatNotes: what is no turn is said, with its line.
func TestChatNotes(t *testing.T) {
	entries, errs := read(t, "log.txt", "Our talk\n[15/03/2026, 09:30] Ann added Bob\n[15/03/2026, 09:31] Ann: <Media omitted>\n[15/03/2026, 09:32] Ann:\n[15/03/2026, 09:33] Ann: hi\n",
		ingest.Options{Format: ingest.Chat})
	if errs != nil {
		t.Fatal(errs)
	}
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%d %s%s", e.Line, e.Note, e.Draft.Text))
	}
	want := []string{"1 it belongs to no turn", "2 nobody says it: a chat program's own message",
		"3 a picture or a recording that the log leaves out", "4 nothing said", "5 hi"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("entries (-want +got):\n%s", d)
	}
}

func TestChatDateOrder(t *testing.T) {
	line := func(date string) string { return date + ", 09:31 - Ann: hi\n" }
	for _, tt := range []struct {
		name  string
		text  string
		order ingest.DateOrder
		want  string // the first day, or the error
	}{
		{"a day above 12", line("05/03/2026") + line("13/03/2026"), "", "2026-03-05"},
		{"a month cannot be 13", line("03/05/2026") + line("03/13/2026"), "", "2026-03-05"},
		{"only one reading runs forward", line("05/03/2026") + line("02/04/2026"), "", "2026-03-05"},
		{"the same both ways", line("05/05/2026"), "", "2026-05-05"},
		{"nothing tells", line("05/03/2026"), "", `field "dates": found "05/03/2026", wanted to be told dmy or mdy`},
		{"the caller tells", line("05/03/2026"), ingest.MonthFirst, "2026-05-03"},
		{"not in this order", line("05/03/2026") + line("05/23/2026"), ingest.DayFirst, `field "date": found "05/23/2026", wanted a day of the calendar`},
		{"no such day", line("31/02/2026") + line("31/01/2026"), ingest.DayFirst, `field "date": found "31/02/2026"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entries, errs := read(t, "log.txt", tt.text, ingest.Options{Format: ingest.Chat, Dates: tt.order})
			got := fmt.Sprint(errs)
			if len(errs) == 0 {
				got = drafts(entries)[0].Event.Format(time.DateOnly)
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestChatOptions(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	entries, errs := read(t, "log.txt", "[2026-03-15 00:30] Ann: hi\n", ingest.Options{Format: ingest.Chat, Zone: zone, Session: "club", Kind: memtypes.Knowledge})
	if errs != nil || len(entries) != 1 {
		t.Fatalf("entries = %+v, errors = %v, want one turn", entries, errs)
	}
	d := entries[0].Draft
	if want := time.Date(2026, 3, 14, 22, 30, 0, 0, time.UTC); !d.Event.Equal(want) || d.Talk.Session != "club/2026-03-15" || d.Kind != memtypes.Knowledge {
		t.Errorf("draft = %+v, want the event %v in session club/2026-03-15 as knowledge", d, want)
	}
}

func TestChatBadLines(t *testing.T) {
	text := "[2026-03-15 09:31] Ann: hi\n[2026-03-15 29:31] Ann: late\n[2026-03-15 09:33] Bob: caf\xe9\n[2026-03-15 09:34] Ann: " + strings.Repeat("x", memtypes.MaxText+1) + "\n[2026-03-15 09:35] Bob: bye\n"
	entries, errs := read(t, "log.txt", text, ingest.Options{Format: ingest.Chat})
	if d := cmp.Diff([]string{"log/2026-03-15 Ann 2026-03-15T09:31:00: hi", "log/2026-03-15 Bob 2026-03-15T09:35:00: bye"}, turns(drafts(entries))); d != "" {
		t.Errorf("turns (-want +got):\n%s", d)
	}
	for i, want := range []string{`log.txt:3: field "line": found invalid UTF-8`, `log.txt:2: field "time": found "29:31"`, `log.txt:4: field "text": found 65537 bytes`} {
		if len(errs) != 3 || !strings.Contains(errs[i].Error(), want) {
			t.Errorf("errors = %v, want three, number %d with %s", errs, i+1, want)
		}
	}
}

// FuzzChat: any text is read without a panic, every draft is a memory but for
// names that are too long, and reading again gives the same.
func FuzzChat(f *testing.F) {
	for _, s := range []string{
		"Ann: hi\nBob: ho\n", "[15/03/2026, 09:31:05] Ann: hi\n", "3/15/26, 12:05 AM - Ann: hi\n", "林月 2026-03-08 20:11:05\n你好\n",
		"# 2026-03-15\n[18:04] A: x\n", "2026年3月8日 下午8:11 林月：你好\n", "99/99/9999, 99:99 - A: b\n", "<a> b\n---\n<a> b\n", "**A:** b\n\xff\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o := ingest.Options{Format: ingest.Chat, Dates: ingest.DayFirst}
		entries, errs := read(t, "log.txt", text, o)
		for _, d := range drafts(entries) {
			if _, err := memtypes.New(d, time.Unix(0, 0)); err != nil {
				t.Errorf("the draft %+v is no memory: %v", d, err)
			}
		}
		again, errs2 := read(t, "log.txt", text, o)
		if len(again) != len(entries) || len(errs2) != len(errs) {
			t.Errorf("second reading: %d entries and %d errors, first %d and %d", len(again), len(errs2), len(entries), len(errs))
		}
	})
}
