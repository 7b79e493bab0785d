package fusion_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

// TestDialogue works a sitting out by hand. The weights are 3, 1.5, 2.5, 2.5 and
// 1.2; what a turn says is ln(1 + words)/ln 84.
func TestDialogue(t *testing.T) {
	got := fusion.Rank(fusion.Query{Text: "red boat"}, []fusion.Candidate{
		turn("told", "s", "I bought the red boat yesterday.", 10, 8, .9),
		turn("asked", "s", "Which boat?", 5, 8, .5),
		turn("other", "t", "We sail.", 4, 4, .7),
	}, fusion.Default, nil)
	want := map[string]map[string]float64{
		"told":  {"turn": 1, "window": 1, "context": 1, "session": 1, "says": math.Log(7) / math.Log(84)},
		"asked": {"turn": .5, "window": 0, "context": 0, "session": 1, "says": 0},
		"other": {"turn": .4, "window": .5, "context": .5, "session": .4, "says": math.Log(3) / math.Log(84)},
	}
	weights := map[string]float64{"turn": 3, "window": 1.5, "context": 2.5, "session": 2.5, "says": 1.2}
	for id, vs := range want {
		h := hit(t, got, id)
		if d := cmp.Diff(vs, values(h), almost()); d != "" {
			t.Errorf("values of %s (-want +got):\n%s", id, d)
		}
		sum := 0.0
		for name, v := range vs {
			sum += v * weights[name] / 10.7
		}
		if math.Abs(h.Score-sum) > 1e-9 {
			t.Errorf("score of %s = %v, want %v", id, h.Score, sum)
		}
	}
}

// TestOutsideASitting: a saying has its words and its sense; a question asks
// for what says something.
func TestOutsideASitting(t *testing.T) {
	cands := []fusion.Candidate{
		candidate(memory("a", memtypes.Dialogue, "The boat is red and new.", 0), 8, .2),
		candidate(memory("b", memtypes.Dialogue, "Boats?", 0), 4, .6),
	}
	for _, tt := range []struct {
		query string
		a, b  float64
	}{
		{"the boats", 3 / 5.5, (1.5 + 2.5) / 5.5},
		{"which boats?", (3 + 1.2*math.Log(7)/math.Log(84)) / 6.7, (1.5 + 2.5) / 6.7},
	} {
		got := fusion.Rank(fusion.Query{Text: tt.query}, cands, fusion.Default, nil)
		for id, want := range map[string]float64{"a": tt.a, "b": tt.b} {
			if h := hit(t, got, id); math.Abs(h.Score-want) > 1e-9 {
				t.Errorf("%q: score of %s = %v, want %v", tt.query, id, h.Score, want)
			}
		}
	}
}

// TestWindowNeedsASpeaker: what stands around a turn counts if the turn speaks
// of its speaker.
func TestWindowNeedsASpeaker(t *testing.T) {
	for text, want := range map[string]float64{
		"I did.": 1, "It was OURS!": 1, "that's mine": 1, "(we) said": 1, "我去了": 1, "咱们走": 1,
		"In Oslo.": 0, "It is a mine field?": 1, "minefield": 0, "weird museum": 0, "他去了": 0, "the US": 1, "": 0,
	} {
		got := fusion.Rank(fusion.Query{Text: "boat"}, []fusion.Candidate{turn("a", "s", text, 1, 1, 1)}, fusion.Default, nil)
		if r, _ := told(got[0], "window"); r.Value != want {
			t.Errorf("window of %q = %v, want %v", text, r.Value, want)
		}
	}
}

func TestSays(t *testing.T) {
	for _, tt := range []struct {
		text  string
		words float64
	}{
		{"", 0},
		{"Really? Where?", 0},
		{"Really? In Oslo.", 2},
		{"In Oslo! Why?", 2},
		{"It wasn't Ann's.", 3},
		{"Who?! Me.", 2}, // what ends in an exclamation states, at worst too much
		{"a b c d e", 5},
		{"我去过奥斯陆。", 6 * .6},
		{"你呢？我去过。", 3 * .6},
		{strings.Repeat("word ", 83), 83},
		{strings.Repeat("word ", 500), 83}, // it is enough
	} {
		got := fusion.Rank(fusion.Query{Text: "boat"}, []fusion.Candidate{turn("a", "s", tt.text, 1, 1, 1)}, fusion.Default, nil)
		r, _ := told(got[0], "says")
		if want := math.Log1p(tt.words) / math.Log(84); math.Abs(r.Value-want) > 1e-9 {
			t.Errorf("says of %.20q = %v, want %v, as of %v words", tt.text, r.Value, want, tt.words)
		}
	}
}

func TestSpeaker(t *testing.T) {
	for _, tt := range []struct {
		name, query, speaker string
		told                 bool // the query speaks of a speaker
		want                 float64
	}{
		{"named", "What did Caroline buy?", "Caroline", true, 1},
		{"in the possessive", "Caroline's boat", "Caroline", true, 1},
		{"by first name", "What did Caroline buy?", "Caroline Berg", true, 1},
		{"part of a name", "What did Carol buy?", "Caroline", false, 0},
		{"one letter is no name", "plan a trip", "A", false, 0},
		{"I am the user", "What did I buy?", "user", true, 1},
		{"whatever the client calls it", "my boat", "Human", true, 1},
		{"but not the assistant", "my boat", "assistant", false, 0},
		{"nobody", "red boat", "Caroline", false, 0},
		{"Chinese", "小明喜欢什么", "小明", true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := turn("a", "s", "yes", 1, 1, 1)
			c.Memory.Talk.Speaker = tt.speaker
			r, ok := told(fusion.Rank(fusion.Query{Text: tt.query}, []fusion.Candidate{c}, fusion.Default, nil)[0], "speaker")
			if ok != tt.told || r.Value != tt.want {
				t.Errorf("speaker = %v (told: %v), want %v (told: %v)", r.Value, ok, tt.want, tt.told)
			}
		})
	}
}

// TestSpeakerOfAnother: who is not named has 0 of the same weight.
func TestSpeakerOfAnother(t *testing.T) {
	ann, bo := turn("ann", "s", "yes", 1, 1, 1), turn("bo", "s", "no", 1, 1, 1)
	ann.Memory.Talk.Speaker, bo.Memory.Talk.Speaker = "Ann", "Bo"
	got := fusion.Rank(fusion.Query{Text: "What did Bo say?"}, []fusion.Candidate{ann, bo}, fusion.Default, nil)
	if d := cmp.Diff([]string{"bo", "ann"}, ids(got)); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
	for id, want := range map[string]float64{"bo": 1, "ann": 0} {
		if r, ok := told(hit(t, got, id), "speaker"); !ok || r.Value != want {
			t.Errorf("speaker of %s = %v (told: %v), want %v", id, r.Value, ok, want)
		}
	}
}

func TestDates(t *testing.T) {
	may := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	month := fusion.Span{From: may, To: may.AddDate(0, 1, 0)}
	second := fusion.Span{From: may.AddDate(0, 0, 1), To: may.AddDate(0, 0, 2), Day: true}
	for _, tt := range []struct {
		name  string
		spans []fusion.Span
		at    time.Time
		want  map[string]float64
	}{
		{"no date is named", nil, may, map[string]float64{}},
		{"on the day", []fusion.Span{second}, second.From.Add(9 * time.Hour), map[string]float64{"day": 1}},
		{"at its first moment", []fusion.Span{second}, second.From, map[string]float64{"day": 1}},
		{"the midnight after", []fusion.Span{second}, second.To, map[string]float64{"day": 0}},
		{"one of two days", []fusion.Span{{From: may, To: second.From, Day: true}, second}, second.From, map[string]float64{"day": 1}},
		{"in the month", []fusion.Span{month}, may.AddDate(0, 0, 20), map[string]float64{"span": 1}},
		{"told within ten days after", []fusion.Span{month}, month.To.AddDate(0, 0, 9), map[string]float64{"span": .5}},
		{"told later", []fusion.Span{month}, month.To.AddDate(0, 0, 10), map[string]float64{"span": 0}},
		{"before", []fusion.Span{month}, may.Add(-1), map[string]float64{"span": 0}},
		{"a day and a month", []fusion.Span{second, month}, second.From, map[string]float64{"day": 1, "span": 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := turn("a", "s", "yes", 1, 1, 1)
			c.Memory.Event = tt.at
			got := map[string]float64{}
			for _, r := range fusion.Rank(fusion.Query{Text: "boat", Spans: tt.spans}, []fusion.Candidate{c}, fusion.Default, nil)[0].Reasons {
				if r.Name == "day" || r.Name == "span" {
					got[r.Name] = r.Value
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("dates (-want +got):\n%s", d)
			}
		})
	}
}

// TestADayOutweighs: what was said on the day that is named stands before the
// best words and sense of another day.
func TestADayOutweighs(t *testing.T) {
	named := turn("named", "s", "yes", 1, 0, .1)
	other := turn("other", "t", "The boat was red.", 10, 10, .9)
	other.Memory.Event = noon.Add(-40 * day)
	q := fusion.Query{Text: "boat", Spans: []fusion.Span{{From: noon.Add(-time.Hour), To: noon.Add(23 * time.Hour), Day: true}}}
	if d := cmp.Diff([]string{"named", "other"}, ids(fusion.Rank(q, []fusion.Candidate{other, named}, fusion.Default, nil))); d != "" {
		t.Errorf("order (-want +got):\n%s", d)
	}
}
