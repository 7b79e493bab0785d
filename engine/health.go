package engine

import (
	"context"
	"strings"
	"time"

	"github.com/vimbank/vimbank/stores/ledger"
)

// IndexHealth is how one generation of a shared index stands.
type IndexHealth struct {
	Index      string    `json:"index"` // "dense" or "sparse"
	Generation string    `json:"generation"`
	Live       bool      `json:"live"`
	Mark       uint64    `json:"mark"`             // it has what changed up to here
	Lag        uint64    `json:"lag"`              // how far that is behind the ledger
	Owed       int       `json:"owed"`             // memories it has yet to take
	Dead       int       `json:"dead"`             // memories it cannot take: see DeadLetters
	Waiting    time.Time `json:"waiting,omitzero"` // since when the oldest of them waits
	Breaker    string    `json:"breaker"`          // of its service: closed, half-open, open
	Tail       int       `json:"tail"`             // memories that this process holds for it
	Error      string    `json:"error,omitempty"`  // what went wrong last, if it still does
}

// Health is how an engine stands.
type Health struct {
	Head    uint64        `json:"head"`    // the newest sequence number of the ledger
	Indexes []IndexHealth `json:"indexes"` // of the services; none where the indexes are this process's own
}

// Health asks the ledger how the shared indexes stand; the error is the ledger's.
func (e *Engine) Health(ctx context.Context) (Health, error) {
	if err := e.open("engine.Health"); err != nil {
		return Health{}, err
	}
	if e.shared == nil {
		head, err := e.parts.Ledger.Head(ctx)
		return Health{Head: head}, err
	}
	s := e.shared
	if err := s.refresh(ctx); err != nil {
		return Health{}, err
	}
	var h Health
	for _, k := range s.kinds {
		for _, f := range s.following(k) {
			h.Indexes = append(h.Indexes, s.health(k, f))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h.Head = s.known.head
	return h, nil
}

func (s *shared) health(k *kind, f ledger.Follower) IndexHealth {
	s.mu.Lock()
	defer s.mu.Unlock()
	generation := strings.TrimPrefix(f.Name, k.name+"/")
	return IndexHealth{
		Index: k.name, Generation: generation, Live: s.known.live[k.name] == generation,
		Mark: f.Mark, Lag: s.known.head - min(f.Mark, s.known.head), Owed: f.Owed, Dead: f.Dead, Waiting: f.Due,
		Breaker: k.backend.state(), Tail: k.size(), Error: strings.Join(nonEmpty(s.known.failed[k.name], s.pump.trouble(f.Name)), "; "),
	}
}
