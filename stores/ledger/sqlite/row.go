package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// rowColumns are those of whole memories; scanRow takes them.
const rowColumns = `SELECT m.seq, m.id, m.scope, m.rev, m.state, m.kind, m.layer, m.session, m.sec, m.nsec, m.dated,
	m.at, m.updated, m.pinned, m.retired, m.retirer, m.text, m.extra, r.recalls, r.last `

// selectRows reads memories in the way that SQLite chooses.
const selectRows = rowColumns + fromRows

const fromRows = "FROM log m LEFT JOIN recalled r ON r.mem = m.seq"

// row is a memory as it stands in the file.
type row struct {
	seq, scope, rev    int64
	id                 ledger.Key
	state, kind, layer int
	content
	created int64
	pinned  bool
	retired sql.NullInt64
	retirer sql.NullString
	recalls sql.NullInt64
	last    sql.NullInt64
}

// content is what a revision replaces.
type content struct {
	session   string
	sec, nsec int64
	dated     bool
	updated   sql.NullInt64
	text      string
	extra     sql.NullString
}

// The numbers of states in the file.
const (
	stateActive = iota
	stateRetired
	statePurged
)

// extra is what few memories have; it stands in one column.
type extra struct {
	Title   string            `json:"title,omitempty"`
	Part    int               `json:"part,omitempty"`
	Speaker string            `json:"speaker,omitempty"`
	Task    *memtypes.Task    `json:"task,omitempty"`
	Triple  *memtypes.Triple  `json:"triple,omitempty"`
	Meta    map[string]string `json:"meta,omitempty"`
	URI     string            `json:"uri,omitempty"`
	Author  string            `json:"author,omitempty"`
	Trust   memtypes.Trust    `json:"trust,omitempty"`
	Key     string            `json:"key,omitempty"`
	Initial float64           `json:"initial,omitempty"` // absent: 1
	Origin  []byte            `json:"origin,omitempty"`  // digest of the first content, once it was revised
}

func scanRow(scan func(...any) error) (*row, error) {
	r := &row{}
	var raw []byte
	err := scan(&r.seq, &raw, &r.scope, &r.rev, &r.state, &r.kind, &r.layer, &r.session, &r.sec, &r.nsec, &r.dated,
		&r.created, &r.updated, &r.pinned, &r.retired, &r.retirer, &r.text, &r.extra, &r.recalls, &r.last)
	if err == nil {
		copy(r.id[:], raw)
	}
	return r, err
}

// memory makes the noun of r, which is of scope sc.
func (r *row) memory(sc memtypes.Scope) (memtypes.Memory, error) {
	m := memtypes.Memory{
		ID: r.id.ID(), Scope: sc, Kind: memtypes.Kinds()[r.kind], Layer: layers()[r.layer],
		Created: moment(r.created), State: states()[r.state], Rev: uint64(r.rev),
		Strength: memtypes.Strength{Recalls: int(r.recalls.Int64), LastRecall: orZero(r.last), Pinned: r.pinned,
			Retired: orZero(r.retired), RunID: r.retirer.String},
	}
	return m, r.content.fill(&m)
}

// fill sets the content of m, whose Created is known.
func (c *content) fill(m *memtypes.Memory) error {
	x := extra{}
	if c.extra.Valid {
		if err := json.Unmarshal([]byte(c.extra.String), &x); err != nil {
			return err
		}
	}
	m.Text, m.Title, m.Part, m.Task, m.Triple, m.Meta, m.Key = c.text, x.Title, x.Part, x.Task, x.Triple, x.Meta, x.Key
	m.Talk = memtypes.Talk{Session: c.session, Speaker: x.Speaker}
	m.Source = memtypes.Source{URI: x.URI, Author: x.Author, Trust: x.Trust}
	if m.Strength.Initial = x.Initial; x.Initial == 0 {
		m.Strength.Initial = 1
	}
	if m.Event = (time.Time{}); c.dated {
		m.Event = time.Unix(c.sec, c.nsec).UTC()
	}
	if m.Updated = m.Created; c.updated.Valid {
		m.Updated = moment(c.updated.Int64)
	}
	return nil
}

// contentOf is the content of m, of which created is the time to stand at if
// it has none of its own.
func contentOf(m *memtypes.Memory, created time.Time, origin []byte) (content, error) {
	x := extra{Title: m.Title, Part: m.Part, Speaker: m.Talk.Speaker, Task: m.Task, Triple: m.Triple, Meta: m.Meta,
		URI: m.Source.URI, Author: m.Source.Author, Trust: m.Source.Trust, Key: m.Key, Origin: origin}
	if m.Strength.Initial != 1 {
		x.Initial = m.Strength.Initial
	}
	js, err := json.Marshal(&x)
	if err != nil {
		return content{}, err
	}
	at := m.Event
	if at.IsZero() {
		at = created
	}
	c := content{session: m.Talk.Session, sec: at.Unix(), nsec: int64(at.Nanosecond()), dated: !m.Event.IsZero(), text: m.Text}
	if string(js) != "{}" {
		c.extra = sql.NullString{String: string(js), Valid: true}
	}
	return c, nil
}

// layers and states list the nouns by their numbers in the file; kinds stand
// there in the order of memtypes.Kinds.
func layers() []memtypes.Layer { return []memtypes.Layer{memtypes.Raw, memtypes.Thought} }
func states() []memtypes.State {
	return []memtypes.State{memtypes.Active, memtypes.Retired, "purged"}
}

func kindNumber(k memtypes.Kind) int   { return slices.Index(memtypes.Kinds(), k) }
func layerNumber(l memtypes.Layer) int { return slices.Index(layers(), l) }

func moment(nanos int64) time.Time { return time.Unix(0, nanos).UTC() }

func orZero(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return moment(n.Int64)
}

func nanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}

// nouns makes memories of rows, in their order.
func (r *reader) nouns(ctx context.Context, s *scopes, list []*row) ([]memtypes.Memory, error) {
	out := make([]memtypes.Memory, 0, len(list))
	for _, w := range list {
		sc, err := r.name(ctx, s, w.scope)
		if err != nil {
			return nil, err
		}
		m, err := w.memory(sc)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// collect scans every row and closes rows.
func collect[T any](rows *sql.Rows, scan func(func(...any) error) (T, error)) ([]T, error) {
	defer rows.Close()
	var out []T
	for rows.Next() {
		v, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}
