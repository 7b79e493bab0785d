package engine

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/vimbank/vimbank/admit"
)

// counters are what an engine counts over its life.
type counters struct {
	stored, recalls, reinforced, lost atomic.Int64

	mu       sync.Mutex
	verdicts map[admit.Code]int64 // guarded by mu
}

func (c *counters) judged(code admit.Code) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verdicts == nil {
		c.verdicts = map[admit.Code]int64{}
	}
	c.verdicts[code]++
}

// Stats is what an engine has done since it was opened, and where it stands.
type Stats struct {
	Stored     int64                `json:"stored"`     // memories handed to the ledger
	Recalls    int64                `json:"recalls"`    // questions answered
	Reinforced int64                `json:"reinforced"` // memories strengthened by a recall
	Lost       int64                `json:"lost"`       // recalls that strengthened nothing: the queue was full, or the bank read-only
	Verdicts   map[admit.Code]int64 `json:"verdicts"`   // of admission, by code
	Embedder   string               `json:"embedder"`   // its fingerprint; empty without one
	DenseMark  uint64               `json:"dense_mark"` // up to which sequence number each index follows
	SparseMark uint64               `json:"sparse_mark"`
	Dense      int                  `json:"dense"` // memories held by each index of this process; of a shared one, by its tail
	Sparse     int                  `json:"sparse"`
}

// Stats reports the counters and the indexes.
func (e *Engine) Stats() Stats {
	s := Stats{
		Stored: e.counts.stored.Load(), Recalls: e.counts.recalls.Load(), Reinforced: e.counts.reinforced.Load(),
		Lost: e.counts.lost.Load(), DenseMark: e.denseMark.Load(), SparseMark: e.sparseMark.Load(),
	}
	e.counts.mu.Lock()
	s.Verdicts = maps.Clone(e.counts.verdicts)
	e.counts.mu.Unlock()
	if e.parts.Embedder != nil {
		s.Embedder = e.parts.Embedder.Fingerprint()
	}
	if e.shared != nil {
		for _, k := range e.shared.kinds {
			*map[string]*int{"dense": &s.Dense, "sparse": &s.Sparse}[k.name] = k.size()
		}
		return s
	}
	// In this process both are counted at once, and cannot fail but by Close.
	ix := e.indexes.Load()
	if s.Sparse, _ = ix.sparse.Len(context.Background()); ix.dense != nil {
		s.Dense, _ = ix.dense.Len(context.Background())
	}
	return s
}
