package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// CheckRecords refuses records that no log can hold, with Invalid: a gap
// between them, an operation without a number, a memory on another's entry, a
// memory or a time that no Append would have taken.
func CheckRecords(records []Record) error {
	const op = "ledger.Adopt"
	if len(records) > MaxEdits {
		return memtypes.BadField(op, "records", len(records), fmt.Sprintf("at most %d at once", MaxEdits))
	}
	for i := range records {
		r := &records[i]
		if i > 0 && r.Seq != records[i-1].Seq+1 {
			return memtypes.BadField(op, "seq", r.Seq, fmt.Sprint(records[i-1].Seq+1))
		}
		if err := r.check(op); err != nil {
			return fmt.Errorf("entry %d: %w", r.Seq, err)
		}
	}
	return nil
}

func (r *Record) check(op string) error {
	if r.Seq == 0 || r.Seq > 1<<62 || r.Prev >= r.Seq || r.Was >= r.Seq {
		return memtypes.BadField(op, "seq", r.Seq, "a number above those of the entries before")
	}
	if OpNumbered(r.Op) == "" {
		return memtypes.BadField(op, "op", r.Op, "the number of an operation")
	}
	if err := CheckTime(op, "at", time.Unix(0, r.At)); err != nil {
		return err
	}
	if r.Tenant == "" {
		return memtypes.BadField(op, "tenant", r.Tenant, "a name")
	}
	for _, p := range [][2]string{{"tenant", r.Tenant}, {"actor", r.Actor}, {"run_id", r.RunID}, {"reason", r.Reason}} {
		if err := checkString(op, p[0], p[1]); err != nil {
			return err
		}
	}
	if len(r.Origin) != 0 && len(r.Origin) != 16 {
		return memtypes.BadField(op, "origin", len(r.Origin), "none or 16 bytes")
	}
	if err := r.checkMemory(op); err != nil {
		return err
	}
	return r.checkReplaced(op)
}

func (r *Record) checkMemory(op string) error {
	m := r.Memory
	if m == nil {
		if r.Purged || len(r.Origin) > 0 {
			return memtypes.BadField(op, "memory", memtypes.Remark("none"), "the one that was purged or revised")
		}
		return nil
	}
	if OpNumbered(r.Op) != Insert || m.ID != r.ID.ID() || m.Scope.IsZero() || m.Scope.Tenant() != r.Tenant || m.Rev < r.Seq || m.Rev > 1<<62 {
		return memtypes.BadField(op, "memory", string(m.ID), "the one that the entry inserted")
	}
	if r.Purged {
		return nil
	}
	if m.State != memtypes.Active && m.State != memtypes.Retired || (m.State == memtypes.Retired) == m.Strength.Retired.IsZero() {
		return memtypes.BadField(op, "state", string(m.State), "active, or retired with the time of that")
	}
	if m.Created.UnixNano() != r.At {
		return memtypes.BadField(op, "created_at", m.Created.Format(time.RFC3339Nano), "the time of the entry")
	}
	if err := CheckTime(op, "updated_at", m.Updated); err != nil {
		return err
	}
	if t := m.Strength.Retired; !t.IsZero() {
		if err := CheckTime(op, "retired_at", t); err != nil {
			return err
		}
	}
	if err := checkString(op, "retired_by", m.Strength.RunID); err != nil {
		return err
	}
	return checkMemory(op, m)
}

func (r *Record) checkReplaced(op string) error {
	m := r.Replaced
	if m == nil {
		return nil
	}
	if OpNumbered(r.Op) != Revise || m.ID != r.ID.ID() {
		return memtypes.BadField(op, "replaced", string(m.ID), "the memory that the entry revised")
	}
	for _, t := range []time.Time{m.Created, m.Updated} {
		if err := CheckTime(op, "replaced", t); err != nil {
			return err
		}
	}
	return checkMemory(op, m)
}

// Equal reports whether two records are the same entry with the same on it.
func (r *Record) Equal(o *Record) bool {
	return r.Link == o.Link && r.Tenant == o.Tenant && r.Hash == o.Hash && bytes.Equal(r.render(nil), o.render(nil))
}

// render appends what the hash of the entry does not cover, for comparison.
func (r *Record) render(b []byte) []byte {
	b = renderMemory(b, r.Memory)
	b = fmt.Appendf(b, "%t %x ", r.Purged, r.Origin)
	return renderMemory(b, r.Replaced)
}

func renderMemory(b []byte, m *memtypes.Memory) []byte {
	if m == nil {
		return append(b, "- "...)
	}
	n := *m
	for _, t := range []*time.Time{&n.Event, &n.Created, &n.Updated, &n.Strength.LastRecall, &n.Strength.Retired} {
		*t = t.UTC().Round(0)
	}
	js, err := json.Marshal(&n)
	if err != nil { // a scope of none, or a year beyond 9999: no valid memory
		js = []byte(err.Error())
	}
	return fmt.Appendf(b, "%d %s ", len(js), js)
}
