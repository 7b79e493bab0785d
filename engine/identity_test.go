package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// manual is a document of n chapters, long enough for several pieces.
func manual(t testing.TB, key, word string, n int) memtypes.Draft {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Chapter %d tells of the %s and its number %d. ", i, word, i*i)
		fmt.Fprintf(&b, "It must be turned %d times to the left before the lid opens.\n\n", i+2)
	}
	return memtypes.Draft{Scope: user(t, "ada"), Kind: memtypes.Knowledge, Title: "Manual", Text: b.String(), Key: key}
}

// statuses are those of rs, each once, in order of their names.
func statuses(rs []engine.Remembered) (out []engine.Status) {
	for _, r := range rs {
		out = append(out, r.Status)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func count(t testing.TB, e *engine.Engine, states ...memtypes.State) int {
	t.Helper()
	page, err := e.List(t.Context(), ledger.ListQuery{Filter: memtypes.Filter{Scope: user(t, "ada")}, States: states, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return len(page.Memories)
}

// Where a memory came from is not what it says: a file that was moved is known.
func TestWhereFromIsNoContent(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	for _, key := range []string{"", "k1"} {
		d := said(t, "The oven takes fifty minutes, key "+key+".", 0)
		d.Key, d.Source = key, memtypes.Source{URI: "notes/oven.md", Author: "Ann", Trust: memtypes.Normal}
		first := remember(t, e, d)[0]
		d.Source = memtypes.Source{URI: "elsewhere/oven.md", Trust: memtypes.Verified}
		if r := remember(t, e, d)[0]; r.ID != first.ID || r.Status != engine.Known {
			t.Errorf("key %q: from elsewhere = %+v, want %s known", key, r, first.ID)
		}
		if m, err := e.Get(t.Context(), d.Scope, first.ID); err != nil || m.Source.URI != "notes/oven.md" {
			t.Errorf("key %q: source = %q, %v, want the first", key, m.Source.URI, err)
		}
	}
}

func TestConflictIsAnErrorOfItsOwn(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	d := said(t, "The oven takes fifty minutes.", 0)
	d.Key = "k1"
	first := remember(t, e, d)[0]
	d.Text = "The oven takes an hour."
	r := remember(t, e, d)[0]
	err := r.Err()
	if memtypes.CodeOf(err) != memtypes.Conflict || !strings.Contains(err.Error(), `field "key": found "k1"`) || r.Of != first.ID {
		t.Errorf("Err = %v of %s, want Conflict that names the key, of %s", err, r.Of, first.ID)
	}
	if err := first.Err(); err != nil {
		t.Errorf("Err of what was stored = %v, want nil", err)
	}
	secret := remember(t, e, said(t, "my key is sk-abcdefghijklmnopqrstuvwxyz123456", 1))[0]
	if err := secret.Err(); memtypes.CodeOf(err) != memtypes.Refused {
		t.Errorf("Err of a secret = %v, want Refused", err)
	}
}

// A document under a used key is kept whole or not at all.
func TestDocumentOfAUsedKey(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	long := manual(t, "doc", "valve", 120)
	first := remember(t, e, long)
	if len(first) < 2 {
		t.Fatalf("%d pieces, want several", len(first))
	}
	if got := statuses(remember(t, e, long)); !slices.Equal(got, []engine.Status{engine.Known}) {
		t.Errorf("again: %v, want all known", got)
	}
	before := count(t, e)
	for name, d := range map[string]memtypes.Draft{
		"longer":  manual(t, "doc", "valve", 200),
		"another": manual(t, "doc", "hinge", 120),
	} {
		rs := remember(t, e, d)
		if len(rs) != 1 || rs[0].Code != engine.KeyReused || !slices.ContainsFunc(first, func(r engine.Remembered) bool { return r.ID == rs[0].Of }) {
			t.Errorf("%s: %+v, want one refusal that names a piece", name, rs)
		}
	}
	short := said(t, "One sentence.", 0)
	short.Key = "single"
	remember(t, e, short)
	if rs := remember(t, e, manual(t, "single", "valve", 120)); statuses(rs)[0] != engine.Refused || len(rs) != 1 {
		t.Errorf("a document under the key of a sentence: %+v, want one refusal", rs)
	}
	short.Key, short.Text = "doc", "Another sentence."
	if rs := remember(t, e, short); len(rs) != 1 || rs[0].Of != first[0].ID || rs[0].Code != engine.KeyReused {
		t.Errorf("a sentence under the key of a document: %+v, want a refusal that names its first piece", rs)
	}
	if rs := remember(t, e, short, said(t, "A third one.", 9)); rs[0].Of != first[0].ID || rs[1].Status != engine.Stored {
		t.Errorf("the same beside another draft: %+v, want one refusal", rs)
	}
	before++
	short.Key = strings.Repeat("k", 256) // as long as a key may be
	if rs := remember(t, e, short); rs[0].Status != engine.Stored {
		t.Errorf("under the longest key: %+v, want it stored", rs)
	}
	before++
	if after := count(t, e); after != before+1 {
		t.Errorf("%d memories, want %d: a refused document leaves nothing", after, before+1)
	}
	// What was updated since is still the same document.
	text := "Corrected."
	if _, err := e.Update(t.Context(), user(t, "ada"), first[1].ID, engine.Change{Text: &text}); err != nil {
		t.Fatal(err)
	}
	if got := statuses(remember(t, e, long)); !slices.Equal(got, []engine.Status{engine.Known}) {
		t.Errorf("after an update: %v, want all known", got)
	}
}

// A key that happens to look like that of a piece is a key like any other.
func TestKeysLikePieces(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	var drafts []memtypes.Draft
	for i, key := range []string{"a#0", "a#1", "a"} {
		d := said(t, strings.Repeat("word ", i+1)+"of "+key, i)
		d.Key = key
		drafts = append(drafts, d)
	}
	remember(t, e, drafts[:2]...)
	if rs := remember(t, e, drafts[2]); rs[0].Status != engine.Stored {
		t.Errorf("a beside a#0 and a#1: %+v, want it stored", rs)
	}
}

// With redaction what is stored is not what was handed in; it is still known.
func TestRedactedDocumentIsKnown(t *testing.T) {
	e := open(t, t.TempDir(), &bank.Options{Engine: engine.Options{Admit: admit.Options{Secrets: admit.Redact}}})
	d := manual(t, "doc", "valve", 120)
	d.Text += "The key is sk-abcdefghijklmnopqrstuvwxyz123456 and nothing else."
	remember(t, e, d)
	if got := statuses(remember(t, e, d)); !slices.Equal(got, []engine.Status{engine.Known}) {
		t.Errorf("again: %v, want all known", got)
	}
}

// exportOf lists all memories of Ada, as an export does.
func exportOf(t testing.TB, e *engine.Engine) []memtypes.Memory {
	t.Helper()
	page, err := e.List(t.Context(), ledger.ListQuery{Filter: memtypes.Filter{Scope: user(t, "ada")},
		States: []memtypes.State{memtypes.Active, memtypes.Retired}, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return page.Memories
}

func load(t testing.TB, e *engine.Engine, ms []memtypes.Memory) []engine.Remembered {
	t.Helper()
	rs, err := e.Load(t.Context(), ms, "test")
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func TestLoadTwice(t *testing.T) {
	now := noon
	from := open(t, t.TempDir(), &bank.Options{Engine: engine.Options{Clock: func() time.Time { return now }}})
	var ids []memtypes.ID
	for i, text := range []string{"one apple", "two pears", "three plums"} {
		now = now.Add(time.Duration(1-i) * time.Minute) // the clock may go back
		ids = append(ids, remember(t, from, said(t, text, i))[0].ID)
	}
	now = noon.Add(time.Hour)
	if err := from.Forget(t.Context(), user(t, "ada"), "", ids[1]); err != nil {
		t.Fatal(err)
	}
	ms := exportOf(t, from)
	to := open(t, t.TempDir(), nil)
	for i, want := range []engine.Status{engine.Stored, engine.Known} {
		rs := load(t, to, ms)
		for j, r := range rs {
			if r.Draft != j || r.Status != want || r.ID != ms[j].ID {
				t.Errorf("load %d of %s = %+v, want %s", i+1, ms[j].ID, r, want)
			}
		}
		rev := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Rev" }, cmp.Ignore())
		if d := cmp.Diff(ms, exportOf(t, to), rev, cmp.AllowUnexported(memtypes.Scope{})); d != "" {
			t.Errorf("load %d: memories differ (-want +got):\n%s", i+1, d)
		}
	}
	if found(recall(t, to, user(t, "ada"), "two pears"), ids[1]) {
		t.Error("a memory that was forgotten there is found here")
	}
	// What was restored here stays so.
	if err := to.Restore(t.Context(), user(t, "ada"), ids[1]); err != nil {
		t.Fatal(err)
	}
	load(t, to, ms)
	if n := count(t, to, memtypes.Retired); n != 0 {
		t.Errorf("%d memories retired after a restore and another load, want none", n)
	}
}

// A load that is cut off between inserting and retiring leaves a memory active
// that was forgotten: the next one retires it.
func TestLoadMendsOneThatWasCutOff(t *testing.T) {
	from, to := open(t, t.TempDir(), nil), open(t, t.TempDir(), nil)
	id := remember(t, from, said(t, "two pears", 0))[0].ID
	asActive := exportOf(t, from)
	if err := from.Forget(t.Context(), user(t, "ada"), "", id); err != nil {
		t.Fatal(err)
	}
	load(t, to, asActive)
	if r := load(t, to, exportOf(t, from))[0]; r.Status != engine.Known {
		t.Errorf("second load = %+v, want known", r)
	}
	if n := count(t, to, memtypes.Retired); n != 1 {
		t.Errorf("%d memories retired, want the one", n)
	}
}

func TestLoadRefusesOtherContent(t *testing.T) {
	from, to := open(t, t.TempDir(), nil), open(t, t.TempDir(), nil)
	a, b := said(t, "an apple", 0), said(t, "a pear", 1)
	a.Key, b.Key = "a", "b"
	remember(t, from, a, b)
	a.Text, b.Text = "a stone", "a brick"
	rs := remember(t, to, a, b)
	if err := from.Forget(t.Context(), user(t, "ada"), "", rs[1].ID); err != nil {
		t.Fatal(err)
	}
	for _, r := range load(t, to, exportOf(t, from)) {
		if err := r.Err(); r.Code != engine.Conflicting || memtypes.CodeOf(err) != memtypes.Conflict || !strings.Contains(err.Error(), `field "id"`) {
			t.Errorf("%+v (%v), want a conflict that names the id", r, err)
		}
	}
	if n := count(t, to); n != 2 {
		t.Errorf("%d active memories, want the two that were here", n)
	}
}

// What a batch brings again is known, whatever became of it since: changed, or
// like another memory that would stand in its way were it new.
func TestKnownInABatch(t *testing.T) {
	e := open(t, t.TempDir(), nil)
	var drafts []memtypes.Draft
	for i := range 6 {
		d := said(t, fmt.Sprintf("The lighthouse keeper counted %d ships before the storm came over the bay.", i+2), i)
		d.Kind, d.Key = memtypes.Knowledge, fmt.Sprint("k", i)
		drafts = append(drafts, d)
	}
	first := remember(t, e, drafts...)
	text := "Corrected."
	if _, err := e.Update(t.Context(), user(t, "ada"), first[1].ID, engine.Change{Text: &text}); err != nil {
		t.Fatal(err)
	}
	if err := e.Forget(t.Context(), user(t, "ada"), "", first[2].ID); err != nil {
		t.Fatal(err)
	}
	other := drafts[3]
	other.Text = "Another text under a used key."
	again := remember(t, e, append(slices.Clone(drafts), other)...)
	for i, r := range again {
		want := engine.Known
		switch i {
		case 2:
			want = engine.Stored // said again, it is remembered again
		case 6:
			want = engine.Refused
		}
		if r.Draft != i || r.Status != want || want != engine.Refused && r.ID != first[i].ID {
			t.Errorf("draft %d: %+v, want %s", i, r, want)
		}
	}
	if again[0].Rev != first[0].Rev || again[6].Code != engine.KeyReused {
		t.Errorf("results = %+v, want the revision as it was and a reused key", again)
	}
}
