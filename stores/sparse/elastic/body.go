package elastic

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// body is the JSON of a request.
func body(v any) io.Reader { return bytes.NewReader(must(json.Marshal(v))) }

// document is what is kept of a memory. A tombstone has only ID, Tenant, Rev and
// Gone, so no search finds it, and no statistics count it.
type document struct {
	ID      memtypes.ID `json:"id"`
	Tenant  string      `json:"tenant"`
	User    string      `json:"user,omitempty"`
	Agent   string      `json:"agent,omitempty"`
	Run     string      `json:"run,omitempty"`
	Kind    *string     `json:"kind,omitempty"`
	Layer   *string     `json:"layer,omitempty"`
	Session string      `json:"session,omitempty"`
	Group   string      `json:"group,omitempty"` // of one session; without a session, of its own
	When    *int64      `json:"when,omitempty"`  // Unix seconds
	Rev     uint64      `json:"rev"`
	Gone    bool        `json:"gone,omitempty"`

	Text      string `json:"text,omitempty"`
	TextLen   int    `json:"text_len,omitempty"`
	Turn      string `json:"turn,omitempty"`
	TurnLen   int    `json:"turn_len,omitempty"`
	Window    string `json:"window,omitempty"`
	WindowLen int    `json:"window_len,omitempty"`
}

func documentOf(d *sparse.Doc) *document {
	f := &d.Facets
	kind, layer, when := string(f.Kind), string(f.Layer), f.When.Unix()
	out := &document{
		ID: d.ID, Tenant: f.Scope.Tenant(), User: f.Scope.User(), Agent: f.Scope.Agent(), Run: f.Scope.Run(),
		Kind: &kind, Layer: &layer, Session: f.Session, Group: "id " + string(d.ID), When: &when, Rev: d.Rev,
		Text: text(d.Fields[sparse.Text]), Turn: text(d.Fields[sparse.Turn]), Window: text(d.Fields[sparse.Window]),
	}
	if f.Session != "" {
		out.Group = "session " + f.Session
	}
	out.TextLen, out.TurnLen, out.WindowLen = len(d.Fields[sparse.Text]), len(d.Fields[sparse.Turn]), len(d.Fields[sparse.Window])
	return out
}

// action is the line before a document in a bulk request.
type action struct {
	Index       string `json:"_index"`
	ID          string `json:"_id"`
	Routing     string `json:"routing,omitempty"`
	Version     uint64 `json:"version"`
	VersionType string `json:"version_type"`
}
