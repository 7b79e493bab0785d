package local

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
)

// TestGolden compares with what the encoder of tools/embedder gave.
func TestGolden(t *testing.T) {
	b, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text   string
		Rows   [][2]any
		Vector memtypes.Vector
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	e := mustOpen(t)
	for _, c := range cases {
		s := newSketch(e.rows, e.dim)
		e.tokens(c.Text, s)
		rows := [][2]any{}
		for _, row := range s.rows {
			rows = append(rows, [2]any{e.name(int(row)), float64(s.count[row])})
		}
		if diff := cmp.Diff(c.Rows, rows); diff != "" {
			t.Errorf("rows of %q (-want +got):\n%s", c.Text, diff)
		}
		vectors, err := e.Embed(t.Context(), []string{c.Text})
		if err != nil {
			t.Fatalf("Embed(%q): %v", c.Text, err)
		}
		if got := vectors[0]; len(got) != len(c.Vector) {
			t.Errorf("vector of %q: got %d components, want %d", c.Text, len(got), len(c.Vector))
			continue
		}
		for i, got := range vectors[0] {
			if want := c.Vector[i]; math.Abs(float64(got-want)) > 1e-4 {
				t.Errorf("vector of %q: got [%d] = %v, want %v", c.Text, i, got, want)
				break
			}
		}
	}
}

func TestMeaning(t *testing.T) {
	e := mustOpen(t)
	texts := []string{
		"Which pets does she keep?", "My dog and two cats live with us.", "The bank raised its interest rates.",
		"最近有什么好看的电影?", "这部影片的导演是谁?", "今天股票又跌了。",
	}
	v, err := e.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 3} {
		near, far := cosine(v[i], v[i+1]), cosine(v[i], v[i+2])
		if near <= far {
			t.Errorf("%q: got cosine %.3f with %q and %.3f with %q, want the first one larger", texts[i], near, texts[i+1], far, texts[i+2])
		}
	}
}

func TestNothingKnown(t *testing.T) {
	e := mustOpen(t)
	for _, text := range []string{"", " \n", "😀!", "привет", "\xff\xfe", "…", "99999999"} {
		got, err := e.Embed(t.Context(), []string{text, "dog"})
		if err != nil || len(got) != 2 {
			t.Fatalf("Embed(%q): got %d vectors and error %v, want 2 and none", text, len(got), err)
		}
		if got[0] != nil || got[1] == nil {
			t.Errorf("Embed(%q, dog): got %v and %v, want nil and a vector", text, got[0], got[1])
		}
	}
	if got, err := e.Embed(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("Embed of no texts: got %v and error %v, want nothing", got, err)
	}
}

// Rows that cancel out leave no direction.
func TestCancelOut(t *testing.T) {
	e := mustRead(t, build(entry{"hot", noCost, []int8{3, -4}}, entry{"cold", noCost, []int8{-3, 4}}))
	got, err := e.Embed(t.Context(), []string{"hot cold", "hot hot cold"})
	if err != nil {
		t.Fatal(err)
	}
	if got[0] != nil {
		t.Errorf("hot cold: got %v, want nil", got[0])
	}
	if x, y := got[1][0], got[1][1]; math.Abs(float64(x)-0.6) > 1e-6 || math.Abs(float64(y)+0.8) > 1e-6 {
		t.Errorf("hot hot cold: got %v, %v, want 0.6, -0.8", x, y)
	}
}

func TestDampedCounts(t *testing.T) {
	e := mustRead(t, build(entry{"a", noCost, []int8{64, 0}}, entry{"b", noCost, []int8{0, 64}}))
	got, _ := e.Embed(t.Context(), []string{"a b A, b a!"})
	x, y := 1+math.Log(3), 1+math.Log(2)
	want := memtypes.Vector{float32(x / math.Hypot(x, y)), float32(y / math.Hypot(x, y))}
	if cosine(want, got[0]) < 1-1e-6 {
		t.Errorf("got %v, want %v", got[0], want)
	}
}

func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := mustOpen(t).Embed(ctx, []string{"dog"})
	if got := memtypes.CodeOf(err); err == nil || got != memtypes.Canceled {
		t.Errorf("got error %v, want code %q", err, memtypes.Canceled)
	}
}

func TestFingerprint(t *testing.T) {
	e := mustOpen(t)
	if want := regexp.MustCompile(`^local-v1/256/[0-9a-f]{12}$`); !want.MatchString(e.Fingerprint()) {
		t.Errorf("got %q, want a match of %v", e.Fingerprint(), want)
	}
	if e.Dim() != 256 {
		t.Errorf("Dim() = %d, want 256", e.Dim())
	}
	one, two := mustRead(t, build(words("ab")...)), mustRead(t, build(words("ac")...))
	if one.Fingerprint() == two.Fingerprint() {
		t.Errorf("two tables: got the same fingerprint %q, want two", one.Fingerprint())
	}
}

// TestConcurrent is for the race detector, and checks that scratch is not shared.
func TestConcurrent(t *testing.T) {
	e := mustOpen(t)
	texts := []string{turn, film, "dog", "the quick brown fox"}
	want, _ := e.Embed(t.Context(), texts)
	dogs := e.Neighbours([]string{"dog"}, 5)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20 {
				j := (g + i) % len(texts)
				got, err := e.Embed(t.Context(), texts[j:j+1])
				if err != nil || !slices.Equal(got[0], want[j]) {
					t.Errorf("Embed(%q): got another vector than alone (error %v)", texts[j], err)
				}
				if got := e.Neighbours([]string{"dog"}, 5); !slices.Equal(got[0], dogs[0]) {
					t.Errorf("Neighbours(dog): got %v, want %v", got, dogs)
				}
				e.Words(film)
				e.Weight("dogs")
			}
		})
	}
	wg.Wait()
}

func FuzzEmbed(f *testing.F) {
	for _, s := range []string{turn, film, "", "\xff\xc3", "😀👩‍👩‍👧", "İſK", strings.Repeat("霸", 5000), strings.Repeat("x1", 5000)} {
		f.Add(s)
	}
	e, err := Open()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := e.Embed(t.Context(), []string{text, text})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got[0], got[1]) {
			t.Errorf("Embed(%q) twice: got two vectors", text)
		}
		if got[0] != nil {
			checkUnit(t, text, got[0])
		}
		all := strings.Join(e.Words(text), "")
		if want := onlyHan(text); all != want {
			t.Errorf("Words(%q): got %q joined, want %q", text, all, want)
		}
		e.Weight(text)
	})
}

func onlyHan(text string) string {
	return strings.Map(func(r rune) rune {
		if isHan(r) {
			return r
		}
		return -1
	}, text)
}

func checkUnit(t *testing.T, text string, v memtypes.Vector) {
	t.Helper()
	if n := math.Sqrt(cosine(v, v)); math.Abs(n-1) > 1e-5 {
		t.Errorf("Embed(%q): got a vector of length %v, want 1", text, n)
	}
}

// cosine is that of two vectors of length 1, the shorter one filled up with zeros.
func cosine(a, b memtypes.Vector) float64 {
	var sum float64
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func Example() {
	e, err := Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	v, _ := e.Embed(context.Background(), []string{"Where is my puppy?", "The dog sleeps in the garden.", "Taxes are due."})
	fmt.Println(cosine(v[0], v[1]) > cosine(v[0], v[2]))
	fmt.Println(e.Words("我喜欢看电影"))
	// Output:
	// true
	// [我 喜欢 看 电影]
}
