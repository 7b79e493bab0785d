package ledgertest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// model is a ledger in memory, as plain as can be: what every backend must
// agree with, whatever is done to it in whatever order.
type model struct {
	memories map[memtypes.ID]*kept
	log      []ledger.Entry
	tenants  []string // of the entries of log
}

// kept is a memory of the model.
type kept struct {
	memtypes.Memory
	place  int // of its insert, to stand in order beside those of one moment
	purged bool
	first  [16]byte
	revs   []ledger.Revision
}

// againstModel runs random batches on a ledger and a model alike.
func againstModel(t *testing.T, open func(testing.TB) ledger.Ledger) {
	rapid.Check(t, func(rt *rapid.T) {
		l := open(t)
		defer func() {
			if err := l.Close(); err != nil {
				rt.Fatalf("Close: %v", err)
			}
		}()
		m := &model{memories: map[memtypes.ID]*kept{}}
		c := &comparison{T: rt, outer: t, ledger: l, model: m, pool: drafts()}
		rt.Repeat(map[string]func(*rapid.T){
			"append": c.append, "list": c.list, "get": c.get, "around": c.around, "history": c.history, "trails": c.trails,
		})
		c.trails(rt)
		c.everything(rt)
	})
}

// drafts are all memories that a random run knows: few, so that they meet.
func drafts() (pool []memtypes.Memory) {
	scopes := []memtypes.Scope{ann(), scope("acme", "ann", "bot", ""), scope("acme", "bob", "", "r1"), scope("other", "ann", "", "")}
	for i, s := range scopes {
		for j := range 6 {
			d := memtypes.Draft{Scope: s, Text: fmt.Sprintf("text %d of scope %d", j, i), Kind: memtypes.Kinds()[j%3]}
			if j%2 == 0 {
				d.Talk.Session = "s"
			}
			if j%3 != 0 {
				d.Event = at(-j / 2)
			}
			if j == 5 {
				d.Layer = memtypes.Thought
			}
			if j >= 3 { // one key for several texts
				d.Key = "k"
			}
			pool = append(pool, note(d, start))
		}
	}
	return pool
}

// apply does b as package ledger says it must be done.
func (m *model) apply(b ledger.Batch) (results []ledger.Result) {
	for _, e := range b.Edits {
		r := ledger.Result{ID: e.Memory.ID}
		k := m.memories[e.Memory.ID]
		r.Outcome = m.change(b, e, k)
		if k = m.memories[e.Memory.ID]; k != nil && r.Outcome != ledger.Missing {
			r.Rev = k.Rev
		}
		results = append(results, r)
	}
	return results
}

func (m *model) change(b ledger.Batch, e ledger.Edit, k *kept) ledger.Outcome {
	if e.Op == ledger.Insert {
		return m.insert(b, e, k)
	}
	if k == nil || !e.Memory.Scope.Covers(k.Scope) || k.purged && e.Op != ledger.Purge {
		return ledger.Missing
	}
	if outdated(e, k) {
		return ledger.Stale
	}
	active := k.State == memtypes.Active
	switch {
	case e.Op == ledger.Purge && k.purged, e.Op == ledger.Retire && !active, e.Op == ledger.Restore && active:
		return ledger.Same
	case e.Op == ledger.Purge:
		k.purged, k.revs, k.Strength.Recalls = true, nil, 0 // nothing is known of it any more
	case e.Op == ledger.Retire:
		k.State, k.Strength.Retired, k.Strength.RunID = memtypes.Retired, b.Now, b.RunID
	case e.Op == ledger.Restore:
		k.State, k.Strength.Retired, k.Strength.RunID = memtypes.Active, time.Time{}, ""
	case !active:
		return ledger.Missing
	case e.Op == ledger.Recall:
		k.Strength.Recalls++
		if k.Strength.LastRecall.Before(b.Now) {
			k.Strength.LastRecall = b.Now
		}
		return ledger.Done
	case e.Op == ledger.Revise:
		n := k.Memory
		n.Text, n.Meta, n.Talk, n.Event = e.Memory.Text, e.Memory.Meta, e.Memory.Talk, e.Memory.Event
		if diff(n, k.Memory) == "" {
			return ledger.Same
		}
		n.Updated = b.Now
		k.Memory = n
	case e.Op == ledger.Touch:
	default:
		if want := e.Op == ledger.Pin; k.Strength.Pinned == want {
			return ledger.Same
		} else {
			k.Strength.Pinned = want
		}
	}
	m.record(b, e, e.Op, k)
	return ledger.Done
}

func outdated(e ledger.Edit, k *kept) bool {
	var rev uint64
	var recalls int
	if k != nil {
		rev, recalls = k.Rev, k.Strength.Recalls
	}
	return e.IfRev != 0 && e.IfRev != rev || e.IfRecalls != nil && *e.IfRecalls != recalls
}

func (m *model) insert(b ledger.Batch, e ledger.Edit, k *kept) ledger.Outcome {
	if (e.IfRev != 0 || e.IfRecalls != nil) && outdated(e, k) {
		return ledger.Stale
	}
	if k == nil || k.purged {
		k = &kept{Memory: e.Memory, place: len(m.log), first: ledger.Content(&e.Memory)}
		k.Created, k.Updated = b.Now, b.Now
		m.memories[k.ID] = k
		m.record(b, e, ledger.Insert, k)
		return ledger.Done
	}
	if c := ledger.Content(&e.Memory); k.Scope != e.Memory.Scope || c != k.first && c != ledger.Content(&k.Memory) {
		return ledger.Conflicting
	}
	if k.State == memtypes.Active {
		return ledger.Same
	}
	k.State, k.Strength.Retired, k.Strength.RunID = memtypes.Active, time.Time{}, ""
	m.record(b, e, ledger.Restore, k)
	return ledger.Done
}

func (m *model) record(b ledger.Batch, e ledger.Edit, op ledger.Op, k *kept) {
	k.Rev = uint64(len(m.log) + 1)
	m.log = append(m.log, ledger.Entry{Seq: k.Rev, At: b.Now, Actor: b.Actor, Op: op, ID: k.ID, RunID: b.RunID, Reason: e.Reason})
	m.tenants = append(m.tenants, k.Scope.Tenant())
	if !k.purged {
		k.revs = append(k.revs, ledger.Revision{Rev: k.Rev, At: b.Now, Op: op, Actor: b.Actor, RunID: b.RunID, Reason: e.Reason, Memory: k.Memory})
	}
}

// list is what q admits, in order.
func (m *model) list(q ledger.ListQuery) (out []memtypes.Memory) {
	states := q.States
	if len(states) == 0 {
		states = []memtypes.State{memtypes.Active}
		if q.RunID != "" {
			states[0] = memtypes.Retired
		}
	}
	for _, k := range m.memories {
		f := q.Filter
		if q.All && f.Scope.IsZero() {
			f.Scope = k.Scope // any
		}
		if !k.purged && slices.Contains(states, k.State) && f.Admits(k.ID, memtypes.FacetsOf(&k.Memory)) &&
			(q.RunID == "" || q.RunID == k.Strength.RunID) && k.Rev > q.Since {
			out = append(out, k.Memory)
		}
	}
	return inOrder(out)
}

// around is what stands beside id.
func (m *model) around(id memtypes.ID, n int) (out []memtypes.Memory) {
	own := m.memories[id]
	if own == nil || own.purged {
		return nil
	}
	var line []*kept
	for _, k := range m.memories {
		if k == own || !k.purged && own.Talk.Session != "" && k.State == memtypes.Active && k.Layer == memtypes.Raw && k.Scope == own.Scope && k.Talk.Session == own.Talk.Session {
			line = append(line, k)
		}
	}
	slices.SortFunc(line, func(a, b *kept) int { return cmp.Or(a.When().Compare(b.When()), cmp.Compare(a.place, b.place)) })
	i := slices.Index(line, own)
	for _, k := range line[max(0, i-n):min(len(line), i+n+1)] {
		if k != own || own.State == memtypes.Active {
			out = append(out, k.Memory)
		}
	}
	return out
}
