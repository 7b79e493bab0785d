package memtypes_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
)

var noon = time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)

func ada(t testing.TB) memtypes.Scope {
	t.Helper()
	s, err := memtypes.NewScope("", "ada", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func draft(t testing.TB) memtypes.Draft {
	return memtypes.Draft{Scope: ada(t), Kind: memtypes.Dialogue, Text: "I moved to Berlin.", Talk: memtypes.Talk{Session: "s1", Speaker: "Ada"}, Event: noon}
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*memtypes.Draft)
		field string
	}{
		{"no scope", func(d *memtypes.Draft) { d.Scope = memtypes.Scope{} }, "scope"},
		{"unknown kind", func(d *memtypes.Draft) { d.Kind = "episodic" }, "kind"},
		{"unknown layer", func(d *memtypes.Draft) { d.Layer = "dream" }, "layer"},
		{"blank text", func(d *memtypes.Draft) { d.Text = " \n\t" }, "text"},
		{"invalid UTF-8", func(d *memtypes.Draft) { d.Text = "caf\xe9" }, "text"},
		{"NUL", func(d *memtypes.Draft) { d.Text = "a\x00b" }, "text"},
		{"oversized", func(d *memtypes.Draft) { d.Text = strings.Repeat("x", memtypes.MaxText+1) }, "text"},
		{"long session", func(d *memtypes.Draft) { d.Talk.Session = strings.Repeat("s", 257) }, "session"},
		{"control character", func(d *memtypes.Draft) { d.Talk.Speaker = "Ada\x07" }, "speaker"},
		{"long title", func(d *memtypes.Draft) { d.Title = strings.Repeat("t", 1025) }, "title"},
		{"task record on dialogue", func(d *memtypes.Draft) { d.Task = &memtypes.Task{} }, "task"},
		{"unknown outcome", func(d *memtypes.Draft) { d.Kind, d.Task = memtypes.TaskKind, &memtypes.Task{Outcome: "maybe"} }, "outcome"},
		{"unknown trust", func(d *memtypes.Draft) { d.Source.Trust = 9 }, "trust"},
		{"a year beyond RFC 3339", func(d *memtypes.Draft) { d.Event = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) }, "event_time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := draft(t)
			tt.spoil(&d)
			_, err := memtypes.New(d, noon)
			var f *memtypes.Field
			if memtypes.CodeOf(err) != memtypes.Invalid || !errors.As(err, &f) || f.Name != tt.field {
				t.Fatalf("err = %v, want Invalid naming field %q", err, tt.field)
			}
			if f.Found == "" || f.Wanted == "" {
				t.Errorf("error %q does not say what was found and wanted", err)
			}
			if strings.Contains(f.Found, `"invalid`) || strings.Contains(f.Found, `"none of`) {
				t.Errorf("found %s: a description stands without quotes", f.Found)
			}
		})
	}
}

func TestIdentity(t *testing.T) {
	id := func(change func(*memtypes.Draft)) memtypes.ID {
		d := draft(t)
		change(&d)
		m, err := memtypes.New(d, noon)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := memtypes.ParseID(string(m.ID)); err != nil {
			t.Fatalf("New made an ID that ParseID refuses: %v", err)
		}
		return m.ID
	}
	same := id(func(*memtypes.Draft) {})
	for name, change := range map[string]func(*memtypes.Draft){
		"text":    func(d *memtypes.Draft) { d.Text += "!" },
		"time":    func(d *memtypes.Draft) { d.Event = noon.Add(time.Second) },
		"speaker": func(d *memtypes.Draft) { d.Talk.Speaker = "Bo" },
		"session": func(d *memtypes.Draft) { d.Talk.Session = "s2" },
		"kind":    func(d *memtypes.Draft) { d.Kind = memtypes.Knowledge },
		"layer":   func(d *memtypes.Draft) { d.Layer = memtypes.Thought },
		"key":     func(d *memtypes.Draft) { d.Key = "k" },
	} {
		if id(change) == same {
			t.Errorf("another %s gave the same ID", name)
		}
	}
	if got := id(func(d *memtypes.Draft) { d.Event = noon.In(time.FixedZone("x", 3600)) }); got != same {
		t.Error("the same moment in another zone gave another ID")
	}
	if got := id(func(d *memtypes.Draft) {
		d.Source = memtypes.Source{URI: "moved/file.md", Author: "Bo", Trust: memtypes.Verified}
	}); got != same {
		t.Error("the same content from another place gave another ID")
	}
	key := func(text string) memtypes.ID {
		return id(func(d *memtypes.Draft) { d.Key, d.Text = "import/7", text })
	}
	if key("one") != key("two") {
		t.Error("the idempotency key did not decide the ID")
	}
	// Joined fields must not collide.
	if id(func(d *memtypes.Draft) { d.Talk = memtypes.Talk{Session: "ab", Speaker: "c"} }) ==
		id(func(d *memtypes.Draft) { d.Talk = memtypes.Talk{Session: "a", Speaker: "bc"} }) {
		t.Error("session and speaker ran together")
	}
}

func TestMemoryJSON(t *testing.T) {
	m, err := memtypes.New(draft(t), noon)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back memtypes.Memory
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, back, cmp.AllowUnexported(memtypes.Scope{})); diff != "" {
		t.Errorf("memory changed on its way through JSON (-want +got):\n%s", diff)
	}
}

func TestParseID(t *testing.T) {
	for _, bad := range []string{"", "x", "0F8FAD5B-D9CB-869F-8165-70867728950E", "0f8fad5b-d9cb-869f-8165-70867728950", "0f8fad5bad9cb-869f-8165-70867728950e"} {
		if _, err := memtypes.ParseID(bad); memtypes.CodeOf(err) != memtypes.Invalid {
			t.Errorf("ParseID(%q) = %v, want Invalid", bad, err)
		}
	}
}

func TestWhen(t *testing.T) {
	d := draft(t)
	d.Event = time.Time{}
	m, _ := memtypes.New(d, noon)
	if got := m.When(); !got.Equal(noon) {
		t.Errorf("When without event time = %v, want the time it was taken, %v", got, noon)
	}
}
