package sparse_test
import ("testing";"fmt";"runtime";"time";"runtime/debug";"os";"runtime/pprof";"path/filepath";"bufio";"encoding/json";"strings";"math/rand/v2";"sort"
"github.com/vimbank/vimbank/stores/sparse")
func realSentences() (out [][]string, queries [][]string) {
	an := sparse.NewAnalyzer(nil)
	fs, _ := filepath.Glob("/work/shared/data/*/items.jsonl")
	for _, f := range fs {
		h, _ := os.Open(f); sc := bufio.NewScanner(h); sc.Buffer(nil, 1<<20)
		for sc.Scan() { var r record; json.Unmarshal(sc.Bytes(), &r)
			for _, s := range strings.FieldsFunc(r.Text, func(r rune) bool { return r=='.'||r=='\n'||r=='?'||r=='!' || r=='。' }) {
				if t := an.Tokens(s); len(t) >= 3 { out = append(out, t) } } }
		h.Close()
		h, _ = os.Open(strings.Replace(f, "items", "probes", 1)); sc = bufio.NewScanner(h); sc.Buffer(nil, 1<<20)
		for sc.Scan() { var r record; json.Unmarshal(sc.Bytes(), &r); queries = append(queries, an.Tokens(r.Query)) }
	}
	r := rand.New(rand.NewPCG(3,3))
	r.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
	return
}
func TestReal(t *testing.T) {
	runtime.LockOSThread()
	texts, queries := realSentences()
	tot := 0; for _, x := range texts { tot += len(x) }
	fmt.Println("sentences", len(texts), "mean", tot/len(texts))
	for len(texts) > 100000 { texts = texts[:100000] }
	docs := benchDocs(t, texts)
	df := map[string]int{}
	for _, d := range docs { seen := map[string]bool{}; for _, w := range d.Fields[sparse.Text] { if !seen[w] { seen[w]=true; df[w]++ } } }
	var vocab []string; for w := range df { vocab = append(vocab, w) }
	sort.Slice(vocab, func(i, j int) bool { a, b := vocab[i], vocab[j]; if df[a]!=df[b] {return df[a] < df[b]}; return a<b })
	rank := map[string]int{}; for i, w := range vocab { rank[w]=i }
	var ixs []*sparse.Inverted
	for _, ex := range []bool{false, true} {
		ix, _ := sparse.Open(&sparse.Options{Exhaustive: ex})
		t0 := cpu()
		ix.Upsert(t.Context(), docs)
		fmt.Println("build", cpu()-t0, "vocab", len(vocab))
		ixs = append(ixs, ix)
	}
	runtime.GC(); debug.SetGCPercent(-1)
	if p := os.Getenv("PROF"); p != "" { f, _ := os.Create(p); pprof.StartCPUProfile(f); defer pprof.StopCPUProfile() }
	for _, name := range []string{"4","all","expanded","k=200", "expanded200"} {
		if o := os.Getenv("ONLY"); o != "" && o != name { continue }
		qs := make([]sparse.Query, 300)
		posts := 0
		r := rand.New(rand.NewPCG(5,5))
		for i := range qs {
			w := queries[i]
			if name == "4" { w = w[:min(4, len(w))] }
			qs[i] = benchQuery(t, w)
			if strings.HasSuffix(name, "200") { qs[i].K = 200 }
			for j := range qs[i].Terms { tm := &qs[i].Terms[j]; posts += df[tm.Token]
				if strings.HasPrefix(name, "expanded") { tm.Boost = .5+r.Float64()/2; rk := rank[tm.Token]; for n := range 8 { v := rk + r.IntN(2001)-1000; v = max(0, min(len(vocab)-2, v)); x := vocab[v]; posts += df[x]; tm.Near = append(tm.Near, sparse.Near{Token: x, Weight: .4-.03*float64(n)}) } }
			}
		}
		s := fmt.Sprintf("%10s postings %8d", name, posts/len(qs))
		for _, ix := range ixs {
			best := time.Hour
			for range 5 {
				t0 := cpu()
				for _, q := range qs { ix.Search(t.Context(), q) }
				best = min(best, cpu()-t0)
			}
			s += fmt.Sprintf("  %6d us (%.2f ns/p)", best.Microseconds()/int64(len(qs)), float64(best.Nanoseconds())/float64(posts))
		}
		fmt.Println(s)
		runtime.GC()
	}
}
