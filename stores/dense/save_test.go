package dense

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/snapshot"
)

// mixed is an index with everything in it: two tenants, all facets, documents
// of no, one and two vectors, and deletions.
func mixed(t testing.TB, n int) *Flat {
	t.Helper()
	f, err := Open(70, nil)
	if err != nil {
		t.Fatal(err)
	}
	vs := sentences(rand.New(rand.NewPCG(9, 9)), n, 70)
	for i, v := range vs {
		scope, err := memtypes.NewScope(fmt.Sprint("tenant", i%2), "ann", []string{"", "bot"}[i%3/2], fmt.Sprint(i%5))
		if err != nil {
			t.Fatal(err)
		}
		d := Doc{ID: numbered(i), Rev: uint64(i + 1), Text: v, Facets: memtypes.Facets{
			Scope: scope, Kind: memtypes.Kinds()[i%3], Layer: memtypes.Thought, Session: fmt.Sprint("s", i%4),
			When: time.Unix(int64(i-n/2)*1e6, 0).UTC(),
		}}
		switch i % 7 {
		case 3, 4:
			d.Context = vs[(i+1)%n]
		case 5:
			d.Text = nil
		}
		if err := f.Upsert(t.Context(), []Doc{d}); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < n; i += 11 {
		if err := f.Delete(t.Context(), gone(uint64(n+i), i)); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// answers is what f says to a number of questions, with every bit of the scores.
func answers(t testing.TB, f *Flat) map[string]any {
	t.Helper()
	out := map[string]any{"len": count(t, f)}
	revs := map[memtypes.ID]uint64{}
	for h, err := range f.Revs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		revs[h.ID] = h.Rev
	}
	out["revs"] = revs
	for i, v := range sentences(rand.New(rand.NewPCG(10, 10)), 5, f.dim) {
		for _, sp := range []Space{Text, Context} {
			for tenant := range 2 {
				for name, filter := range map[string]memtypes.Filter{
					"all": {}, "kind": {Kinds: []memtypes.Kind{memtypes.TaskKind}}, "session": {Session: "s1"}, "past": {To: time.Unix(0, 0)},
				} {
					var err error
					if filter.Scope, err = memtypes.NewScope(fmt.Sprint("tenant", tenant), "ann", "", ""); err != nil {
						t.Fatal(err)
					}
					hits, err := f.Search(t.Context(), Query{Vector: v, Space: sp, K: 50, Filter: filter})
					if err != nil {
						t.Fatal(err)
					}
					out[fmt.Sprint(i, sp, tenant, name)] = hits
				}
			}
		}
	}
	return out
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dense.snap")
	f := mixed(t, 700)
	if err := f.Save(path, 42, "note"); err != nil {
		t.Fatal(err)
	}
	g, mark, err := Load(path, 70, "note", nil)
	if err != nil {
		t.Fatal(err)
	}
	if mark != 42 {
		t.Errorf("mark = %d, want 42", mark)
	}
	if diff := cmp.Diff(answers(t, f), answers(t, g)); diff != "" {
		t.Errorf("loaded differs (-saved +loaded):\n%s", diff)
	}
	late := Doc{ID: numbered(0), Rev: 1, Facets: memtypes.Facets{Scope: scopeOf(t, "ann")}}
	if err := g.Upsert(t.Context(), []Doc{late}); err != nil {
		t.Fatal(err)
	}
	if count(t, g) != count(t, f) {
		t.Error("a deletion was forgotten: its memory came back with an older revision")
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "dense.snap")
	f := mixed(t, 30)
	if err := f.Save(path, 1, "note"); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.snap")
	if err := snapshot.Write(other, snapshot.Header{Kind: "sparse", Version: snapshotVersion}, func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path, note string
		dim              int
		want             memtypes.Code
		says             string
	}{
		{"no file", path + "x", "note", 70, memtypes.NotFound, ""},
		{"another embedder", path, "else", 70, memtypes.Incompatible, `found an index of "note", wanted one of "else"`},
		{"another dimension", path, "note", 71, memtypes.Incompatible, "found vectors of 70 dimensions, wanted 71"},
		{"another kind", other, "note", 70, memtypes.Incompatible, "found sparse"},
		{"no dimension", path, "note", 0, memtypes.Invalid, `"dim"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := Load(c.path, c.dim, c.note, nil)
			if err == nil || memtypes.CodeOf(err) != c.want || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error = %v, want %s that says %s", err, c.want, c.says)
			}
		})
	}
	f.Close()
	if err := f.Save(path, 2, "note"); memtypes.CodeOf(err) != memtypes.Unavailable {
		t.Errorf("Save after Close: %v, want Unavailable", err)
	}
}

// TestLoadDamaged flips a bit in each byte of the header and of the end, and in
// every 13th between, and cuts the file at as many places: none of it loads.
func TestLoadDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dense.snap")
	if err := mixed(t, 20).Save(path, 1, "note"); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, at int, file []byte) {
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(path, 70, "note", nil); memtypes.CodeOf(err) != memtypes.Incompatible {
			t.Errorf("%s byte %d of %d: Load gave %v, want Incompatible", what, at, len(whole), err)
		}
	}
	for at := range whole {
		if at > 96 && at < len(whole)-64 && at%13 != 0 {
			continue
		}
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << (at % 8)
		refused("a flipped bit in", at, damaged)
		refused("cut at", at, whole[:at])
	}
}

// TestSaveWhileWriting: what was there before Save is in the file, whatever
// is written, moved and deleted meanwhile.
func TestSaveWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dense.snap")
	vs := sentences(rand.New(rand.NewPCG(11, 11)), 1500, 64)
	f := filled(t, vs, nil)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // documents from 500 on go and come, so that rows and numbers change hands
		for rev := uint64(2); ; rev++ {
			select {
			case <-stop:
				return
			default:
			}
			n := 500 + int(rev*7)%1000
			if err := f.Delete(t.Context(), gone(rev, n)); err != nil {
				t.Errorf("Delete: %v", err)
			}
			d := Doc{ID: numbered(n), Rev: rev + 1, Text: vs[n], Facets: memtypes.Facets{Scope: scopeOf(t, "ann")}}
			if err := f.Upsert(t.Context(), []Doc{d}); err != nil {
				t.Errorf("Upsert: %v", err)
			}
		}
	})
	for range 5 {
		if err := f.Save(path, 1, ""); err != nil {
			t.Fatal(err)
		}
		g, _, err := Load(path, 64, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 500 {
			if p, ok := g.places[numbered(n)]; !ok || p.rev != 1 || p.shard == nil {
				t.Fatalf("%s, which nobody touched, is %+v, %v in the file", numbered(n), p, ok)
			}
		}
	}
	close(stop)
	wg.Wait()
}

// FuzzLoad changes payloads under a right checksum. Load must refuse them or
// give an index that saves and loads as the same.
func FuzzLoad(f *testing.F) {
	path := filepath.Join(f.TempDir(), "dense.snap")
	if err := mixed(f, 12).Save(path, 1, ""); err != nil {
		f.Fatal(err)
	}
	want := snapshot.Header{Kind: snapshotKind, Version: snapshotVersion}
	_, payload, err := snapshot.Read(path, want)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(payload, uint16(0), byte(0))
	f.Add(payload[:len(payload)-3], uint16(9), byte(1))
	f.Add([]byte{70, 0, 0}, uint16(0), byte(0))
	f.Add([]byte{70, tagDeleted, 1, 'x', 5, tagEnd, 1}, uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, payload []byte, at uint16, flip byte) {
		payload = bytes.Clone(payload)
		if len(payload) > 0 {
			payload[int(at)%len(payload)] ^= flip
		}
		g, err := Open(70, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.decode(bufio.NewReaderSize(bytes.NewReader(payload), 1<<20)); err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "again")
		if err := g.Save(path, 1, ""); err != nil {
			t.Fatalf("Save of what was loaded: %v", err)
		}
		again, _, err := Load(path, 70, "", nil)
		if err != nil {
			t.Fatalf("Load of what was saved: %v", err)
		}
		if diff := cmp.Diff(answers(t, g), answers(t, again)); diff != "" {
			t.Errorf("saved and loaded differs (-before +after):\n%s", diff)
		}
	})
}

func TestSaveIntoNothing(t *testing.T) {
	f := mixed(t, 3)
	dir := filepath.Join(t.TempDir(), "none")
	if err := f.Save(filepath.Join(dir, "x"), 1, ""); memtypes.CodeOf(err) != memtypes.Unavailable {
		t.Errorf("Save into a folder that is not there: %v, want Unavailable", err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("Stat: %v, want nothing there", err)
	}
}
