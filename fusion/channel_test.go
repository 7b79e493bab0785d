package fusion_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

func TestScores(t *testing.T) {
	for _, tt := range []struct {
		name    string
		channel fusion.Channel
		value   float64
		has     bool
	}{
		{"a number", fusion.Text, 2.5, true},
		{"nothing is a number too", fusion.Window, 0, true},
		{"below zero", fusion.Vector, -.5, true},
		{"no number", fusion.Turn, math.NaN(), false},
		{"endless", fusion.Turn, math.Inf(1), false},
		{"no channel", fusion.Channel(200), 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s fusion.Scores
			s.Set(tt.channel, tt.value)
			got, has := s.Get(tt.channel)
			if has != tt.has || has && got != tt.value {
				t.Errorf("Get = %v, %v after Set(%v), want it to be there: %v", got, has, tt.value, tt.has)
			}
		})
	}
}

func TestStatOf(t *testing.T) {
	long := make([]float64, fusion.Depth+50)
	for i := range long {
		long[i] = float64(len(long) - i)
	}
	for _, tt := range []struct {
		name   string
		scores []float64
		want   fusion.Stat
	}{
		{"none", nil, fusion.Stat{}},
		{"one", []float64{.4}, fusion.Stat{Best: .4, Low: .4}},
		{"few: the least", []float64{9, 4, 2}, fusion.Stat{Best: 9, Low: 2}},
		{"many: the one at Depth", long, fusion.Stat{Best: 150, Low: 51}},
	} {
		if got := fusion.StatOf(tt.scores); got != tt.want {
			t.Errorf("%s: StatOf = %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestChannelNames(t *testing.T) {
	var got []string
	for c := fusion.Text; c <= fusion.Context+1; c++ {
		got = append(got, c.String())
	}
	if d := cmp.Diff([]string{"text", "turn", "window", "dense", "context", "unknown"}, got); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
}

func TestParseProfile(t *testing.T) {
	for _, p := range fusion.Profiles() {
		if got, err := fusion.ParseProfile(string(p)); got != p || err != nil {
			t.Errorf("ParseProfile(%q) = %q, %v", p, got, err)
		}
	}
	if got, err := fusion.ParseProfile(""); got != fusion.Default || err != nil {
		t.Errorf("ParseProfile of nothing = %q, %v, want the default", got, err)
	}
	if _, err := fusion.ParseProfile("Default"); memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf("ParseProfile of an unknown name: %v, want Invalid", err)
	}
}

func TestNeeds(t *testing.T) {
	for _, tt := range []struct {
		profile fusion.Profile
		kinds   []memtypes.Kind
		want    []fusion.Channel
	}{
		{fusion.BM25, nil, []fusion.Channel{fusion.Text}},
		{fusion.Dense, nil, []fusion.Channel{fusion.Vector}},
		{fusion.Paper, nil, []fusion.Channel{fusion.Text, fusion.Vector}},
		{fusion.Default, nil, []fusion.Channel{fusion.Text, fusion.Turn, fusion.Window, fusion.Vector, fusion.Context}},
		{fusion.Default, []memtypes.Kind{memtypes.Knowledge}, []fusion.Channel{fusion.Text, fusion.Turn, fusion.Vector}},
		{fusion.Default, []memtypes.Kind{memtypes.TaskKind}, []fusion.Channel{fusion.Text, fusion.Vector}},
		{fusion.Default, []memtypes.Kind{memtypes.TaskKind, memtypes.Dialogue}, []fusion.Channel{fusion.Text, fusion.Turn, fusion.Window, fusion.Vector, fusion.Context}},
	} {
		if d := cmp.Diff(tt.want, tt.profile.Needs(tt.kinds...)); d != "" {
			t.Errorf("%s of %v needs (-want +got):\n%s", tt.profile, tt.kinds, d)
		}
		if got, want := tt.profile.PlainTerms(), tt.profile != fusion.Default; got != want {
			t.Errorf("%s: PlainTerms = %v, want %v", tt.profile, got, want)
		}
	}
}

// TestOnlyNeedsAreRead: a ranking does not change by the channels that its
// profile says it ignores.
func TestOnlyNeedsAreRead(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	q := fusion.Query{Text: "what did Ann say of the harbour of Oslo?", Now: noon}
	for _, p := range fusion.Profiles() {
		for _, kind := range memtypes.Kinds() {
			all := slices.DeleteFunc(anything(rnd, 60), func(c fusion.Candidate) bool { return c.Memory.Kind != kind })
			bare := make([]fusion.Candidate, len(all))
			for i, c := range all {
				bare[i].Memory = c.Memory
				for _, ch := range p.Needs(kind) {
					if v, ok := c.Scores.Get(ch); ok {
						bare[i].Scores.Set(ch, v)
					}
				}
			}
			if d := cmp.Diff(fusion.Rank(q, all, p, nil), fusion.Rank(q, bare, p, nil), cmp.AllowUnexported(memtypes.Scope{})); d != "" {
				t.Errorf("%s of %s reads more than it needs (-all +needed):\n%s", p, kind, d)
			}
		}
	}
}
