package sparse

import (
	"slices"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// found is a document with its score.
type found struct {
	doc   uint32
	score float32
}

// top keeps the best documents offered: a heap whose root is the worst kept,
// and with bySession at most one document of each session.
type top struct {
	docs      []document
	k         int
	bySession bool
	heap      []found
	slots     map[uint32]int // bySession: where in heap the session's document is
}

// reset empties t for the best k of docs.
func (t *top) reset(docs []document, k int, bySession bool) {
	t.docs, t.k, t.bySession, t.heap = docs, k, bySession, t.heap[:0]
	if bySession && t.slots == nil {
		t.slots = map[uint32]int{}
	}
	clear(t.slots)
}

// floor is the least score that can still be kept; below it nothing is.
func (t *top) floor() float32 {
	if len(t.heap) < t.k {
		return 0
	}
	return t.heap[0].score
}

// worse orders by score, and equal scores by ID: the later ID is worse.
func (t *top) worse(a, b found) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return t.docs[a.doc].id > t.docs[b.doc].id
}

// offer keeps f if it is among the best so far. It must be offered once. A
// document of a session that has fallen out stays out rightly: the floor
// never sinks.
func (t *top) offer(f found) {
	if f.score <= 0 {
		return
	}
	if t.bySession {
		if i, ok := t.slots[t.docs[f.doc].session]; ok { // session 0 has no slot
			if t.worse(t.heap[i], f) {
				t.heap[i] = f
				t.down(i)
			}
			return
		}
	}
	switch {
	case len(t.heap) < t.k:
		t.heap = append(t.heap, f)
		t.up(len(t.heap) - 1)
	case t.worse(t.heap[0], f):
		if t.bySession {
			delete(t.slots, t.docs[t.heap[0].doc].session)
		}
		t.heap[0] = f
		t.down(0)
	}
}

func (t *top) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !t.worse(t.heap[i], t.heap[parent]) {
			break
		}
		t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
		t.settle(i)
		i = parent
	}
	t.settle(i)
}

func (t *top) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			break
		}
		if child+1 < len(t.heap) && t.worse(t.heap[child+1], t.heap[child]) {
			child++
		}
		if !t.worse(t.heap[child], t.heap[i]) {
			break
		}
		t.heap[i], t.heap[child] = t.heap[child], t.heap[i]
		t.settle(i)
		i = child
	}
	t.settle(i)
}

// settle notes where a session's document is.
func (t *top) settle(i int) {
	if !t.bySession {
		return
	}
	if session := t.docs[t.heap[i].doc].session; session != 0 {
		t.slots[session] = i
	}
}

// take gives what was kept, best first.
func (t *top) take() []memtypes.Scored {
	out := make([]memtypes.Scored, len(t.heap))
	for i, f := range t.heap {
		out[i] = memtypes.Scored{ID: t.docs[f.doc].id, Score: float64(f.score)}
	}
	slices.SortFunc(out, func(a, b memtypes.Scored) int {
		if a.Score != b.Score {
			if a.Score > b.Score {
				return -1
			}
			return 1
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
	return out
}
