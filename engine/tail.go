package engine

import (
	"context"
	"sync"

	"github.com/vimbank/vimbank/memtypes"
)

// tail is what a shared index does not have yet, held in this process: the
// memories that changed lately, in segments that are dropped, oldest first, as
// soon as the service has all that is in them. A memory that is in the tail, or
// was removed there, hides what the service says of it.
//
// Whoever asks reads the tail first and the service after it: what leaves the
// tail in between is in the service by then.
type tail[I tailIndex] struct {
	fresh func() (I, error)
	size  int // memories from which a segment is full

	mu       sync.RWMutex
	segments []*stretch[I] // guarded by mu, with all that is in them; oldest first
	writes   uint64        // guarded by mu; of all times
}

// tailIndex is what the tail itself asks of an in-process index.
type tailIndex interface {
	Delete(ctx context.Context, gone []memtypes.Gone) error
}

// stretch is one segment: what changed within a stretch of the feed.
type stretch[I tailIndex] struct {
	index  I
	held   map[memtypes.ID]uint64 // docs and removals, by the number of the write that brought them
	newest uint64                 // the newest change that is in it
}

func newTail[I tailIndex](size int, fresh func() (I, error)) *tail[I] {
	return &tail[I]{fresh: fresh, size: size}
}

// put has write bring what is known of ids, which have changed up to newest,
// into the newest segment, and takes it out of the others.
func (t *tail[I]) put(ctx context.Context, ids []memtypes.ID, newest uint64, write func(I) error) error {
	if len(ids) == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.room()
	if err != nil {
		return err
	}
	if err := write(s.index); err != nil {
		return err
	}
	t.writes++
	for _, id := range ids {
		s.held[id] = t.writes
	}
	s.newest = max(s.newest, newest)
	for _, old := range t.segments[:len(t.segments)-1] {
		if err := old.forget(ctx, ids, newest); err != nil {
			return err
		}
	}
	return nil
}

// room is the segment that takes what comes.
func (t *tail[I]) room() (*stretch[I], error) {
	if n := len(t.segments); n > 0 && len(t.segments[n-1].held) < t.size {
		return t.segments[n-1], nil
	}
	index, err := t.fresh()
	if err != nil {
		return nil, err
	}
	s := &stretch[I]{index: index, held: map[memtypes.ID]uint64{}}
	t.segments = append(t.segments, s)
	return s, nil
}

// forget takes ids out, which a newer segment has.
func (s *stretch[I]) forget(ctx context.Context, ids []memtypes.ID, rev uint64) error {
	var gone []memtypes.Gone
	for _, id := range ids {
		if _, ok := s.held[id]; ok {
			gone = append(gone, memtypes.Gone{ID: id, Rev: rev})
			delete(s.held, id)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return s.index.Delete(ctx, gone)
}

// drop forgets the segments of which the service has everything, because it
// has what changed up to mark.
func (t *tail[I]) drop(mark uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for n < len(t.segments) && t.segments[n].newest <= mark {
		n++
	}
	if n > 0 { // a new list: the old one may be in use
		t.segments = append([]*stretch[I](nil), t.segments[n:]...)
	}
}

// clear forgets everything.
func (t *tail[I]) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.segments = nil
}

// len is the number of memories held, removed ones included.
func (t *tail[I]) len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := 0
	for _, s := range t.segments {
		n += len(s.held)
	}
	return n
}

// view is the tail as somebody has read it.
type view[I tailIndex] struct {
	tail     *tail[I]
	segments []*stretch[I]
	asOf     uint64
	size     int // memories held
}

// read shows every segment to look, while nothing changes, and remembers what
// the tail held.
func (t *tail[I]) read(look func(I) error) (*view[I], error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	v := &view[I]{tail: t, segments: t.segments, asOf: t.writes}
	for _, s := range t.segments {
		v.size += len(s.held)
		if err := look(s.index); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// uncovered are those of hits that the tail did not hide when it was read.
func (v *view[I]) uncovered(hits []memtypes.Scored) []memtypes.Scored {
	if v.size == 0 {
		return hits
	}
	v.tail.mu.RLock()
	defer v.tail.mu.RUnlock()
	out := make([]memtypes.Scored, 0, len(hits))
	for _, h := range hits {
		if !v.hides(h.ID) {
			out = append(out, h)
		}
	}
	return out
}

func (v *view[I]) hides(id memtypes.ID) bool {
	for _, s := range v.segments {
		if n, ok := s.held[id]; ok && n <= v.asOf {
			return true
		}
	}
	return false
}
