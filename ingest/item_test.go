package ingest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/ingest"
	"github.com/vimbank/vimbank/memtypes"
)

func TestParseItem(t *testing.T) {
	normal := memtypes.Source{Trust: memtypes.Normal}
	for _, tt := range []struct {
		name, line string
		want       ingest.Item
	}{
		{"the least", `{"kind":"dialogue","text":"hi"}`, ingest.Item{Draft: memtypes.Draft{Kind: memtypes.Dialogue, Text: "hi", Source: normal}}},
		{"a turn", `{"id":"c/D1:3","bank":"c","kind":"dialogue","text":"I went.","time":"2023-05-08T13:57:00+02:00","speaker":"Ann","session":"c/S1","meta":{"turn":2}}`,
			ingest.Item{ID: "c/D1:3", Bank: "c", Draft: memtypes.Draft{Kind: memtypes.Dialogue, Text: "I went.", Source: normal,
				Event: time.Date(2023, 5, 8, 11, 57, 0, 0, time.UTC), Talk: memtypes.Talk{Session: "c/S1", Speaker: "Ann"}, Meta: map[string]string{"turn": "2"}}}},
		{"a round keeps no second copy", `{"kind":"dialogue","text":"q\nr","meta":{"query":"q","response":"r"}}`,
			ingest.Item{Draft: memtypes.Draft{Kind: memtypes.Dialogue, Text: "q\nr", Source: normal}}},
		{"a round of several lines keeps its halves", `{"kind":"dialogue","text":"q\nq\nr","meta":{"query":"q\nq","response":"r"}}`,
			ingest.Item{Draft: memtypes.Draft{Kind: memtypes.Dialogue, Text: "q\nq\nr", Source: normal, Meta: map[string]string{"query": "q\nq", "response": "r"}}}},
		{"a round without text", `{"kind":"dialogue","meta":{"query":"q","response":"r"}}`,
			ingest.Item{Draft: memtypes.Draft{Kind: memtypes.Dialogue, Text: "q\nr", Source: normal}}},
		{"a fact", `{"id":7,"kind":"knowledge","text":"我是山姆 类型 家庭","time":null,"meta":{"head":"我是山姆","relation":"类型","tail":"家庭"}}`,
			ingest.Item{ID: "7", Draft: memtypes.Draft{Kind: memtypes.Knowledge, Text: "我是山姆 类型 家庭", Source: normal,
				Triple: &memtypes.Triple{Head: "我是山姆", Relation: "类型", Tail: "家庭"}}}},
		{"half a fact is meta", `{"kind":"knowledge","text":"x","meta":{"head":"a","title":"T"}}`,
			ingest.Item{Draft: memtypes.Draft{Kind: memtypes.Knowledge, Text: "x", Title: "T", Source: normal, Meta: map[string]string{"head": "a"}}}},
		{"a trajectory", `{"kind":"task","text":"look","session":"g1","meta":{"task_name":"look_at","object":"Clock","receptacle":"Lamp","observation":"A room.","success":false,
			"commands":[{"name":"go to","args":["desk 1"],"result":"On it."},{"name":"finish","args":[]}]}}`,
			ingest.Item{Draft: memtypes.Draft{Kind: memtypes.TaskKind, Text: "look", Source: normal, Talk: memtypes.Talk{Session: "g1"}, Task: &memtypes.Task{
				Name: "look_at", TaskID: "g1", Object: "Clock", Place: "Lamp", Observation: "A room.", Outcome: memtypes.Failure,
				Commands: []memtypes.Command{{Name: "go to", Args: []string{"desk 1"}, Result: "On it."}, {Name: "finish", Args: []string{}}}}}}},
		{"what nobody asked for is kept", `{"kind":"task","text":"x","lang":"en","meta":{"n":1.50,"b":true,"o":{"a": [1]},"z":null}}`,
			ingest.Item{Draft: memtypes.Draft{Kind: memtypes.TaskKind, Text: "x", Source: normal,
				Meta: map[string]string{"lang": "en", "n": "1.50", "b": "true", "o": `{"a":[1]}`}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ingest.ParseItem([]byte(tt.line))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got, cmp.Comparer(func(x, y memtypes.Scope) bool { return x == y }),
				cmp.Comparer(func(x, y time.Time) bool { return x.Equal(y) })); d != "" {
				t.Errorf("item (-want +got):\n%s", d)
			}
		})
	}
}

func TestParseItemRefuses(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"no JSON", `hello`, `field "line": found no JSON at byte 1`},
		{"cut off", `{"kind":"dialogue","te`, `JSON that ends in the middle, after 22 bytes`},
		{"a list", `["x"]`, `a JSON array`},
		{"null", `null`, `found null`},
		{"no kind", `{"text":"x"}`, `field "kind": found "", wanted knowledge, dialogue or task`},
		{"unknown kind", `{"kind":"dialog","text":"x"}`, `found "dialog"`},
		{"a number for a text", `{"kind":"task","text":12}`, `field "text": found 12, wanted a string or null`},
		{"no text", `{"kind":"task"}`, `field "text": found ""`},
		{"a day for a time", `{"kind":"task","text":"x","time":"2024-01-01"}`, `field "time": found "2024-01-01", wanted an RFC 3339 time`},
		{"meta is a text", `{"kind":"task","text":"x","meta":"m"}`, `field "meta": found "m", wanted an object or null`},
		{"commands are names", `{"kind":"task","text":"x","meta":{"commands":["go"]}}`, `field "meta.commands"`},
		{"success is a text", `{"kind":"task","text":"x","meta":{"success":"yes"}}`, `field "meta.success": found "yes", wanted true, false or null`},
		{"invalid UTF-8", "{\"kind\":\"task\",\"text\":\"\xff\"}", `invalid UTF-8 at byte 24`},
		{"a NUL in the text", `{"kind":"task","text":"a\u0000"}`, `NUL`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ingest.ParseItem([]byte(tt.line))
			if memtypes.CodeOf(err) != memtypes.Invalid || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("ParseItem(%s): err = %v, want invalid, with %q", tt.line, err, tt.want)
			}
		})
	}
}

// TestJSONLBadLines: what cannot be read is named by its line, the rest stays.
func TestJSONLBadLines(t *testing.T) {
	text := `{"id":"1","kind":"dialogue","text":"one"}` + "\n\n" + `{"id":"2","kind":"chat","text":"two"}` + "\r\n" +
		"{\"id\":\"3\",\"kind\":\"dialogue\",\"text\":\"caf\xe9\"}\n" + `{"id":"4","kind":"dialogue","text":"four"}` + "\n" + `{"id":"5","kind":"dialogue","te`
	entries, errs := read(t, "x/items.jsonl", text, ingest.Options{})
	if got := len(entries); got != 2 || entries[1].Line != 5 || entries[1].Draft.Key != "4" {
		t.Errorf("entries = %+v, want those of lines 1 and 5", entries)
	}
	var got []string
	for _, err := range errs {
		got = append(got, strings.TrimPrefix(err.Error(), "ingest.Read: invalid: "))
	}
	want := []string{
		`x/items.jsonl:3: field "kind": found "chat", wanted knowledge, dialogue or task`,
		`x/items.jsonl:4: field "line": found invalid UTF-8 at byte 40, wanted UTF-8 text`,
		`x/items.jsonl:6: field "line": found JSON that ends in the middle, after 31 bytes, wanted one JSON object a line; it is the last line and has no end: is the file cut off?`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("errors (-want +got):\n%s", d)
	}
}

func TestJSONLScopesAndKeys(t *testing.T) {
	o := ingest.Options{Kind: memtypes.Dialogue, ScopeOf: func(bank string) (memtypes.Scope, error) { return memtypes.NewScope("", bank, "", "") }}
	long := strings.Repeat("k", 300)
	entries, errs := read(t, "a.jsonl", "\ufeff"+`{"bank":"b1","text":"hi"}`+"\n"+`{"text":"hi"}`+"\n"+`{"bank":"b2","id":"`+long+`","text":"hi"}`, o)
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "a.jsonl:2: field \"scope\"") {
		t.Errorf("errors = %v, want one about the scope of line 2", errs)
	}
	if len(entries) != 2 || entries[0].Draft.Scope != scope(t, "b1") || entries[0].Draft.Kind != memtypes.Dialogue {
		t.Fatalf("entries = %+v, want one of user b1 and one of b2", entries)
	}
	if key := entries[1].Draft.Key; len(key) > 256 || key == "" {
		t.Errorf("key = %q, want at most 256 bytes", key)
	}
}

// TestLongLine: a line that is no item does not fill the memory, nor end the file.
func TestLongLine(t *testing.T) {
	text := `{"kind":"dialogue","text":"` + strings.Repeat("x", 5<<20) + `"}` + "\n" + `{"kind":"dialogue","text":"short"}`
	entries, errs := read(t, "a.jsonl", text, ingest.Options{})
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "a.jsonl:1: field \"line\": found more than 4194304 bytes") {
		t.Errorf("errors = %v, want one about line 1", errs)
	}
	if len(entries) != 1 || entries[0].Draft.Text != "short" || entries[0].Line != 2 {
		t.Errorf("entries = %+v, want that of line 2", entries)
	}
}

func TestExportedMemory(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	m, err := memtypes.New(memtypes.Draft{Scope: scope(t, "ann"), Kind: memtypes.Dialogue, Text: "<b> & 你好"}, now)
	if err != nil {
		t.Fatal(err)
	}
	m.Strength.Recalls, m.Strength.LastRecall, m.Strength.Pinned, m.Rev = 3, now.Add(time.Hour), true, 9
	line, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	entries, errs := read(t, "x.jsonl", string(line), ingest.Options{})
	if errs != nil || len(entries) != 1 || entries[0].Memory == nil {
		t.Fatalf("entries = %+v, errors = %v, want one memory", entries, errs)
	}
	if d := cmp.Diff(m, *entries[0].Memory, cmp.Comparer(func(x, y memtypes.Scope) bool { return x == y })); d != "" {
		t.Errorf("memory (-want +got):\n%s", d)
	}
	for _, tt := range []struct{ name, old, new, want string }{
		{"a field of a newer version", `"kind":`, `"mood":"blue","kind":`, "mood"},
		{"a broken id", string(m.ID), "42", `field "id"`},
		{"an empty scope", `"user":"ann"`, `"user":""`, `field "scope"`},
		{"an unknown kind", `"kind":"dialogue"`, `"kind":"dream"`, `field "kind"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, errs := read(t, "x.jsonl", strings.Replace(string(line), tt.old, tt.new, 1), ingest.Options{})
			if len(errs) != 1 || !strings.Contains(errs[0].Error(), tt.want) {
				t.Errorf("errors = %v, want one with %q", errs, tt.want)
			}
		})
	}
}
