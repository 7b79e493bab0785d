package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
)

// together is a bank that an engine of this process and the command in
// processes of its own use at once.
type together struct {
	t      *testing.T
	dir    string
	engine *engine.Engine
	ann    memtypes.Scope
}

func newTogether(t *testing.T) *together {
	dir := t.TempDir()
	e, err := bank.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	ann, err := memtypes.NewScope("", "ann", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return &together{t: t, dir: dir, engine: e, ann: ann}
}

// cli runs the command for Ann.
func (g *together) cli(args ...string) string {
	g.t.Helper()
	return run(g.t, g.dir, append(args, "--user", "ann")...)
}

// add remembers text by the command and returns its ID.
func (g *together) add(text string) memtypes.ID {
	g.t.Helper()
	return memtypes.ID(idPattern.FindString(g.cli("add", text)))
}

func (g *together) remember(texts ...string) (ids []memtypes.ID) {
	g.t.Helper()
	var drafts []memtypes.Draft
	for _, text := range texts {
		drafts = append(drafts, memtypes.Draft{Scope: g.ann, Kind: memtypes.Dialogue, Text: text})
	}
	r, err := g.engine.Remember(g.t.Context(), drafts, nil)
	if err != nil {
		g.t.Fatal(err)
	}
	for _, res := range r.Results {
		ids = append(ids, res.ID)
	}
	return ids
}

// sees fails unless both find, or both do not find, id by question, with either index.
func (g *together) sees(want bool, question string, id memtypes.ID) {
	g.t.Helper()
	has := func(a *engine.Answer) bool {
		return slices.ContainsFunc(a.Hits, func(h memtypes.Hit) bool { return h.Memory.ID == id })
	}
	for _, profile := range []string{"bm25", "dense"} {
		own, err := g.engine.Recall(g.t.Context(), memtypes.Query{Scope: g.ann, Text: question, Profile: profile, Quiet: true})
		if err != nil {
			g.t.Fatal(err)
		}
		var other engine.Answer
		if err := json.Unmarshal([]byte(g.cli("recall", question, "--profile", profile, "--quiet", "--json")), &other); err != nil {
			g.t.Fatal(err)
		}
		if has(own) != want || has(&other) != want || len(own.Degraded)+len(other.Degraded) > 0 {
			g.t.Errorf("%q by %s: the engine finds it: %v, the command: %v, want %v of both; degraded %v, %v",
				question, profile, has(own), has(&other), want, own.Degraded, other.Degraded)
		}
	}
}

func (g *together) get(id memtypes.ID) (memtypes.Memory, memtypes.Code) {
	m, err := g.engine.Get(g.t.Context(), g.ann, id)
	if err != nil {
		return m, memtypes.CodeOf(err)
	}
	return m, ""
}

func (g *together) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// TestTogether changes memories from either side; the other sees each change
// at its next call.
func TestTogether(t *testing.T) {
	g := newTogether(t)
	ferry := g.remember("the ferry to the island leaves at nine")[0]
	g.sees(true, "when does the ferry leave", ferry)
	oven := g.add("the latch of the oven is dirty")
	g.sees(true, "what is wrong with the oven", oven)

	// Forgotten by either, forgotten for both; and brought back by the other.
	g.cli("forget", string(ferry))
	g.sees(false, "when does the ferry leave", ferry)
	g.must(g.engine.Restore(t.Context(), g.ann, ferry))
	g.sees(true, "when does the ferry leave", ferry)
	g.must(g.engine.Forget(t.Context(), g.ann, "", oven))
	g.sees(false, "what is wrong with the oven", oven)
	g.cli("restore", string(oven))
	g.sees(true, "what is wrong with the oven", oven)

	// Changed by either.
	g.cli("update", string(ferry), "--text", "the balloon flies from the harbour")
	g.sees(true, "balloon over the harbour", ferry)
	if m, _ := g.get(ferry); !strings.HasPrefix(m.Text, "the balloon") {
		t.Errorf("Text = %q, want what the command made it", m.Text)
	}
	text := "the piano is out of tune"
	_, err := g.engine.Update(t.Context(), g.ann, oven, engine.Change{Text: &text})
	g.must(err)
	g.sees(true, "piano", oven)
	if out := g.cli("get", string(oven)); !strings.Contains(out, text) {
		t.Errorf("get says\n%s\nwant %q", out, text)
	}

	// Pinned and strengthened by either.
	g.cli("pin", string(oven))
	g.cli("recall", "piano", "--k", "1")
	if m, _ := g.get(oven); !m.Strength.Pinned || m.Strength.Recalls != 1 {
		t.Errorf("strength = %+v, want pinned and one recall", m.Strength)
	}

	// Erased for good.
	g.cli("forget", string(oven), "--erase", "--yes")
	g.sees(false, "piano", oven)
	if m, code := g.get(oven); code != memtypes.NotFound {
		t.Errorf("Get of what the command erased = %q, %s, want not_found", m.Text, code)
	}

	// Indexes made anew by one do not disturb the other.
	run(t, g.dir, "rebuild")
	g.sees(true, "balloon over the harbour", ferry)
}

// TestTogetherAtOnce lets both write at the same time.
func TestTogetherAtOnce(t *testing.T) {
	const each = 150
	g := newTogether(t)
	own, other := make([]string, each), make([]string, each)
	var lines strings.Builder
	for i := range each {
		own[i] = fmt.Sprintf("the engine tells of %s and number %d", knownWords[i%len(knownWords)], i)
		other[i] = fmt.Sprintf("the command tells of %s and number %d", knownWords[i%len(knownWords)], i)
		fmt.Fprintf(&lines, `{"kind":"dialogue","text":%q}`+"\n", other[i])
	}
	cmd := command(t, g.dir, "import", "--user", "ann", "--batch", "10", "-")
	cmd.Stdin = strings.NewReader(lines.String())
	var wg sync.WaitGroup
	wg.Go(func() {
		if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "150 stored") {
			t.Errorf("import: %v: %s", err, out)
		}
	})
	for i := range own {
		g.remember(own[i])
		if i%10 == 0 { // who writes also reads what the other has so far
			if _, err := g.engine.Recall(t.Context(), memtypes.Query{Scope: g.ann, Text: other[i], Quiet: true}); err != nil {
				t.Error(err)
			}
		}
	}
	wg.Wait()
	listed := g.cli("list", "--json", "--limit", "1000")
	for _, text := range slices.Concat(own, other) {
		if n := strings.Count(listed, `"`+text+`"`); n != 1 {
			t.Errorf("%q is there %d times, want once", text, n)
		}
	}
	drifts, err := g.engine.Reconcile(t.Context(), false)
	g.must(err)
	for _, d := range drifts {
		if !d.OK() || d.Held != 2*each {
			t.Errorf("index %s holds %d of %d: %+v", d.Index, d.Held, 2*each, d)
		}
	}
	run(t, g.dir, "reconcile")
}
