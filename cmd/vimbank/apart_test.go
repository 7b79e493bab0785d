package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// apart is a bank on services that processes of the command use, of which some
// are killed or stand still.
type apart struct {
	*killing
	held time.Duration // how long the claims of the command's pump hold, and more
}

func newApart(t *testing.T) *apart {
	if testing.Short() {
		live.Elasticsearch(t)
		t.Skip("it starts many processes")
	}
	onServices(t)
	t.Setenv("VIMBANK_PROFILE", "cluster")
	return &apart{newKilling(t, rand.New(rand.NewPCG(1, 2))), time.Minute}
}

// options are those that the command opens the bank with, at a time of its own.
func (k *apart) options(ahead time.Duration) *bank.Options {
	k.t.Helper()
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	o, err := a.bankOptions(k.t.Context(), opening{clock: func() time.Time { return time.Now().Add(ahead) }})
	if err != nil {
		k.t.Fatal(err)
	}
	o.Services.Pump.Refresh = 50 * time.Millisecond
	return o
}

// within opens the bank in this process for as long as do takes. Its clock is
// ahead, so that what others claimed and never settled is due.
func (k *apart) within(do func(e *engine.Engine)) {
	k.t.Helper()
	e, err := bank.Open(k.t.Context(), "", k.options(k.held))
	if err != nil {
		k.t.Fatal(err)
	}
	defer func() {
		if err := e.Close(context.Background()); err != nil {
			k.t.Error(err)
		}
	}()
	do(e)
}

// importing is an import on its way.
type importing struct {
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr bytes.Buffer
	fed            []string
}

// begin starts an import for Ann with a failpoint, or none.
func (k *apart) begin(failpoint string) *importing {
	k.t.Helper()
	p := &importing{cmd: command(k.t, k.dir, "import", "--user", "ann", "--json", "--batch", "4", "-")}
	p.cmd.Env = append(p.cmd.Env, "VIMBANK_FAILPOINT="+failpoint)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		k.t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	return p
}

// feed hands n items to p; one that is gone takes none. The first line is as
// long as what an import looks at before it begins.
func (k *apart) feed(p *importing, n int) {
	for range n {
		text := k.say("ann")
		p.fed = append(p.fed, text)
		line := item(len(p.fed), text)
		if len(p.fed) == 1 {
			line = strings.TrimSuffix(line, "\n") + strings.Repeat(" ", 64<<10) + "\n"
		}
		if _, err := io.WriteString(p.stdin, line); err != nil {
			return
		}
	}
}

// end waits for p and notes what it acknowledged.
func (k *apart) end(p *importing) error {
	k.t.Helper()
	err := p.cmd.Wait()
	var last struct{ Committed int }
	for line := range strings.Lines(p.stdout.String()) {
		if json.Unmarshal([]byte(line), &last) != nil && strings.HasSuffix(line, "\n") {
			k.t.Errorf("import said %q", line)
		}
	}
	if last.Committed > len(p.fed) {
		k.t.Fatalf("import says that %d lines are committed, of %d", last.Committed, len(p.fed))
	}
	k.ack(p.fed[:last.Committed]...)
	return err
}

// equal fails unless ledger and services hold what was acknowledged, nothing
// that nobody said, and the same in all three places.
func (k *apart) equal() {
	t := k.t
	t.Helper()
	if len(k.news) > 0 { // whoever comes next finds it at once
		text := k.news[len(k.news)-1]
		if out := run(t, k.dir, "recall", "--user", k.said[text], "--quiet", text); !strings.Contains(out, text) {
			t.Errorf("a fresh process asks for %q and gets\n%s", text, out)
		}
	}
	k.within(func(e *engine.Engine) {
		if err := bank.Settled(t.Context(), e, 50*time.Millisecond, nil); err != nil {
			t.Fatal(err)
		}
		n := k.there(e)
		drifts, err := e.Reconcile(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range drifts {
			if !d.OK() || d.Held != n {
				t.Errorf("index %s holds %d of %d: missing %v, stale %v, ghosts %v", d.Index, d.Held, n, d.Missing, d.Stale, d.Ghosts)
			}
		}
		for _, text := range k.news {
			k.recall(e, "bm25", text)
			k.recall(e, "dense", text)
		}
	})
	k.news = nil
	var sound struct{ OK bool }
	if err := json.Unmarshal([]byte(run(t, k.dir, "reconcile", "--json")), &sound); err != nil || !sound.OK {
		t.Errorf("reconcile by a fresh process: %v, %v, want in step", sound, err)
	}
}

// there compares the ledger with what was said, and counts it.
func (k *apart) there(e *engine.Engine) int {
	t := k.t
	t.Helper()
	ann, err := memtypes.NewScope("", "ann", "", "")
	if err != nil {
		t.Fatal(err)
	}
	page, err := e.List(t.Context(), ledger.ListQuery{Filter: memtypes.Filter{Scope: ann}, Limit: 10000})
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]int{}
	for i := range page.Memories {
		text := page.Memories[i].Text
		if times[text]++; k.said[text] != "ann" || times[text] > 1 {
			t.Errorf("the ledger has %q for the %d. time, which was said to %q", text, times[text], k.said[text])
		}
	}
	for text := range k.acked {
		if times[text] == 0 {
			t.Errorf("lost: %q was acknowledged", text)
		}
	}
	return len(page.Memories)
}

// A process is killed between the ledger and each index, and the next ones
// bring all three to the same.
func TestKilledBetween(t *testing.T) {
	k := newApart(t)
	for _, point := range []string{"appended", "claimed", "dense written", "sparse written", "settled"} {
		t.Run(point, func(t *testing.T) {
			defer func(whole *testing.T) { k.t = whole }(k.t)
			k.t = t
			p := k.begin(point + ":kill")
			k.feed(p, 12) // and more may come, so it does not end by itself
			err := k.end(p)
			if x, ok := errors.AsType[*exec.ExitError](err); !ok || !x.Sys().(syscall.WaitStatus).Signaled() {
				t.Fatalf("import ended with %v, want it killed at its point; standard error:\n%s", err, p.stderr.String())
			}
			k.equal()
		})
	}
}

// Three processes import at once; one is killed in the middle, one is stopped
// for longer than its claims hold and goes on. The third and those who come
// after bring everything to its place.
func TestProcessesTogether(t *testing.T) {
	k := newApart(t)
	a, b, c := k.begin(""), k.begin(""), k.begin("")
	for range 5 {
		for _, p := range []*importing{a, b, c} {
			k.feed(p, 8)
		}
	}
	k.within(func(e *engine.Engine) { // which finds what each of them wrote
		end := time.Now().Add(3 * time.Minute)
		for _, p := range []*importing{a, b, c} {
			for !k.finds(e, p.fed[0]) {
				if time.Now().After(end) {
					t.Fatalf("%q is not found", p.fed[0])
				}
				time.Sleep(50 * time.Millisecond)
			}
		}
	})
	k.must(a.cmd.Process.Signal(syscall.SIGSTOP))
	k.must(b.cmd.Process.Kill())
	if err := k.end(b); err == nil {
		t.Error("the killed one ended well")
	}
	k.feed(c, 8)
	k.within(func(e *engine.Engine) { // past the claims of both
		if err := bank.Settled(t.Context(), e, 50*time.Millisecond, nil); err != nil {
			t.Error(err)
		}
	})
	k.must(a.cmd.Process.Signal(syscall.SIGCONT))
	k.feed(a, 8)
	for _, p := range []*importing{a, c} {
		k.must(p.stdin.Close())
		if err := k.end(p); err != nil {
			t.Errorf("import: %v, standard error:\n%s", err, p.stderr.String())
		}
	}
	if len(k.acked) < 96 {
		t.Errorf("%d acknowledged, want at least what two fed", len(k.acked))
	}
	k.equal()
}

func (k *apart) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// finds reports whether text is found.
func (k *apart) finds(e *engine.Engine, text string) bool {
	k.t.Helper()
	ann, err := memtypes.NewScope("", "ann", "", "")
	k.must(err)
	a, err := e.Recall(k.t.Context(), memtypes.Query{Scope: ann, Text: text, K: 3, Quiet: true})
	k.must(err)
	for i := range a.Hits {
		if a.Hits[i].Memory.Text == text {
			return true
		}
	}
	return false
}

// A process that keeps the bank is asked to end while it places memories: it
// ends well, and leaves nothing claimed.
func TestUpkeepDrains(t *testing.T) {
	k := newApart(t)
	settings := filepath.Join(t.TempDir(), "jobs.yaml")
	k.must(os.WriteFile(settings, []byte("profile: cluster\nupkeep:\n  decay: \"@every 1s\"\n  purge: \"\"\n  snapshot: \"\"\n  reconcile: \"\"\n"), 0o600))
	cmd := command(t, k.dir, "upkeep", "--json", "--config", settings)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	k.must(err)
	k.must(cmd.Start())
	first := make([]byte, 1) // a job has run: it is at work
	if _, err := io.ReadFull(stdout, first); err != nil {
		t.Fatalf("upkeep: %v, standard error:\n%s", err, stderr.String())
	}
	db, err := bank.Ledger(t.Context(), "", k.options(0))
	k.must(err)
	defer db.Close()
	var rest sync.WaitGroup
	rest.Go(func() { _, _ = io.Copy(io.Discard, stdout) })
	ann, err := memtypes.NewScope("", "ann", "", "")
	k.must(err)
	for range 20 { // it alone places them: this process has the ledger only
		var edits []ledger.Edit
		for range 50 {
			m, err := memtypes.New(memtypes.Draft{Scope: ann, Kind: memtypes.Knowledge, Text: k.say("ann")}, time.Now())
			k.must(err)
			k.ack(m.Text)
			edits = append(edits, ledger.Edit{Op: ledger.Insert, Memory: m})
		}
		_, err := db.Append(t.Context(), ledger.Batch{Now: time.Now(), Actor: "test", Edits: edits})
		k.must(err)
	}
	k.must(cmd.Process.Signal(syscall.SIGTERM))
	rest.Wait()
	if err := cmd.Wait(); err != nil {
		t.Errorf("upkeep: %v, want exit code 0; standard error:\n%s", err, stderr.String())
	}
	followers, err := db.Followers(t.Context(), time.Now())
	k.must(err)
	if len(followers) != 2 {
		t.Fatalf("followers %+v, want two", followers)
	}
	for _, f := range followers {
		due, err := db.Claim(t.Context(), f.Name, "test", time.Now().Add(10*time.Second), time.Millisecond, 10_000)
		k.must(err)
		t.Logf("%s: %d left to do", f.Name, len(due))
		if len(due) != f.Owed {
			t.Errorf("%s owes %d, of which %d can be claimed, want all", f.Name, f.Owed, len(due))
		}
	}
	k.news = k.news[:10]
	k.equal()
}
