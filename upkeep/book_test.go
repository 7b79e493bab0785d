package upkeep_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/upkeep"
)

// shelf is a Book in memory, with the leases of the contract.
type shelf struct {
	mu     sync.Mutex
	leases map[string]upkeep.Lease
	last   map[string]upkeep.Report
	all    []upkeep.Report
	broken error // what every call fails with, if set
}

func newShelf() *shelf {
	return &shelf{leases: map[string]upkeep.Lease{}, last: map[string]upkeep.Report{}}
}

func (b *shelf) Acquire(_ context.Context, name, holder string, now time.Time, ttl time.Duration) (upkeep.Lease, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return upkeep.Lease{}, b.broken
	}
	l := b.leases[name]
	if l.Holder != holder {
		if l.Holder != "" && now.Before(l.Expires) {
			return upkeep.Lease{}, memtypes.Errorf("shelf.Acquire", memtypes.Conflict, "held by %s", l.Holder)
		}
		l = upkeep.Lease{Name: name, Holder: holder, Fence: l.Fence + 1}
	}
	l.Expires = now.Add(ttl)
	b.leases[name] = l
	return l, nil
}

func (b *shelf) Release(_ context.Context, l upkeep.Lease) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.leases[l.Name].Fence == l.Fence {
		b.leases[l.Name] = upkeep.Lease{Name: l.Name, Fence: l.Fence}
	}
	return b.broken
}

func (b *shelf) LastRun(_ context.Context, job string) (upkeep.Report, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last[job], b.broken
}

func (b *shelf) Record(_ context.Context, l upkeep.Lease, r upkeep.Report) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return b.broken
	}
	if b.leases[l.Name].Fence != l.Fence {
		return memtypes.Errorf("shelf.Record", memtypes.Conflict, "the fence is %d by now", b.leases[l.Name].Fence)
	}
	b.last[r.Job] = r
	b.all = append(b.all, r)
	return nil
}

func (b *shelf) breakWith(err error) {
	b.mu.Lock()
	b.broken = err
	b.mu.Unlock()
}

// steal hands the lease of job to another, as if its runner had been paused
// past its end.
func (b *shelf) steal(job string) {
	b.mu.Lock()
	l := b.leases[job]
	b.leases[job] = upkeep.Lease{Name: job, Holder: "thief", Fence: l.Fence + 1, Expires: l.Expires.Add(time.Hour)}
	b.mu.Unlock()
}

func (b *shelf) reports() []upkeep.Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]upkeep.Report(nil), b.all...)
}

func scheduler(t testing.TB, b upkeep.Book, o *upkeep.Options, jobs ...upkeep.Job) *upkeep.Scheduler {
	t.Helper()
	s, err := upkeep.New(jobs, b, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func start(t testing.TB, ctx context.Context, s *upkeep.Scheduler) {
	t.Helper()
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
}
