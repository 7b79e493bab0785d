package upkeep

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/vimbank/vimbank/memtypes"
)

// Job is one thing to do again and again.
type Job struct {
	Name string // unique, not empty: the name of its lease
	Spec string // see Parse
	// Run does it. ctx ends when the lease is lost, Timeout has passed or the
	// context of Start ends; Run should then return soon. r.Lease goes with
	// every write.
	Run func(ctx context.Context, r Run) error
	// Timeout bounds one run. Zero: no bound.
	Timeout time.Duration
}

// Run is what a job is told about its run.
type Run struct {
	Job   string
	Tick  time.Time // the moment it runs for, in whole seconds, UTC
	Lease Lease
}

// Lease is the right to run a job.
type Lease struct {
	Name    string
	Holder  string
	Fence   uint64
	Expires time.Time
}

// Report says how a run went.
type Report struct {
	Job     string    `json:"job"`
	Holder  string    `json:"holder"` // the scheduler that ran it
	Tick    time.Time `json:"tick"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Error   string    `json:"error,omitempty"` // empty: it went well
}

// Book keeps leases and reports for all processes. Its methods are safe for
// concurrent use.
type Book interface {
	// Acquire takes or renews the lease name for holder until now+ttl. It
	// fails with memtypes.Conflict while another holder's has not expired. The
	// fence rises whenever the holder changes.
	Acquire(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (Lease, error)
	// Release gives l up; one that is another's by now is left alone.
	Release(ctx context.Context, l Lease) error
	// LastRun returns the report recorded last for job; the zero Report if there is none.
	LastRun(ctx context.Context, job string) (Report, error)
	// Record keeps r, under the lease of its run.
	Record(ctx context.Context, l Lease, r Report) error
}

// Options sets the scheduler. The zero value, and a nil pointer, are ready to use.
type Options struct {
	// Holder names this scheduler among all that share the book. Empty: a
	// random name.
	Holder string
	// TTL is how long a lease holds without being renewed, and so how long a
	// job stands still after its runner was killed. Zero means a minute.
	TTL time.Duration
	// NoCatchUp leaves the ticks missed before Start alone.
	NoCatchUp bool
	// Now is the clock for reports and leases. Nil means time.Now. The ticks
	// come from the machine's clock in any case.
	Now func() time.Time
	// Log gets one line for each run that fails. Nil: nothing is logged.
	Log *slog.Logger
	// Ended is told of every run of this scheduler when it has ended, from the
	// goroutine of the run. Nil: nobody is told.
	Ended func(Report)
}

// ErrLeaseLost is the cause of a job's cancelled context when the lease of its
// run is another's, or could not be renewed in time.
var ErrLeaseLost = errors.New("the lease of this run is lost")

// Scheduler runs jobs. Safe for concurrent use.
type Scheduler struct {
	o    Options
	book Book
	cron *cron.Cron
	jobs []*entry

	mu      sync.Mutex // guards the fields below
	started bool
	closed  bool
	runs    sync.WaitGroup // every run and the catch-up; Add only under mu while not closed
}

// entry is a job with what the scheduler knows of it.
type entry struct {
	Job
	schedule Schedule
	running  sync.Mutex // held by the one run; only ever tried

	mu      sync.Mutex // guards the fields below
	busy    bool
	skipped int
}

// New checks the jobs and makes a scheduler that stands still. It fails with
// Invalid on a name that is empty or given twice, a bad spec, or a job without
// a Run.
func New(jobs []Job, book Book, o *Options) (*Scheduler, error) {
	s := &Scheduler{book: book, cron: cron.New(cron.WithLocation(time.UTC), cron.WithLogger(cron.DiscardLogger))}
	if o != nil {
		s.o = *o
	}
	s.o.Holder = cmp.Or(s.o.Holder, rand.Text())
	s.o.TTL = cmp.Or(s.o.TTL, time.Minute)
	if s.o.Now == nil {
		s.o.Now = time.Now
	}
	if s.o.Log == nil {
		s.o.Log = slog.New(slog.DiscardHandler)
	}
	if s.o.Ended == nil {
		s.o.Ended = func(Report) {}
	}
	if s.o.TTL < time.Second {
		return nil, memtypes.BadField("upkeep.New", "ttl", s.o.TTL, "at least 1s, or 0 for the default")
	}
	for _, j := range jobs {
		schedule, err := Parse(j.Spec)
		switch {
		case j.Name == "" || s.find(j.Name) != nil:
			return nil, memtypes.BadField("upkeep.New", "job", j.Name, "a name of its own")
		case err != nil:
			return nil, fmt.Errorf("job %s: %w", j.Name, err)
		case j.Run == nil:
			return nil, memtypes.BadField("upkeep.New", "job", j.Name, "something to run")
		case j.Timeout < 0:
			return nil, memtypes.BadField("upkeep.New", "timeout", j.Timeout, "a positive duration, or 0 for none")
		}
		s.jobs = append(s.jobs, &entry{Job: j, schedule: schedule})
	}
	return s, nil
}

// Start sets the clock going and returns at once. Jobs for which a tick was
// missed, or that never ran, run now, one after the other. ctx is that of all
// runs: when it ends, they are to end, and no further one starts. A second
// Start is refused with Conflict, one after Close with Unavailable.
func (s *Scheduler) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return memtypes.Errorf("upkeep.Start", memtypes.Unavailable, "the scheduler is closed")
	case s.started:
		return memtypes.Errorf("upkeep.Start", memtypes.Conflict, "the scheduler is running")
	}
	s.started = true
	for _, e := range s.jobs {
		s.cron.Schedule(e.schedule.s, cron.FuncJob(func() { s.tick(ctx, e) }))
	}
	s.cron.Start()
	if !s.o.NoCatchUp {
		s.runs.Go(func() {
			for _, e := range s.jobs {
				s.tick(ctx, e)
			}
		})
	}
	return nil
}

// Close stops the clock and returns when all runs have ended. To hurry them,
// end the context of Start first. It is safe to call it twice.
func (s *Scheduler) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	<-s.cron.Stop().Done()
	s.runs.Wait()
	return nil
}

func (s *Scheduler) find(name string) *entry {
	for _, e := range s.jobs {
		if e.Name == name {
			return e
		}
	}
	return nil
}
