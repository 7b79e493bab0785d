package sparsetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// TenantOptions says what an index does not promise to its tenants. A nil
// *TenantOptions is the zero one: an index that promises all.
type TenantOptions struct {
	// Drift: what was replaced or deleted may count in scores for a while. So
	// they are compared until a tenant replaces or deletes; after that, which
	// memories are found, and how many.
	Drift bool
	// Common: scores, and Statistics, are by what all tenants store. They are
	// not compared.
	Common bool
}

// Tenants makes ops operations of two tenants on an index, as [CheckTenants]
// does. The index must be empty; Tenants closes it.
func Tenants(t *testing.T, open func(testing.TB) sparse.Index, seed uint64, ops int, o *TenantOptions) {
	t.Helper()
	ix := open(t)
	t.Cleanup(func() { ix.Close() })
	t.Logf("%d operations from seed %d", ops, seed)
	if err := CheckTenants(t.Context(), ix, seed, ops, o); err != nil {
		t.Error(err)
	}
}

// CheckTenants makes ops operations of two tenants, drawn from seed, on an empty
// index: writes, late duplicates, removals, searches and counts. Both tenants
// have users of the same names with the same sessions and the same words, under
// other IDs, and a word that only one of them has. Each answer to a tenant must
// be that of an index which holds this tenant's memories alone: so no memory,
// count or score of one is seen by the other. The error names the first that is
// not.
func CheckTenants(ctx context.Context, ix sparse.Index, seed uint64, ops int, o *TenantOptions) error {
	p := &pair{r: rand.New(rand.NewPCG(seed, 0)), ix: ix, seed: seed, left: ops, most: max(50, min(ops/8, 25_000)), batch: max(8, min(ops/30, 1000))}
	if o != nil {
		p.TenantOptions = *o
	}
	for i, name := range []string{"acme", "globex"} {
		alone, err := sparse.Open(nil)
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
	TenantOptions
	r     *rand.Rand
	ix    sparse.Index
	seed  uint64
	sides [2]*side
	rev   uint64 // of the newest doc
	most  int    // memories of a tenant
	batch int    // operations of one write, at most
	left  int    // operations to be made
}

// side is one of the tenants.
type side struct {
	number  int
	name    string
	alone   *sparse.Inverted // with its memories only
	known   int              // memories that it has had
	sent    []sparse.Doc     // some of its docs, to be sent once more
	changed bool             // it has replaced or deleted
}

// step writes for one tenant; both search and count.
func (p *pair) step(ctx context.Context) error {
	s := p.sides[p.r.IntN(2)]
	write := p.upsert
	if s.known == p.most && p.r.IntN(5) == 0 {
		write = p.remove
	}
	if err := write(ctx, s, min(p.left, 1+p.r.IntN(p.batch))); err != nil {
		return err
	}
	if err := p.search(ctx); err != nil {
		return err
	}
	for _, s := range p.sides {
		if err := p.count(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// upsert adds n memories, or writes some that are known: newer, older or again.
func (p *pair) upsert(ctx context.Context, s *side, n int) error {
	docs := make([]sparse.Doc, n)
	s.changed = s.changed || s.known+n > p.most
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
	s.changed = true
	p.left -= len(all)
	return both(p.ix.Delete(ctx, all), s.alone.Delete(ctx, all))
}

func both(err, alone error) error {
	if err == nil {
		return alone
	}
	return err
}

// search asks two things for each tenant, in one call where the index can.
func (p *pair) search(ctx context.Context) error {
	whose := []*side{p.sides[0], p.sides[1], p.sides[0], p.sides[1]}
	qs := make([]sparse.Query, len(whose))
	for i, s := range whose {
		qs[i] = p.query(s)
	}
	p.left -= len(qs)
	found, err := p.ask(ctx, qs)
	if err != nil {
		return err
	}
	for i, s := range whose {
		if err := p.check(ctx, s, qs[i], found[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *pair) ask(ctx context.Context, qs []sparse.Query) ([][]memtypes.Scored, error) {
	if x, ok := p.ix.(sparse.Many); ok && p.r.IntN(2) == 0 {
		found, err := x.SearchMany(ctx, qs)
		if err == nil && len(found) != len(qs) {
			err = fmt.Errorf("method SearchMany: gives %d answers to %d queries", len(found), len(qs))
		}
		return found, err
	}
	found := make([][]memtypes.Scored, len(qs))
	for i, q := range qs {
		hits, err := p.ix.Search(ctx, q)
		if err != nil {
			return nil, err
		}
		found[i] = hits
	}
	return found, nil
}

// check compares an answer with that of the index of one tenant alone.
func (p *pair) check(ctx context.Context, s *side, q sparse.Query, got []memtypes.Scored) error {
	for i, h := range got {
		if !strings.HasPrefix(string(h.ID), string(s.id(0)[:24])) {
			return fmt.Errorf("%s is shown %s, hit %d of %d, which is not its own (query %+v)", s.name, h.ID, i, len(got), q)
		}
	}
	all := q // in which equal scores at the end of the list do not matter
	all.K = math.MaxInt
	places, err := s.alone.Search(ctx, all)
	if err != nil {
		return err
	}
	all.BySession = false
	own, err := s.alone.Search(ctx, all)
	if err != nil {
		return err
	}
	if err := p.ranked(s, got, places[:min(q.K, len(places))], own); err != nil {
		return fmt.Errorf("%s does not find what it would alone: %w (query %+v)", s.name, err, q)
	}
	return nil
}

// ranked compares hits with the best that there are, by their places, and with
// the scores of all that may be found.
func (p *pair) ranked(s *side, got, places, own []memtypes.Scored) error {
	if len(got) != len(places) {
		return fmt.Errorf("%d hits, want %d", len(got), len(places))
	}
	scores := make(map[memtypes.ID]float64, len(own))
	for _, h := range own {
		scores[h.ID] = h.Score
	}
	for i, h := range got {
		score, ok := scores[h.ID]
		if !ok {
			return fmt.Errorf("hit %d is %s, which is not to be found, or twice", i, h.ID)
		}
		delete(scores, h.ID)
		if p.Common || p.Drift && s.changed {
			continue
		}
		if !near(h.Score, score) || !near(h.Score, places[i].Score) {
			return fmt.Errorf("hit %d is %s with %v, want its score %v and that of the place, %v", i, h.ID, h.Score, score, places[i].Score)
		}
	}
	return nil
}

// count compares how often words occur, those among them that only one tenant has.
func (p *pair) count(ctx context.Context, s *side) error {
	p.left--
	tokens := []string{word(p.r), word(p.r), word(p.r), p.sides[0].only(), p.sides[1].only()}
	f := sparse.Fields()[p.r.IntN(len(sparse.Fields()))]
	want, err := s.alone.Statistics(ctx, s.name, f, tokens)
	if err != nil {
		return err
	}
	if x, ok := p.ix.(sparse.Frequencies); ok {
		got, err := x.DocFreq(ctx, s.name, f, tokens)
		if err != nil {
			return err
		}
		for i, t := range tokens {
			if got[i] != want.DocFreq[t] {
				return fmt.Errorf("%s is told of %d memories with %q in %s, want %d", s.name, got[i], t, f, want.DocFreq[t])
			}
		}
	}
	x, ok := p.ix.(sparse.Statistics)
	if !ok || p.Common {
		return nil
	}
	got, err := x.Statistics(ctx, s.name, f, tokens)
	if err != nil {
		return err
	}
	for _, t := range tokens {
		if got.Docs != want.Docs || got.Tokens != want.Tokens || got.DocFreq[t] != want.DocFreq[t] {
			return fmt.Errorf("the statistics of %s in %s are %+v, want %+v", s.name, f, got, want)
		}
	}
	return nil
}

// held compares Len and Revs.
func (p *pair) held(ctx context.Context) error {
	p.left -= 2
	want := map[sparse.Held]int{}
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

// only is a word that no other tenant has.
func (s *side) only() string { return "of-" + s.name }

// word is one of few, the first ones the commonest.
func word(r *rand.Rand) string {
	x := r.Float64()
	return fmt.Sprint("w", int(300*x*x*x))
}

// doc is a version of the n-th memory, newer than all; it is the same in both
// tenants but for its ID, its revision, whose it is, and perhaps one word.
func (p *pair) doc(s *side, n, version int) sparse.Doc {
	p.rev++
	r := rand.New(rand.NewPCG(p.seed, uint64(n)<<3|uint64(version+1)))
	d := sparse.Doc{ID: s.id(n), Rev: p.rev, Facets: someFacets(r, s.name), Fields: map[sparse.Field][]string{}}
	for _, f := range sparse.Fields() {
		if r.IntN(6) == 0 {
			continue
		}
		for range 2 + r.IntN(12) {
			d.Fields[f] = append(d.Fields[f], word(r))
		}
		if r.IntN(9) == 0 {
			d.Fields[f] = append(d.Fields[f], s.only())
		}
	}
	return d
}

func someFacets(r *rand.Rand, tenant string) memtypes.Facets {
	s, err := memtypes.NewScope(tenant, []string{"ann", "bob"}[r.IntN(2)], []string{"", "bot"}[r.IntN(2)], []string{"", "r1"}[r.IntN(2)])
	if err != nil {
		panic(err) // a mistake of the test itself
	}
	return memtypes.Facets{
		Scope: s, Kind: memtypes.Kinds()[r.IntN(len(memtypes.Kinds()))], Layer: []memtypes.Layer{memtypes.Raw, memtypes.Thought}[r.IntN(2)],
		Session: []string{"", fmt.Sprint("s", r.IntN(40))}[r.IntN(2)], When: day.Add(time.Duration(r.IntN(10_000)) * time.Hour),
	}
}

// query asks for words, with conditions that a doc of either tenant meets, and
// perhaps among the IDs of both.
func (p *pair) query(s *side) sparse.Query {
	like := p.doc(s, p.r.IntN(max(1, s.known)), p.r.IntN(4)).Facets
	maybe := func() bool { return p.r.IntN(4) == 0 }
	q := sparse.Query{Field: sparse.Fields()[p.r.IntN(len(sparse.Fields()))], K: 1 + p.r.IntN(60), BySession: maybe()}
	for range 1 + p.r.IntN(4) {
		t := sparse.Term{Token: word(p.r), Boost: []float64{0, .3, 2.5}[p.r.IntN(3)]}
		if maybe() {
			t.Token = p.sides[p.r.IntN(2)].only()
		}
		if maybe() {
			t.Near = []sparse.Near{{Token: word(p.r), Weight: .5}}
		}
		q.Terms = append(q.Terms, t)
	}
	q.Filter.Scope = like.Scope
	if !maybe() {
		q.Filter.Scope, _ = memtypes.NewScope(s.name, like.Scope.User(), "", "")
	}
	if maybe() {
		q.Filter.Kinds = []memtypes.Kind{like.Kind, memtypes.Dialogue}
	}
	if maybe() {
		q.Filter.Layers = []memtypes.Layer{like.Layer}
	}
	if maybe() {
		q.Filter.Session = like.Session
	}
	if maybe() {
		q.Filter.From = like.When.Add(-50 * time.Hour)
	}
	if maybe() {
		q.Filter.To = like.When.Add(500 * time.Hour)
	}
	if maybe() {
		q.Filter.IDs = []memtypes.ID{}
		for range p.r.IntN(30) {
			q.Filter.IDs = append(q.Filter.IDs, p.sides[p.r.IntN(2)].id(p.r.IntN(max(1, s.known))))
		}
	}
	return q
}
