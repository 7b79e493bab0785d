package upkeep_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/upkeep"
)

func TestLeaseIsKeptThroughALongRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := newShelf(), &counter{takes: 10 * time.Minute}
		one, two := scheduler(t, b, nil, c.job("@daily")), scheduler(t, b, nil, c.job("@daily"))
		start(t, t.Context(), one)
		time.Sleep(9 * time.Minute) // nine times as long as the lease
		if _, err := two.RunNow(t.Context(), "count"); memtypes.CodeOf(err) != memtypes.Conflict || c.n.Load() != 1 {
			t.Errorf("the other's run in the meantime: %v, want Conflict", err)
		}
		time.Sleep(2 * time.Minute)
		if _, err := two.RunNow(t.Context(), "count"); err != nil {
			t.Errorf("the other's run afterwards: %v, want it to go well", err)
		}
		one.Close()
		two.Close()
	})
}

func TestLosingTheLeaseEndsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := newShelf(), &counter{takes: time.Hour}
		s := scheduler(t, b, nil, c.job("@daily"))
		began := time.Now()
		time.AfterFunc(5*time.Minute, func() { b.steal("count") })
		r, err := s.RunNow(t.Context(), "count")
		if took := time.Since(began); !errors.Is(err, upkeep.ErrLeaseLost) || took > 5*time.Minute+20*time.Second {
			t.Errorf("error %v after %v, want ErrLeaseLost at the next renewal after 5m", err, took)
		}
		if r.Error == "" || len(b.reports()) != 0 {
			t.Errorf("report %+v, %d recorded, want an error in it and none recorded: the book is the other's", r, len(b.reports()))
		}
		if b.leases["count"].Holder != "thief" {
			t.Errorf("the lease is %q's, want it left to the thief", b.leases["count"].Holder)
		}
		s.Close()
	})
}

func TestABookThatIsAwayForAMoment(t *testing.T) {
	away := memtypes.Errorf("shelf", memtypes.Unavailable, "away")
	for _, tt := range []struct {
		name string
		for_ time.Duration
		lost bool
	}{
		{"shorter than the lease", 30 * time.Second, false},
		{"longer than the lease", 90 * time.Second, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, c := newShelf(), &counter{takes: 5 * time.Minute}
				s := scheduler(t, b, nil, c.job("@daily"))
				time.AfterFunc(65*time.Second, func() { b.breakWith(away) })
				time.AfterFunc(65*time.Second+tt.for_, func() { b.breakWith(nil) })
				began := time.Now()
				_, err := s.RunNow(t.Context(), "count")
				if errors.Is(err, upkeep.ErrLeaseLost) != tt.lost {
					t.Errorf("error %v, want the lease lost: %v", err, tt.lost)
				}
				if took := time.Since(began); tt.lost && took > 2*time.Minute {
					t.Errorf("the run went on for %v, want it ended before its lease ran out at 2m", took)
				}
				s.Close()
			})
		})
	}
}

func TestRunNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := newShelf(), &counter{takes: time.Minute}
		s := scheduler(t, b, nil, c.job("@daily"))
		began := time.Now()
		r, err := s.RunNow(t.Context(), "count")
		if err != nil || r.Job != "count" || r.Ended.Sub(r.Started) != time.Minute || !r.Started.Equal(began) {
			t.Errorf("RunNow = %+v, %v, want a minute's run", r, err)
		}
		c.err = memtypes.Errorf("decay", memtypes.Refused, "too many")
		if r, err := s.RunNow(t.Context(), "count"); memtypes.CodeOf(err) != memtypes.Refused || r.Error != "decay: refused: too many" {
			t.Errorf("a run that fails: %+v, %v, want its error, with its code", r, err)
		}
		if _, err := s.RunNow(t.Context(), "other"); memtypes.CodeOf(err) != memtypes.NotFound {
			t.Errorf("an unknown job: %v, want NotFound", err)
		}
		go s.RunNow(t.Context(), "count")
		time.Sleep(time.Second)
		if _, err := s.RunNow(t.Context(), "count"); memtypes.CodeOf(err) != memtypes.Conflict {
			t.Errorf("while it runs: %v, want Conflict", err)
		}
		s.Close()
		if n := c.n.Load(); n != 3 {
			t.Errorf("%d runs, want 3", n)
		}
		if _, err := s.RunNow(t.Context(), "count"); memtypes.CodeOf(err) != memtypes.Unavailable {
			t.Errorf("after Close: %v, want Unavailable", err)
		}
	})
}

func TestRunKnowsItsTickAndLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newShelf()
		b.leases["x"] = upkeep.Lease{Name: "x", Fence: 41}
		var got upkeep.Run
		s := scheduler(t, b, &upkeep.Options{Holder: "me", NoCatchUp: true}, upkeep.Job{Name: "x", Spec: "@hourly", Run: func(_ context.Context, r upkeep.Run) error {
			got = r
			return nil
		}})
		start(t, t.Context(), s)
		time.Sleep(time.Hour + time.Second)
		s.Close()
		tick := time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)
		want := upkeep.Run{Job: "x", Tick: tick, Lease: upkeep.Lease{Name: "x", Holder: "me", Fence: 42, Expires: tick.Add(time.Minute)}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("run (-want +got):\n%s", diff)
		}
	})
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := newShelf(), &counter{takes: time.Hour}
		j := c.job("@daily")
		j.Timeout = 10 * time.Minute
		s := scheduler(t, b, nil, j)
		r, err := s.RunNow(t.Context(), "count")
		if !errors.Is(err, context.DeadlineExceeded) || r.Ended.Sub(r.Started) != 10*time.Minute || len(b.reports()) != 1 {
			t.Errorf("RunNow = %+v, %v, want the deadline after 10m, recorded", r, err)
		}
		s.Close()
	})
}

func TestCloseWaitsAndTheContextHurries(t *testing.T) {
	for _, hurry := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b, c := newShelf(), &counter{takes: time.Hour}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := scheduler(t, b, nil, c.job("@daily"), upkeep.Job{Name: "second", Spec: "@daily", Run: c.run})
			start(t, ctx, s)
			time.Sleep(10 * time.Minute)
			want := 50 * time.Minute
			if hurry {
				cancel()
				want = 0
			}
			began := time.Now()
			s.Close()
			s.Close() // twice is as well as once
			if got := time.Since(began); got != want {
				t.Errorf("hurried %v: Close took %v, want %v", hurry, got, want)
			}
			rs := b.reports()
			if len(rs) != 1 || (rs[0].Error != "") != hurry {
				t.Errorf("hurried %v: reports %+v, want one, cut short: %v, and no second job begun", hurry, rs, hurry)
			}
			if b.leases["count"].Holder != "" {
				t.Error("the lease was not given back")
			}
		})
	}
}

func TestStartOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scheduler(t, newShelf(), nil)
		start(t, t.Context(), s)
		if err := s.Start(t.Context()); memtypes.CodeOf(err) != memtypes.Conflict {
			t.Errorf("a second Start: %v, want Conflict", err)
		}
		s.Close()
		if err := s.Start(t.Context()); memtypes.CodeOf(err) != memtypes.Unavailable {
			t.Errorf("Start after Close: %v, want Unavailable", err)
		}
	})
}

// A tick that cannot get at the book is not lost: the next one finds it owed.
func TestTickWithoutABook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := newShelf(), &counter{}
		s := scheduler(t, b, &upkeep.Options{NoCatchUp: true}, c.job("@hourly"))
		b.breakWith(memtypes.Errorf("shelf", memtypes.Unavailable, "away"))
		start(t, t.Context(), s)
		time.Sleep(90 * time.Minute)
		b.breakWith(nil)
		time.Sleep(time.Hour)
		s.Close()
		if c.n.Load() != 1 {
			t.Errorf("%d runs, want the one after the book was back", c.n.Load())
		}
	})
}

func TestRunDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newShelf()
		good, bad := &counter{takes: time.Minute}, &counter{takes: time.Second, err: memtypes.Errorf("x", memtypes.Refused, "too many")}
		var told []string
		o := &upkeep.Options{Ended: func(r upkeep.Report) { told = append(told, r.Job) }}
		s := scheduler(t, b, o, upkeep.Job{Name: "bad", Spec: "@hourly", Run: bad.run}, upkeep.Job{Name: "good", Spec: "@daily", Run: good.run})
		rs, err := s.RunDue(t.Context())
		if len(rs) != 2 || rs[0].Job != "bad" || rs[0].Error == "" || rs[1].Job != "good" || rs[1].Error != "" || memtypes.CodeOf(err) != memtypes.Refused {
			t.Errorf("RunDue = %+v, %v, want both runs and the error of the first", rs, err)
		}
		if rs, err := s.RunDue(t.Context()); len(rs) != 0 || err != nil {
			t.Errorf("RunDue again = %+v, %v, want nothing: a run that failed has had its tick", rs, err)
		}
		time.Sleep(time.Hour)
		if rs, _ := s.RunDue(t.Context()); len(rs) != 1 || rs[0].Job != "bad" {
			t.Errorf("RunDue an hour later = %+v, want the hourly job", rs)
		}
		if want := []string{"bad", "good", "bad"}; !slices.Equal(told, want) {
			t.Errorf("Ended was told of %v, want %v", told, want)
		}
		if _, err := b.Acquire(t.Context(), "bad", "another", time.Now(), 3*time.Hour); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if rs, err := s.RunDue(t.Context()); len(rs) != 0 || err != nil {
			t.Errorf("RunDue while another runs it = %+v, %v, want it passed over", rs, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.RunDue(ctx); memtypes.CodeOf(err) != memtypes.Canceled {
			t.Errorf("RunDue with an ended context: %v, want Canceled", err)
		}
		s.Close()
		if _, err := s.RunDue(t.Context()); memtypes.CodeOf(err) != memtypes.Unavailable {
			t.Errorf("RunDue after Close: %v, want Unavailable", err)
		}
	})
}
