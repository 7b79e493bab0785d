package engine

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// pump brings what changes in the ledger to the services. Each process has one,
// and any of them can do any of the work: what a killed one had claimed comes
// back by itself. It has a worker for each generation that is followed.
type pump struct {
	shared *shared
	finish context.CancelFunc // begin nothing new
	halt   context.CancelFunc // stop what is under way
	ended  chan struct{}      // closed when all goroutines are gone

	mu      sync.Mutex
	workers map[string]*worker // guarded by mu; by follower
}

func startPump(s *shared) *pump {
	work, halt := context.WithCancel(context.Background())
	loop, finish := context.WithCancel(work)
	p := &pump{shared: s, finish: finish, halt: halt, ended: make(chan struct{}), workers: map[string]*worker{}}
	go func() {
		defer close(p.ended)
		p.run(loop, work)
	}()
	return p
}

// stop lets every worker finish the batch in flight; when ctx ends first, they
// are stopped where they are, which costs nothing but the time until their
// claims run out.
func (p *pump) stop(ctx context.Context) error {
	defer p.halt()
	p.finish()
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
	}
	p.halt()
	<-p.ended
	return memtypes.Errorf("engine.Close", memtypes.Canceled, "stopped in the middle of a batch, which is done again: %w", ctx.Err())
}

// run keeps everything going until loop ends; work ends only by force.
func (p *pump) run(loop, work context.Context) {
	var all sync.WaitGroup
	all.Go(func() { p.listen(loop) })
	all.Go(func() { p.every(loop, func() { _ = p.shared.refresh(loop) }) }) // what fails now is asked again soon
	p.every(loop, func() {
		for _, k := range p.shared.kinds {
			p.tend(loop, work, &all, k)
		}
		p.resume(loop, &all)
	})
	all.Wait()
}

// every calls do now and then, until loop ends.
func (p *pump) every(loop context.Context, do func()) {
	for loop.Err() == nil {
		do()
		pause(loop, p.shared.opt.Refresh)
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// listen wakes the workers when the ledger changes, whoever changed it.
func (p *pump) listen(loop context.Context) {
	l := p.shared.engine.parts.Ledger
	for loop.Err() == nil {
		head, err := l.Head(loop)
		if err == nil {
			err = l.Wait(loop, head)
		}
		if err != nil {
			pause(loop, p.shared.opt.Refresh)
		}
		p.wake()
	}
}

func (p *pump) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.workers {
		select {
		case w.poke <- struct{}{}:
		default:
		}
	}
}

// tend looks at the service of k: it makes a first generation, notices which
// one is live, and starts a worker for each that is followed.
func (p *pump) tend(loop, work context.Context, all *sync.WaitGroup, k *kind) {
	names, err := p.shared.see(loop, k)
	if err != nil || loop.Err() != nil {
		return
	}
	for _, f := range p.shared.following(k) {
		generation := strings.TrimPrefix(f.Name, k.name+"/")
		// The words of another embedder's generation are nearly the same; its vectors are not.
		if !slices.Contains(names, generation) || k.name == "dense" && !p.shared.ours(generation) {
			continue
		}
		p.mu.Lock()
		if p.workers[f.Name] == nil {
			w := newWorker(p.shared, k, f.Name, generation)
			p.workers[f.Name] = w
			all.Go(func() {
				w.run(loop, work)
				p.mu.Lock()
				defer p.mu.Unlock()
				delete(p.workers, w.name)
			})
		}
		p.mu.Unlock()
	}
}

// see looks at the service of k, makes what is missing there, and notes what is
// live; it names all generations.
func (s *shared) see(ctx context.Context, k *kind) (names []string, err error) {
	live, names, err := s.lookBy(ctx, k, k.backend.call)
	if err == nil {
		err = s.ensure(ctx, k, live, names)
		if live == "" && err == nil {
			live, names, err = s.look(ctx, k)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.noteLive(k, live, err)
	if k.name == "dense" && err == nil && live != "" {
		s.engine.foreign.Store(!s.ours(live))
	}
	return names, err
}

// ours reports whether a generation holds what this process makes.
func (s *shared) ours(generation string) bool { return strings.HasPrefix(generation, s.hash+"-") }

// look asks the service of k for its generations.
func (s *shared) look(ctx context.Context, k *kind) (live string, names []string, err error) {
	return s.lookBy(ctx, k, k.backend.insist)
}

func (s *shared) lookBy(ctx context.Context, k *kind, by func(context.Context, time.Duration, func(context.Context) error) error) (live string, names []string, err error) {
	err = by(ctx, s.opt.Search, func(ctx context.Context) (err error) {
		if live, err = k.gens.Live(ctx); err != nil {
			return err
		}
		names, err = k.gens.List(ctx)
		return err
	})
	return live, names, err
}

// trouble is what the worker of a follower could not do last, if it still cannot.
func (p *pump) trouble(follower string) string {
	p.mu.Lock()
	w := p.workers[follower]
	p.mu.Unlock()
	if w == nil {
		return ""
	}
	if err := w.failed.Load(); err != nil {
		return (*err).Error()
	}
	return ""
}
