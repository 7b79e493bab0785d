package forgetting_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/forgetting"
	"github.com/vimbank/vimbank/memtypes"
)

const day = 24 * time.Hour

var t0 = time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)

func TestRetention(t *testing.T) {
	week := &forgetting.Options{Strength: 7 * day}
	for _, tt := range []struct {
		name string
		o    *forgetting.Options
		s    memtypes.Strength
		now  time.Time
		want float64
	}{
		{"at once", nil, memtypes.Strength{Initial: 1}, t0, 1},
		{"one day, never recalled", nil, memtypes.Strength{Initial: 1}, t0.Add(day), 1 / math.E},
		{"a recall doubles lambda", nil, memtypes.Strength{Initial: 1, Recalls: 1, LastRecall: t0}, t0.Add(2 * day), 1 / math.E},
		{"t counts from the last recall", nil, memtypes.Strength{Initial: 1, Recalls: 1, LastRecall: t0.Add(10 * day)}, t0.Add(12 * day), 1 / math.E},
		{"R0 scales", nil, memtypes.Strength{Initial: .5}, t0.Add(day), .5 / math.E},
		{"the unit is a week", week, memtypes.Strength{Initial: 1}, t0.Add(7 * day), 1 / math.E},
		{"the clock ran backwards", nil, memtypes.Strength{Initial: 1}, t0.Add(-day), 1},
		{"last recall in the future", nil, memtypes.Strength{Initial: 1, Recalls: 3, LastRecall: t0.Add(9 * day)}, t0.Add(day), 1},
		{"last recall before it was stored", nil, memtypes.Strength{Initial: 1, LastRecall: t0.Add(-9 * day)}, t0.Add(day), 1 / math.E},
		{"a lost R0 counts as 1", nil, memtypes.Strength{}, t0.Add(day), 1 / math.E},
		{"so does a broken one", nil, memtypes.Strength{Initial: math.NaN()}, t0.Add(day), 1 / math.E},
		{"and broken recalls as none", nil, memtypes.Strength{Initial: 1, Recalls: -4}, t0.Add(day), 1 / math.E},
		{"many recalls do not overflow", nil, memtypes.Strength{Initial: 1, Recalls: math.MaxInt}, t0.Add(1000 * day), 1},
		{"a thousand years", nil, memtypes.Strength{Initial: 1}, t0.AddDate(1000, 0, 0), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.o.Retention(tt.s, t0, tt.now); math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("Retention = %v, want %v", got, tt.want)
			}
		})
	}
}

func ExampleOptions_Retention() {
	var curve *forgetting.Options // the defaults: lambda in days
	stored := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	s := memtypes.Strength{Initial: 1}
	fmt.Printf("%.2f\n", curve.Retention(s, stored, stored.AddDate(0, 0, 2)))
	s = forgetting.Recalled(s, stored.AddDate(0, 0, 2))
	fmt.Printf("%.2f\n", curve.Retention(s, stored, stored.AddDate(0, 0, 4)))
	// Output:
	// 0.14
	// 0.37
}

// history is a memory stored at created, recalled at random moments.
type history struct {
	o       *forgetting.Options
	created time.Time
	recalls []time.Time
	s       memtypes.Strength
}

func drawHistory(t *rapid.T) history {
	h := history{
		o:       &forgetting.Options{Strength: time.Duration(rapid.Int64Range(1, int64(400*day)).Draw(t, "strength"))},
		created: t0.Add(moment(t, "created")),
		s:       memtypes.Strength{Initial: rapid.Float64Range(.01, 1).Draw(t, "r0")},
	}
	for range rapid.IntRange(0, 8).Draw(t, "recalls") {
		h.recalls = append(h.recalls, t0.Add(moment(t, "recall")))
		h.s = forgetting.Recalled(h.s, h.recalls[len(h.recalls)-1])
	}
	return h
}

func moment(t *rapid.T, name string) time.Duration {
	return time.Duration(rapid.Int64Range(0, int64(400*day)).Draw(t, name))
}

// A recall must never speed up forgetting. MemoryBank's published code gets
// this wrong by operator precedence: exp(-t / 5*S) divides t by 5 only and
// multiplies by the strength, so each recall makes the memory fade faster.
func TestRecalledNeverFadesFaster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		at := t0.Add(moment(t, "extra recall"))
		now := at.Add(moment(t, "later"))
		before := h.o.Retention(h.s, h.created, now)
		after := h.o.Retention(forgetting.Recalled(h.s, at), h.created, now)
		if after < before {
			t.Fatalf("recalled %v before now: retention = %v, want at least the %v without that recall", now.Sub(at), after, before)
		}
	})
}

func TestRetentionFallsWithTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		early := t0.Add(moment(t, "early"))
		late := early.Add(moment(t, "more"))
		a, b := h.o.Retention(h.s, h.created, early), h.o.Retention(h.s, h.created, late)
		if b > a {
			t.Fatalf("retention rose from %v to %v in %v without a recall", a, b, late.Sub(early))
		}
		if !(b >= 0 && a <= 1) {
			t.Fatalf("retentions %v, %v, want both in [0,1]", a, b)
		}
	})
}

func TestRecallResetsT(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		now := t0.Add(400*day + moment(t, "now"))
		got := forgetting.Recalled(h.s, now)
		if r := h.o.Retention(got, h.created, now); r != h.s.Initial {
			t.Fatalf("retention at the instant of the recall = %v, want R0 = %v", r, h.s.Initial)
		}
		if forgetting.Lambda(got) != forgetting.Lambda(h.s)+1 {
			t.Fatalf("lambda = %v after the recall, want %v + 1", forgetting.Lambda(got), forgetting.Lambda(h.s))
		}
	})
}

// Due and Retention must tell the same story: just before the moment the
// memory is above its threshold, just after it is below.
func TestDueAgreesWithRetention(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		theta := rapid.Float64Range(1e-200, .999).Draw(t, "threshold")
		h.o.Thresholds = map[memtypes.Kind]float64{memtypes.Dialogue: theta}
		due, ok := h.o.Due(&memtypes.Memory{Kind: memtypes.Dialogue, Created: h.created, Strength: h.s})
		if !ok {
			return // beyond what a duration can hold
		}
		lambda := time.Duration(forgetting.Lambda(h.s) * float64(h.o.Strength))
		slack := lambda/1_000_000 + time.Microsecond
		if r := h.o.Retention(h.s, h.created, due.Add(slack)); r > theta {
			t.Fatalf("retention after Due = %v, want at most the threshold %v", r, theta)
		}
		if since := forgetting.Since(h.s, h.created); due.Add(-slack).After(since) {
			if r := h.o.Retention(h.s, h.created, due.Add(-slack)); r < theta {
				t.Fatalf("retention before Due = %v, want at least the threshold %v", r, theta)
			}
		}
	})
}

func TestDue(t *testing.T) {
	weekly := &forgetting.Options{Strength: 7 * day}
	never := &forgetting.Options{Thresholds: map[memtypes.Kind]float64{memtypes.Knowledge: 0}}
	for _, tt := range []struct {
		name string
		o    *forgetting.Options
		m    memtypes.Memory
		want time.Duration // after t0; negative: never
	}{
		{"dialogue lives 30 days", nil, memtypes.Memory{Kind: memtypes.Dialogue}, 30 * day},
		{"a task 60", nil, memtypes.Memory{Kind: memtypes.TaskKind}, 60 * day},
		{"a document 180", nil, memtypes.Memory{Kind: memtypes.Knowledge}, 180 * day},
		{"one recall adds as much again", nil, memtypes.Memory{Kind: memtypes.Dialogue, Strength: memtypes.Strength{Recalls: 1}}, 60 * day},
		{"a longer unit stretches it", weekly, memtypes.Memory{Kind: memtypes.Dialogue}, 210 * day},
		{"pinned", nil, memtypes.Memory{Kind: memtypes.Dialogue, Strength: memtypes.Strength{Pinned: true}}, -1},
		{"threshold 0", never, memtypes.Memory{Kind: memtypes.Knowledge}, -1},
		{"so often recalled that it outlives us", nil, memtypes.Memory{Kind: memtypes.Dialogue, Strength: memtypes.Strength{Recalls: 1 << 40}}, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.m.Created = t0
			got, ok := tt.o.Due(&tt.m)
			if ok != (tt.want >= 0) {
				t.Fatalf("Due = %v, %v, want it to happen: %v", got, ok, tt.want >= 0)
			}
			if want := t0.Add(tt.want); ok && got.Sub(want).Abs() > time.Second {
				t.Errorf("Due = %v, want %v", got, want)
			}
		})
	}
}

func TestCurve(t *testing.T) {
	var o *forgetting.Options
	got := o.Curve(1, t0, []time.Time{t0.Add(2 * day), t0.Add(day)}, t0, t0.Add(4*day), 5)
	want := []forgetting.Point{
		{At: t0, Retention: 1},
		{At: t0.Add(day), Retention: 1},     // recalled at this moment
		{At: t0.Add(2 * day), Retention: 1}, // and again
		{At: t0.Add(3 * day), Retention: math.Exp(-1. / 3)},
		{At: t0.Add(4 * day), Retention: math.Exp(-2. / 3)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Curve (-want +got):\n%s", diff)
	}
	if one := o.Curve(1, t0, nil, t0.Add(day), t0.Add(2*day), 1); len(one) != 1 || one[0].At != t0.Add(day) {
		t.Errorf("Curve of one point = %v, want the one at from", one)
	}
}

// A curve drawn through a history ends where the stored facts say it ends.
func TestCurveAgreesWithRetention(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		end := t0.Add(400*day + moment(t, "end"))
		n := rapid.IntRange(2, 50).Draw(t, "n")
		points := h.o.Curve(h.s.Initial, h.created, h.recalls, t0, end, n)
		last := points[len(points)-1]
		if want := h.o.Retention(h.s, h.created, end); len(points) != n || last.Retention != want {
			t.Fatalf("%d points, the last %v, want %d and %v", len(points), last.Retention, n, want)
		}
	})
}

func TestRecalledKeepsTheLaterMoment(t *testing.T) {
	s := forgetting.Recalled(memtypes.Strength{Initial: 1, Recalls: 2, LastRecall: t0}, t0.Add(-day))
	if want := (memtypes.Strength{Initial: 1, Recalls: 3, LastRecall: t0}); !cmp.Equal(s, want) {
		t.Errorf("Recalled with the clock a day back = %+v, want %+v", s, want)
	}
}
