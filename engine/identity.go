package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// The codes of what is refused because of the name it comes with: the memory
// of that name stays as it is.
const (
	// KeyReused: a draft whose idempotency key names a memory of other content.
	KeyReused admit.Code = "key_reused"
	// Conflicting: a memory that Load left out because its ID names other content here.
	Conflicting admit.Code = "conflicting"
)

// Err is nil unless r was refused; then Conflict where its key or its ID names
// a memory of other content (Of), and Refused where a rule of admission said no.
func (r *Remembered) Err() error {
	const op = "engine.Remember"
	switch {
	case r.Status != Refused:
		return nil
	case r.Code == KeyReused || r.Code == Conflicting:
		return &memtypes.Error{Op: op, Code: memtypes.Conflict, ID: r.Of, Err: fmt.Errorf("%s", r.Reason)}
	}
	return memtypes.Errorf(op, memtypes.Refused, "%s: %s", r.Code, r.Reason)
}

// reused makes r the refusal of a draft whose key names the memory of.
func (r *Remembered) reused(key string, of memtypes.ID) {
	r.Status, r.Code, r.ID, r.Of = Refused, KeyReused, "", of
	r.Reason = otherContent("key", key)
}

// otherContent words a conflict as errors of a field are worded.
func otherContent(field, name string) string {
	f := memtypes.Field{Name: field, Found: fmt.Sprintf("%q, which names a memory of other content already", name),
		Wanted: "a " + field + " of its own, or an update of that memory"}
	return f.Error()
}

// taken returns the memory of other content that stands in the way of d under
// its key, or "": where d comes in several pieces, what has its key or that of a
// piece; where it is short, a document of several pieces. (Whether a short text
// has the key of another one the ledger tells.)
func (in *intake) taken(ctx context.Context, d memtypes.Draft, parts []memtypes.Draft) (memtypes.ID, error) {
	switch {
	case d.Key == "":
		return "", nil
	case len(parts) == 1:
		return in.documentOf(ctx, d)
	}
	return in.engine.inTheWay(ctx, d, parts, in.now)
}

// inTheWay is taken for a document: it is kept whole or not at all, so it is
// asked beforehand.
func (e *Engine) inTheWay(ctx context.Context, whole memtypes.Draft, pieces []memtypes.Draft, now time.Time) (memtypes.ID, error) {
	whole.Text = pieces[0].Text // of a length that New accepts
	want := make(map[memtypes.ID]*memtypes.Memory, len(pieces)+1)
	ids := make([]memtypes.ID, 0, len(pieces)+1)
	for i, d := range append([]memtypes.Draft{whole}, pieces...) {
		if v := e.rules.Check(d, admit.Facts{}); v.Action == admit.Redact {
			d = v.Draft // what would be stored
		}
		m, err := memtypes.New(d, now)
		if err != nil {
			return "", err
		}
		if ids = append(ids, m.ID); i > 0 { // what the whole key names is no piece
			want[m.ID] = &m
		}
	}
	have, err := e.parts.Ledger.Get(ctx, whole.Scope, ids)
	if err != nil {
		return "", err
	}
	for i := range have {
		same, err := e.sameContent(ctx, &have[i], want[have[i].ID])
		if err != nil || !same {
			return have[i].ID, err
		}
	}
	return "", nil
}

// documentOf returns the first piece of the document that has d's key, or "".
// The second piece tells it from a memory whose own key happens to end in #0.
func (in *intake) documentOf(ctx context.Context, d memtypes.Draft) (memtypes.ID, error) {
	id := in.pieceID(d, 1)
	if id == "" {
		return "", nil
	}
	second := in.known[id]
	if in.known == nil {
		have, err := in.engine.parts.Ledger.Get(ctx, d.Scope, []memtypes.ID{id})
		if err != nil {
			return "", err
		}
		if len(have) > 0 {
			second = &have[0]
		}
	}
	if second == nil || second.Part != 1 || second.State != memtypes.Active {
		return "", nil
	}
	return in.pieceID(d, 0), nil
}

// pieceID is the ID that piece i of d would have if d were long; "" if it has no
// key, or one that leaves a piece no room for its number.
func (in *intake) pieceID(d memtypes.Draft, i int) memtypes.ID {
	if d.Key == "" {
		return ""
	}
	d.Key = pieceKey(d.Key, i)
	m, err := memtypes.New(d, in.now)
	if err != nil {
		return "" // what else is wrong with it is said later
	}
	return m.ID
}

// look asks once which memories of a call are there already, so that an import
// that is run again need not search for duplicates of what it knows. A single
// draft is left to the ledger, which tells as well.
func (in *intake) look(ctx context.Context, parts [][]memtypes.Draft) error {
	if len(parts) < 2 {
		return nil
	}
	ids := map[memtypes.Scope][]memtypes.ID{}
	for _, pieces := range parts {
		if len(pieces) == 1 {
			if id := in.pieceID(pieces[0], 1); id != "" {
				ids[pieces[0].Scope] = append(ids[pieces[0].Scope], id)
			}
		}
		for _, d := range pieces {
			m, err := memtypes.New(d, in.now)
			if err != nil {
				return err
			}
			ids[m.Scope] = append(ids[m.Scope], m.ID)
		}
	}
	in.known = map[memtypes.ID]*memtypes.Memory{}
	for scope, some := range ids {
		have, err := in.engine.parts.Ledger.Get(ctx, scope, some)
		if err != nil {
			return err
		}
		for i := range have {
			if m := &have[i]; m.State == memtypes.Active && m.Scope == scope {
				in.known[m.ID] = m
			}
		}
	}
	return nil
}

// sameContent reports whether want says what the ledger's memory is, or was
// first of all: what was updated since is still the same document.
func (e *Engine) sameContent(ctx context.Context, have, want *memtypes.Memory) (bool, error) {
	if want == nil || want.Scope != have.Scope {
		return false, nil
	}
	content := ledger.Content(want)
	if ledger.Content(have) == content {
		return true, nil
	}
	revs, err := e.parts.Ledger.History(ctx, have.Scope, have.ID)
	if err != nil || len(revs) == 0 {
		return false, err
	}
	return ledger.Content(&revs[0].Memory) == content, nil
}
