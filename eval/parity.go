package eval

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

// Parity says how alike two engines answer the probes of a set.
type Parity struct {
	Set     string  `json:"set"`
	Profile string  `json:"profile"`
	Probes  int     `json:"probes"`
	Equal   int     `json:"equal"`   // the same first ten memories in the same order, ties aside
	Overlap float64 `json:"overlap"` // share of the reference's first ten that the other has among its own, over all probes
	Differ  []Pair  `json:"differ"`  // the probes that differ, at most 20
}

// Pair is one probe that two engines answer otherwise.
type Pair struct {
	Probe       string
	Want, Found []string // items
}

// tie is how near two scores are that may stand in either order.
const tie = 1e-5

// Compare remembers the items of the set in dir in two engines, a fresh one of
// each way to open it for each of the set's banks, and asks both every probe, with
// evidence or without. o.Data is not read; o.Open makes the reference, other the
// one that is held to it; of o.Profiles the first counts.
func Compare(ctx context.Context, dir string, o Options, other func(ctx context.Context, dir string) (*engine.Engine, error)) (Parity, error) {
	p := Parity{Profile: string(fusion.Default)}
	if len(o.Profiles) > 0 {
		p.Profile = o.Profiles[0]
	}
	s, err := readSet(dir)
	if err != nil {
		return p, err
	}
	p.Set = s.name
	total := 0
	for _, b := range s.banks {
		total += len(b.probes)
	}
	shared := 0.
	for _, b := range s.banks {
		want, err := answers(ctx, b, p.Profile, &o, o.Open)
		if err != nil {
			return p, err
		}
		found, err := answers(ctx, b, p.Profile, &o, other)
		if err != nil {
			return p, err
		}
		for i := range b.probes {
			shared += p.add(b.probes[i].ID, want[i], found[i])
			if o.Progress != nil {
				o.Progress(s.name, p.Probes, total)
			}
		}
	}
	p.Overlap = shared / float64(max(p.Probes, 1))
	return p, nil
}

// placed is one answer: an item and its score.
type placed struct {
	item  string
	score float64
}

const compared = 10 // hits of each answer

// add counts one probe and returns the share of want that found has.
func (p *Parity) add(probe string, want, found []placed) float64 {
	p.Probes++
	both := 0
	for _, w := range want {
		if slices.ContainsFunc(found, func(f placed) bool { return f.item == w.item }) {
			both++
		}
	}
	if sameOrder(want, found) {
		p.Equal++
	} else if len(p.Differ) < 20 {
		p.Differ = append(p.Differ, Pair{Probe: probe, Want: names(want), Found: names(found)})
	}
	if len(want) == 0 {
		return 1
	}
	return float64(both) / float64(len(want))
}

// sameOrder compares two answers, in which those of equal scores may change places.
func sameOrder(want, found []placed) bool {
	if len(want) != len(found) {
		return false
	}
	for i, w := range want {
		if f := found[i]; f.item != w.item && max(w.score-f.score, f.score-w.score) > tie {
			return false
		}
	}
	return true
}

func names(ps []placed) []string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = p.item
	}
	return out
}

// answers are the first hits of each probe of b, of a fresh engine.
func answers(ctx context.Context, b *bank, profile string, o *Options, open func(context.Context, string) (*engine.Engine, error)) (out [][]placed, err error) {
	dir, err := os.MkdirTemp("", "vimbank-eval-*")
	if err != nil {
		return nil, memtypes.Errorf("eval.Compare", memtypes.Unavailable, "%w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	e, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close(context.WithoutCancel(ctx))) }()
	scope, err := memtypes.NewScope("", b.name, "", "")
	if err != nil {
		return nil, err
	}
	items, err := fill(ctx, e, b, scope, o.Filled)
	if err != nil {
		return nil, err
	}
	for i := range b.probes {
		p := &b.probes[i]
		a, err := e.Recall(ctx, memtypes.Query{Scope: scope, Text: p.Query, Now: p.now, K: compared, Profile: profile, Quiet: true})
		if err != nil {
			return nil, err
		}
		hits := make([]placed, len(a.Hits))
		for j, h := range a.Hits {
			hits[j] = placed{cmp.Or(items[h.Memory.ID], string(h.Memory.ID)), h.Score}
		}
		out = append(out, hits)
	}
	return out, nil
}
