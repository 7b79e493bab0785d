package engine

import (
	"slices"
	"sync"
	"time"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/memtypes"
)

// recentTexts knows what was recalled lately, by scope, to tell its echo.
type recentTexts struct {
	mu    sync.Mutex
	texts map[memtypes.Scope][]admit.Recalled // guarded by mu; newest last, at most recentKept each
}

const (
	recentKept   = 64
	recentScopes = 1024
)

func newRecentTexts() *recentTexts {
	return &recentTexts{texts: map[memtypes.Scope][]admit.Recalled{}}
}

// add notes that m was recalled for question in scope at now.
func (r *recentTexts) add(scope memtypes.Scope, question string, m *memtypes.Memory, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.texts) >= recentScopes && r.texts[scope] == nil {
		clear(r.texts) // an echo is missed then, and costs a row
	}
	list := append(r.texts[scope], admit.Recalled{
		Query: question, ID: m.ID, Text: m.Text, Title: m.Title, Speaker: m.Talk.Speaker, When: m.When(), At: now})
	r.texts[scope] = slices.Clip(list[max(0, len(list)-recentKept):])
}

// of returns what was recalled lately in scope.
func (r *recentTexts) of(scope memtypes.Scope) []admit.Recalled {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.texts[scope])
}
