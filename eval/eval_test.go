package eval

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name     string
		relevant []string
		ranked   []string
		recall   [3]float64
		hit1     float64
		hit5     float64
		mrr      float64
		ndcg     float64
	}{
		{"first", []string{"a"}, []string{"a", "b"}, [3]float64{1, 1, 1}, 1, 1, 1, 1},
		{"second", []string{"a"}, []string{"b", "a"}, [3]float64{0, 1, 1}, 0, 1, .5, 1 / math.Log2(3)},
		{"half of two", []string{"a", "b"}, []string{"a", "x"}, [3]float64{.5, .5, .5}, 1, 1, 1, 1 / (1 + 1/math.Log2(3))},
		{"sixth", []string{"a"}, []string{"1", "2", "3", "4", "5", "a"}, [3]float64{0, 0, 1}, 0, 0, 1. / 6, 1 / math.Log2(7)},
		{"eleventh counts for MRR alone", []string{"a"}, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "a"}, [3]float64{}, 0, 0, 1. / 11, 0},
		{"not found", []string{"a"}, []string{"b"}, [3]float64{}, 0, 0, 0, 0},
		{"found twice counts once", []string{"a", "b"}, []string{"a", "a"}, [3]float64{.5, .5, .5}, 1, 1, 1, 1 / (1 + 1/math.Log2(3))},
	} {
		got := judge(&probe{Relevant: tt.relevant}, tt.ranked, time.Millisecond)
		if got.recall != tt.recall || got.hit1 != tt.hit1 || got.hit5 != tt.hit5 || math.Abs(got.mrr-tt.mrr) > 1e-12 || math.Abs(got.ndcg-tt.ndcg) > 1e-12 {
			t.Errorf("%s: got %+v, want recall %v hit@1 %v hit@5 %v mrr %v ndcg %v", tt.name, got, tt.recall, tt.hit1, tt.hit5, tt.mrr, tt.ndcg)
		}
	}
}

func TestSummarise(t *testing.T) {
	var os []outcome
	for i := range 100 {
		o := outcome{took: time.Duration(i+1) * time.Millisecond}
		o.recall[1] = float64(i % 2)
		os = append(os, o)
	}
	l := summarise("s", "p", All, os)
	if l.N != 100 || l.Recall5 != .5 || l.P50 != 51 || l.P95 != 96 {
		t.Errorf("line = %+v", l)
	}
	if l.CI95[0] < .38 || l.CI95[0] > .45 || l.CI95[1] < .55 || l.CI95[1] > .62 {
		t.Errorf("interval = %v, want about .40 to .60", l.CI95)
	}
	if again := summarise("s", "p", All, os); again != l {
		t.Errorf("the same outcomes gave another line: %+v", again)
	}
}

func TestReadSetNamesWhatIsWrong(t *testing.T) {
	const item = `{"id":"1","bank":"b","kind":"dialogue","text":"hi"}` + "\n"
	for _, tt := range []struct{ name, items, probes, want string }{
		{"broken item", item + "{\n", "", "items.jsonl:2"},
		{"unknown bank", item, `{"id":"p","bank":"nowhere","query":"q","relevant":["1"]}`, `"nowhere"`},
		{"bad time", item, `{"id":"p","bank":"b","query":"q","now":"yesterday"}`, "probes.jsonl:1"},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "items.jsonl"), tt.items)
		write(t, filepath.Join(dir, "probes.jsonl"), tt.probes)
		if _, err := readSet(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: err = %v, want it to name %s", tt.name, err, tt.want)
		}
	}
	if _, err := readSet(filepath.Join(t.TempDir(), "nothing")); memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf("a folder that is not there: %v, want Invalid", err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRanked(t *testing.T) {
	items := map[memtypes.ID]string{"a0": "a", "a1": "a", "b0": "b", "c0": "c"}
	hit := func(id memtypes.ID, same ...memtypes.ID) memtypes.Hit {
		return memtypes.Hit{Memory: memtypes.Memory{ID: id}, Same: same}
	}
	for _, tt := range []struct {
		name string
		hits []memtypes.Hit
		want string
	}{
		{"nothing", nil, ""},
		{"a long item stands where its best piece does", []memtypes.Hit{hit("a1"), hit("b0"), hit("a0")}, "a b"},
		{"what was folded stands right after", []memtypes.Hit{hit("a0", "c0"), hit("b0")}, "a c b"},
		{"a folded piece of an item that stands already", []memtypes.Hit{hit("a0", "a1"), hit("b0", "a1")}, "a b"},
		{"a memory of no item", []memtypes.Hit{hit("x"), hit("b0")}, "b"},
	} {
		if got := strings.Join(ranked(tt.hits, items), " "); got != tt.want {
			t.Errorf("%s: ranked = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestPercentile(t *testing.T) {
	for _, tt := range []struct {
		sorted []float64
		p      float64
		want   float64
	}{
		{[]float64{7}, .5, 7}, {[]float64{7}, 1, 7},
		{[]float64{1, 2, 3, 4}, 0, 1}, {[]float64{1, 2, 3, 4}, .5, 3}, {[]float64{1, 2, 3, 4}, .95, 4},
	} {
		if got := percentile(tt.sorted, tt.p); got != tt.want {
			t.Errorf("percentile(%v, %v) = %v, want %v", tt.sorted, tt.p, got, tt.want)
		}
	}
}

// TestReadSetKeepsOrder: banks as the items name them, probes with their moment.
func TestReadSetKeepsOrder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "items.jsonl"), `{"id":"1","bank":"late","kind":"dialogue","text":"hi"}

{"id":"2","bank":"early","kind":"knowledge","text":"a"}
{"id":"3","bank":"late","kind":"dialogue","text":"ho"}`)
	write(t, filepath.Join(dir, "probes.jsonl"), `{"id":"p","bank":"late","query":"q","relevant":["3"],"category":"c","now":"2026-02-01T00:00:00Z"}`+"\n")
	s, err := readSet(dir + string(filepath.Separator))
	if err != nil {
		t.Fatal(err)
	}
	if s.name != filepath.Base(dir) || len(s.banks) != 2 || s.banks[0].name != "late" || len(s.banks[0].items) != 2 || s.banks[1].name != "early" {
		t.Fatalf("set %q with banks %+v, want late with two items, then early", s.name, s.banks)
	}
	if p := s.banks[0].probes; len(p) != 1 || !p[0].now.Equal(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("probes %+v, want the one with its moment", p)
	}
}
