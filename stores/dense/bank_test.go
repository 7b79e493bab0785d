package dense

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/internal/kernel"
	"github.com/vimbank/vimbank/memtypes"
)

// TestRow checks the three forms of a vector against each other.
func TestRow(t *testing.T) {
	vs := sentences(rand.New(rand.NewPCG(1, 2)), 20, 100)
	vs = append(vs, slices.Repeat(memtypes.Vector{-.1}, 100), append(memtypes.Vector{1}, make(memtypes.Vector, 99)...))
	r := newRow(kernel.Pad(100))
	for _, v := range vs {
		r.set(v)
		if got := norm(r.vec); math.Abs(got-1) > 1e-6 {
			t.Errorf("length = %v, want 1", got)
		}
		for i, x := range r.vec {
			back := float64(r.codes[i]) * float64(r.scale)
			if math.Abs(back-float64(x)) > float64(r.scale)*.5001 {
				t.Errorf("code %d of %v is %d, %v off, want at most half of the scale %v", i, x, r.codes[i], back-float64(x), r.scale)
			}
			if got := r.bits[i/64]>>(i%64)&1 == 1; got != (x > 0) {
				t.Errorf("bit %d = %v, want that of %v", i, got, x)
			}
			if i >= 100 && x != 0 {
				t.Errorf("padding %d = %v, want 0", i, x)
			}
		}
		if got := int(slices.MaxFunc(r.codes, func(a, b int8) int { return abs(a) - abs(b) })); got != 127 && got != -127 {
			t.Errorf("largest code = %d, want all of the range used", got)
		}
	}
}

func abs(x int8) int { return max(int(x), -int(x)) }

func TestRound(t *testing.T) {
	for x, want := range map[float32]int8{0: 0, .4: 0, .6: 1, -.6: -1, 126.6: 127, -126.6: -127, 127: 127, -127: -127, 63.49: 63} {
		if got := round(x); got != want {
			t.Errorf("round(%v) = %d, want %d", x, got, want)
		}
	}
}

// TestBank adds and removes at random and compares with a plain list.
func TestBank(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	vs := sentences(r, 50, 70)
	b := bank{pad: kernel.Pad(70)}
	rows := make([]row, len(vs))
	for i := range rows {
		rows[i] = newRow(b.pad)
		rows[i].set(vs[i])
	}
	var want []int // which vector is in which row
	for target := range []int{3000, 0, 40, 1030, 1020, 1030, 0, 1} {
		for steps := range 6000 {
			if add := len(want) == 0 || r.IntN(10) < []int{3, 7}[target%2]; add == (steps < 3) || add {
				i := r.IntN(len(rows))
				if got := b.add(uint32(i), &rows[i]); int(got) != len(want) {
					t.Fatalf("add gave row %d, want %d", got, len(want))
				}
				want = append(want, i)
				continue
			}
			n := r.IntN(len(want))
			doc, moved := b.remove(uint32(n))
			last := len(want) - 1
			if moved != (n != last) || moved && int(doc) != want[last] {
				t.Fatalf("remove(%d) of %d = %d, %v", n, len(want), doc, moved)
			}
			want[n] = want[last]
			want = want[:last]
		}
		checkBank(t, &b, rows, want)
	}
}

func checkBank(t *testing.T, b *bank, rows []row, want []int) {
	t.Helper()
	if b.n != len(want) {
		t.Fatalf("n = %d, want %d", b.n, len(want))
	}
	if need := (b.n + chunkRows - 1) / chunkRows; len(b.chunks) < need || len(b.chunks) > need+1 {
		t.Errorf("%d chunks for %d rows, want %d or one more", len(b.chunks), b.n, need)
	}
	for n, i := range want {
		c, at := b.chunks[n/chunkRows], n%chunkRows
		if int(c.docs[at]) != i || c.scale[at] != rows[i].scale || !slices.Equal(b.codes(n), rows[i].codes) || !slices.Equal(b.vec(n), rows[i].vec) {
			t.Fatalf("row %d is not that of vector %d", n, i)
		}
		for w, x := range rows[i].bits {
			if got := c.bits[kernel.At(at, w, len(rows[i].bits))]; got != x {
				t.Fatalf("row %d, word %d of its bits = %x, want %x (%d bits differ)", n, w, got, x, bits.OnesCount64(got^x))
			}
		}
	}
}

// TestSmallTenantsAreCheap: ten memories do not take a chunk of a thousand.
func TestSmallTenantsAreCheap(t *testing.T) {
	f := filled(t, sentences(rand.New(rand.NewPCG(1, 1)), 10, 64), nil)
	s := f.shards[memtypes.DefaultTenant]
	if got := len(s.banks[lone].chunks[0].docs); got != firstChunk {
		t.Errorf("room for %d rows, want %d", got, firstChunk)
	}
	if got := len(s.banks[ofText].chunks) + len(s.banks[ofContext].chunks); got != 0 {
		t.Errorf("%d chunks without a row, want none", got)
	}
}

// TestBest compares the selection with a sort.
func TestBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOf(rapid.SampledFrom([]float64{-1, 0, .1, .2, .3, .9, 1})).Draw(t, "scores")
		ids := make([]memtypes.ID, len(scores))
		order := rand.New(rand.NewPCG(uint64(len(scores)), 1)).Perm(len(scores))
		all := make([]candidate, len(scores))
		b := newBest(rapid.IntRange(1, 12).Draw(t, "r"), ids)
		for i := range ids {
			ids[i] = numbered(order[i])
			all[i] = candidate{scores[i], uint32(i)}
		}
		for _, c := range all {
			if c.score >= b.floor {
				b.add(c.score, c.doc)
			}
		}
		slices.SortFunc(all, func(x, y candidate) int {
			if x.score != y.score {
				return int(math.Copysign(1, y.score-x.score))
			}
			return strings.Compare(string(ids[x.doc]), string(ids[y.doc]))
		})
		if got, want := b.sorted(), all[:min(b.r, len(all))]; !slices.Equal(got, want) {
			t.Errorf("the best %d = %v, want %v", b.r, got, want)
		}
	})
}
