package ledger

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vimbank/vimbank/memtypes"
)

// Bounds that every backend holds its callers to.
const (
	MaxEdits  = 10000 // edits of one Batch
	MaxLimit  = 10000 // entries of one answer: List, Audit, Changes, Runs
	maxString = 1024  // bytes of an actor, run id, reason, holder or lease name
)

// Check refuses a batch that no backend may apply, with Invalid: a time no
// ledger can keep, too many edits, an unknown operation, a memory that New
// would not have made, text that is not UTF-8.
func (b *Batch) Check() error {
	const op = "ledger.Append"
	if err := CheckTime(op, "now", b.Now); err != nil {
		return err
	}
	if b.Actor == "" {
		return memtypes.BadField(op, "actor", b.Actor, "who does it")
	}
	if len(b.Edits) > MaxEdits {
		return memtypes.BadField(op, "edits", len(b.Edits), fmt.Sprintf("at most %d in one batch", MaxEdits))
	}
	for _, p := range [][2]string{{"actor", b.Actor}, {"run_id", b.RunID}} {
		if err := checkString(op, p[0], p[1]); err != nil {
			return err
		}
	}
	for i := range b.Runs {
		if err := b.Runs[i].check(op); err != nil {
			return err
		}
	}
	for i := range b.Edits {
		if err := b.Edits[i].check(op); err != nil {
			return err
		}
	}
	return nil
}

// CheckTime refuses what does not fit a count of nanoseconds since 1970: the
// zero time, and years before 1970 or after 2261.
func CheckTime(op, field string, t time.Time) error {
	if y := t.UTC().Year(); y < 1970 || y > 2261 {
		return memtypes.BadField(op, field, t.Format(time.RFC3339), "a time from 1970 to 2261")
	}
	return nil
}

// CheckLimit refuses a limit below 1; MaxLimit is what a larger one gets.
func CheckLimit(op string, limit int) (int, error) {
	if limit < 1 {
		return 0, memtypes.BadField(op, "limit", limit, fmt.Sprintf("1 to %d", MaxLimit))
	}
	return min(limit, MaxLimit), nil
}

func (r *Run) check(op string) error {
	if r.ID == "" {
		return memtypes.BadField(op, "run.id", r.ID, "an id")
	}
	if err := CheckTime(op, "run.started", r.Started); err != nil {
		return err
	}
	if !r.Ended.IsZero() {
		if err := CheckTime(op, "run.ended", r.Ended); err != nil {
			return err
		}
	}
	for _, p := range [][2]string{{"run.id", r.ID}, {"run.job", r.Job}, {"run.actor", r.Actor}, {"run.status", r.Status}} {
		if err := checkString(op, p[0], p[1]); err != nil {
			return err
		}
	}
	return nil
}

func (e *Edit) check(op string) error {
	m := &e.Memory
	switch e.Op {
	case Insert, Revise, Retire, Restore, Purge, Recall, Pin, Unpin, Touch:
	default:
		return memtypes.BadField(op, "op", string(e.Op), "insert, revise, retire, restore, purge, recall, pin or unpin")
	}
	if _, err := memtypes.ParseID(string(m.ID)); err != nil {
		return err
	}
	if m.Scope.IsZero() {
		return memtypes.BadField(op, "scope", memtypes.Remark("none of user, agent, run"), "at least one of them")
	}
	if err := checkString(op, "reason", e.Reason); err != nil {
		return err
	}
	if e.Op == Insert || e.Op == Revise {
		return checkMemory(op, m)
	}
	return nil
}

// checkMemory repeats the checks of memtypes.New, because a ledger outlives
// the program that filled it.
func checkMemory(op string, m *memtypes.Memory) error {
	if _, err := memtypes.ParseKind(string(m.Kind)); err != nil {
		return err
	}
	if m.Layer != memtypes.Raw && m.Layer != memtypes.Thought {
		return memtypes.BadField(op, "layer", string(m.Layer), "raw or thought")
	}
	if err := memtypes.CheckText(op, "text", m.Text); err != nil {
		return err
	}
	if y := m.Event.UTC().Year(); !m.Event.IsZero() && (y < 1 || y > 9999) {
		return memtypes.BadField(op, "event_time", m.Event.String(), "a year from 1 to 9999")
	}
	s := &m.Strength
	if !(s.Initial > 0 && s.Initial <= 1) {
		return memtypes.BadField(op, "strength.initial", s.Initial, "a number in (0,1]")
	}
	if s.Recalls < 0 {
		return memtypes.BadField(op, "strength.recalls", s.Recalls, "0 or more")
	}
	if !s.LastRecall.IsZero() {
		if err := CheckTime(op, "strength.last_recall", s.LastRecall); err != nil {
			return err
		}
	}
	return checkStrings(op, m)
}

// checkStrings refuses invalid UTF-8 anywhere in m: a backend that keeps JSON
// would alter it in silence.
func checkStrings(op string, m *memtypes.Memory) error {
	bad := ""
	see := func(field string, vs ...string) {
		for _, v := range vs {
			if !utf8.ValidString(v) {
				bad = field
			}
		}
	}
	see("title", m.Title)
	see("talk", m.Talk.Session, m.Talk.Speaker)
	see("source", m.Source.URI, m.Source.Author)
	see("key", m.Key)
	for k, v := range m.Meta {
		see("meta", k, v)
	}
	if t := m.Task; t != nil {
		see("task", t.Name, t.TaskID, t.Object, t.Place, t.Observation, t.Result)
		for _, c := range t.Commands {
			see("task", c.Name, c.Result)
			see("task", c.Args...)
		}
	}
	if t := m.Triple; t != nil {
		see("triple", t.Head, t.Relation, t.Tail)
	}
	if bad != "" {
		return memtypes.BadField(op, bad, memtypes.Remark("invalid UTF-8"), "UTF-8 text")
	}
	return nil
}

// Check refuses a query without a scope, unless All, and what is out of range.
func (q *ListQuery) Check() error {
	const op = "ledger.List"
	if q.Filter.Scope.IsZero() && !q.All {
		return memtypes.BadField(op, "scope", memtypes.Remark("none of user, agent, run"), "at least one of them")
	}
	if q.Limit < 0 || q.Limit > MaxLimit {
		return memtypes.BadField(op, "limit", q.Limit, fmt.Sprintf("1 to %d, or 0 for 100", MaxLimit))
	}
	for _, s := range q.States {
		if s != memtypes.Active && s != memtypes.Retired {
			return memtypes.BadField(op, "state", string(s), "active or retired")
		}
	}
	for _, k := range q.Filter.Kinds {
		if _, err := memtypes.ParseKind(string(k)); err != nil {
			return err
		}
	}
	for _, l := range q.Filter.Layers {
		if l != memtypes.Raw && l != memtypes.Thought {
			return memtypes.BadField(op, "layer", string(l), "raw or thought")
		}
	}
	return nil
}

// CheckLease refuses a lease without name or holder, or of no duration.
func CheckLease(name, holder string, now time.Time, ttl time.Duration) error {
	const op = "ledger.Acquire"
	for _, p := range [][2]string{{"lease", name}, {"holder", holder}} {
		if err := checkName(op, p[0], p[1]); err != nil {
			return err
		}
	}
	if ttl <= 0 {
		return memtypes.BadField(op, "ttl", ttl, "a duration above zero")
	}
	if err := CheckTime(op, "now", now); err != nil {
		return err
	}
	return CheckTime(op, "expiry", now.Add(ttl))
}

// CheckLeases refuses leases that nobody can have held.
func CheckLeases(op string, leases []Lease) error {
	for _, l := range leases {
		if err := checkName(op, "lease", l.Name); err != nil {
			return err
		}
		if err := checkString(op, "holder", l.Holder); err != nil {
			return err
		}
		if l.Fence == 0 || l.Fence > 1<<62 {
			return memtypes.BadField(op, "fence", l.Fence, "1 or more")
		}
		if !l.Expires.IsZero() {
			if err := CheckTime(op, "expiry", l.Expires); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkName(op, field, v string) error {
	if v == "" {
		return memtypes.BadField(op, field, v, "a name")
	}
	return checkString(op, field, v)
}

func checkString(op, field, v string) error {
	switch {
	case !utf8.ValidString(v):
		return memtypes.BadField(op, field, memtypes.Remark("invalid UTF-8"), "UTF-8 text")
	case len(v) > maxString:
		return memtypes.BadField(op, field, v, fmt.Sprintf("at most %d bytes", maxString))
	case strings.IndexByte(v, 0) >= 0:
		return memtypes.BadField(op, field, memtypes.Remark("a NUL byte"), "text without NUL")
	}
	return nil
}
