package sparse

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// TestLengths holds the length byte to the table of Lucene's SmallFloat: the
// first lengths of each step.
func TestLengths(t *testing.T) {
	for _, tt := range []struct {
		length int
		code   uint8
	}{
		{0, 0}, {1, 1}, {23, 23}, {24, 24}, {31, 31}, {32, 32}, {39, 39}, {40, 40}, {42, 41}, {54, 47}, {56, 48}, {60, 49},
		{88, 56}, {96, 57}, {144, 63}, {152, 64}, {280, 72}, {2072, 96}, {65560, 136}, {2013265944, 255},
	} {
		if got := encodeLength(tt.length); got != tt.code {
			t.Errorf("encodeLength(%d) = %d, want %d", tt.length, got, tt.code)
		}
		if got := decodeLength(tt.code); got != tt.length {
			t.Errorf("decodeLength(%d) = %d, want %d", tt.code, got, tt.length)
		}
	}
	for n, before := 1, uint8(0); n < 1<<20; n++ {
		code := encodeLength(n)
		low, high := decodeLength(code), 1<<30
		if code < 255 {
			high = decodeLength(code + 1)
		}
		if code < before || n < low || n >= high {
			t.Fatalf("encodeLength(%d) = %d (after %d), which stands for [%d, %d)", n, code, before, low, high)
		}
		before = code
	}
}

// check looks over everything a shard holds that follows from something else.
func (s *shard) check() error {
	var want [fields]struct {
		docs   int
		tokens int64
		df     map[uint32]int
	}
	uses := make([]uint32, len(s.words.names))
	for f := range want {
		want[f].df = map[uint32]int{}
	}
	live := 0
	for n := range s.docs {
		if s.docs[n].id == "" {
			continue
		}
		live++
		var p parsed
		if !p.unpack(s.docs[n].packed) {
			return fmt.Errorf("document %d cannot be unpacked", n)
		}
		for f, ts := range p.terms {
			if p.lengths[f] > 0 {
				want[f].docs++
			}
			want[f].tokens += int64(p.lengths[f])
			if got := s.fields[f].lengths[n]; got != encodeLength(p.lengths[f]) {
				return fmt.Errorf("document %d: length byte %d, want %d", n, got, encodeLength(p.lengths[f]))
			}
			for _, t := range ts {
				uses[t.term]++
				want[f].df[t.term]++
				l := &s.fields[f].lists[t.term]
				b := &l.blocks[l.find(uint32(n))]
				if _, ok := slices.BinarySearch(b.posts, newPosting(uint32(n), int(t.tf))); !ok {
					return fmt.Errorf("document %d: no posting of %q, %d times", n, s.words.names[t.term], t.tf)
				}
			}
		}
	}
	if live != s.live() || live != s.facets.Len() {
		return fmt.Errorf("live = %d, facets of %d, want %d", s.live(), s.facets.Len(), live)
	}
	if !slices.Equal(uses, s.words.uses) {
		return fmt.Errorf("uses = %v, want %v", s.words.uses, uses)
	}
	for f := range s.fields {
		p := &s.fields[f]
		if p.docs != want[f].docs || p.tokens != want[f].tokens {
			return fmt.Errorf("field %d: %d documents, %d tokens, want %d, %d", f, p.docs, p.tokens, want[f].docs, want[f].tokens)
		}
		for term := range p.lists {
			if err := p.lists[term].check(p.lengths, want[f].df[uint32(term)]); err != nil {
				return fmt.Errorf("field %d, term %d (%q): %w", f, term, s.words.names[term], err)
			}
		}
	}
	return nil
}

// check looks at one list: order, block sizes, and that no bound is too low or,
// but for the frequency's, too high.
func (l *list) check(lengths []uint8, df int) error {
	var all []posting
	var most peak
	for i := range l.blocks {
		b := &l.blocks[i]
		if len(b.posts) == 0 || len(b.posts) > blockSize || b.first != b.posts[0].doc() || b.last != b.posts[len(b.posts)-1].doc() {
			return fmt.Errorf("block %d: %d postings, first %d, last %d", i, len(b.posts), b.first, b.last)
		}
		exact := peak{}
		for _, p := range b.posts {
			exact.add(p.tf(), lengths[p.doc()])
		}
		if b.peak != exact {
			return fmt.Errorf("block %d: peak %v, want %v", i, b.peak, exact)
		}
		most.join(&exact)
		all = append(all, b.posts...)
	}
	if l.peak != most {
		return fmt.Errorf("peak %v, want %v", l.peak, most)
	}
	if !slices.IsSorted(all) || len(all) != df || int(l.df) != df {
		return fmt.Errorf("%d postings, df %d, want %d, sorted", len(all), l.df, df)
	}
	return nil
}

// TestPruningChangesNothing writes, replaces and deletes thousands of random
// documents, and asks after each round with and without pruning: the answers
// must be the same to the last bit. It also checks what the index holds.
func TestPruningChangesNothing(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 1))
		ix, _ := Open(nil)
		rev := uint64(0)
		for round := range 6 {
			var docs []Doc
			for range 1500 {
				rev++
				docs = append(docs, randomDoc(t, r, r.IntN(6000), rev))
			}
			var gone []memtypes.Gone
			for range 300 {
				gone = append(gone, memtypes.Gone{ID: randomID(r.IntN(6000)), Rev: rev})
			}
			if err := ix.Upsert(t.Context(), docs); err != nil {
				t.Fatal(err)
			}
			if err := ix.Delete(t.Context(), gone); err != nil {
				t.Fatal(err)
			}
			for tenant, s := range ix.shards {
				if err := s.check(); err != nil {
					t.Fatalf("seed %d, round %d, tenant %s: %v", seed, round, tenant, err)
				}
			}
			for range 60 {
				askBothWays(t, ix, randomQuery(t, r))
			}
		}
	}
}

// askBothWays asks exhaustively, and then with pruning in windows of several widths.
func askBothWays(t *testing.T, ix *Inverted, q Query) {
	t.Helper()
	defer func() { ix.options.Exhaustive, ix.widest = false, window }()
	ask := func() []memtypes.Scored {
		got, err := ix.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	ix.options.Exhaustive = true
	want := ask()
	ix.options.Exhaustive = false
	for _, ix.widest = range []uint32{window, shortest, 256, 64} {
		if got := ask(); !slices.Equal(got, want) {
			t.Fatalf("%+v, in windows of %d:\npruned     %v\nexhaustive %v", q, ix.widest, got, want)
		}
	}
}

// TestPruningOfClusteredLists asks for words that come in runs of documents,
// side by side with words that are everywhere: how many postings a window has
// is then far from what the whole list makes expect.
func TestPruningOfClusteredLists(t *testing.T) {
	const n = 2*window + 700
	r := rand.New(rand.NewPCG(5, 5))
	ix, _ := Open(nil)
	docs := make([]Doc, n)
	for i := range docs {
		docs[i] = randomDoc(t, r, i, 1)
		docs[i].Facets.Scope = onlyScope(t)
		docs[i].Fields[Text] = append(docs[i].Fields[Text], fmt.Sprint("run", i/1500), fmt.Sprint("run", i/700), fmt.Sprint("long", i/window))
	}
	if err := ix.Upsert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	for i := range 150 {
		q := randomQuery(t, r)
		q.Field, q.Filter.Scope = Text, onlyScope(t)
		if i%3 == 0 {
			q.Terms = q.Terms[:1]
		}
		for range 1 + r.IntN(3) {
			q.Terms = append(q.Terms, Term{Token: fmt.Sprint("run", r.IntN(n/700)), Near: []Near{{fmt.Sprint("long", r.IntN(3)), .3}}})
		}
		askBothWays(t, ix, q)
	}
}

// TestSearchWhileWriting searches and writes at once, with more searches than
// keep their space: no answer is out of order, and in the end all is sound.
func TestSearchWhileWriting(t *testing.T) {
	ix, _ := Open(nil)
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 3))
			for rev := range uint64(60) {
				var docs []Doc
				for range 40 {
					docs = append(docs, randomDoc(t, r, r.IntN(3000), rev))
				}
				if err := ix.Upsert(t.Context(), docs); err != nil {
					t.Error(err)
				}
				if err := ix.Delete(t.Context(), []memtypes.Gone{{ID: randomID(r.IntN(3000)), Rev: rev}, {ID: randomID(r.IntN(3000)), Rev: rev}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for w := range 2 * runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 4))
			for range 60 {
				q := randomQuery(t, r)
				hits, err := ix.Search(t.Context(), q)
				if err != nil || len(hits) > q.K || !slices.IsSortedFunc(hits, func(a, b memtypes.Scored) int {
					return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
				}) {
					t.Errorf("%+v: %v, %v, want at most %d in order", q, hits, err, q.K)
				}
			}
		})
	}
	wg.Wait()
	if got, want := len(ix.idle), runtime.GOMAXPROCS(0); got > want {
		t.Errorf("space of %d searches is kept, want at most %d", got, want)
	}
	for tenant, s := range ix.shards {
		if err := s.check(); err != nil {
			t.Errorf("tenant %q: %v", tenant, err)
		}
	}
	r := rand.New(rand.NewPCG(9, 9))
	for range 30 {
		askBothWays(t, ix, randomQuery(t, r))
	}
}

// TestLongQueriesLeaveNoSpace: what a query of very many words takes is not
// kept for the next ones.
func TestLongQueriesLeaveNoSpace(t *testing.T) {
	ix, _ := Open(nil)
	d := Doc{ID: "d", Facets: memtypes.Facets{Scope: onlyScope(t)}, Fields: map[Field][]string{}}
	q := Query{Field: Text, K: 1, Filter: memtypes.Filter{Scope: onlyScope(t)}}
	for i := range 1000 {
		d.Fields[Text] = append(d.Fields[Text], fmt.Sprint("w", i))
		q.Terms = append(q.Terms, Term{Token: fmt.Sprint("w", i)})
	}
	if err := ix.Upsert(t.Context(), []Doc{d}); err != nil {
		t.Fatal(err)
	}
	if hits, err := ix.Search(t.Context(), q); err != nil || len(hits) != 1 {
		t.Fatalf("Search = %v, %v, want d", hits, err)
	}
	s := ix.borrow()
	if len(s.cursors) != 1000 || cap(s.tables) > 256 || cap(s.clauses) > 64 {
		t.Errorf("%d cursors, space for %d tables and %d clauses is kept, want 1000, at most 256 and 64", len(s.cursors), cap(s.tables), cap(s.clauses))
	}
}

func onlyScope(tb testing.TB) memtypes.Scope {
	tb.Helper()
	s, err := memtypes.NewScope("", "ann", "", "")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func randomID(n int) memtypes.ID { return memtypes.ID(fmt.Sprintf("%08x", uint32(n)*2654435761)) }

// randomToken is of 500, the first of which are the commonest.
func randomToken(r *rand.Rand) string {
	return fmt.Sprint("w", int(500*r.Float64()*r.Float64()*r.Float64()))
}

func randomTokens(r *rand.Rand, n int) []string {
	tokens := make([]string, n)
	for i := range tokens {
		tokens[i] = randomToken(r)
	}
	if r.IntN(50) == 0 { // more often than a posting can say
		tokens = append(tokens, slices.Repeat(tokens[:1], 60+r.IntN(8))...)
	}
	return tokens
}

func randomScope(tb testing.TB, r *rand.Rand) memtypes.Scope {
	tb.Helper()
	s, err := memtypes.NewScope([]string{"", "", "", "acme"}[r.IntN(4)], []string{"ann", "bob"}[r.IntN(2)], "", "")
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func randomDoc(tb testing.TB, r *rand.Rand, n int, rev uint64) Doc {
	return Doc{
		ID: randomID(n), Rev: rev,
		Facets: memtypes.Facets{Scope: randomScope(tb, r), Kind: memtypes.Kinds()[r.IntN(3)], Layer: memtypes.Raw,
			Session: []string{"", fmt.Sprint(n / 30)}[r.IntN(2)], When: time.Unix(int64(n), 0)},
		Fields: map[Field][]string{Text: randomTokens(r, 1+r.IntN(30)), Turn: randomTokens(r, 1+n%70)},
	}
}

func randomQuery(tb testing.TB, r *rand.Rand) Query {
	q := Query{Field: []Field{Text, Turn}[r.IntN(2)], K: 1 + r.IntN(30), BySession: r.IntN(3) == 0}
	q.Filter.Scope = randomScope(tb, r)
	for range 1 + r.IntN(8) {
		t := Term{Token: randomToken(r), Boost: []float64{0, .25, r.Float64() + .1}[r.IntN(3)]}
		for range []int{0, 0, 4}[r.IntN(3)] {
			t.Near = append(t.Near, Near{randomToken(r), .05 + .9*r.Float64()})
		}
		q.Terms = append(q.Terms, t)
	}
	switch r.IntN(5) {
	case 0:
		q.Filter.From = time.Unix(int64(r.IntN(6000)), 0)
	case 1:
		q.Filter.Session = fmt.Sprint(r.IntN(200))
	case 2:
		for range r.IntN(100) {
			q.Filter.IDs = append(q.Filter.IDs, randomID(r.IntN(6000)))
		}
	}
	return q
}

// TestDecodeDamaged changes every byte of a payload, as if its checksum were
// right: it is refused, or what it makes is sound and can be asked.
func TestDecodeDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	ix, _ := Open(nil)
	for i := range 12 {
		if err := ix.Upsert(t.Context(), []Doc{randomDoc(t, r, i, uint64(i))}); err != nil {
			t.Fatal(err)
		}
	}
	ix.Delete(t.Context(), []memtypes.Gone{{ID: randomID(3), Rev: 50}, {ID: randomID(99), Rev: 50}})
	payload, err := ix.encode()
	if err != nil {
		t.Fatal(err)
	}
	q := randomQuery(t, r)
	for at := range payload {
		for _, value := range []byte{payload[at] ^ 1, payload[at] ^ 0x80, 0, 0xff} {
			damaged := bytes.Clone(payload)
			damaged[at] = value
			got, _ := Open(nil)
			if got.decode(damaged) != nil {
				continue
			}
			for _, s := range got.shards {
				if err := s.check(); err != nil {
					t.Fatalf("byte %d = %#x: %v", at, value, err)
				}
			}
			if _, err := got.Search(t.Context(), q); err != nil {
				t.Fatalf("byte %d = %#x: Search: %v", at, value, err)
			}
		}
		if got, _ := Open(nil); got.decode(payload[:at]) == nil {
			t.Errorf("cut at byte %d of %d, it was decoded", at, len(payload))
		}
	}
}

// FuzzDecode: whatever a payload holds, decoding neither panics nor makes an
// index that is not sound.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 20} {
		ix, _ := Open(nil)
		for i := range n {
			ix.Upsert(context.Background(), []Doc{randomDoc(f, r, i, 1)})
		}
		ix.Delete(context.Background(), []memtypes.Gone{{ID: randomID(3), Rev: 5}, {ID: randomID(99), Rev: 5}})
		payload, err := ix.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		ix, _ := Open(nil)
		if ix.decode(payload) != nil {
			return
		}
		for _, s := range ix.shards {
			if err := s.check(); err != nil {
				t.Fatalf("decoded an unsound shard: %v", err)
			}
		}
		once, err := ix.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Open(nil)
		if err := again.decode(once); err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v", err)
		}
		if twice, _ := again.encode(); !bytes.Equal(once, twice) {
			t.Fatalf("encoded again it is another")
		}
	})
}
