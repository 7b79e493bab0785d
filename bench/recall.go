package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/memtypes"
)

// benchRecall times a recall end to end (embed, both indexes, ledger, fusion)
// over n memories: half dialogue in sessions of 20 turns, half knowledge.
func benchRecall(ctx context.Context, r *report, n int) error {
	dir, err := os.MkdirTemp("", "vimbank-bench-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	e, err := bank.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	defer e.Close(ctx)
	scope, err := memtypes.NewScope("", "bench", "", "")
	if err != nil {
		return err
	}
	texts := english(n, 1)
	start := time.Now()
	for from := 0; from < n; from += 512 {
		var drafts []memtypes.Draft
		for i := from; i < min(from+512, n); i++ {
			d := memtypes.Draft{Scope: scope, Kind: memtypes.Knowledge, Text: texts[i], Key: fmt.Sprint(i)}
			if i/512%2 == 0 {
				d.Kind, d.Talk = memtypes.Dialogue, memtypes.Talk{Session: fmt.Sprint("s", i/20), Speaker: []string{"Ada", "Bo"}[i%2]}
				d.Event = time.Unix(int64(1_600_000_000+30*i), 0)
			}
			drafts = append(drafts, d)
		}
		if _, err := e.Remember(ctx, drafts, nil); err != nil {
			return err
		}
	}
	r.info("recall: memories taken in a second, durable and indexed", float64(n)/time.Since(start).Seconds(), "/s")
	for _, p := range []string{"default", "bm25", "dense"} {
		var took []time.Duration
		for _, q := range english(200, 2) {
			start := time.Now()
			if _, err := e.Recall(ctx, memtypes.Query{Scope: scope, Text: q, Profile: p, Quiet: true}); err != nil {
				return err
			}
			took = append(took, time.Since(start))
		}
		r.info("recall: "+p+", p50", ms(quantile(took, .5)), "ms")
		r.info("recall: "+p+", p95", ms(quantile(took, .95)), "ms")
	}
	return nil
}

// english makes n sentences of words that the built-in table knows.
func english(n int, seed uint64) []string {
	vocabulary := strings.Fields(`garden river teacher bicycle morning letter market winter summer doctor kitchen window travel
		music picture holiday brother sister mountain village camera ticket dinner coffee weather airport station hospital library
		school painting guitar piano novel poem recipe chocolate lemon kitten puppy horse forest island beach boat train
		engine computer keyboard program meeting project budget contract invoice customer office manager engineer designer
		happy quiet broken early late green yellow heavy cheap modern ancient careful famous lonely proud curious tired
		bought sold found lost visited painted cooked repaired wrote learned forgot remembered promised invited planned
		the a of to and in on with for at from about after before because while never always maybe again`)
	index := sentences(n, seed+10)
	out := make([]string, n)
	for i, ws := range index {
		words := make([]string, len(ws))
		for j, w := range ws {
			h := 0
			for _, c := range []byte(w) {
				h = h*31 + int(c)
			}
			words[j] = vocabulary[uint(h)%uint(len(vocabulary))]
		}
		out[i] = strings.Join(words, " ") + fmt.Sprintf(" %s%d", "number", i%5000)
	}
	return out
}
