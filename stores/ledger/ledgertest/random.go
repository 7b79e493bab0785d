package ledgertest

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// comparison is one random run: what it does to the ledger it does to the
// model, and what it asks the one it asks the other.
type comparison struct {
	*rapid.T
	outer  *testing.T // whose context the calls have
	ledger ledger.Ledger
	model  *model
	pool   []memtypes.Memory
	now    int
}

func (c *comparison) equal(t *rapid.T, what string, got, want any, err error) {
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if d := diff(got, want); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func (c *comparison) append(t *rapid.T) {
	c.now += rapid.IntRange(-1, 3).Draw(t, "minutes")
	b := ledger.Batch{Now: at(c.now), Actor: "rapid", RunID: rapid.SampledFrom([]string{"", "r1", "r2"}).Draw(t, "run")}
	for range rapid.IntRange(1, 6).Draw(t, "edits") {
		b.Edits = append(b.Edits, c.edit(t))
	}
	want := c.model.apply(b)
	got, err := c.ledger.Append(c.outer.Context(), b)
	c.equal(t, "Append", got, want, err)
}

func (c *comparison) edit(t *rapid.T) ledger.Edit {
	e := ledger.Edit{Memory: rapid.SampledFrom(c.pool).Draw(t, "memory"), Reason: rapid.SampledFrom([]string{"", "why"}).Draw(t, "reason")}
	e.Op = rapid.SampledFrom([]ledger.Op{ledger.Insert, ledger.Insert, ledger.Insert, ledger.Revise, ledger.Retire, ledger.Restore,
		ledger.Purge, ledger.Recall, ledger.Pin, ledger.Unpin, ledger.Touch}).Draw(t, "op")
	if e.Op == ledger.Revise {
		e.Memory.Text = rapid.SampledFrom([]string{e.Memory.Text, "revised", "revised again"}).Draw(t, "text")
		e.Memory.Meta = rapid.SampledFrom([]map[string]string{nil, {"a": "b"}}).Draw(t, "meta")
		e.Memory.Talk.Session = rapid.SampledFrom([]string{"", "s", "s2"}).Draw(t, "session")
		e.Memory.Event = at(rapid.IntRange(-3, 3).Draw(t, "event"))
	}
	if e.Op != ledger.Insert && rapid.IntRange(0, 9).Draw(t, "from another scope") == 0 {
		e.Memory.Scope = rapid.SampledFrom(c.pool).Draw(t, "scope").Scope
	}
	if rapid.IntRange(0, 4).Draw(t, "with a condition") == 0 {
		e.IfRev = uint64(rapid.IntRange(0, len(c.model.log)).Draw(t, "IfRev"))
		if k := c.model.memories[e.Memory.ID]; k != nil && rapid.Bool().Draw(t, "a true one") {
			e.IfRev = k.Rev
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "with recalls") == 0 {
		n := rapid.IntRange(0, 2).Draw(t, "IfRecalls")
		e.IfRecalls = &n
	}
	return e
}

func (c *comparison) list(t *rapid.T) {
	q := ledger.ListQuery{All: rapid.Bool().Draw(t, "all"), Limit: rapid.IntRange(1, 5).Draw(t, "limit"),
		States: rapid.SampledFrom([][]memtypes.State{nil, {memtypes.Retired}, {memtypes.Active, memtypes.Retired}}).Draw(t, "states"),
		RunID:  rapid.SampledFrom([]string{"", "", "r1"}).Draw(t, "run")}
	if !q.All || rapid.Bool().Draw(t, "scoped") {
		q.Filter.Scope = rapid.SampledFrom([]memtypes.Scope{ann(), scope("acme", "", "bot", ""), scope("acme", "bob", "", ""), scope("other", "ann", "", "")}).Draw(t, "scope")
	}
	f := &q.Filter
	f.Kinds = rapid.SliceOfN(rapid.SampledFrom(memtypes.Kinds()), 0, 2).Draw(t, "kinds")
	f.Layers = rapid.SampledFrom([][]memtypes.Layer{nil, {memtypes.Raw}, {memtypes.Thought}}).Draw(t, "layers")
	f.Session = rapid.SampledFrom([]string{"", "", "s", "s2"}).Draw(t, "session")
	if rapid.IntRange(0, 3).Draw(t, "from") == 0 {
		f.From = at(rapid.IntRange(-3, 3).Draw(t, "minute"))
	}
	if rapid.IntRange(0, 3).Draw(t, "to") == 0 {
		f.To = at(rapid.IntRange(-3, 3).Draw(t, "minute"))
	}
	if rapid.IntRange(0, 4).Draw(t, "ids") == 0 {
		f.IDs = idsOf(rapid.SliceOfN(rapid.SampledFrom(c.pool), 0, 5).Draw(t, "of"))
	}
	if rapid.IntRange(0, 3).Draw(t, "since") == 0 {
		q.Since = uint64(rapid.IntRange(0, len(c.model.log)+1).Draw(t, "seq"))
	}
	var got []memtypes.Memory
	for {
		p, err := c.ledger.List(c.outer.Context(), q)
		if err != nil {
			t.Fatalf("List(%+v): %v", q, err)
		}
		got = append(got, p.Memories...)
		if q.Cursor = p.Next; p.Next == "" {
			break
		}
	}
	c.equal(t, "List", got, c.model.list(q), nil)
}

func (c *comparison) get(t *rapid.T) {
	s := rapid.SampledFrom(c.pool).Draw(t, "scope").Scope
	ids := idsOf(rapid.SliceOfN(rapid.SampledFrom(c.pool), 1, 8).Draw(t, "ids"))
	var want []memtypes.Memory
	for _, id := range ids {
		if k := c.model.memories[id]; k != nil && !k.purged && s.Covers(k.Scope) {
			want = append(want, k.Memory)
		}
	}
	got, err := c.ledger.Get(c.outer.Context(), s, ids)
	c.equal(t, "Get", got, want, err)
}

func (c *comparison) around(t *rapid.T) {
	id, n := rapid.SampledFrom(c.pool).Draw(t, "of").ID, rapid.IntRange(0, 3).Draw(t, "n")
	got, err := c.ledger.Around(c.outer.Context(), id, n)
	c.equal(t, "Around", got, c.model.around(id, n), err)
}

func (c *comparison) history(t *rapid.T) {
	m := rapid.SampledFrom(c.pool).Draw(t, "of")
	got, err := c.ledger.History(c.outer.Context(), m.Scope, m.ID)
	var want []ledger.Revision
	if k := c.model.memories[m.ID]; k != nil {
		want = slices.Clone(k.revs)
		for i := range want { // recalls make no revision
			s := &want[i].Memory.Strength
			s.Recalls, s.LastRecall = k.Strength.Recalls, k.Strength.LastRecall
		}
	}
	c.equal(t, "History", got, want, err)
}

// trails checks the feed, and the audit trail of each tenant.
func (c *comparison) trails(t *rapid.T) {
	ctx := c.outer.Context()
	after := rapid.IntRange(0, len(c.model.log)).Draw(t, "after")
	limit := rapid.IntRange(1, 20).Draw(t, "limit")
	var feed []ledger.Change
	for _, e := range c.model.log[after:min(len(c.model.log), after+limit)] {
		feed = append(feed, ledger.Change{Seq: e.Seq, ID: e.ID})
	}
	got, gone, err := c.ledger.Changes(ctx, uint64(after), limit)
	if gone {
		t.Fatalf("Changes after %d of %d: gone", after, len(c.model.log))
	}
	c.equal(t, "Changes", got, feed, err)
	for _, tenant := range []string{"acme", "other", "nobody"} {
		var want []ledger.Entry
		for i, e := range slices.Backward(c.model.log) {
			if c.model.tenants[i] == tenant && (after == 0 || e.Seq < uint64(after)) && len(want) < limit {
				want = append(want, e)
			}
		}
		got, err := c.ledger.Audit(ctx, tenant, uint64(after), limit)
		c.equal(t, "Audit", got, want, err)
	}
}

// everything compares all that there is at the end.
func (c *comparison) everything(t *rapid.T) {
	ctx := c.outer.Context()
	q := ledger.ListQuery{All: true, Limit: ledger.MaxLimit, States: []memtypes.State{memtypes.Active, memtypes.Retired}}
	p, err := c.ledger.List(ctx, q)
	c.equal(t, "the whole list", p.Memories, c.model.list(q), err)
	n, err := c.ledger.Head(ctx)
	c.equal(t, "Head", n, uint64(len(c.model.log)), err)
}
