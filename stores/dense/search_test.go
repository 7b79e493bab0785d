package dense

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/internal/kernel"
	"github.com/vimbank/vimbank/memtypes"
)

// never and always set the size above which a search scans one-bit codes.
const (
	never  = -1
	always = 1
)

func everything(tb testing.TB, v memtypes.Vector, k int) Query {
	return Query{Vector: v, K: k, Filter: memtypes.Filter{Scope: scopeOf(tb, "ann")}}
}

func TestRecall(t *testing.T) {
	all := sentences(rand.New(rand.NewPCG(1, 1)), 6050, benchDim)
	vs, queries := all[:6000], all[6000:]
	f := filled(t, vs, nil)
	for _, c := range []struct {
		name   string
		binary int
		k      int
		want   float64
	}{
		{"int8", never, 10, .998},
		{"int8, many", never, 200, .998},
		{"bits", always, 10, .99},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.opt.BinaryAbove = c.binary
			var sum float64
			for _, q := range queries {
				sum += recall(nearest(vs, q, c.k), found(t, f, everything(t, q, c.k)))
			}
			if got := sum / float64(len(queries)); got < c.want {
				t.Errorf("recall@%d = %.4f, want at least %v", c.k, got, c.want)
			}
		})
	}
}

// TestSameBitsOnEveryKernel: scores and order do not depend on the processor.
func TestSameBitsOnEveryKernel(t *testing.T) {
	all := sentences(rand.New(rand.NewPCG(2, 2)), 5010, 200)
	f := filled(t, all[:5000], nil)
	for _, mode := range []int{never, always} {
		f.opt.BinaryAbove = mode
		for _, q := range all[5000:] {
			var want []memtypes.Scored
			for i, k := range kernel.All() {
				f.kernel = k
				got, err := f.Search(t.Context(), everything(t, q, 20))
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					want = got
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("binary above %d: %v differs from generic (-want +got):\n%s", mode, k, diff)
				}
			}
		}
	}
}

// TestTiesAtTheCut: of thousands of equal vectors the first IDs win, however
// they are found and in whatever order they came.
func TestTiesAtTheCut(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	v := sentences(r, 1, 64)[0]
	order := r.Perm(5000)
	for name, o := range map[string]*Options{"int8": {BinaryAbove: never}, "bits": {BinaryAbove: always}} {
		t.Run(name, func(t *testing.T) {
			f, err := Open(64, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range order {
				d := Doc{ID: numbered(n), Rev: 1, Text: v, Facets: memtypes.Facets{Scope: scopeOf(t, "ann"), Session: []string{"few", "many", "many", "many", "many"}[n%5]}}
				if err := f.Upsert(t.Context(), []Doc{d}); err != nil {
					t.Fatal(err)
				}
			}
			q := everything(t, v, 5)
			if got, want := found(t, f, q), []memtypes.ID{numbered(0), numbered(1), numbered(2), numbered(3), numbered(4)}; !slices.Equal(got, want) {
				t.Errorf("all: found %v, want %v", got, want)
			}
			q.Filter.Session = "few" // by list
			if got, want := found(t, f, q), []memtypes.ID{numbered(0), numbered(5), numbered(10), numbered(15), numbered(20)}; !slices.Equal(got, want) {
				t.Errorf("a fifth: found %v, want %v", got, want)
			}
			q.Filter.Session = "many" // by scan, the others passed over
			if got, want := found(t, f, q), []memtypes.ID{numbered(1), numbered(2), numbered(3), numbered(4), numbered(6)}; !slices.Equal(got, want) {
				t.Errorf("four fifths: found %v, want %v", got, want)
			}
		})
	}
}

// TestWorkersAgree shares a bank out among goroutines.
func TestWorkersAgree(t *testing.T) {
	all := sentences(rand.New(rand.NewPCG(4, 4)), 2*minShare+1010, 4)
	f := filled(t, all[:2*minShare+1000], nil)
	for _, mode := range []int{never, always} {
		for _, q := range all[2*minShare+1000:] {
			f.opt = Options{BinaryAbove: mode, Workers: 1}
			want := found(t, f, everything(t, q, 30))
			f.opt.Workers = 8
			if diff := cmp.Diff(want, found(t, f, everything(t, q, 30))); diff != "" {
				t.Fatalf("binary above %d: several workers differ from one (-one +several):\n%s", mode, diff)
			}
		}
	}
}

// TestFiltersAtEveryWidth compares each way of applying a filter with a loop.
func TestFiltersAtEveryWidth(t *testing.T) {
	all := sentences(rand.New(rand.NewPCG(5, 5)), 3020, 96)
	vs := all[:3000]
	f := filled(t, vs, nil)
	for _, width := range []int{1, 5, 39, 41, 150, 700, 1500, 2999, 3000} {
		numbers := rand.New(rand.NewPCG(6, uint64(width))).Perm(len(vs))[:width]
		slices.Sort(numbers) // so that equal scores keep the order of IDs
		ids, in := make([]memtypes.ID, width), make([]memtypes.Vector, width)
		for i, n := range numbers {
			ids[i], in[i] = numbered(n), vs[n]
		}
		for _, q := range all[3000:] {
			query := everything(t, q, 10)
			query.Filter.IDs = ids
			var want []memtypes.ID
			for _, i := range nearestAt(in, q, 10) {
				want = append(want, ids[i])
			}
			if diff := cmp.Diff(want, found(t, f, query)); diff != "" {
				t.Fatalf("%d of %d admitted (-want +got):\n%s", width, len(vs), diff)
			}
		}
	}
}

func TestHugeK(t *testing.T) {
	vs := sentences(rand.New(rand.NewPCG(7, 7)), 100, 8)
	f := filled(t, vs, nil)
	if got := len(found(t, f, everything(t, vs[0], math.MaxInt))); got != 100 {
		t.Errorf("found %d, want all 100", got)
	}
}

// giveUp is a context that is canceled after it has been asked n times.
type giveUp struct {
	context.Context
	n *int
}

func (g giveUp) Err() error {
	if *g.n--; *g.n < 0 {
		return context.Canceled
	}
	return nil
}

// TestCanceledWhileSearching: wherever a search stands, it stops with an error
// and never with a part of the answer.
func TestCanceledWhileSearching(t *testing.T) {
	vs := sentences(rand.New(rand.NewPCG(8, 8)), 5000, 64)
	f := filled(t, vs, nil)
	byList := everything(t, vs[0], 3)
	for n := range 1000 {
		byList.Filter.IDs = append(byList.Filter.IDs, numbered(n))
	}
	for name, c := range map[string]struct {
		binary int
		q      Query
	}{"scan": {never, everything(t, vs[0], 3)}, "bits": {always, everything(t, vs[0], 3)}, "list": {never, byList}} {
		t.Run(name, func(t *testing.T) {
			f.opt.BinaryAbove = c.binary
			asked := 0
			for n := 0; ; n++ {
				left := n
				hits, err := f.Search(giveUp{t.Context(), &left}, c.q)
				if err == nil {
					asked = n
					break
				}
				if memtypes.CodeOf(err) != memtypes.Canceled || hits != nil {
					t.Fatalf("canceled at question %d: %v, %v; want no hits and Canceled", n, hits, err)
				}
			}
			if asked < 3 {
				t.Errorf("the context was asked %d times, want it asked during the work", asked)
			}
		})
	}
}

// TestFilterOfRuns: documents of a kind come in runs of any length, as they do
// in a bank, so that a scan passes over whole parts of it.
func TestFilterOfRuns(t *testing.T) {
	const n, dim = 5300, 64
	r := rand.New(rand.NewPCG(6, 6))
	all := sentences(r, n+10, dim)
	f, err := Open(dim, nil)
	if err != nil {
		t.Fatal(err)
	}
	of := map[memtypes.Kind][]memtypes.Vector{} // with the IDs of idOf
	idOf := map[memtypes.Kind][]memtypes.ID{}
	var docs []Doc
	for len(docs) < n {
		kind := memtypes.Kinds()[r.IntN(2)]
		for range min(1+r.IntN(1+r.IntN(600)), n-len(docs)) {
			i := len(docs)
			docs = append(docs, Doc{ID: numbered(i), Rev: 1, Text: all[i], Facets: memtypes.Facets{Scope: scopeOf(t, "ann"), Kind: kind, Layer: memtypes.Raw}})
			of[kind], idOf[kind] = append(of[kind], all[i]), append(idOf[kind], numbered(i))
		}
	}
	if err := f.Upsert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []struct {
		binary int
		want   float64
	}{{never, .998}, {always, .95}} {
		f.opt.BinaryAbove = mode.binary
		for kind, vs := range of {
			var sum float64
			for _, v := range all[n:] {
				q := everything(t, v, 20)
				q.Filter.Kinds = []memtypes.Kind{kind}
				got := found(t, f, q)
				for _, id := range got {
					if !slices.Contains(idOf[kind], id) {
						t.Fatalf("binary above %d: found %s, which is not of kind %s", mode.binary, id, kind)
					}
				}
				var want []memtypes.ID
				for _, at := range nearestAt(vs, v, 20) {
					want = append(want, idOf[kind][at])
				}
				sum += recall(want, got) / 10
			}
			if sum < mode.want {
				t.Errorf("binary above %d, kind %s (%d documents): recall@20 = %.4f, want at least %v", mode.binary, kind, len(vs), sum, mode.want)
			}
		}
	}
}
