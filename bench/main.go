// Command bench measures VIMBank beside its yardsticks, in one run on one
// machine: every figure that it judges is a ratio. It is a module of its own,
// so that the yardsticks stay out of VIMBank's go.mod.
//
//	go run . [-n 100000] [-only dense,bm25,write,recall,cluster,growth]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// figure is one line of the report.
type figure struct {
	name   string
	value  float64
	unit   string
	target string // empty: for information
	ok     bool
}

// report collects the figures.
type report struct{ figures []figure }

func (r *report) info(name string, value float64, unit string) {
	r.add(figure{name: name, value: value, unit: unit, ok: true})
}

func (r *report) atMost(name string, value, limit float64) {
	r.add(figure{name: name, value: value, unit: "x", target: fmt.Sprintf("<= %g", limit), ok: value <= limit})
}

func (r *report) atLeast(name string, value, limit float64) {
	r.add(figure{name: name, value: value, target: fmt.Sprintf(">= %g", limit), ok: value >= limit})
}

func (r *report) add(f figure) {
	verdict := ""
	if f.target != "" {
		verdict = "target " + f.target + "  ok"
		if !f.ok {
			verdict = "target " + f.target + "  MISSED"
		}
	}
	fmt.Printf("%-58s %12.4f %-5s %s\n", f.name, f.value, f.unit, verdict)
	r.figures = append(r.figures, f)
}

func main() {
	n := flag.Int("n", 100_000, "memories, vectors and documents")
	only := flag.String("only", "dense,bm25,write,recall,cluster", "which parts to run; growth, too, takes long")
	flag.Parse()
	fmt.Printf("%s, %d cores, n = %d; times are medians, ratios are of times in this run\n\n", runtime.Version(), runtime.NumCPU(), *n)
	r := &report{}
	for _, part := range []struct {
		name string
		run  func(context.Context, *report, int) error
	}{{"dense", benchDense}, {"bm25", benchBM25}, {"write", benchWrite}, {"recall", benchRecall}, {"cluster", benchCluster}, {"growth", benchGrowth}} {
		if !slices.Contains(strings.Split(*only, ","), part.name) {
			continue
		}
		if err := part.run(context.Background(), r, *n); err != nil {
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", part.name, err)
			os.Exit(1)
		}
		fmt.Println()
	}
	for _, f := range r.figures {
		if !f.ok {
			os.Exit(1)
		}
	}
}

// cpu is the processor time this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// alternate runs the functions in turn, rounds times, and returns the median
// processor time of each: what disturbs the machine disturbs all alike.
func alternate(rounds int, fs ...func(i int) error) ([]time.Duration, error) {
	took := make([][]time.Duration, len(fs))
	for i := range rounds {
		for j, f := range fs {
			start := cpu()
			if err := f(i); err != nil {
				return nil, err
			}
			took[j] = append(took[j], cpu()-start)
		}
	}
	out := make([]time.Duration, len(fs))
	for j := range took {
		out[j] = median(took[j])
	}
	return out, nil
}

func median(ds []time.Duration) time.Duration { return quantile(ds, .5) }

func quantile(ds []time.Duration, p float64) time.Duration {
	s := slices.Sorted(slices.Values(ds))
	return s[min(int(p*float64(len(s))), len(s)-1)]
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
