package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Item is one line of the item form:
//
//	{"id", "bank", "kind", "text", "time", "speaker", "session", "meta": {...}}
//
// Only kind and text (or meta.query and meta.response) are needed. Of meta,
// title names a document; head, relation and tail a fact; task_name, commands,
// success, object, receptacle, observation and result a trajectory. Whatever
// else there is, in meta or beside it, is kept in the draft's Meta as strings.
type Item struct {
	ID   string // unique in its file; the idempotency key of the draft
	Bank string // the memory it belongs to: a user, mostly
	// Draft has no scope yet, and no key: both are the caller's choice.
	Draft memtypes.Draft
}

// ParseItem reads one line of the item form. It is Invalid, naming the field,
// for what is not a JSON object in UTF-8, a field of the wrong type, an unknown
// kind or a time that is not RFC 3339.
func ParseItem(text []byte) (Item, error) {
	f, err := objectOf(text)
	if err != nil {
		return Item{}, err
	}
	return f.item("")
}

// fields reads the values of one JSON object, by name; what has been read is
// taken out, and the first mistake is kept.
type fields struct {
	values map[string]json.RawMessage
	prefix string // of the names in errors: "meta."
	err    error
}

// objectOf splits a line into its fields.
func objectOf(text []byte) (*fields, error) {
	if at := invalidUTF8(text); at >= 0 { // the decoder would replace it in silence
		return nil, memtypes.BadField(op, "line", memtypes.Remark(fmt.Sprintf("invalid UTF-8 at byte %d", at+1)), "UTF-8 text")
	}
	f := &fields{}
	if err := json.Unmarshal(text, &f.values); err != nil {
		return nil, memtypes.BadField(op, "line", jsonFault(text, err), "one JSON object a line")
	}
	if f.values == nil {
		return nil, memtypes.BadField(op, "line", memtypes.Remark("null"), "one JSON object a line")
	}
	return f, nil
}

// jsonFault says where a line stops being JSON.
func jsonFault(text []byte, err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		if errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(syntax.Error(), "unexpected end") {
			return fmt.Errorf("JSON that ends in the middle, after %d bytes", len(text))
		}
		return fmt.Errorf("no JSON at byte %d (%s)", syntax.Offset, syntax)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("a JSON %s", wrong.Value)
	}
	return err
}

// take removes a field and decodes it into v; null and absent leave v alone.
func (f *fields) take(name string, v any, wanted string) {
	raw, ok := f.values[name]
	if !ok || f.err != nil {
		return
	}
	delete(f.values, name)
	if err := json.Unmarshal(raw, v); err != nil {
		f.err = memtypes.BadField(op, f.prefix+name, memtypes.Remark(clip(raw)), wanted)
	}
}

func (f *fields) text(name string) (s string) {
	f.take(name, &s, "a string or null")
	return s
}

// item reads an item; kind is for a line that names none.
func (f *fields) item(kind memtypes.Kind) (Item, error) {
	var it Item
	d := &it.Draft
	it.ID, it.Bank = f.id(), f.text("bank")
	if name := f.text("kind"); name != "" || kind == "" {
		k, err := memtypes.ParseKind(name)
		f.fail(err)
		kind = k
	}
	d.Kind, d.Text = kind, f.text("text")
	d.Talk = memtypes.Talk{Session: f.text("session"), Speaker: f.text("speaker")}
	d.Event, d.Source.Trust = f.time("time"), memtypes.Normal
	meta := &fields{prefix: "meta."}
	f.take("meta", &meta.values, "an object or null")
	if f.err == nil {
		meta.into(d)
		f.fail(meta.err)
	}
	if f.err == nil {
		d.Meta = rest(d.Meta, f.values)
		d.Meta = rest(d.Meta, meta.values)
		f.fail(memtypes.CheckText(op, "text", d.Text))
	}
	return it, f.err
}

func (f *fields) fail(err error) {
	if f.err == nil && err != nil {
		f.err = err
	}
}

// id may be a string or a number.
func (f *fields) id() string {
	if raw := f.values["id"]; len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
		delete(f.values, "id")
		return string(raw)
	}
	return f.text("id")
}

func (f *fields) time(name string) time.Time {
	s := f.text(name)
	if s == "" || f.err != nil {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		f.err = memtypes.BadField(op, f.prefix+name, s, "an RFC 3339 time such as 2024-03-05T14:22:00Z, or null")
	}
	return t
}

// rest adds what nobody took to meta, as strings: a string as it is, anything
// else as its JSON.
func rest(meta map[string]string, values map[string]json.RawMessage) map[string]string {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		raw := values[name]
		if string(raw) == "null" {
			continue
		}
		var s string
		if json.Unmarshal(raw, &s) != nil {
			var b bytes.Buffer
			if json.Compact(&b, raw) == nil {
				s = b.String()
			}
		}
		if meta == nil {
			meta = map[string]string{}
		}
		meta[name] = s
	}
	return meta
}

// clip shortens a JSON value for an error.
func clip(raw []byte) string {
	const n = 40
	r := []rune(string(raw))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n]) + "…"
}
