package densetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

// Tenants makes ops operations of two tenants on an index, as [CheckTenants]
// does. The index must be empty, of dimension Dim; Tenants closes it.
func Tenants(t *testing.T, open func(testing.TB) dense.Index, seed uint64, ops int) {
	t.Helper()
	ix := open(t)
	t.Cleanup(func() { ix.Close() })
	t.Logf("%d operations from seed %d", ops, seed)
	if err := CheckTenants(t.Context(), ix, seed, ops); err != nil {
		t.Error(err)
	}
}

// CheckTenants makes ops operations of two tenants, drawn from seed, on an empty
// index of dimension Dim: writes, late duplicates, removals, searches and
// counts. Both tenants have users of the same names with the same sessions and
// the same vectors, under other IDs. Each answer to a tenant must be that of an
// index which holds this tenant's memories alone, scores within 1e-6: so
// nothing of one is seen by the other. The error names the first that is not.
// An index that finds approximately must be asked for less than that.
func CheckTenants(ctx context.Context, ix dense.Index, seed uint64, ops int) error {
	p := &pair{r: rand.New(rand.NewPCG(seed, 0)), ix: ix, seed: seed, left: ops, most: max(50, min(ops/8, 25_000)), batch: max(8, min(ops/30, 1000))}
	for i, name := range []string{"acme", "globex"} {
		alone, err := dense.Open(Dim, nil)
		if err != nil {
			return err
		}
		defer alone.Close()
		p.sides[i] = &side{number: i, name: name, alone: alone}
	}
	for step := 1; p.left > 0; step++ {
		err := p.step(ctx)
		if err == nil && (step%100 == 0 || p.left <= 0) {
			err = p.held(ctx)
		}
		if err != nil {
			return fmt.Errorf("seed %d, %d of %d operations before the end: %w", seed, p.left, ops, err)
		}
	}
	return nil
}

// pair is two tenants at work on one index.
type pair struct {
	r     *rand.Rand
	ix    dense.Index
	seed  uint64
	sides [2]*side
	rev   uint64 // of the newest doc
	most  int    // memories of a tenant
	batch int    // operations of one write, at most
	left  int    // operations to be made
}

// side is one of the tenants.
type side struct {
	number int
	name   string
	alone  *dense.Flat // with its memories only
	known  int         // memories that it has had
	sent   []dense.Doc // some of its docs, to be sent once more
}

// step writes for one tenant and searches for both.
func (p *pair) step(ctx context.Context) error {
	s := p.sides[p.r.IntN(2)]
	write := p.upsert
	if s.known == p.most && p.r.IntN(5) == 0 {
		write = p.remove
	}
	if err := write(ctx, s, min(p.left, 1+p.r.IntN(p.batch))); err != nil {
		return err
	}
	for range 2 {
		for _, s := range p.sides {
			if err := p.search(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// upsert adds n memories, or writes some that are known: newer, older or again.
func (p *pair) upsert(ctx context.Context, s *side, n int) error {
	docs := make([]dense.Doc, n)
	for i := range docs {
		switch {
		case s.known < p.most:
			docs[i] = p.doc(s, s.known, 0)
			s.known++
		case len(s.sent) > 0 && p.r.IntN(6) == 0:
			docs[i] = s.sent[p.r.IntN(len(s.sent))]
		default:
			docs[i] = p.doc(s, p.r.IntN(s.known), p.r.IntN(4))
		}
		if at := p.r.IntN(4096); len(s.sent) < 512 {
			s.sent = append(s.sent, docs[i])
		} else if at < 512 {
			s.sent[at] = docs[i]
		}
	}
	p.left -= n
	return both(p.ix.Upsert(ctx, docs), s.alone.Upsert(ctx, docs))
}

// remove deletes n memories, some of them as of a revision that is past.
func (p *pair) remove(ctx context.Context, s *side, n int) error {
	all := make([]memtypes.Gone, min(n, 1+p.batch/4))
	for i := range all {
		p.rev++
		all[i] = memtypes.Gone{ID: s.id(p.r.IntN(s.known)), Tenant: s.name, Rev: p.rev - uint64(p.r.IntN(2)*p.r.IntN(int(p.rev)))}
	}
	p.left -= len(all)
	return both(p.ix.Delete(ctx, all), s.alone.Delete(ctx, all))
}

func both(err, alone error) error {
	if err == nil {
		return alone
	}
	return err
}

// search asks anything of a tenant's.
func (p *pair) search(ctx context.Context, s *side) error {
	p.left--
	q := p.query(s)
	got, err := p.ix.Search(ctx, q)
	if err != nil {
		return err
	}
	for i, h := range got {
		if !strings.HasPrefix(string(h.ID), string(s.id(0)[:24])) {
			return fmt.Errorf("%s is shown %s, hit %d of %d, which is not its own (query %+v)", s.name, h.ID, i, len(got), q)
		}
	}
	// What is in process may find approximately, in one way; then all is in order by exact scores.
	var unlike error
	k := q.K
	for _, q.K = range []int{k, math.MaxInt} {
		alone, err := s.alone.Search(ctx, q)
		if err != nil {
			return err
		}
		if unlike = ranked(got, alone, k); unlike == nil {
			return nil
		}
	}
	return fmt.Errorf("%s does not find what it would alone: %w (query %+v, k %d)", s.name, unlike, q, k)
}

// ranked compares hits with a ranking of which they must be the first k.
func ranked(got, ranking []memtypes.Scored, k int) error {
	if want := min(k, len(ranking)); len(got) != want {
		return fmt.Errorf("%d hits, want %d", len(got), want)
	}
	scores := make(map[memtypes.ID]float64, len(ranking))
	for _, h := range ranking {
		scores[h.ID] = h.Score
	}
	for i, h := range got {
		own, ok := scores[h.ID]
		if !ok {
			return fmt.Errorf("hit %d is %s, which is not to be found, or twice", i, h.ID)
		}
		delete(scores, h.ID)
		if math.Abs(h.Score-own) > 1e-6 || math.Abs(h.Score-ranking[i].Score) > 1e-6 {
			return fmt.Errorf("hit %d is %s with %v, want its score %v and that of the place, %v", i, h.ID, h.Score, own, ranking[i].Score)
		}
	}
	return nil
}

// held compares Len and Revs.
func (p *pair) held(ctx context.Context) error {
	p.left -= 2
	want := map[dense.Held]int{}
	for _, s := range p.sides {
		for h, err := range s.alone.Revs(ctx) {
			if err != nil {
				return err
			}
			want[h]++
		}
	}
	n, err := p.ix.Len(ctx)
	if err != nil || n != len(want) {
		return fmt.Errorf("length %d, %v, want the %d of both tenants", n, err, len(want))
	}
	for h, err := range p.ix.Revs(ctx) {
		if err != nil {
			return err
		}
		if want[h]--; want[h] < 0 {
			return fmt.Errorf("method Revs: lists %+v, which no tenant holds so, or twice", h)
		}
		n--
	}
	if n != 0 {
		return fmt.Errorf("method Revs: lists %d less than Len", n)
	}
	return nil
}

// id is that of the n-th memory.
func (s *side) id(n int) memtypes.ID {
	return memtypes.ID(fmt.Sprintf("00000000-0000-8000-8%d00-%012x", s.number, n))
}

// doc is a version of the n-th memory, newer than all; it is the same in both
// tenants but for its ID, its revision and whose it is.
func (p *pair) doc(s *side, n, version int) dense.Doc {
	p.rev++
	r := rand.New(rand.NewPCG(p.seed, uint64(n)<<3|uint64(version+1)))
	d := dense.Doc{ID: s.id(n), Rev: p.rev, Facets: facets(r, s.name)}
	if r.IntN(12) > 0 {
		d.Text = random(r)
		if r.IntN(3) == 0 {
			d.Context = random(r)
		}
	}
	return d
}

func facets(r *rand.Rand, tenant string) memtypes.Facets {
	s, err := memtypes.NewScope(tenant, []string{"ann", "bob"}[r.IntN(2)], []string{"", "bot"}[r.IntN(2)], []string{"", "r1"}[r.IntN(2)])
	if err != nil {
		panic(err) // a mistake of the test itself
	}
	return memtypes.Facets{
		Scope: s, Kind: memtypes.Kinds()[r.IntN(len(memtypes.Kinds()))], Layer: []memtypes.Layer{memtypes.Raw, memtypes.Thought}[r.IntN(2)],
		Session: []string{"", fmt.Sprint("s", r.IntN(40))}[r.IntN(2)], When: at(0).Add(time.Duration(r.IntN(10_000)) * time.Hour),
	}
}

// random is a direction; one in three is one of few.
func random(r *rand.Rand) memtypes.Vector {
	if r.IntN(3) == 0 {
		r = rand.New(rand.NewPCG(uint64(r.IntN(500)), 0))
	}
	xs := make([]float64, Dim)
	for i := range xs {
		xs[i] = r.NormFloat64()
	}
	return unit(xs...)
}

// query asks what a doc of either tenant would be found by, with conditions that
// it meets, and perhaps among the IDs of both.
func (p *pair) query(s *side) dense.Query {
	like := p.doc(s, p.r.IntN(max(1, s.known)), p.r.IntN(4))
	maybe := func() bool { return p.r.IntN(4) == 0 }
	q := dense.Query{Vector: like.Text, Space: []dense.Space{"", dense.Text, dense.Context}[p.r.IntN(3)], K: 1 + p.r.IntN(60)}
	if q.Vector == nil || maybe() {
		q.Vector = random(p.r)
	}
	f := like.Facets
	q.Filter.Scope = f.Scope
	if !maybe() {
		q.Filter.Scope, _ = memtypes.NewScope(s.name, f.Scope.User(), "", "")
	}
	if maybe() {
		q.Filter.Kinds = []memtypes.Kind{f.Kind, memtypes.Dialogue}
	}
	if maybe() {
		q.Filter.Layers = []memtypes.Layer{f.Layer}
	}
	if maybe() {
		q.Filter.Session = f.Session
	}
	if maybe() {
		q.Filter.From = f.When.Add(-50 * time.Hour)
	}
	if maybe() {
		q.Filter.To = f.When.Add(500 * time.Hour)
	}
	if maybe() {
		q.Filter.IDs = []memtypes.ID{}
		for range p.r.IntN(30) {
			q.Filter.IDs = append(q.Filter.IDs, p.sides[p.r.IntN(2)].id(p.r.IntN(max(1, s.known))))
		}
	}
	return q
}
