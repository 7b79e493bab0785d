package ledgertest

import (
	"fmt"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

func leases(t *testing.T, b *bank) {
	ctx := t.Context()
	take := func(holder string, now int) ledger.Lease {
		t.Helper()
		l, err := b.Acquire(ctx, "decay", holder, at(now), 10*time.Minute)
		if err != nil {
			t.Fatalf("Acquire for %s at minute %d: %v", holder, now, err)
		}
		return l
	}
	first := take("a", 0)
	same(t, "the lease", first, ledger.Lease{Name: "decay", Holder: "a", Fence: first.Fence, Expires: at(10)})
	if renewed := take("a", 5); renewed.Fence != first.Fence || !renewed.Expires.Equal(at(15)) {
		t.Errorf("renewed = %+v, want the fence %d until %v", renewed, first.Fence, at(15))
	}
	_, err := b.Acquire(ctx, "decay", "b", at(15).Add(-1), time.Minute)
	b.code("Acquire of another's lease", err, memtypes.Conflict)
	if _, err := b.Acquire(ctx, "purge", "b", at(1), time.Minute); err != nil {
		t.Errorf("Acquire of another name: %v", err)
	}
	second := take("b", 15) // expired just now
	if second.Fence <= first.Fence {
		t.Errorf("fence after a change of holders = %d, want more than %d", second.Fence, first.Fence)
	}
	if err := b.Release(ctx, first); err != nil { // is another's by now
		t.Errorf("Release of a lost lease: %v", err)
	}
	_, err = b.Acquire(ctx, "decay", "a", at(16), time.Minute)
	b.code("Acquire after the release of a lost lease", err, memtypes.Conflict)
	if err := b.Release(ctx, second); err != nil {
		t.Errorf("Release: %v", err)
	}
	if third := take("a", 16); third.Fence <= second.Fence {
		t.Errorf("fence after a release = %d, want more than %d", third.Fence, second.Fence)
	}
	for name, f := range map[string]func() error{
		"no name":   func() error { _, err := b.Acquire(ctx, "", "a", at(0), time.Minute); return err },
		"no holder": func() error { _, err := b.Acquire(ctx, "x", "", at(0), time.Minute); return err },
		"no time":   func() error { _, err := b.Acquire(ctx, "x", "a", time.Time{}, time.Minute); return err },
		"no ttl":    func() error { _, err := b.Acquire(ctx, "x", "a", at(0), 0); return err },
	} {
		b.code(name, f(), memtypes.Invalid)
	}
}

func fence(t *testing.T, b *bank) {
	m := said("guarded")
	b.fill(m)
	old, err := b.Acquire(t.Context(), "decay", "a", at(0), time.Minute)
	if err != nil {
		t.Fatalf("Acquire: %v", err)
	}
	x := batch(at(1), edit(ledger.Pin, m))
	x.Fence = &old
	b.must(x)
	now, err := b.Acquire(t.Context(), "decay", "b", at(2), time.Minute)
	if err != nil {
		t.Fatalf("Acquire: %v", err)
	}
	before, newest := b.one(m), b.newest()
	x = batch(at(2), edit(ledger.Retire, m), edit(ledger.Insert, said("not to be")))
	x.Runs = []ledger.Run{{ID: "r", Started: at(2)}}
	for name, l := range map[string]ledger.Lease{"old": old, "unknown": {Name: "x", Holder: "a", Fence: 1}} {
		x.Fence = &l
		_, err := b.Append(t.Context(), x)
		b.code("a batch with the "+name+" fence", err, memtypes.Conflict)
	}
	if err := b.Release(t.Context(), now); err != nil {
		t.Fatalf("Release: %v", err)
	}
	x.Fence = &now
	_, err = b.Append(t.Context(), x)
	b.code("a batch with a released lease", err, memtypes.Conflict)
	same(t, "after batches without the right", b.one(m), before)
	if n := b.newest(); n != newest {
		t.Errorf("Head = %d, want %d: nothing was done", n, newest)
	}
	_, err = b.Run(t.Context(), "r")
	b.code("the run of a refused batch", err, memtypes.NotFound)
}

func runs(t *testing.T, b *bank) {
	var all []ledger.Run
	for i := range 5 {
		r := ledger.Run{ID: fmt.Sprint("run-", i), Job: []string{"decay", "purge"}[i%2], Scope: ann(), Actor: "cron", Status: "running", Started: at(i),
			Counts: map[string]int{"planned": i}, Detail: map[string]string{"k": "v"}}
		x := batch(at(i))
		x.Runs = []ledger.Run{r}
		b.must(x)
		r.Status, r.Ended, r.Scope = "done", at(i+1), memtypes.Scope{}
		x.Runs = []ledger.Run{r}
		b.must(x)
		all = append([]ledger.Run{r}, all...)
	}
	got, err := b.Run(t.Context(), "run-3")
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	same(t, "a run", got, all[1])
	for _, c := range []struct {
		job   string
		limit int
		want  []ledger.Run
	}{{"", 10, all}, {"", 2, all[:2]}, {"purge", 10, []ledger.Run{all[1], all[3]}}, {"purge", 1, all[1:2]}, {"none", 10, nil}} {
		got, err := b.Runs(t.Context(), c.job, c.limit)
		if err != nil {
			t.Fatalf("Runs: %v", err)
		}
		if len(got)+len(c.want) > 0 {
			same(t, fmt.Sprintf("Runs(%q, %d)", c.job, c.limit), got, c.want)
		}
	}
	_, err = b.Run(t.Context(), "run-9")
	b.code("an unknown run", err, memtypes.NotFound)
	_, err = b.Runs(t.Context(), "", 0)
	b.code("Runs of none", err, memtypes.Invalid)
}

// What a run retired is found by its ID and restored as it was.
func runUndone(t *testing.T, b *bank) {
	ms := numbered(50, "note", memtypes.Draft{Talk: memtypes.Talk{Session: "s"}})
	b.fill(ms...)
	for i, m := range ms[:20] {
		b.do(at(100+i), edit(ledger.Recall, m), ledger.Done)
	}
	before := b.pages(ledger.ListQuery{All: true})
	x := ledger.Batch{Now: at(200), Actor: "decay", RunID: "r1"}
	for _, m := range ms[10:40] {
		x.Edits = append(x.Edits, edit(ledger.Retire, m))
	}
	b.must(x)
	b.do(at(201), edit(ledger.Retire, ms[5]), ledger.Done)
	b.do(at(202), edit(ledger.Restore, ms[5]), ledger.Done)
	for range 4 { // page by page, as an undo does it
		p, err := b.List(t.Context(), ledger.ListQuery{All: true, RunID: "r1", Limit: 9})
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		x := ledger.Batch{Now: at(300), Actor: "undo", RunID: "r1"}
		for _, m := range p.Memories {
			x.Edits = append(x.Edits, edit(ledger.Restore, m))
		}
		b.must(x)
	}
	after := b.pages(ledger.ListQuery{All: true})
	for i := range after {
		after[i].Rev = before[min(i, len(before)-1)].Rev // the one thing that moves on
	}
	same(t, "after the undo", after, before)
}

func settings(t *testing.T, b *bank) {
	ctx := t.Context()
	for _, p := range [][2]string{{"a", "1"}, {"b", "2"}, {"a", "3"}, {"ü", "日本"}, {"b", ""}, {"c", ""}} {
		if err := b.Set(ctx, p[0], p[1]); err != nil {
			t.Fatalf("Set(%q, %q): %v", p[0], p[1], err)
		}
	}
	got, err := b.Settings(ctx)
	if err != nil {
		t.Fatalf("Settings: %v", err)
	}
	same(t, "settings", got, map[string]string{"a": "3", "ü": "日本"})
	b.code("a setting without a name", b.Set(ctx, "", "x"), memtypes.Invalid)
}

func vectors(t *testing.T, b *bank) {
	ctx := t.Context()
	ms := numbered(4, "note", memtypes.Draft{})
	b.fill(ms...)
	ids := idsOf(ms)
	check := func(what, fingerprint string, hash []string, want ...memtypes.Vector) {
		t.Helper()
		got, err := b.GetVectors(ctx, fingerprint, ids, hash)
		if err != nil {
			t.Fatalf("GetVectors: %v", err)
		}
		same(t, what, got, want)
	}
	h := []string{"h0", "h1", "h2", "h3"}
	check("before any", "m1", h, nil, nil, nil, nil)
	put := func(fingerprint string, vs ...memtypes.Vector) {
		t.Helper()
		if err := b.PutVectors(ctx, fingerprint, ids[:len(vs)], h[:len(vs)], vs); err != nil {
			t.Fatalf("PutVectors: %v", err)
		}
	}
	put("m1", memtypes.Vector{1, -2.5e-30}, memtypes.Vector{3, 4}, nil)
	put("m2", memtypes.Vector{7})
	check("what was put", "m1", h, memtypes.Vector{1, -2.5e-30}, memtypes.Vector{3, 4}, nil, nil)
	check("of the other embedder", "m2", h, memtypes.Vector{7}, nil, nil, nil)
	check("of an unknown embedder", "m3", h, nil, nil, nil, nil)
	check("of another text", "m1", []string{"h0", "x", "", ""}, memtypes.Vector{1, -2.5e-30}, nil, nil, nil)
	put("m1", memtypes.Vector{9})
	check("what was put anew", "m1", h, memtypes.Vector{9}, memtypes.Vector{3, 4}, nil, nil)
	b.do(at(50), edit(ledger.Purge, ms[0]), ledger.Done)
	check("after a purge", "m1", h, nil, memtypes.Vector{3, 4}, nil, nil)
	put("m1", memtypes.Vector{5})
	check("put after the purge", "m1", h, nil, memtypes.Vector{3, 4}, nil, nil)
	b.code("fewer hashes than ids", b.PutVectors(ctx, "m1", ids, h[:1], make([]memtypes.Vector, 4)), memtypes.Invalid)
}
