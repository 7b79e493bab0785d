package memtypes

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxText bounds the text of one memory, in bytes; longer documents are cut by
// package segment before they come here.
const MaxText = 64 << 10

// ID names a memory: a UUID (version 8) in its canonical text form. The same
// content in the same scope, or the same idempotency key, gives the same ID.
type ID string

// ParseID checks the canonical form: 36 lower-case characters.
func ParseID(s string) (ID, error) {
	ok := len(s) == 36
	for i := 0; ok && i < len(s); i++ {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			ok = c == '-'
		default:
			ok = c >= '0' && c <= '9' || c >= 'a' && c <= 'f'
		}
	}
	if !ok {
		return "", BadField("memtypes.ParseID", "id", s, "a UUID such as 0f8fad5b-d9cb-869f-8165-70867728950e")
	}
	return ID(s), nil
}

// Source says where a memory came from.
type Source struct {
	URI    string `json:"uri,omitempty"`    // a file, a page, a conversation
	Author string `json:"author,omitempty"` // who wrote it, if not the speaker
	Trust  Trust  `json:"trust"`
}

// Talk places a dialogue memory in its conversation.
type Talk struct {
	Session string `json:"session,omitempty"` // the sitting it belongs to
	Speaker string `json:"speaker,omitempty"`
}

// Strength is what the forgetting curve knows of a memory (VIMBank eq. 6).
type Strength struct {
	Recalls    int       `json:"recalls"`              // lambda = 1 + Recalls, in the curve's unit
	LastRecall time.Time `json:"last_recall,omitzero"` // t counts from here; zero: never recalled, t counts from Created
	Initial    float64   `json:"initial"`              // R0, in (0,1]
	Pinned     bool      `json:"pinned,omitempty"`     // never forgotten
	Retired    time.Time `json:"retired_at,omitzero"`  // when it was retired; zero while active
	RunID      string    `json:"retired_by,omitempty"` // the decay run that retired it, or empty
}

// Memory is one thing remembered. Values that a ledger returns are valid;
// treat them as read-only.
type Memory struct {
	ID       ID                `json:"id"`
	Scope    Scope             `json:"scope"`
	Kind     Kind              `json:"kind"`
	Layer    Layer             `json:"layer"`
	Text     string            `json:"text"`            // verbatim
	Title    string            `json:"title,omitempty"` // of the document a segment is from
	Part     int               `json:"part,omitempty"`  // 0-based place of a segment in its document
	Talk     Talk              `json:"talk,omitzero"`
	Task     *Task             `json:"task,omitempty"`
	Triple   *Triple           `json:"triple,omitempty"`
	Meta     map[string]string `json:"meta,omitempty"`
	Source   Source            `json:"source,omitzero"`
	Event    time.Time         `json:"event_time,omitzero"` // when it happened or was said, UTC; zero: not known
	Created  time.Time         `json:"created_at"`          // when the ledger took it, UTC
	Updated  time.Time         `json:"updated_at"`
	Strength Strength          `json:"strength"`
	State    State             `json:"state"`
	Rev      uint64            `json:"rev"`           // the ledger's sequence number of the last change of content or state
	Key      string            `json:"key,omitempty"` // the caller's idempotency key
}

// When is the moment the memory is about: its event time, or else when it was taken.
func (m *Memory) When() time.Time {
	if m.Event.IsZero() {
		return m.Created
	}
	return m.Event
}

// Draft is what a caller hands in to be remembered.
type Draft struct {
	Scope  Scope
	Kind   Kind
	Layer  Layer // empty means Raw
	Text   string
	Title  string
	Part   int
	Talk   Talk
	Task   *Task
	Triple *Triple
	Meta   map[string]string
	Source Source
	Event  time.Time // zero: not known
	Pinned bool
	Key    string // idempotency key; empty: the content decides
}

// New makes an active Memory from d as of now. It fails with Invalid when the
// scope is empty, the kind unknown, the text empty, over MaxText or not UTF-8,
// a task record stands on another kind, or a name is too long.
func New(d Draft, now time.Time) (Memory, error) {
	if err := d.check(); err != nil {
		return Memory{}, err
	}
	if d.Layer == "" {
		d.Layer = Raw
	}
	m := Memory{
		Scope: d.Scope, Kind: d.Kind, Layer: d.Layer, Text: d.Text, Title: d.Title, Part: d.Part, Talk: d.Talk, Task: d.Task,
		Triple: d.Triple, Meta: d.Meta, Source: d.Source, Key: d.Key, Event: utc(d.Event), Created: utc(now), Updated: utc(now),
		Strength: Strength{Initial: 1, Pinned: d.Pinned}, State: Active,
	}
	m.ID = identity(d)
	return m, nil
}

func (d *Draft) check() error {
	const op = "memtypes.New"
	if d.Scope.IsZero() {
		return BadField(op, "scope", Remark("none of user, agent, run"), "at least one of them")
	}
	if _, err := ParseKind(string(d.Kind)); err != nil {
		return err
	}
	if d.Layer != "" && d.Layer != Raw && d.Layer != Thought {
		return BadField(op, "layer", string(d.Layer), "raw or thought")
	}
	if err := CheckText(op, "text", d.Text); err != nil {
		return err
	}
	for _, p := range []struct{ name, v string }{{"session", d.Talk.Session}, {"speaker", d.Talk.Speaker}, {"key", d.Key}} {
		if err := checkName(op, p.name, p.v); err != nil {
			return err
		}
	}
	if !utf8.ValidString(d.Title) || len(d.Title) > 1024 {
		return BadField(op, "title", d.Title, "at most 1024 bytes of UTF-8")
	}
	if d.Task != nil && d.Kind != TaskKind {
		return BadField(op, "task", Remark("a task record on kind "+string(d.Kind)), "kind task")
	}
	if d.Task != nil && d.Task.Outcome != "" && d.Task.Outcome != Success && d.Task.Outcome != Failure {
		return BadField(op, "outcome", string(d.Task.Outcome), "success, failure or nothing")
	}
	if d.Source.Trust < Untrusted || d.Source.Trust > Verified {
		return BadField(op, "trust", int(d.Source.Trust), "0, 1 or 2")
	}
	if y := d.Event.UTC().Year(); !d.Event.IsZero() && (y < 1 || y > 9999) {
		return BadField(op, "event_time", d.Event.String(), "a year from 1 to 9999")
	}
	return nil
}

// CheckText says whether s can be a memory's text or a query: UTF-8, not
// blank, at most MaxText bytes, no NUL.
func CheckText(op, field, s string) error {
	switch {
	case !utf8.ValidString(s):
		return BadField(op, field, Remark("invalid UTF-8"), "UTF-8 text")
	case len(s) > MaxText:
		return BadField(op, field, Remark(fmt.Sprintf("%d bytes", len(s))), fmt.Sprintf("at most %d bytes", MaxText))
	case strings.TrimSpace(s) == "":
		return BadField(op, field, s, "text that is not blank")
	case strings.IndexByte(s, 0) >= 0:
		return BadField(op, field, Remark("a NUL byte"), "text without NUL")
	}
	return nil
}

// identity hashes what makes two drafts the same memory: the idempotency key
// within its scope where there is one, else the scope and the whole content.
// Where it came from is not content: a file that was moved says the same.
// Fields are length-prefixed, so no two different drafts can collide by joining.
func identity(d Draft) ID {
	b := make([]byte, 0, 512+len(d.Text))
	put := func(parts ...string) {
		for _, p := range parts {
			b = strconv.AppendInt(b, int64(len(p)), 10)
			b = append(append(b, ':'), p...)
		}
	}
	put("vimbank/1", d.Scope.tenant, d.Scope.user, d.Scope.agent, d.Scope.run, string(d.Layer))
	if d.Key != "" {
		put("key", d.Key)
	} else {
		put("content", string(d.Kind), d.Text, d.Title, strconv.Itoa(d.Part), d.Talk.Session, d.Talk.Speaker)
		if !d.Event.IsZero() {
			put("event", d.Event.UTC().Format(time.RFC3339Nano))
		}
		if d.Task != nil {
			put("task", d.Task.Name, d.Task.TaskID, d.Task.Object, d.Task.Place, d.Task.Steps(), d.Task.Result, string(d.Task.Outcome))
		}
		if d.Triple != nil {
			put("triple", d.Triple.Head, d.Triple.Relation, d.Triple.Tail)
		}
	}
	sum := sha256.Sum256(b)
	sum[6] = sum[6]&0x0f | 0x80 // version 8: hashed by our own rule
	sum[8] = sum[8]&0x3f | 0x80 // RFC 9562 variant
	x := hex.EncodeToString(sum[:16])
	return ID(x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:])
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}
