package engine

import (
	"sync"

	"github.com/vimbank/vimbank/memtypes"
)

// shelf keeps memories at hand that a ranking may look at, so that a recall
// need not read hundreds of rows of which it shows ten. What it gives may be
// outdated by a moment and decides only the order: every hit is read from the
// ledger again before it leaves (see settle).
type shelf struct {
	mu    sync.Mutex
	held  map[memtypes.ID]*memtypes.Memory // guarded by mu, as all below
	bytes int
	limit int
	// swept counts calls of drop: what was read before one must not be put
	// after it, or it would be outdated for good.
	swept uint64
}

// shelfBytes bounds the shelf; a turn takes about half a kilobyte.
const shelfBytes = 64 << 20

func newShelf() *shelf { return &shelf{held: map[memtypes.ID]*memtypes.Memory{}, limit: shelfBytes} }

// take adds what is held of ids to to, and returns the others and a ticket for put.
func (s *shelf) take(ids []memtypes.ID, to map[memtypes.ID]*memtypes.Memory) (missing []memtypes.ID, ticket uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if m := s.held[id]; m != nil {
			to[id] = m
		} else {
			missing = append(missing, id)
		}
	}
	return missing, s.swept
}

// put keeps m, unless something was dropped since ticket was given.
func (s *shelf) put(m *memtypes.Memory, ticket uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.swept != ticket || s.held[m.ID] != nil {
		return
	}
	s.held[m.ID] = m
	s.bytes += size(m)
	for id, old := range s.held { // any will do: a miss costs one row
		if s.bytes <= s.limit {
			break
		}
		s.bytes -= size(old)
		delete(s.held, id)
	}
}

// drop forgets ids, which have changed.
func (s *shelf) drop(ids []memtypes.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swept++
	for _, id := range ids {
		if m := s.held[id]; m != nil {
			s.bytes -= size(m)
			delete(s.held, id)
		}
	}
}

// clear forgets everything.
func (s *shelf) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swept++
	s.bytes = 0
	clear(s.held)
}

// size is about what m takes in memory.
func size(m *memtypes.Memory) int {
	n := 512 + len(m.Text) + len(m.Title)
	for k, v := range m.Meta {
		n += 64 + len(k) + len(v)
	}
	if m.Task != nil {
		n += len(m.Task.Observation) + len(m.Task.Result)
		for _, c := range m.Task.Commands {
			n += 96 + len(c.Name) + len(c.Result)
		}
	}
	return n
}
