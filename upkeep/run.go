package upkeep

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// RunNow runs the job name at once, whatever its schedule, and waits for it.
// It returns the report, and the error of the run if it failed. It is NotFound
// for an unknown name, Conflict while the job runs here or elsewhere, and
// Unavailable after Close. It needs no Start.
func (s *Scheduler) RunNow(ctx context.Context, name string) (Report, error) {
	const op = "upkeep.RunNow"
	e := s.find(name)
	if e == nil {
		return Report{}, memtypes.Errorf(op, memtypes.NotFound, "no job is named %q", name)
	}
	leave, err := s.enter(op)
	if err != nil {
		return Report{}, err
	}
	defer leave()
	report, ran, err := s.once(ctx, e, func(Report, time.Time) bool { return true })
	switch {
	case err == nil && !ran:
		return Report{}, memtypes.Errorf(op, memtypes.Conflict, "job %s is running", name)
	case !ran:
		return Report{}, err
	case err != nil:
		return report, fmt.Errorf("job %s: %w", name, err)
	}
	return report, nil
}

// RunDue runs the jobs to which a run is owed now, one after the other, and
// waits for them: those of which a tick has passed since their last run, in any
// process, and those that never ran. It returns the reports of the runs in the
// order of the jobs, and the errors of those that failed; a failed run does not
// keep the others from running. A job that runs elsewhere is passed over. It is
// Unavailable after Close, and needs no Start.
func (s *Scheduler) RunDue(ctx context.Context) ([]Report, error) {
	leave, err := s.enter("upkeep.RunDue")
	if err != nil {
		return nil, err
	}
	defer leave()
	var out []Report
	var errs []error
	for _, e := range s.jobs {
		if ctx.Err() != nil {
			return out, errors.Join(append(errs, memtypes.Errorf("upkeep.RunDue", memtypes.Canceled, "%w", ctx.Err()))...)
		}
		r, ran, err := s.once(ctx, e, e.owed)
		if ran {
			out = append(out, r)
		}
		if err != nil && (ran || memtypes.CodeOf(err) != memtypes.Conflict) {
			errs = append(errs, fmt.Errorf("job %s: %w", e.Name, err))
		}
	}
	return out, errors.Join(errs...)
}

// enter counts a call as running until leave, so that Close waits for it.
func (s *Scheduler) enter(op string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, memtypes.Errorf(op, memtypes.Unavailable, "the scheduler is closed")
	}
	s.runs.Add(1)
	return s.runs.Done, nil
}

// owed reports whether a run at tick is due after the last one.
func (e *entry) owed(last Report, tick time.Time) bool { return e.schedule.due(last.Tick, tick) }

// tick runs e if a run is owed, and lets it be otherwise: while one is going
// on, here or elsewhere, and when another process has had this tick.
func (s *Scheduler) tick(ctx context.Context, e *entry) {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed || ctx.Err() != nil {
		return
	}
	_, ran, err := s.once(ctx, e, e.owed)
	if err != nil && memtypes.CodeOf(err) != memtypes.Conflict || err != nil && ran {
		s.o.Log.Error("upkeep: run failed", "job", e.Name, "error", err)
	}
}

// once makes one run of e under its lease, if owed says so. The order matters:
// the guard against a second run stands outside everything that can panic, and
// is opened by defer.
func (s *Scheduler) once(ctx context.Context, e *entry, owed func(last Report, tick time.Time) bool) (r Report, ran bool, err error) {
	tick := s.now().Round(time.Second) // the timer may be some milliseconds off
	if !e.running.TryLock() {
		e.skip()
		return Report{}, false, nil
	}
	defer e.running.Unlock()
	lease, err := s.book.Acquire(ctx, e.Name, s.o.Holder, s.now(), s.o.TTL)
	if err != nil {
		return Report{}, false, err
	}
	defer func() {
		ctx, cancel := s.brief(ctx)
		defer cancel()
		err = errors.Join(err, s.book.Release(ctx, lease))
	}()
	last, err := s.book.LastRun(ctx, e.Name)
	if err != nil || !owed(last, tick) {
		return Report{}, false, err
	}
	r, err = s.run(ctx, e, tick, lease)
	s.o.Ended(r)
	return r, true, err
}

// run calls the job while the lease is kept, and records how it went.
func (s *Scheduler) run(ctx context.Context, e *entry, tick time.Time, lease Lease) (Report, error) {
	e.setBusy(true)
	defer e.setBusy(false)
	r := Report{Job: e.Name, Holder: s.o.Holder, Tick: tick, Started: s.now()}
	held, letGo := s.hold(ctx, lease)
	if e.Timeout > 0 {
		var cancel context.CancelFunc
		held, cancel = context.WithTimeout(held, e.Timeout)
		defer cancel()
	}
	err := call(held, e.Job, Run{Job: e.Name, Tick: tick, Lease: lease})
	lost := letGo()
	r.Ended = s.now()
	if lost != nil {
		err = errors.Join(lost, err)
	}
	if err != nil {
		r.Error = err.Error()
	}
	if lost != nil {
		return r, err // the book is the other runner's now
	}
	brief, cancel := s.brief(ctx)
	defer cancel()
	return r, errors.Join(err, s.book.Record(brief, lease, r))
}

// call turns a panic into an error with its stack.
func call(ctx context.Context, j Job, r Run) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = memtypes.Errorf("upkeep.Run", memtypes.Internal, "job %s panicked: %v\n%s", j.Name, v, debug.Stack())
		}
	}()
	return j.Run(ctx, r)
}

// hold renews lease every third of its time until letGo is called. When the
// lease is another's, or has run out without an answer from the book, the
// context is cancelled with ErrLeaseLost, which letGo then returns.
func (s *Scheduler) hold(ctx context.Context, lease Lease) (held context.Context, letGo func() error) {
	held, cancel := context.WithCancelCause(ctx)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		every := time.NewTicker(s.o.TTL / 3)
		defer every.Stop()
		for {
			select {
			case <-stop:
				return
			case <-every.C:
			}
			if !s.renew(ctx, &lease) {
				cancel(ErrLeaseLost)
				return
			}
		}
	}()
	return held, func() error {
		close(stop)
		<-stopped
		var lost error
		if errors.Is(context.Cause(held), ErrLeaseLost) {
			lost = ErrLeaseLost
		}
		cancel(nil)
		return lost
	}
}

// renew reports whether the lease is still held: renewed, or not yet run out
// while the book does not answer.
func (s *Scheduler) renew(ctx context.Context, lease *Lease) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.o.TTL/3)
	defer cancel()
	l, err := s.book.Acquire(ctx, lease.Name, lease.Holder, s.now(), s.o.TTL)
	switch {
	case err == nil && l.Fence == lease.Fence:
		*lease = l
		return true
	case err == nil || memtypes.CodeOf(err) == memtypes.Conflict:
		return false
	}
	return s.now().Add(s.o.TTL / 3).Before(lease.Expires) // the next try would come too late otherwise
}

// now is the clock's time in UTC.
func (s *Scheduler) now() time.Time { return s.o.Now().UTC() }

// brief is a context for the book-keeping after a run: it outlives ctx, but
// not for long.
func (s *Scheduler) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), s.o.TTL/3)
}

func (e *entry) skip() {
	e.mu.Lock()
	e.skipped++
	e.mu.Unlock()
}

func (e *entry) setBusy(v bool) {
	e.mu.Lock()
	e.busy = v
	e.mu.Unlock()
}
