package sparse_test
import ("testing";"syscall";"fmt";"runtime";"time";"runtime/debug";"os";"runtime/pprof"
"github.com/vimbank/vimbank/stores/sparse")
func cpu() time.Duration { var r syscall.Rusage; syscall.Getrusage(1, &r); return time.Duration(r.Utime.Nano()+r.Stime.Nano()) }
func TestCPU(t *testing.T) {
	runtime.LockOSThread()
	const n = 100_000
	docs := benchDocs(t, sentences(n, 1))
	asked := sentences(200, 2)
	names := []string{"4","all","nonstop","expanded","ids1%","half", "k=200"}
	asks := []func(i int) sparse.Query{
		func(i int) sparse.Query { return benchQuery(t, asked[i][:min(4, len(asked[i]))]) },
		func(i int) sparse.Query { return benchQuery(t, asked[i]) },
		func(i int) sparse.Query { return benchQuery(t, nonstop(asked[i])) },
		func(i int) sparse.Query { return expand(benchQuery(t, nonstop(asked[i])), i) },
		func(i int) sparse.Query { q := benchQuery(t, nonstop(asked[i])); for j := i; j < n; j += 100 { q.Filter.IDs = append(q.Filter.IDs, docs[j].ID) }; return q },
		func(i int) sparse.Query { q := benchQuery(t, nonstop(asked[i])); q.Filter.From = docs[n/2].Facets.When; return q },
		func(i int) sparse.Query { q := benchQuery(t, nonstop(asked[i])); q.K=200; return q },
	}
	df := map[string]int{}
	for _, d := range docs { seen := map[string]bool{}; for _, w := range d.Fields[sparse.Text] { if !seen[w] { seen[w]=true; df[w]++ } } }
	var ixs []*sparse.Inverted
	for _, ex := range []bool{false, true} {
		ix, _ := sparse.Open(&sparse.Options{Exhaustive: ex})
		ix.Upsert(t.Context(), docs)
		ixs = append(ixs, ix)
	}
	runtime.GC(); debug.SetGCPercent(-1)
	if p := os.Getenv("PROF"); p != "" { f, _ := os.Create(p); pprof.StartCPUProfile(f); defer pprof.StopCPUProfile() }
	for k, name := range names {
		if o := os.Getenv("ONLY"); o != "" && o != name { continue }
		qs := make([]sparse.Query, 200)
		posts := 0
		for i := range qs { qs[i] = asks[k](i); for _, tm := range qs[i].Terms { posts += df[tm.Token]; for _, x := range tm.Near { posts += df[x.Token] } } }
		s := fmt.Sprintf("%10s postings %8d", name, posts/200)
		for _, ix := range ixs {
			best := time.Hour
			for range 5 {
				t0 := cpu()
				for _, q := range qs { ix.Search(t.Context(), q) }
				best = min(best, cpu()-t0)
			}
			s += fmt.Sprintf("  %6d us (%.2f ns/p)", best.Microseconds()/200, float64(best.Nanoseconds())/float64(posts))
		}
		fmt.Println(s)
		runtime.GC()
	}
}
