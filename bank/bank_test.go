package bank_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
)

// open opens the bank in dir, and closes it with the test.
func open(t testing.TB, dir string, o *bank.Options) *engine.Engine {
	t.Helper()
	e, err := bank.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, e) })
	return e
}

func shut(t testing.TB, e *engine.Engine) {
	t.Helper()
	if err := e.Close(context.Background()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func ada(t testing.TB) memtypes.Scope {
	t.Helper()
	s, err := memtypes.NewScope("", "ada", "", "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// note is a memory about a thing that no other note is about.
func note(t testing.TB, i int) memtypes.Draft {
	return memtypes.Draft{Scope: ada(t), Kind: memtypes.Knowledge, Text: fmt.Sprintf("Shelf %d holds the %s jars.", i, thing(i))}
}

func thing(i int) string { return fmt.Sprintf("qx%03dz", i) }

// fill remembers n notes and returns their IDs.
func fill(t testing.TB, e *engine.Engine, n int) []memtypes.ID {
	t.Helper()
	drafts := make([]memtypes.Draft, n)
	for i := range drafts {
		drafts[i] = note(t, i)
	}
	r, err := e.Remember(t.Context(), drafts, nil)
	if err != nil || len(r.Results) != n {
		t.Fatalf("Remember: %d results, %v, want %d", len(r.Results), err, n)
	}
	ids := make([]memtypes.ID, n)
	for i, res := range r.Results {
		ids[i] = res.ID
	}
	return ids
}

// finds fails unless asking for note i by profile answers with id.
func finds(t testing.TB, e *engine.Engine, profile string, i int, id memtypes.ID) {
	t.Helper()
	a, err := e.Recall(t.Context(), memtypes.Query{Scope: ada(t), Text: note(t, i).Text, Profile: profile, Quiet: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Degraded) > 0 || !slices.ContainsFunc(a.Hits, func(h memtypes.Hit) bool { return h.Memory.ID == id }) {
		t.Errorf("profile %s: note %d is not among %d hits, degraded %v", profile, i, len(a.Hits), a.Degraded)
	}
}

func TestOpenAndOpenAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "bank")
	if bank.Exists(dir) {
		t.Error("Exists before there is a bank")
	}
	e := open(t, dir, nil)
	ids := fill(t, e, 3)
	shut(t, e)
	if !bank.Exists(dir) {
		t.Error("Exists is false of a bank")
	}
	again := open(t, dir, nil)
	for _, profile := range []string{"bm25", "dense", "default"} {
		finds(t, again, profile, 2, ids[2])
	}
	if _, err := bank.Open(t.Context(), "", nil); memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf("Open of no folder: %v, want Invalid", err)
	}
}

func TestForeignFolderIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "ledger.db")
	if err := os.WriteFile(file, []byte("another program's notes, long enough to be looked at"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := bank.Open(t.Context(), dir, nil)
	if memtypes.CodeOf(err) != memtypes.Incompatible {
		t.Errorf("Open: %v, want Incompatible", err)
	}
	if b, _ := os.ReadFile(file); !strings.HasPrefix(string(b), "another program") {
		t.Error("another program's file was changed")
	}
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, nil)
	ids := fill(t, e, 100) // enough for a snapshot
	shut(t, e)
	before := listing(t, dir)
	ro := open(t, dir, &bank.Options{ReadOnly: true})
	finds(t, ro, "bm25", 1, ids[1])
	finds(t, ro, "dense", 1, ids[1])
	if _, err := ro.Remember(t.Context(), []memtypes.Draft{note(t, 200)}, nil); memtypes.CodeOf(err) != memtypes.ReadOnly {
		t.Errorf("Remember: %v, want ReadOnly", err)
	}
	if err := ro.Forget(t.Context(), ada(t), "", ids[0]); memtypes.CodeOf(err) != memtypes.ReadOnly {
		t.Errorf("Forget: %v, want ReadOnly", err)
	}
	// A recall that would strengthen answers all the same.
	if a, err := ro.Recall(t.Context(), memtypes.Query{Scope: ada(t), Text: "jars"}); err != nil || len(a.Hits) == 0 {
		t.Errorf("Recall: %v, want hits", err)
	}
	shut(t, ro)
	if after := listing(t, dir); !slices.Equal(before, after) {
		t.Errorf("the folder holds %v, want %v as before", after, before)
	}
	if _, err := bank.Open(t.Context(), t.TempDir(), &bank.Options{ReadOnly: true}); err == nil {
		t.Error("a read-only bank was opened where there is none")
	}
}

// listing names the files of dir that hold something, with their sizes; the
// ledger's own working files may come and go.
func listing(t testing.TB, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > 0 && !strings.HasSuffix(e.Name(), "-shm") {
			out = append(out, fmt.Sprintf("%s %d", e.Name(), info.Size()))
		}
	}
	return out
}

func TestWordsOnly(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, &bank.Options{WordsOnly: true})
	ids := fill(t, e, 5)
	finds(t, e, "bm25", 3, ids[3])
	finds(t, e, "default", 3, ids[3])
	if s := e.Stats(); s.Dense != 0 || s.Sparse != 5 || s.Embedder != "" {
		t.Errorf("Stats = %+v, want words alone", s)
	}
	shut(t, e)
	// With the embedder back, what was remembered without it has vectors too.
	both := open(t, dir, nil)
	finds(t, both, "dense", 3, ids[3])
	if s := both.Stats(); s.Dense != 5 {
		t.Errorf("Stats = %+v, want 5 vectors", s)
	}
}

// A damaged or missing snapshot costs time and no memory.
func TestDamagedSnapshot(t *testing.T) {
	for _, file := range []string{"dense.snapshot", "sparse.snapshot"} {
		for name, damage := range map[string]func(b []byte) []byte{
			"a bit":   func(b []byte) []byte { b[len(b)/2] ^= 4; return b },
			"the end": func(b []byte) []byte { return b[:len(b)-9] },
			"all":     func([]byte) []byte { return nil },
		} {
			t.Run(file+" without "+name, func(t *testing.T) {
				dir := t.TempDir()
				e := open(t, dir, nil)
				ids := fill(t, e, 100)
				shut(t, e)
				path := filepath.Join(dir, file)
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, damage(b), 0o600); err != nil {
					t.Fatal(err)
				}
				again := open(t, dir, nil)
				if s := again.Stats(); s.Dense != 100 || s.Sparse != 100 {
					t.Errorf("Stats = %+v, want 100 in each index", s)
				}
				finds(t, again, "bm25", 99, ids[99])
				finds(t, again, "dense", 99, ids[99])
				sound(t, again)
			})
		}
	}
}

// sound fails if an index and the ledger do not agree.
func sound(t testing.TB, e *engine.Engine) {
	t.Helper()
	drifts, err := e.Reconcile(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range drifts {
		if !d.OK() {
			t.Errorf("index %s: %d missing, %d stale, %d ghosts, want none", d.Index, len(d.Missing), len(d.Stale), len(d.Ghosts))
		}
	}
}

// tiny is an embedder of few dimensions, as another model would be.
type tiny struct{ dim int }

func (m tiny) Dim() int { return m.dim }

func (m tiny) Fingerprint() string { return fmt.Sprintf("tiny/%d", m.dim) }

func (m tiny) Embed(_ context.Context, texts []string) ([]memtypes.Vector, error) {
	out := make([]memtypes.Vector, len(texts))
	for i, text := range texts {
		sum, v := sha256.Sum256([]byte(text)), make(memtypes.Vector, m.dim)
		norm := 0.0
		for d := range v {
			v[d] = float32(sum[d]) - 127.5
			norm += float64(v[d]) * float64(v[d])
		}
		for d := range v {
			v[d] /= float32(math.Sqrt(norm))
		}
		out[i] = v
	}
	return out, nil
}

// The vectors of two embedders are never mixed, whatever their dimensions.
func TestForeignEmbedder(t *testing.T) {
	for _, dim := range []int{8, 12} {
		t.Run(fmt.Sprint(dim), func(t *testing.T) {
			dir := t.TempDir()
			e := open(t, dir, &bank.Options{Embedder: tiny{8}})
			ids := fill(t, e, 100)
			shut(t, e)
			other := &bank.Options{Embedder: tiny{dim}}
			if dim == 8 { // the same dimension of another model
				other.Embedder = named{tiny{8}}
			}
			_, err := bank.Open(t.Context(), dir, other)
			if memtypes.CodeOf(err) != memtypes.Incompatible {
				t.Fatalf("Open: %v, want Incompatible", err)
			}
			for _, want := range []string{"tiny/8", other.Embedder.Fingerprint(), "vimbank rebuild"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not name %q", err, want)
				}
			}
			finds(t, open(t, dir, &bank.Options{WordsOnly: true}), "bm25", 7, ids[7])
			adopt := *other
			adopt.Engine.Adopt = true
			a := open(t, dir, &adopt)
			if err := a.Rebuild(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			finds(t, a, "dense", 7, ids[7])
			shut(t, a)
			again := open(t, dir, other)
			finds(t, again, "dense", 8, ids[8])
			sound(t, again)
			if _, err := bank.Open(t.Context(), dir, &bank.Options{Embedder: tiny{8}}); memtypes.CodeOf(err) != memtypes.Incompatible {
				t.Errorf("Open with the first embedder: %v, want Incompatible", err)
			}
		})
	}
}

// named is tiny under another name.
type named struct{ tiny }

func (named) Fingerprint() string { return "other/8" }

func TestInspect(t *testing.T) {
	dir := t.TempDir()
	if _, err := bank.Inspect(t.Context(), dir); memtypes.CodeOf(err) != memtypes.NotFound {
		t.Errorf("Inspect of an empty folder: %v, want NotFound", err)
	}
	e := open(t, dir, &bank.Options{Embedder: tiny{8}})
	ids := fill(t, e, 4)
	if err := e.Forget(t.Context(), ada(t), "", ids[0]); err != nil {
		t.Fatal(err)
	}
	shut(t, e)
	r, err := bank.Inspect(t.Context(), dir)
	if err != nil || r.Damage != "" || r.Embedder != "tiny/8" || r.ReadOnly {
		t.Fatalf("Inspect = %+v, %v, want a sound bank of tiny/8", r, err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := bank.Inspect(ctx, dir); memtypes.CodeOf(err) != memtypes.Canceled {
		t.Errorf("Inspect after its deadline: %v, want Canceled", err)
	}
}

// What the built-in embedder makes is made again, not kept: there is no cache
// of vectors in the folder, and yet they are found after another start.
func TestVectorsOfTheTableAreNotKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bank")
	e, err := bank.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	fill(t, e, 3)
	shut(t, e)
	if _, err := os.Stat(filepath.Join(dir, "vectors.db")); !os.IsNotExist(err) {
		t.Errorf("vectors.db: %v, want that there is none", err)
	}
	d, err := open(t, dir, nil).Reconcile(t.Context(), false)
	if err != nil || len(d) != 2 || !d[0].OK() || !d[1].OK() || d[0].Held != 3 {
		t.Errorf("Reconcile = %+v, %v; want 3 memories in both indexes", d, err)
	}
}
