package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
)

// TestKill kills processes that write, at random moments, and looks each time
// whether everything that they acknowledged is there, word by word, found by
// both indexes, with nothing that nobody said. VIMBANK_CRASH_ROUNDS sets how
// often, VIMBANK_CRASH_SEED repeats a run.
func TestKill(t *testing.T) {
	rounds := number64(t, "VIMBANK_CRASH_ROUNDS", map[bool]uint64{false: 5, true: 2}[testing.Short()])
	seed := number64(t, "VIMBANK_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("%d rounds, VIMBANK_CRASH_SEED=%d", rounds, seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	const roundsOfABank = 10 // each bank is killed so often: a crash upon crashes
	var k *killing
	acknowledged := 0
	for i := range rounds {
		if i%roundsOfABank == 0 {
			k = newKilling(t, rng)
		}
		k.round()
		acknowledged += len(k.news)
		k.verify()
		if t.Failed() {
			t.Fatalf("round %d of %d failed", i+1, rounds)
		}
	}
	t.Logf("%d memories were acknowledged, and all of them are there", acknowledged)
}

// number64 reads a number from the environment.
func number64(t testing.TB, name string, without uint64) uint64 {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return without
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// killing is a bank whose writers are killed.
type killing struct {
	t   *testing.T
	rng *rand.Rand
	dir string

	mu    sync.Mutex        // guards what follows
	said  map[string]string // every text handed to a process, and to whom
	acked map[string]bool   // those acknowledged
	news  []string          // those acknowledged in this round
}

func newKilling(t *testing.T, rng *rand.Rand) *killing {
	return &killing{t: t, rng: rng, dir: t.TempDir(), said: map[string]string{}, acked: map[string]bool{}}
}

// knownWords are words that every embedder knows, so that each memory has a
// direction of its own.
var knownWords = strings.Fields(`apple river window doctor music garden winter money horse bridge paper mountain kitchen letter
	ocean teacher engine forest ticket market summer dragon hospital pencil island castle blanket rocket candle desert
	violin butter prison camera thunder wallet harvest mirror pirate school tunnel coffee planet needle jacket battle`)

// say makes a text that nobody said before, with a word that no other has.
func (k *killing) say(whose string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := len(k.said)
	words := []string{"zq" + strings.NewReplacer("0", "b", "1", "d", "2", "f", "3", "g", "4", "h", "5", "k", "6", "l", "7", "m", "8", "n", "9", "p").Replace(strconv.Itoa(1e6+n)) + "x"}
	for range 7 {
		words = append(words, knownWords[k.rng.IntN(len(knownWords))])
	}
	text := strings.Join(words, " ") + "."
	k.said[text] = whose
	return text
}

func (k *killing) ack(texts ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, text := range texts {
		k.acked[text] = true
	}
	k.news = append(k.news, texts...)
}

// round starts the writers and kills each at a moment of its own.
func (k *killing) round() {
	k.news = nil
	batch := strconv.Itoa(1 + k.rng.IntN(32))
	writers := []func(context.Context){func(ctx context.Context) { k.imports(ctx, batch) }, k.adds, k.keeps}
	ends := make([]time.Duration, len(writers))
	for i := range ends {
		ends[i] = time.Duration(k.rng.IntN(900)) * time.Millisecond
	}
	var wg sync.WaitGroup
	for i, writer := range writers {
		ctx, cancel := context.WithTimeout(k.t.Context(), ends[i])
		defer cancel()
		wg.Go(func() { writer(ctx) })
	}
	wg.Wait()
}

// imports feeds an import without end; what it says it has committed is acknowledged.
func (k *killing) imports(ctx context.Context, batch string) {
	cmd := commandContext(ctx, k.t, k.dir, "import", "--user", "ann", "--json", "--batch", batch, "-")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		k.t.Error(err)
		return
	}
	if err := cmd.Start(); err != nil {
		if ctx.Err() == nil {
			k.t.Error(err)
		}
		return
	}
	var fed []string
	for ctx.Err() == nil {
		text := k.say("ann")
		fed = append(fed, text)
		if _, err := io.WriteString(stdin, item(len(fed), text)); err != nil {
			break
		}
	}
	err = cmd.Wait()
	if ctx.Err() == nil {
		k.t.Errorf("import ended by itself: %v, standard error:\n%s", err, stderr.String())
	}
	var last struct{ Committed int }
	for line := range strings.Lines(stdout.String()) {
		if err := json.Unmarshal([]byte(line), &last); err != nil && strings.HasSuffix(line, "\n") {
			k.t.Errorf("import said %q: %v", line, err)
		}
	}
	if last.Committed > len(fed) {
		k.t.Errorf("import says that %d lines are committed, of %d", last.Committed, len(fed))
		return
	}
	k.ack(fed[:last.Committed]...)
}

// item is a line of JSON; every third is a turn of a talk.
func item(n int, text string) string {
	if n%3 == 0 {
		return fmt.Sprintf(`{"kind":"dialogue","session":"s%d","speaker":"Ann","text":%q}`+"\n", n/30, text)
	}
	return fmt.Sprintf(`{"kind":"knowledge","text":%q}`+"\n", text)
}

// adds adds one memory after the other; one whose command ended well is acknowledged.
func (k *killing) adds(ctx context.Context) {
	for ctx.Err() == nil {
		text := k.say("bob")
		out, err := commandContext(ctx, k.t, k.dir, "add", "--user", "bob", "--kind", "knowledge", text).CombinedOutput()
		switch {
		case err == nil:
			k.ack(text)
		case ctx.Err() == nil:
			k.t.Errorf("add: %v: %s", err, out)
			return
		}
	}
}

// keeps lets the indexes rest on disk while others write.
func (k *killing) keeps(ctx context.Context) {
	settings := filepath.Join(k.t.TempDir(), "snapshots.yaml")
	yaml := "upkeep:\n  decay: \"\"\n  purge: \"\"\n  reconcile: \"\"\n  snapshot: \"@every 1s\"\n"
	if err := os.WriteFile(settings, []byte(yaml), 0o600); err != nil {
		k.t.Error(err)
		return
	}
	for ctx.Err() == nil { // until another has made the bank
		cmd := commandContext(ctx, k.t, k.dir, "upkeep", "--once", "--config", settings)
		_ = cmd.Run() // what matters is what it leaves behind
	}
}

// verify looks at the bank with processes that come after the crash, and with
// an engine of its own.
func (k *killing) verify() {
	t := k.t
	if len(k.acked) == 0 && !bank.Exists(k.dir) {
		return // killed before there was a bank
	}
	there := map[string]bool{}
	for _, user := range []string{"ann", "bob"} {
		for line := range strings.Lines(run(t, k.dir, "export", "--user", user)) {
			var m memtypes.Memory
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatalf("export: %v", err)
			}
			if k.said[m.Text] != user || there[m.Text] {
				t.Errorf("%s has %q, which was said to %q (there already: %v)", user, m.Text, k.said[m.Text], there[m.Text])
			}
			there[m.Text] = true
		}
	}
	for text := range k.acked {
		if !there[text] {
			t.Errorf("lost: %q was acknowledged", text)
		}
	}
	k.recallAll()
	var sound struct{ OK bool }
	if err := json.Unmarshal([]byte(run(t, k.dir, "reconcile", "--json")), &sound); err != nil || !sound.OK {
		t.Errorf("reconcile: %v, %v, want in step", sound, err)
	}
	run(t, k.dir, "doctor")
}

// recallAll asks for every memory of this round by its own text, of each index.
func (k *killing) recallAll() {
	e, err := bank.Open(k.t.Context(), k.dir, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, text := range k.news {
		for _, profile := range []string{"bm25", "dense"} {
			k.recall(e, profile, text)
		}
	}
	if err := e.Close(k.t.Context()); err != nil {
		k.t.Error(err)
	}
}

func (k *killing) recall(e *engine.Engine, profile, text string) {
	scope, err := memtypes.NewScope("", k.said[text], "", "")
	if err != nil {
		k.t.Fatal(err)
	}
	a, err := e.Recall(k.t.Context(), memtypes.Query{Scope: scope, Text: text, Profile: profile, K: 3, Quiet: true})
	if err != nil {
		k.t.Fatal(err)
	}
	for _, h := range a.Hits {
		if h.Memory.Text == text {
			return
		}
	}
	k.t.Errorf("profile %s does not find %q among %d hits, degraded %v", profile, text, len(a.Hits), a.Degraded)
}
