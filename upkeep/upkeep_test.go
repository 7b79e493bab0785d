package upkeep_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/upkeep"
)

const day = 24 * time.Hour

// counter counts its runs, each taking some time.
type counter struct {
	n     atomic.Int64
	takes time.Duration
	err   error
}

func (c *counter) run(ctx context.Context, _ upkeep.Run) error {
	c.n.Add(1)
	select {
	case <-time.After(c.takes):
		return c.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *counter) job(spec string) upkeep.Job {
	return upkeep.Job{Name: "count", Spec: spec, Run: c.run}
}

// The bubble's clock starts at midnight, 1 January 2000.
func TestAYearOfADailyJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := newShelf(), &counter{takes: time.Minute}
		s := scheduler(t, b, &upkeep.Options{NoCatchUp: true}, c.job("0 3 * * *"))
		start(t, t.Context(), s)
		time.Sleep(366 * day)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		rs := b.reports()
		if len(rs) != 366 || c.n.Load() != 366 {
			t.Fatalf("%d runs, %d reports, want 366", c.n.Load(), len(rs))
		}
		for i, r := range rs {
			want := time.Date(2000, 1, 1+i, 3, 0, 0, 0, time.UTC)
			if !r.Tick.Equal(want) || !r.Started.Equal(want) || r.Ended.Sub(want) != time.Minute || r.Error != "" || r.Tick.Location() != time.UTC {
				t.Fatalf("run %d = %+v, want at %v for a minute", i, r, want)
			}
		}
	})
}

// TestPanicEndsTheRunOnly is what the order of guard and recovery is for.
func TestPanicEndsTheRunOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		var log bytes.Buffer
		b := newShelf()
		s := scheduler(t, b, &upkeep.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}, upkeep.Job{Name: "boom", Spec: "@every 1m", Run: func(context.Context, upkeep.Run) error {
			n.Add(1)
			panic("the disk is made of cheese")
		}})
		start(t, t.Context(), s)
		time.Sleep(5*time.Minute + time.Second)
		s.Close()
		if n.Load() != 6 { // one at the start, as it never ran, and five ticks
			t.Errorf("%d runs in five minutes, want 6: a panic must not end the job", n.Load())
		}
		for _, r := range b.reports() {
			if !strings.Contains(r.Error, "job boom panicked: the disk is made of cheese") || !strings.Contains(r.Error, "upkeep_test.go") {
				t.Fatalf("error = %q, want the panic with its stack", r.Error)
			}
		}
		if got := strings.Count(log.String(), "upkeep: run failed"); got != 6 {
			t.Errorf("logged %d failures, want 6", got)
		}
	})
}

func TestSkipsWhileStillRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := newShelf(), &counter{takes: 150 * time.Second}
		s := scheduler(t, b, &upkeep.Options{NoCatchUp: true}, c.job("* * * * *"))
		start(t, t.Context(), s)
		time.Sleep(9*time.Minute + time.Second) // runs at 1, 4 and 7 min; 2, 3, 5, 6, 8, 9 find it running
		st := status(t, s)
		if !st.Running || c.n.Load() != 3 || st.Skipped != 6 {
			t.Errorf("%d runs, %d skipped, running %v, want 3, 6 and the last one going on until 9:30", c.n.Load(), st.Skipped, st.Running)
		}
		s.Close()
	})
}

func status(t *testing.T, s *upkeep.Scheduler) upkeep.Status {
	t.Helper()
	all, err := s.Status(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("Status = %v, %v, want one job", all, err)
	}
	return all[0]
}

func TestTwoSchedulersOneRunner(t *testing.T) {
	for _, tt := range []struct {
		spec   string
		offset time.Duration // between the starts of the two
		takes  time.Duration
		want   int // runs in a day, the first being owed at the start
	}{
		{"0 * * * *", 0, 0, 1 + 24},
		{"0 * * * *", 0, 20 * time.Minute, 1 + 24},
		{"0 * * * *", 25 * time.Minute, time.Second, 1 + 24},
		{"@every 1h", 0, 0, 1 + 24},
		{"@every 1h", 25 * time.Minute, time.Second, 1 + 24},
	} {
		synctest.Test(t, func(t *testing.T) {
			b, c := newShelf(), &counter{takes: tt.takes}
			one, two := scheduler(t, b, nil, c.job(tt.spec)), scheduler(t, b, nil, c.job(tt.spec))
			start(t, t.Context(), one)
			time.Sleep(tt.offset)
			start(t, t.Context(), two)
			time.Sleep(day + time.Hour/2 - tt.offset)
			one.Close()
			two.Close()
			if got := int(c.n.Load()); got != tt.want || len(b.reports()) != tt.want {
				t.Errorf("%s, %v apart, taking %v: %d runs, %d reports, want %d", tt.spec, tt.offset, tt.takes, got, len(b.reports()), tt.want)
			}
		})
	}
}

func TestTheOtherTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := newShelf(), &counter{}
		one, two := scheduler(t, b, &upkeep.Options{Holder: "one"}, c.job("0 * * * *")), scheduler(t, b, &upkeep.Options{Holder: "two"}, c.job("0 * * * *"))
		start(t, t.Context(), one)
		start(t, t.Context(), two)
		time.Sleep(2 * time.Hour)
		one.Close()
		time.Sleep(2*time.Hour + time.Minute)
		two.Close()
		rs := b.reports()
		if len(rs) != 5 || rs[3].Holder != "two" || rs[4].Holder != "two" {
			t.Errorf("reports = %+v, want 5, the last two by two", rs)
		}
	})
}

func TestCatchUp(t *testing.T) {
	at := func(d time.Duration) time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(d) }
	for _, tt := range []struct {
		name string
		last time.Time
		o    upkeep.Options
		want int // runs before the next tick
	}{
		{"it never ran", time.Time{}, upkeep.Options{}, 1},
		{"three ticks missed are one run", at(-4 * day), upkeep.Options{}, 1},
		{"the last tick was had", at(-21 * time.Hour), upkeep.Options{}, 0},
		{"a last run in the future is a wrong clock's", at(400 * day), upkeep.Options{}, 1},
		{"not wanted", at(-4 * day), upkeep.Options{NoCatchUp: true}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, c := newShelf(), &counter{}
				if !tt.last.IsZero() {
					b.last["count"] = upkeep.Report{Job: "count", Tick: tt.last, Started: tt.last, Ended: tt.last}
				}
				s := scheduler(t, b, &tt.o, c.job("0 3 * * *"))
				start(t, t.Context(), s)
				time.Sleep(2 * time.Hour)
				if got := int(c.n.Load()); got != tt.want {
					t.Errorf("%d runs before the tick, want %d", got, tt.want)
				}
				time.Sleep(2 * time.Hour)
				if got := int(c.n.Load()); got != tt.want+1 {
					t.Errorf("%d runs after the tick, want %d", got, tt.want+1)
				}
				s.Close()
			})
		})
	}
}

func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := newShelf(), &counter{takes: time.Minute, err: errors.New("no luck")}
		s := scheduler(t, b, &upkeep.Options{Holder: "me", NoCatchUp: true}, c.job(" 0 3 * * * "))
		start(t, t.Context(), s)
		time.Sleep(3*time.Hour + 30*time.Second)
		three := time.Date(2000, 1, 1, 3, 0, 0, 0, time.UTC)
		want := upkeep.Status{Job: "count", Spec: "0 3 * * *", Running: true, Next: three.Add(day)}
		if diff := cmp.Diff(want, status(t, s)); diff != "" {
			t.Errorf("while it runs (-want +got):\n%s", diff)
		}
		time.Sleep(time.Minute)
		want.Running, want.Last = false, upkeep.Report{Job: "count", Holder: "me", Tick: three, Started: three, Ended: three.Add(time.Minute), Error: "no luck"}
		if diff := cmp.Diff(want, status(t, s)); diff != "" {
			t.Errorf("after it (-want +got):\n%s", diff)
		}
		b.breakWith(memtypes.Errorf("shelf", memtypes.Unavailable, "away"))
		if _, err := s.Status(t.Context()); memtypes.CodeOf(err) != memtypes.Unavailable {
			t.Errorf("with the book away: %v, want Unavailable", err)
		}
		s.Close()
	})
}

func TestNewRefuses(t *testing.T) {
	c := &counter{}
	for _, tt := range []struct {
		name, field string
		o           *upkeep.Options
		jobs        []upkeep.Job
	}{
		{"a name twice", "job", nil, []upkeep.Job{c.job("@daily"), c.job("@hourly")}},
		{"no name", "job", nil, []upkeep.Job{{Spec: "@daily", Run: c.run}}},
		{"no run", "job", nil, []upkeep.Job{{Name: "x", Spec: "@daily"}}},
		{"bad spec", "spec", nil, []upkeep.Job{c.job("0 0 31 2 *")}},
		{"negative timeout", "timeout", nil, []upkeep.Job{{Name: "x", Spec: "@daily", Run: c.run, Timeout: -1}}},
		{"a lease too short to renew", "ttl", &upkeep.Options{TTL: time.Millisecond}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := upkeep.New(tt.jobs, newShelf(), tt.o)
			field, ok := errors.AsType[*memtypes.Field](err)
			if !ok || field.Name != tt.field || memtypes.CodeOf(err) != memtypes.Invalid {
				t.Errorf("New = %v, want Invalid about field %q", err, tt.field)
			}
		})
	}
}
