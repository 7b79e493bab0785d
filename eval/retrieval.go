package eval

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

// All is the category of a whole set.
const All = "all"

// returned is how many hits each probe asks for: MRR counts what stands beyond
// the tenth place too.
const returned = 100

// Options say what to measure.
type Options struct {
	Data     []string // folders with items.jsonl and probes.jsonl
	Profiles []string // empty: default
	// Open makes a fresh, empty engine in dir.
	Open func(ctx context.Context, dir string) (*engine.Engine, error)
	// Filled, if given, is called when an engine holds the items of a bank and
	// before it is asked: to wait until an index that follows has them.
	Filled func(ctx context.Context, e *engine.Engine) error
	// Progress, if given, is told how many probes are done of how many.
	Progress func(set string, done, total int)
}

// Retrieval measures every set under every profile and reports the lines of a
// set (its categories in order, then All) as soon as they are known.
func Retrieval(ctx context.Context, o Options, report func(Line) error) error {
	if len(o.Data) == 0 {
		return memtypes.BadField("eval.Retrieval", "data", "no folder", "at least one folder with items.jsonl and probes.jsonl")
	}
	profiles := o.Profiles
	if len(profiles) == 0 {
		profiles = []string{string(fusion.Default)}
	}
	for _, p := range profiles {
		if _, err := fusion.ParseProfile(p); err != nil {
			return err
		}
	}
	for _, dir := range o.Data {
		s, err := readSet(dir)
		if err != nil {
			return err
		}
		if err := measure(ctx, s, profiles, &o, report); err != nil {
			return err
		}
	}
	return nil
}

// measure runs one set.
func measure(ctx context.Context, s *set, profiles []string, o *Options, report func(Line) error) error {
	outcomes := map[string][]outcome{} // by profile
	total, done := 0, 0
	for _, b := range s.banks {
		total += len(b.probes) * len(profiles)
	}
	for _, b := range s.banks {
		if err := ask(ctx, b, profiles, o, func(profile string, out *outcome) {
			if done++; o.Progress != nil {
				o.Progress(s.name, done, total)
			}
			if out != nil {
				outcomes[profile] = append(outcomes[profile], *out)
			}
		}); err != nil {
			return err
		}
	}
	for _, p := range profiles {
		byCategory := map[string][]outcome{}
		for _, out := range outcomes[p] {
			byCategory[out.category] = append(byCategory[out.category], out)
		}
		for _, c := range slices.Sorted(maps.Keys(byCategory)) {
			if err := report(summarise(s.name, p, c, byCategory[c])); err != nil {
				return err
			}
		}
		if len(outcomes[p]) > 0 {
			if err := report(summarise(s.name, p, All, outcomes[p])); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask fills a fresh engine with the items of b and asks its probes under every
// profile; a probe without evidence is asked of nobody and gives nil.
func ask(ctx context.Context, b *bank, profiles []string, o *Options, each func(string, *outcome)) (err error) {
	dir, err := os.MkdirTemp("", "vimbank-eval-*")
	if err != nil {
		return memtypes.Errorf("eval.Retrieval", memtypes.Unavailable, "%w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	e, err := o.Open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close(context.WithoutCancel(ctx))) }()
	scope, err := memtypes.NewScope("", b.name, "", "")
	if err != nil {
		return err
	}
	keys, err := fill(ctx, e, b, scope, o.Filled)
	if err != nil {
		return err
	}
	for i := range b.probes {
		p := &b.probes[i]
		for _, profile := range profiles {
			if len(p.Relevant) == 0 {
				each(profile, nil)
				continue
			}
			q := memtypes.Query{Scope: scope, Text: p.Query, Now: p.now, K: returned, Profile: profile, Quiet: true}
			start := time.Now()
			a, err := e.Recall(ctx, q)
			if err != nil {
				return err
			}
			out := judge(p, ranked(a.Hits, keys), time.Since(start))
			each(profile, &out)
		}
	}
	return nil
}

// fillBatch is how many items are remembered in one commit.
const fillBatch = 512

// fill remembers the items of b and returns which item each memory is. An item
// that admission refuses stays out, as it would for any user; its evidence
// then counts as not found.
func fill(ctx context.Context, e *engine.Engine, b *bank, scope memtypes.Scope, filled func(context.Context, *engine.Engine) error) (map[memtypes.ID]string, error) {
	items := map[memtypes.ID]string{}
	for chunk := range slices.Chunk(b.items, fillBatch) {
		drafts := make([]memtypes.Draft, len(chunk))
		for i, it := range chunk {
			drafts[i] = it.Draft
			drafts[i].Scope, drafts[i].Key = scope, it.ID
		}
		receipt, err := e.Remember(ctx, drafts, nil)
		if err != nil {
			return nil, err
		}
		for _, r := range receipt.Results {
			items[r.ID] = chunk[r.Draft].ID
		}
	}
	if filled == nil {
		return items, nil
	}
	return items, filled(ctx, e)
}

// ranked are the items of hits in order. A long item is found by its pieces
// and counts where the first one stands; what was folded onto a hit stands
// right after it.
func ranked(hits []memtypes.Hit, items map[memtypes.ID]string) []string {
	var out []string
	seen := map[string]bool{}
	for i := range hits {
		for _, id := range append([]memtypes.ID{hits[i].Memory.ID}, hits[i].Same...) {
			if item := items[id]; item != "" && !seen[item] {
				seen[item] = true
				out = append(out, item)
			}
		}
	}
	return out
}
