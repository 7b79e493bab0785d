package sparse_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/sparsetest"
)

// reborn is an index that is saved, closed and loaded after some of its writes.
type reborn struct {
	path string

	mu     sync.RWMutex
	ix     *sparse.Inverted // guarded by mu
	writes int              // guarded by mu
}

func (r *reborn) write(do func(*sparse.Inverted) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := do(r.ix); err != nil {
		return err
	}
	if r.writes++; r.writes%4 != 0 {
		return nil
	}
	if err := r.ix.Save(r.path, uint64(r.writes), "note"); err != nil {
		return err
	}
	loaded, mark, err := sparse.Load(r.path, "note", nil)
	if err != nil {
		return err
	}
	if mark != uint64(r.writes) {
		return fmt.Errorf("mark = %d, want %d", mark, r.writes)
	}
	if err := r.ix.Close(); err != nil {
		return err
	}
	r.ix = loaded
	return nil
}

func (r *reborn) now() *sparse.Inverted {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.ix
}

func (r *reborn) Upsert(ctx context.Context, docs []sparse.Doc) error {
	return r.write(func(ix *sparse.Inverted) error { return ix.Upsert(ctx, docs) })
}

func (r *reborn) Delete(ctx context.Context, gone []memtypes.Gone) error {
	return r.write(func(ix *sparse.Inverted) error { return ix.Delete(ctx, gone) })
}

func (r *reborn) Search(ctx context.Context, q sparse.Query) ([]memtypes.Scored, error) {
	return r.now().Search(ctx, q)
}
func (r *reborn) Revs(ctx context.Context) iter.Seq2[sparse.Held, error] { return r.now().Revs(ctx) }
func (r *reborn) Len(ctx context.Context) (int, error)                   { return r.now().Len(ctx) }
func (r *reborn) Close() error                                           { return r.now().Close() }

// TestLoadedIndexGoesOn: a loaded index answers, and takes writes, as the
// saved one would have.
func TestLoadedIndexGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sparse.snapshot")
	sparsetest.RunExact(t, func(tb testing.TB) sparse.Index {
		return &reborn{path: path, ix: opener(nil)(tb).(*sparse.Inverted)}
	})
}

// saved is an index with something of everything, and the file it was saved to.
func saved(t *testing.T) (*sparse.Inverted, string) {
	t.Helper()
	ix := opener(nil)(t).(*sparse.Inverted)
	docs := benchDocs(t, sentences(700, 1))
	for i := range docs {
		docs[i].Fields[sparse.Window] = docs[(i+1)%len(docs)].Fields[sparse.Text]
		if i%9 == 0 {
			docs[i].Facets.Scope = testScope(t, "acme")
		}
	}
	docs[3].Fields[sparse.Text] = nil
	docs[4].Fields = nil
	for i := range 100 { // beyond what a posting can say
		docs[5].Fields[sparse.Text] = append(docs[5].Fields[sparse.Text], fmt.Sprint("w", i/90))
	}
	gone := []memtypes.Gone{{ID: docs[0].ID, Rev: 1 << 40}, {ID: docs[699].ID, Rev: 1 << 40}, {ID: docs[350].ID, Rev: 1 << 40}, {ID: "never-held", Rev: 1 << 40}}
	if err := ix.Upsert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	if err := ix.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sparse.snapshot")
	if err := ix.Save(path, 42, "analyzer 1"); err != nil {
		t.Fatal(err)
	}
	return ix, path
}

func TestSaveAndLoad(t *testing.T) {
	ix, path := saved(t)
	loaded, mark, err := sparse.Load(path, "analyzer 1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if mark != 42 {
		t.Errorf("mark = %d, want 42", mark)
	}
	if got, want := held(t, loaded), held(t, ix); !cmp.Equal(got, want) {
		t.Errorf("Revs differ (-want +got):\n%s", cmp.Diff(want, got))
	}
	for i, words := range sentences(100, 2) {
		for _, field := range []sparse.Field{sparse.Text, sparse.Window, sparse.Turn} {
			q := benchQuery(t, words)
			q.Field, q.BySession = field, i%2 == 0
			got, want := must(loaded.Search(t.Context(), q)), must(ix.Search(t.Context(), q))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s %v differ (-saved +loaded):\n%s", field, words, diff)
			}
		}
	}
	late := benchDocs(t, sentences(1, 1)) // deleted before the snapshot
	if err := loaded.Upsert(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	if got, want := must(loaded.Len(t.Context())), must(ix.Len(t.Context())); got != want {
		t.Errorf("Len after a late write of a deleted memory = %d, want %d", got, want)
	}
	again := filepath.Join(t.TempDir(), "again")
	if err := loaded.Save(again, 42, "analyzer 1"); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(must(os.ReadFile(path)), must(os.ReadFile(again))) {
		t.Error("saved again, the snapshot is another")
	}
}

func TestLoadRefuses(t *testing.T) {
	ix, path := saved(t)
	whole := must(os.ReadFile(path))
	for _, tt := range []struct {
		name string
		file []byte
		note string
		want memtypes.Code
	}{
		{"another note", whole, "analyzer 2", memtypes.Incompatible},
		{"cut short", whole[:len(whole)/2], "analyzer 1", memtypes.Incompatible},
		{"empty", nil, "analyzer 1", memtypes.Incompatible},
		{"a changed bit", flip(whole, len(whole)/2), "analyzer 1", memtypes.Incompatible},
		{"bytes at the end", append(bytes.Clone(whole), 0), "analyzer 1", memtypes.Incompatible},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sparse.snapshot")
			if err := os.WriteFile(path, tt.file, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, _, err := sparse.Load(path, tt.note, nil); memtypes.CodeOf(err) != tt.want {
				t.Fatalf("Load: %v, want code %q", err, tt.want)
			}
		})
	}
	if _, _, err := sparse.Load(filepath.Join(t.TempDir(), "none"), "", nil); memtypes.CodeOf(err) != memtypes.NotFound {
		t.Errorf("Load of no file: %v, want code %q", err, memtypes.NotFound)
	}
	ix.Close()
	if err := ix.Save(path, 43, ""); memtypes.CodeOf(err) != memtypes.Unavailable {
		t.Errorf("Save after Close: %v, want code %q", err, memtypes.Unavailable)
	}
	if !bytes.Equal(whole, must(os.ReadFile(path))) {
		t.Error("a failed Save has changed the snapshot")
	}
}

// TestLoadDamaged flips a bit in each byte of the header and of the end, and in
// every 13th between, and cuts the file at as many places: none of it loads.
func TestLoadDamaged(t *testing.T) {
	ix := opener(nil)(t).(*sparse.Inverted)
	if err := ix.Upsert(t.Context(), benchDocs(t, sentences(60, 1))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sparse.snapshot")
	if err := ix.Save(path, 1, "note"); err != nil {
		t.Fatal(err)
	}
	whole := must(os.ReadFile(path))
	refused := func(what string, at int, file []byte) {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := sparse.Load(path, "note", nil); memtypes.CodeOf(err) != memtypes.Incompatible {
			t.Errorf("%s byte %d of %d: Load gave %v, want Incompatible", what, at, len(whole), err)
		}
	}
	for at := range whole {
		if at > 96 && at < len(whole)-64 && at%13 != 0 {
			continue
		}
		refused("a flipped bit in", at, flip(whole, at))
		refused("cut at", at, whole[:at])
	}
}

func flip(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}

func held(t *testing.T, ix sparse.Index) map[memtypes.ID]uint64 {
	t.Helper()
	revs := map[memtypes.ID]uint64{}
	for h, err := range ix.Revs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		revs[h.ID] = h.Rev
	}
	return revs
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
