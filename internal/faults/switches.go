// Package faults is what can go wrong with services that hold indexes, at the
// flip of a switch: they fail, are slow, hang, refuse single memories, lose an
// acknowledgement, bring an old write again or are restored from an old state.
//
// [Dense] and [Sparse] are such services, real in-process indexes that several
// engines share in one process, with generations and the rules of versions
// that ports ask of a service. [KillAt] ends a process at a named point. It is
// for tests, of the engine above all; that the stores of products keep the same
// rules is shown by their contract tests.
package faults

import (
	"context"
	"sync"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Switches say what goes wrong. The zero value is a service that works. All
// methods are safe for concurrent use, also while the service is.
type Switches struct {
	mu     sync.Mutex // guards all below
	down   bool
	delay  time.Duration
	hang   chan struct{}
	refuse map[memtypes.ID]memtypes.Code
	deaf   bool
	lose   int
	calls  int
	late   []func() error // writes that came once, to come again
	record bool
}

// Down lets every call fail with Unavailable, or none any more.
func (s *Switches) Down(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

// Slow lets every call take d longer; zero is as fast as it goes.
func (s *Switches) Slow(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delay = d
}

// Hang lets every call wait until release is called, or its context ends.
func (s *Switches) Hang() (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := make(chan struct{})
	s.hang = c
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.hang == c {
			s.hang = nil
		}
		close(c)
	})
}

// Refuse lets writes of id fail by themselves, with code, the others go through.
func (s *Switches) Refuse(id memtypes.ID, code memtypes.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse == nil {
		s.refuse = map[memtypes.ID]memtypes.Code{}
	}
	s.refuse[id] = code
}

// Accept takes a Refuse back.
func (s *Switches) Accept(id memtypes.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.refuse, id)
}

// Deaf lets every write be refused for now, memory by memory, or none any more:
// the service answers, but falls behind.
func (s *Switches) Deaf(deaf bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf = deaf
}

// Lose lets the next n writes be done and then fail with Unavailable, as if
// their answers had been lost.
func (s *Switches) Lose(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lose = n
}

// Calls counts the calls that came, those that failed included.
func (s *Switches) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Record keeps the writes that come from now on; Replay brings them all again,
// oldest first, and keeps none any more: what a network does that delivers late
// and twice.
func (s *Switches) Record() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record = true
}

// Replay is described at Record.
func (s *Switches) Replay() error {
	s.mu.Lock()
	late := s.late
	s.late, s.record = nil, false
	s.mu.Unlock()
	for _, write := range late {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// pass is what happens to a call before it is served.
func (s *Switches) pass(ctx context.Context, op string) error {
	s.mu.Lock()
	s.calls++
	hang, delay, down := s.hang, s.delay, s.down
	s.mu.Unlock()
	if hang != nil {
		select {
		case <-hang:
		case <-ctx.Done():
		}
	}
	if delay > 0 {
		t := time.NewTimer(delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return memtypes.Errorf(op, memtypes.Canceled, "%w", context.Cause(ctx))
	}
	if down {
		return memtypes.Errorf(op, memtypes.Unavailable, "switched off")
	}
	return nil
}

// refused says which of ids are refused.
func (s *Switches) refused(op string, ids []memtypes.ID) *memtypes.Rejected {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &memtypes.Rejected{Items: map[memtypes.ID]*memtypes.Error{}}
	for _, id := range ids {
		code, ok := s.refuse[id]
		if s.deaf && !ok {
			code, ok = memtypes.Unavailable, true
		}
		if ok {
			r.Items[id] = &memtypes.Error{Op: op, Code: code, ID: id, Err: errRefused}
		}
	}
	return r
}

// lost reports whether the answer of a write is lost.
func (s *Switches) lost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lose == 0 {
		return false
	}
	s.lose--
	return true
}

// keep remembers a write for Replay.
func (s *Switches) keep(write func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.record {
		s.late = append(s.late, write)
	}
}
