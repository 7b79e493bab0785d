package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/llm/local"
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
	words, err := vocabulary()
	if err != nil {
		return err
	}
	texts := talk(words, n, 1)
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
		for _, q := range talk(words, 200, 2) {
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

// vocabularySize is about how many words people use in talk.
const vocabularySize = 20_000

// vocabulary gathers words that the built-in table knows, common ones first:
// seeds, their neighbours, and theirs.
func vocabulary() ([]string, error) {
	table, err := local.Open()
	if err != nil {
		return nil, err
	}
	words := strings.Fields(`the a of to and in on with for at from about after before because while never always maybe again
		garden river teacher bicycle morning letter market winter summer doctor kitchen window travel music picture holiday
		brother sister mountain village camera ticket dinner coffee weather airport hospital library school painting guitar
		novel recipe chocolate lemon kitten horse forest island beach train engine computer meeting project budget contract
		happy quiet broken early late green yellow heavy cheap modern ancient careful famous lonely proud curious tired
		bought sold found lost visited painted cooked repaired wrote learned forgot remembered promised invited planned`)
	seen := make(map[string]bool, vocabularySize)
	for _, w := range words {
		seen[w] = true
	}
	for i := 0; i < len(words) && len(words) < vocabularySize; i++ {
		for _, near := range table.Neighbours(words[i:i+1], 64)[0] {
			if !seen[near.Word] {
				seen[near.Word] = true
				words = append(words, near.Word)
			}
		}
	}
	return words, nil
}

// talk makes n sentences of words, whose frequencies fall as those of a
// language do, each with one of 5000 numbers.
func talk(words []string, n int, seed uint64) []string {
	rnd := rand.New(rand.NewPCG(seed, 5))
	zipf := rand.NewZipf(rnd, 1.1, 8, uint64(len(words)-1))
	out := make([]string, n)
	for i := range out {
		sentence := make([]string, 8+rnd.IntN(15))
		for j := range sentence {
			sentence[j] = words[zipf.Uint64()]
		}
		out[i] = fmt.Sprintf("%s number%d", strings.Join(sentence, " "), i%5000)
	}
	return out
}
