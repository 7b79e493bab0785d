package upkeep

import (
	"context"
	"time"
)

// Status is what there is to know of a job.
type Status struct {
	Job     string    `json:"job"`
	Spec    string    `json:"spec"`
	Running bool      `json:"running"`           // in this process, now
	Next    time.Time `json:"next,omitzero"`     // the next tick, UTC
	Skipped int       `json:"skipped,omitempty"` // ticks in this process that found the job running
	Last    Report    `json:"last,omitzero"`     // the last run that ended, in any process
}

// Status reports on all jobs, in the order in which New was given them. It
// fails if the book does.
func (s *Scheduler) Status(ctx context.Context) ([]Status, error) {
	out := make([]Status, len(s.jobs))
	for i, e := range s.jobs {
		last, err := s.book.LastRun(ctx, e.Name)
		if err != nil {
			return nil, err
		}
		e.mu.Lock()
		out[i] = Status{Job: e.Name, Spec: e.schedule.String(), Running: e.busy, Next: e.schedule.Next(s.now()), Skipped: e.skipped, Last: last}
		e.mu.Unlock()
	}
	return out, nil
}
