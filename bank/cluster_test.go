package bank_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/eval"
	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/ledger/postgres"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// ours are the names of one test on servers that others use, too.
func ours(t testing.TB) string {
	t.Helper()
	var b [5]byte
	if _, err := rand.Read(b[:]); err != nil {
		t.Fatal(err)
	}
	return "vb" + hex.EncodeToString(b[:])
}

// cluster is the options of a bank on the running servers, under a name of its
// own: those of ../shared/servers are empty at each start.
func cluster(t testing.TB) *bank.Options {
	t.Helper()
	name := ours(t)
	return &bank.Options{Services: &bank.Services{
		Postgres: &bank.Postgres{URL: live.Postgres(t), Options: postgres.Options{Schema: name}},
		Qdrant:   &qdrant.Options{Addr: live.Qdrant(t), Prefix: name, Exact: true},
		Elastic:  &elastic.Options{URLs: live.Elasticsearch(t), Prefix: name, Replicas: -1, Refresh: elastic.Now},
		Pump:     engine.Shared{Refresh: 50 * time.Millisecond, Retry: 50 * time.Millisecond, Pause: 300 * time.Millisecond},
	}}
}

// placed waits until the services have everything that the ledger has.
func placed(ctx context.Context, e *engine.Engine) error {
	return bank.Settled(ctx, e, 20*time.Millisecond, nil)
}

// data is a folder of public evaluation data, or the test skips.
func data(t testing.TB, name string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "data", name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no %s: it lies beside the project", dir)
	}
	return dir
}

// The same memories and the same questions: the services answer as the folder
// does, hit by hit. Elasticsearch counts documents that were replaced until its
// segments merge, so each bank is asked after a rebuild, which replaces none.
func TestClusterRecallsAsEmbedded(t *testing.T) {
	dir := data(t, "locomo")
	embedded := func(ctx context.Context, dir string) (*engine.Engine, error) { return bank.Open(ctx, dir, nil) }
	for _, tt := range []struct {
		name           string
		exact          bool
		equal, overlap float64 // shares, at least
	}{
		{"exact", true, .99, .99},
		{"hnsw", false, 0, .98},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := eval.Compare(t.Context(), dir, eval.Options{Open: embedded, Filled: filled},
				func(ctx context.Context, _ string) (*engine.Engine, error) {
					o := cluster(t)
					o.Services.Qdrant.Exact = tt.exact
					return bank.Open(ctx, "", o)
				})
			if err != nil {
				t.Fatal(err)
			}
			share := float64(p.Equal) / float64(p.Probes)
			t.Logf("%d probes: %.4f equal, overlap %.4f", p.Probes, share, p.Overlap)
			if p.Probes < 600 || share < tt.equal || p.Overlap < tt.overlap {
				t.Errorf("%d probes, equal %.4f, overlap %.4f; want all, %.2f and %.2f; the first that differ: %v",
					p.Probes, share, p.Overlap, tt.equal, tt.overlap, p.Differ[:min(3, len(p.Differ))])
			}
		})
	}
}

// filled waits until the services of e have everything, if it has any.
func filled(ctx context.Context, e *engine.Engine) error {
	if h, err := e.Health(ctx); err != nil || h.Indexes == nil {
		return err
	}
	if err := placed(ctx, e); err != nil {
		return err
	}
	if err := e.Rebuild(ctx, nil); err != nil {
		return err
	}
	return placed(ctx, e)
}

// A bank goes to the services and back, and is the same.
func TestMigrateThereAndBack(t *testing.T) {
	home, o := t.TempDir(), cluster(t)
	e := open(t, home, nil)
	ids := fill(t, e, 300)
	if err := e.Forget(t.Context(), ada(t), "test", ids[:5]...); err != nil {
		t.Fatal(err)
	}
	if err := e.Erase(t.Context(), ada(t), "test", ids[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Update(t.Context(), ada(t), ids[9], engine.Change{Text: new("Shelf 9 holds nothing now.")}); err != nil {
		t.Fatal(err)
	}
	finds(t, e, "bm25", 7, ids[7])
	shut(t, e)
	there, err := bank.Migrate(t.Context(), bank.Place{Dir: home}, bank.Place{Options: o}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if there.Sum.Active != 295 || there.Sum.Retired != 4 || there.Sum.Purged != 1 || there.Sum.Replaced != 1 {
		t.Errorf("moved %v, want 295 active, 4 retired, 1 purged, 1 replaced", there.Sum)
	}
	again, err := bank.Migrate(t.Context(), bank.Place{Dir: home}, bank.Place{Options: o}, nil)
	if err != nil || again.Sum != there.Sum {
		t.Errorf("the same once more: %v, %v; want %v", again.Sum, err, there.Sum)
	}
	c, err := bank.Open(t.Context(), "", o)
	if err != nil {
		t.Fatal(err)
	}
	finds(t, c, "bm25", 8, ids[8])
	finds(t, c, "dense", 8, ids[8])
	sound(t, c)
	more, err := c.Remember(t.Context(), []memtypes.Draft{note(t, 999)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	shut(t, c)
	back := filepath.Join(t.TempDir(), "back")
	if _, err := bank.Migrate(t.Context(), bank.Place{Options: o}, bank.Place{Dir: back}, nil); err != nil {
		t.Fatal(err)
	}
	b := open(t, back, nil)
	finds(t, b, "dense", 999, more.Results[0].ID)
	finds(t, b, "bm25", 7, ids[7])
	sound(t, b)
	if _, err := bank.Migrate(t.Context(), bank.Place{Dir: home}, bank.Place{Options: o}, nil); memtypes.CodeOf(err) != memtypes.Conflict {
		t.Errorf("into a bank that went on by itself: %v, want Conflict", err)
	}
}

// Another embedder makes new generations while the old ones serve those who
// still have the old one, and vectors are never mixed.
func TestClusterChangesItsEmbedder(t *testing.T) {
	o := cluster(t)
	o.Embedder = tiny{8}
	old, err := bank.Open(t.Context(), "", o)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, old)
	ids := fill(t, old, 100)
	if err := placed(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	next := *o
	next.Embedder = tiny{12}
	if _, err := bank.Open(t.Context(), "", &next); memtypes.CodeOf(err) != memtypes.Incompatible {
		t.Fatalf("Open with another embedder: %v, want Incompatible", err)
	}
	next.Engine.Adopt = true
	e, err := bank.Open(t.Context(), "", &next)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, e)
	finds(t, old, "dense", 3, ids[3])
	if err := e.Rebuild(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := placed(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	finds(t, e, "dense", 7, ids[7])
	finds(t, e, "bm25", 8, ids[8])
	sound(t, e)
}
