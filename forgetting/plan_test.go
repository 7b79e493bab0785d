package forgetting_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/forgetting"
	"github.com/vimbank/vimbank/memtypes"
)

// bank makes n active dialogue memories, the i-th stored i days before now.
func bank(n int, now time.Time) []memtypes.Memory {
	ms := make([]memtypes.Memory, n)
	for i := range ms {
		ms[i] = memtypes.Memory{
			ID: memtypes.ID(fmt.Sprintf("m%04d", i)), Kind: memtypes.Dialogue, State: memtypes.Active, Rev: uint64(100 + i),
			Created: now.Add(-time.Duration(i) * day), Strength: memtypes.Strength{Initial: 1},
		}
	}
	return ms
}

func planOf(t testing.TB, ms []memtypes.Memory, now time.Time, o *forgetting.Options) forgetting.Plan {
	t.Helper()
	p, err := forgetting.NewPlanner(now, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range ms {
		p.Add(&ms[i])
	}
	return p.Plan()
}

func TestPlanSorts(t *testing.T) {
	ms := bank(35, t0) // 31 to 34 days old: due; 30 stands exactly at its threshold
	ms[33].Strength.Pinned = true
	ms[34].Strength.Recalls, ms[34].Strength.LastRecall = 1, t0.Add(-34*day)
	retired := bank(2, t0)
	for i := range retired {
		retired[i].ID = memtypes.ID(fmt.Sprintf("r%d", i))
		retired[i].State = memtypes.Retired
	}
	retired[0].Strength.Retired, retired[0].Strength.RunID = t0.Add(-8*day), "run-1"
	retired[1].Strength.Retired = t0.Add(-6 * day)
	got := planOf(t, append(ms, retired...), t0, nil)

	if diff := cmp.Diff(forgetting.Counts{Active: 35, Kept: 32, Pinned: 1, Due: 2, Retired: 2, Purge: 1}, got.Counts); diff != "" {
		t.Errorf("Counts (-want +got):\n%s", diff)
	}
	if ids, want := idsOf(got.Retire), []memtypes.ID{"m0032", "m0031"}; !slices.Equal(ids, want) {
		t.Errorf("Retire = %v, want %v: the longest due first", ids, want)
	}
	if ids, want := idsOf(got.Purge), []memtypes.ID{"r0"}; !slices.Equal(ids, want) {
		t.Errorf("Purge = %v, want %v", ids, want)
	}
	it := got.Retire[0]
	if it.Rev != 132 || it.Recalls != 0 || it.Kind != memtypes.Dialogue || it.Threshold != math.Exp(-30) || it.Due.Sub(t0.Add(-2*day)).Abs() > time.Second {
		t.Errorf("item = %+v, want rev 132, no recalls, threshold exp(-30), due two days ago", it)
	}
}

func TestReasons(t *testing.T) {
	o := &forgetting.Options{Strength: 10 * day, Thresholds: map[memtypes.Kind]float64{memtypes.Dialogue: .05}, MaxShare: 1}
	for _, tt := range []struct {
		name string
		m    memtypes.Memory
		want string
	}{
		{"never recalled", memtypes.Memory{Created: t0.Add(-31 * day)},
			"retention .045 below .05 for dialogue; stored 31 days ago, never recalled (good for 29 days)"},
		{"recalled twice", memtypes.Memory{Created: t0.Add(-400 * day), Strength: memtypes.Strength{Recalls: 2, LastRecall: t0.Add(-91 * day)}},
			"retention .048 below .05 for dialogue; last recalled 91 days ago, 2 recalls (good for 89 days)"},
		{"weak from the start", memtypes.Memory{Created: t0.Add(-40 * time.Minute), Strength: memtypes.Strength{Initial: .01}},
			"retention .01 below .05 for dialogue; stored 40 minutes ago, never recalled"},
		{"long gone", memtypes.Memory{Created: t0.Add(-600 * day), Strength: memtypes.Strength{Recalls: 1, LastRecall: t0.Add(-500 * day)}},
			"retention 1.4e-11 below .05 for dialogue; last recalled 500 days ago, 1 recall (good for 59 days)"},
		{"retired", memtypes.Memory{State: memtypes.Retired, Strength: memtypes.Strength{Retired: t0.Add(-9 * day), RunID: "7f"}},
			"retired 9 days ago by run 7f; the grace is 7 days"},
		{"retired by hand", memtypes.Memory{State: memtypes.Retired, Strength: memtypes.Strength{Retired: t0.Add(-9 * day)}},
			"retired 9 days ago; the grace is 7 days"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.m.Kind = memtypes.Dialogue
			p := planOf(t, []memtypes.Memory{tt.m}, t0, o)
			items := append(p.Retire, p.Purge...)
			if len(items) != 1 || items[0].Reason != tt.want {
				t.Errorf("items = %+v, want one with the reason\n%s", items, tt.want)
			}
		})
	}
}

func TestBreaker(t *testing.T) {
	for _, tt := range []struct {
		name     string
		n        int // memories, one stored a day; those past 30 days are due
		o        forgetting.Options
		tripped  bool
		refusing bool
	}{
		{"nothing due", 30, forgetting.Options{}, false, false},
		{"one may always go", 32, forgetting.Options{MaxShare: .001}, false, false},
		{"3 of 34 is above 5 %", 34, forgetting.Options{}, true, true},
		{"confirmed", 34, forgetting.Options{Confirmed: true}, true, false},
		{"below a larger limit", 34, forgetting.Options{MaxShare: .1}, false, false},
		{"taken out", 400, forgetting.Options{MaxShare: 1}, false, false},
		{"it counts the due, not the listed", 400, forgetting.Options{MaxItems: 2}, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := planOf(t, bank(tt.n, t0), t0, &tt.o)
			if p.Breaker.Tripped != tt.tripped || (p.Err() != nil) != tt.refusing {
				t.Fatalf("breaker %+v, Err %v, want tripped %v, refused %v", p.Breaker, p.Err(), tt.tripped, tt.refusing)
			}
			if err := p.Err(); err != nil && memtypes.CodeOf(err) != memtypes.Refused {
				t.Errorf("code = %q, want %q", memtypes.CodeOf(err), memtypes.Refused)
			}
		})
	}
}

func TestBreakerSaysShareLimitAndWayOut(t *testing.T) {
	p := planOf(t, bank(40, t0), t0, nil)
	err := p.Err()
	if err == nil {
		t.Fatal("9 of 40 due: no refusal, want one")
	}
	for _, want := range []string{"9 of 40", "22.5 %", "limit of one run is 5 %", "first run over an old bank", "preview", "confirmed"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %q, want it to contain %q", err, want)
		}
	}
}

func TestClock(t *testing.T) {
	for _, tt := range []struct {
		name    string
		o       forgetting.Options
		tripped bool
	}{
		{"first run", forgetting.Options{}, false},
		{"yesterday", forgetting.Options{LastRun: t0.Add(-day)}, false},
		{"thirty days ago", forgetting.Options{LastRun: t0.Add(-30 * day)}, false},
		{"ten years ago", forgetting.Options{LastRun: t0.AddDate(-10, 0, 0)}, true},
		{"a month ago, a day allowed", forgetting.Options{LastRun: t0.Add(-30 * day), MaxJump: day}, true},
		{"in the future", forgetting.Options{LastRun: t0.Add(60 * day)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.MaxShare = 1
			ms := bank(40, t0)
			ms[0].State, ms[0].Strength.Retired = memtypes.Retired, t0.Add(-20*day)
			p := planOf(t, ms, t0, &tt.o)
			if p.Clock.Tripped != tt.tripped || (p.Err() != nil) != tt.tripped || (p.PurgeErr() != nil) != tt.tripped {
				t.Fatalf("clock %+v, Err %v, PurgeErr %v, want tripped and refused: %v", p.Clock, p.Err(), p.PurgeErr(), tt.tripped)
			}
			tt.o.Confirmed = true
			if p := planOf(t, ms, t0, &tt.o); p.Err() != nil || p.PurgeErr() != nil {
				t.Errorf("confirmed: Err %v, PurgeErr %v, want none", p.Err(), p.PurgeErr())
			}
		})
	}
}

// What somebody asked to be erased must not wait until somebody else has
// confirmed a large run.
func TestBreakerDoesNotHoldUpThePurge(t *testing.T) {
	ms := bank(40, t0)
	ms[0].State, ms[0].Strength.Retired = memtypes.Retired, t0.Add(-20*day)
	p := planOf(t, ms, t0, nil)
	if p.Err() == nil || p.PurgeErr() != nil || len(p.Purge) != 1 {
		t.Errorf("Err %v, PurgeErr %v, %d to purge; want only the retiring refused", p.Err(), p.PurgeErr(), len(p.Purge))
	}
}

func TestPurgeSpares(t *testing.T) {
	old := t0.Add(-100 * day)
	for _, tt := range []struct {
		name string
		m    memtypes.Memory
		want int
	}{
		{"past the grace", memtypes.Memory{State: memtypes.Retired, Strength: memtypes.Strength{Retired: old}}, 1},
		{"at the grace", memtypes.Memory{State: memtypes.Retired, Strength: memtypes.Strength{Retired: t0.Add(-7 * day)}}, 0},
		{"restored", memtypes.Memory{State: memtypes.Active, Created: t0}, 0},
		{"pinned", memtypes.Memory{State: memtypes.Retired, Strength: memtypes.Strength{Retired: old, Pinned: true}}, 0},
		{"retired at an unknown time", memtypes.Memory{State: memtypes.Retired}, 0},
		{"retired in the future", memtypes.Memory{State: memtypes.Retired, Strength: memtypes.Strength{Retired: t0.Add(day)}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.m.Kind = memtypes.Dialogue
			if p := planOf(t, []memtypes.Memory{tt.m}, t0, nil); len(p.Purge) != tt.want || p.Counts.Purge != tt.want {
				t.Errorf("purges %d (counted %d), want %d", len(p.Purge), p.Counts.Purge, tt.want)
			}
		})
	}
}

// A plan depends on the facts only: not on the order in which they come, nor
// on how often it was asked for before. So a missed or doubled run of the job
// changes nothing.
func TestPlanIsAFunctionOfTheFacts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 120).Draw(t, "n")
		o := &forgetting.Options{MaxItems: rapid.IntRange(1, 60).Draw(t, "max items")}
		ms := bank(n, t0)
		for i := range ms {
			ms[i].Created = t0.Add(-time.Duration(rapid.IntRange(0, 9).Draw(t, "age")) * 10 * day) // many ties
		}
		p, _ := forgetting.NewPlanner(t0, o)
		for i := range ms {
			p.Add(&ms[i])
		}
		want := p.Plan()
		rand.New(rand.NewPCG(1, uint64(n))).Shuffle(n, func(i, j int) { ms[i], ms[j] = ms[j], ms[i] })
		q, _ := forgetting.NewPlanner(t0, o)
		for i := range ms {
			q.Add(&ms[i])
			q.Plan()
		}
		if diff := cmp.Diff(want, q.Plan(), cmp.Comparer(func(a, b memtypes.Scope) bool { return a == b })); diff != "" {
			t.Fatalf("the same facts in another order, asked in between (-first +second):\n%s", diff)
		}
		retire, _ := want.Left()
		if len(want.Retire) > o.MaxItems || retire+len(want.Retire) != want.Counts.Due {
			t.Fatalf("%d listed and %d left of %d due, at most %d to be listed", len(want.Retire), retire, want.Counts.Due, o.MaxItems)
		}
	})
}

// Running in steps of any length, with runs missed and doubled, forgets the
// same memories as one run at the end.
func TestMissedAndDoubledRunsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := bank(rapid.IntRange(0, 60).Draw(t, "n"), t0)
		end := t0.Add(50 * day)
		p, _ := forgetting.NewPlanner(end, nil)
		for i := range ms {
			p.Add(&ms[i])
		}
		want := idsOf(p.Plan().Retire)
		slices.Sort(want)

		steps := rapid.SliceOf(rapid.IntRange(0, 50)).Draw(t, "days of runs")
		slices.Sort(steps)
		var got []memtypes.ID
		for _, d := range append(steps, 50) {
			p, _ := forgetting.NewPlanner(t0.Add(time.Duration(d)*day), nil)
			for i := range ms {
				p.Add(&ms[i])
			}
			for _, it := range p.Plan().Retire {
				i := slices.IndexFunc(ms, func(m memtypes.Memory) bool { return m.ID == it.ID })
				ms[i].State = memtypes.Retired
				got = append(got, it.ID)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("retired in runs on days %v: %v, want %v as in one run", steps, got, want)
		}
	})
}

func TestOptionsCheck(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    *forgetting.Options
		want string // field named; empty: accepted
	}{
		{"nil", nil, ""},
		{"zero", &forgetting.Options{}, ""},
		{"full", &forgetting.Options{Strength: day, Grace: day, MaxShare: 1, MaxJump: day, MaxItems: 1, Thresholds: map[memtypes.Kind]float64{memtypes.TaskKind: 0}}, ""},
		{"strength", &forgetting.Options{Strength: -1}, "strength"},
		{"grace", &forgetting.Options{Grace: -1}, "grace"},
		{"jump", &forgetting.Options{MaxJump: -1}, "max_jump"},
		{"share", &forgetting.Options{MaxShare: 1.1}, "max_share"},
		{"share not a number", &forgetting.Options{MaxShare: math.NaN()}, "max_share"},
		{"items", &forgetting.Options{MaxItems: -1}, "max_items"},
		{"kind", &forgetting.Options{Thresholds: map[memtypes.Kind]float64{"dialog": .1}}, "thresholds"},
		{"threshold", &forgetting.Options{Thresholds: map[memtypes.Kind]float64{memtypes.Dialogue: 1}}, "thresholds.dialogue"},
		{"threshold not a number", &forgetting.Options{Thresholds: map[memtypes.Kind]float64{memtypes.Dialogue: math.NaN()}}, "thresholds.dialogue"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := forgetting.NewPlanner(t0, tt.o)
			field, ok := errors.AsType[*memtypes.Field](err)
			if tt.want == "" && err == nil {
				return
			}
			if !ok || field.Name != tt.want || memtypes.CodeOf(err) != memtypes.Invalid {
				t.Errorf("error = %v, want Invalid about field %q", err, tt.want)
			}
		})
	}
}

func idsOf(items []forgetting.Item) []memtypes.ID {
	ids := make([]memtypes.ID, len(items))
	for i, it := range items {
		ids[i] = it.ID
	}
	return ids
}

func BenchmarkPlanner(b *testing.B) {
	ms := bank(1000, t0)
	for b.Loop() {
		p, _ := forgetting.NewPlanner(t0, &forgetting.Options{MaxItems: 100})
		for i := range ms {
			p.Add(&ms[i])
		}
		if p.Plan().Counts.Active != len(ms) {
			b.Fatal("a memory was lost")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ms)), "ns/memory")
}
