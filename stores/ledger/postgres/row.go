package postgres

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// The numbers of states in the tables.
const (
	stateActive = iota
	stateRetired
	statePurged
)

// never is a time that is not known.
const never = -1

// rowColumns are those of whole memories; scanRow takes them.
const rowColumns = `SELECT m.id, m.tenant, m.seq, m.scope, m.rev, m.state, m.kind, m.layer, m.created, m.pinned, m.retired, m.retirer,
	m.session, m.sec, m.nsec, m.dated, m.updated, m.text, m.extra, coalesce(r.recalls, 0), coalesce(r.last, -1) `

// briefColumns are as many, without the content.
const briefColumns = `SELECT m.id, m.tenant, m.seq, m.scope, m.rev, m.state, m.kind, m.layer, m.created, m.pinned, m.retired, m.retirer,
	'', 0::bigint, 0, false, -1::bigint, '', '', coalesce(r.recalls, 0), coalesce(r.last, -1) `

const fromRows = "FROM {s}.memories m LEFT JOIN {s}.recalled r ON r.id = m.id "

// row is a memory as it stands in the tables.
type row struct {
	id                 ledger.Key
	tenant, scopeNo    int64
	scope              memtypes.Scope // set by DB.name
	seq, rev           int64
	state, kind, layer int
	created            int64
	pinned             bool
	retired            int64
	retirer            string
	content
	recalls, last int64
}

// content is what a revision replaces.
type content struct {
	session   string
	sec, nsec int64
	dated     bool
	updated   int64
	text      string
	extra     string
}

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

func scanRow(rows pgx.CollectableRow) (*row, error) {
	r := &row{}
	err := rows.Scan((*[16]byte)(&r.id), &r.tenant, &r.seq, &r.scopeNo, &r.rev, &r.state, &r.kind, &r.layer, &r.created, &r.pinned, &r.retired, &r.retirer,
		&r.session, &r.sec, &r.nsec, &r.dated, &r.updated, &r.text, &r.extra, &r.recalls, &r.last)
	return r, err
}

// memory makes the noun of r, of which the scope is named.
func (r *row) memory() (memtypes.Memory, error) {
	m := memtypes.Memory{
		ID: r.id.ID(), Scope: r.scope, Kind: memtypes.Kinds()[r.kind], Layer: layers()[r.layer],
		Created: moment(r.created), State: lives()[r.state], Rev: uint64(r.rev),
		Strength: memtypes.Strength{Recalls: int(r.recalls), LastRecall: moment(r.last), Pinned: r.pinned,
			Retired: moment(r.retired), RunID: r.retirer},
	}
	return m, r.content.fill(&m)
}

// memories makes the nouns of rows, in their order.
func memories(list []*row) ([]memtypes.Memory, error) {
	out := make([]memtypes.Memory, 0, len(list))
	for _, r := range list {
		m, err := r.memory()
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// fill sets the content of m, whose Created is known.
func (c *content) fill(m *memtypes.Memory) error {
	x, err := c.rest()
	if err != nil {
		return err
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
	if m.Updated = m.Created; c.updated != never {
		m.Updated = moment(c.updated)
	}
	return nil
}

// rest reads the column extra.
func (c *content) rest() (x extra, err error) {
	if c.extra != "" {
		err = json.Unmarshal([]byte(c.extra), &x)
	}
	return x, err
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
	c := content{session: m.Talk.Session, sec: at.Unix(), nsec: int64(at.Nanosecond()), dated: !m.Event.IsZero(), updated: never, text: m.Text}
	if string(js) != "{}" {
		c.extra = string(js)
	}
	return c, nil
}

// layers and lives list the nouns by their numbers in the tables; kinds stand
// there in the order of memtypes.Kinds.
func layers() []memtypes.Layer { return []memtypes.Layer{memtypes.Raw, memtypes.Thought} }
func lives() []memtypes.State {
	return []memtypes.State{memtypes.Active, memtypes.Retired, "purged"}
}

func kindNumber(k memtypes.Kind) int64   { return int64(slices.Index(memtypes.Kinds(), k)) }
func layerNumber(l memtypes.Layer) int64 { return int64(slices.Index(layers(), l)) }

func moment(nanos int64) time.Time {
	if nanos == never {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return never
	}
	return t.UnixNano()
}

// keysOf are the valid ones of ids in the form that $n::text[]::uuid[] takes in
// every mode of the protocol.
func keysOf(ids []memtypes.ID) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		if _, ok := ledger.KeyOf(id); ok {
			out = append(out, string(id))
		}
	}
	return out
}
