package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/ledger/postgres"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// place is where a bank is that is measured beside another.
type place struct {
	name string
	open func(ctx context.Context) (*engine.Engine, error)
}

// places are the folder and, if the environment names its servers, the cluster,
// each new at every call.
func places(dir string) ([]place, error) {
	out := []place{{"embedded", func(ctx context.Context) (*engine.Engine, error) {
		return bank.Open(ctx, filepath.Join(dir, fmt.Sprint(time.Now().UnixNano())), nil)
	}}}
	pg, q, es := os.Getenv("VIMBANK_TEST_POSTGRES"), os.Getenv("VIMBANK_TEST_QDRANT"), os.Getenv("VIMBANK_TEST_ELASTICSEARCH")
	if pg == "" || q == "" || es == "" {
		return out, fmt.Errorf("VIMBANK_TEST_POSTGRES, VIMBANK_TEST_QDRANT and VIMBANK_TEST_ELASTICSEARCH do not name servers (see ../shared/servers)")
	}
	return append(out, place{"cluster", func(ctx context.Context) (*engine.Engine, error) {
		var b [5]byte
		if _, err := rand.Read(b[:]); err != nil {
			return nil, err
		}
		name := "bench" + hex.EncodeToString(b[:])
		return bank.Open(ctx, "", &bank.Options{Services: &bank.Services{
			Postgres: &bank.Postgres{URL: pg, Options: postgres.Options{Schema: name}},
			Qdrant:   &qdrant.Options{Addr: q, Prefix: name},
			Elastic:  &elastic.Options{URLs: strings.Split(es, ","), Prefix: name, Replicas: -1},
		}})
	}}), nil
}

// benchCluster measures writing, importing and recalling over PostgreSQL, Qdrant
// and Elasticsearch beside the same in a folder. It is left out, with a word,
// where there are no servers.
func benchCluster(ctx context.Context, r *report, n int) error {
	dir, err := os.MkdirTemp("", "vimbank-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	both, err := places(dir)
	if err != nil {
		fmt.Println("cluster: left out:", err)
		return nil
	}
	words, err := vocabulary()
	if err != nil {
		return err
	}
	n = min(n, 20_000)
	texts := talk(words, n, 1)
	var ratio []float64
	for _, p := range both {
		e, err := p.open(ctx)
		if err != nil {
			return err
		}
		err = r.measure(ctx, p.name, e, words, texts, &ratio)
		if err = errorOr(err, e.Close(ctx)); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	r.atLeast("cluster: memories imported and placed in a second", ratio[1], 1000)
	return nil
}

func errorOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// measure adds the figures of one place, and the rate of its import to rates.
func (r *report) measure(ctx context.Context, name string, e *engine.Engine, words, texts []string, rates *[]float64) error {
	scope, err := memtypes.NewScope("", "bench", "", "")
	if err != nil {
		return err
	}
	start := time.Now()
	if err := importAll(ctx, e, scope, texts, 0); err != nil {
		return err
	}
	r.info(name+": memories imported in a second, durable", float64(len(texts))/time.Since(start).Seconds(), "/s")
	if err := settle(ctx, e); err != nil {
		return err
	}
	*rates = append(*rates, float64(len(texts))/time.Since(start).Seconds())
	r.info(name+": memories imported in a second, placed in both indexes", (*rates)[len(*rates)-1], "/s")
	for _, n := range []int{1, writers} {
		v, err := rate(n, func(w, i int) error {
			d := memtypes.Draft{Scope: scope, Kind: memtypes.Knowledge, Text: fmt.Sprintf("Writer %d of %d notes entry %d of the log.", w, n, i)}
			_, err := e.Remember(ctx, []memtypes.Draft{d}, &engine.RememberOptions{NoWait: true})
			return err
		})
		if err != nil {
			return err
		}
		r.info(fmt.Sprintf("%s: %d writing, memories a second", name, n), v, "/s")
	}
	if err := settle(ctx, e); err != nil {
		return err
	}
	p50, p95, err := recallTimes(ctx, e, scope, words)
	if err != nil {
		return err
	}
	r.info(name+": recall, p50", ms(p50), "ms")
	r.info(name+": recall, p95", ms(p95), "ms")
	return nil
}

// importAll remembers texts as knowledge, from the given number on.
func importAll(ctx context.Context, e *engine.Engine, scope memtypes.Scope, texts []string, from int) error {
	const batch = 512
	for at := 0; at < len(texts); at += batch {
		var drafts []memtypes.Draft
		for i, text := range texts[at:min(at+batch, len(texts))] {
			drafts = append(drafts, memtypes.Draft{Scope: scope, Kind: memtypes.Knowledge, Text: text, Key: fmt.Sprint(from + at + i)})
		}
		if _, err := e.Remember(ctx, drafts, &engine.RememberOptions{NoWait: true}); err != nil {
			return err
		}
	}
	return nil
}

// settle waits until both indexes have everything.
func settle(ctx context.Context, e *engine.Engine) error {
	h, err := e.Health(ctx)
	if err != nil {
		return err
	}
	if h.Indexes != nil {
		return bank.Settled(ctx, e, 20*time.Millisecond, nil)
	}
	scope, err := memtypes.NewScope("", "nobody", "", "")
	if err != nil {
		return err
	}
	_, err = e.Recall(ctx, memtypes.Query{Scope: scope, Text: "everything follows now", Quiet: true})
	return err
}

// recallTimes asks 200 questions that were never asked before.
func recallTimes(ctx context.Context, e *engine.Engine, scope memtypes.Scope, words []string) (p50, p95 time.Duration, err error) {
	var took []time.Duration
	for _, q := range talk(words, 200, 2) {
		start := time.Now()
		if _, err := e.Recall(ctx, memtypes.Query{Scope: scope, Text: q, Quiet: true}); err != nil {
			return 0, 0, err
		}
		took = append(took, time.Since(start))
	}
	return quantile(took, .5), quantile(took, .95), nil
}
