package elastic_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// TestRanksAsInProcess: after random writes, replacements and deletes, and once
// what was replaced is expunged, every form of query finds the same memories
// with the same scores as the index in process, to one part in a million.
func TestRanksAsInProcess(t *testing.T) {
	o := options(t)
	o.Replicas = -1
	one := generation(t, store(t, o), "g")
	o = options(t)
	o.Replicas, o.Shards = -1, 3
	three := generation(t, store(t, o), "g")
	mine, _ := sparse.Open(nil)
	r := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		var docs []sparse.Doc
		var gone []memtypes.Gone
		for range 400 {
			n := r.IntN(900)
			d := randomDoc(t, r, n)
			docs = append(docs, d)
			if r.IntN(6) == 0 {
				gone = append(gone, memtypes.Gone{ID: d.ID, Tenant: d.Facets.Scope.Tenant(), Rev: d.Rev})
			}
		}
		for _, ix := range []sparse.Index{mine, one, three} {
			upsert(t, ix, docs...)
			if err := ix.Delete(t.Context(), gone); err != nil {
				t.Fatalf("Delete: %v", err)
			}
		}
	}
	want, _ := mine.Len(t.Context())
	for name, ix := range map[string]*elastic.Index{"one shard": one, "three shards": three} {
		t.Run(name, func(t *testing.T) {
			if got, err := ix.Len(t.Context()); err != nil || got != want {
				t.Fatalf("Len = %d, %v, want %d", got, err, want)
			}
			expunge(t, ix)
			for range 400 {
				q := randomQuery(t, r)
				alike(t, mine, ix, q)
			}
		})
	}
}

// expunge waits until Elasticsearch has let go of all that was replaced.
func expunge(t *testing.T, ix *elastic.Index) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(time.Second) {
		if err := ix.Expunge(t.Context()); err != nil {
			t.Fatalf("Expunge: %v", err)
		}
		n := deleted(t, ix)
		if n == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d documents that were replaced are still there", n)
		}
	}
}

// deleted is how many documents are there that were replaced or deleted.
func deleted(t *testing.T, ix *elastic.Index) int {
	t.Helper()
	var found struct {
		All struct {
			Primaries struct{ Docs struct{ Deleted int } }
		} `json:"_all"`
	}
	err := storeOf(ix).Do(context.Background(), esapi.IndicesStatsRequest{Index: []string{ix.List() + ".*"}, Metric: []string{"docs"}}, &found)
	if err != nil {
		t.Fatal(err)
	}
	return found.All.Primaries.Docs.Deleted
}

var storeOf = (*elastic.Index).Store

// word is one of a hundred, the first the commonest.
func word(r *rand.Rand) string {
	n := int(100 * math.Pow(r.Float64(), 2.5))
	return fmt.Sprintf([]string{"w%d", "爱%d", "two words %d"}[n%3], n)
}

func words(r *rand.Rand, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = word(r)
	}
	return out
}

var revision uint64

func randomDoc(tb testing.TB, r *rand.Rand, n int) sparse.Doc {
	revision++
	d := doc(tb, []string{"acme", "beta"}[n%2], n, revision, words(r, 1+r.IntN(70))...)
	if r.IntN(10) == 0 {
		d.Fields[sparse.Text] = nil
	}
	for _, f := range []sparse.Field{sparse.Turn, sparse.Window} {
		if r.IntN(3) > 0 {
			d.Fields[f] = words(r, r.IntN(150))
		}
	}
	d.Facets.Scope, _ = memtypes.NewScope(d.Facets.Scope.Tenant(), []string{"ann", "bob"}[r.IntN(2)], "", "")
	d.Facets.Kind = memtypes.Kinds()[r.IntN(3)]
	d.Facets.Session = []string{"", "s1", "s2", "s3"}[r.IntN(4)]
	d.Facets.When = time.Unix(int64(r.IntN(1000)), 0).UTC()
	return d
}

func randomQuery(tb testing.TB, r *rand.Rand) sparse.Query {
	q := query(tb, []string{"acme", "beta"}[r.IntN(2)])
	q.Filter.Scope = scope(tb, q.Filter.Scope.Tenant(), []string{"ann", "bob"}[r.IntN(2)])
	q.Field = sparse.Fields()[r.IntN(3)]
	q.K = 1 + r.IntN(30)
	q.BySession = r.IntN(4) == 0
	for range 1 + r.IntN(12) {
		t := sparse.Term{Token: word(r)}
		if r.IntN(2) == 0 {
			t.Boost = .1 + 3*r.Float64()
		}
		for range r.IntN(4) {
			t.Near = append(t.Near, sparse.Near{Token: word(r), Weight: .05 + .95*r.Float64()})
		}
		q.Terms = append(q.Terms, t)
	}
	if r.IntN(3) == 0 {
		q.Filter.Kinds = []memtypes.Kind{memtypes.Kinds()[r.IntN(3)]}
	}
	if r.IntN(4) == 0 {
		q.Filter.From, q.Filter.To = time.Unix(int64(r.IntN(500)), 1), time.Unix(int64(500+r.IntN(500)), 1)
	}
	return q
}

// alike holds theirs to mine for q: rank by rank the same score, and each memory
// with its own.
func alike(t *testing.T, mine, theirs sparse.Index, q sparse.Query) {
	t.Helper()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(math.Abs(a), math.Abs(b)) }
	want, err := mine.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	got, err := theirs.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	all := q
	all.K, all.BySession = 10_000, false
	truth := map[memtypes.ID]float64{}
	every, err := mine.Search(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range every {
		truth[h.ID] = h.Score
	}
	ok := len(got) == len(want)
	for i := 0; ok && i < len(got); i++ {
		ok = near(got[i].Score, want[i].Score) && near(got[i].Score, truth[got[i].ID])
	}
	if !ok {
		t.Fatalf("%+v:\ngot  %v\nwant %v", q, got, want)
	}
}
