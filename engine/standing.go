package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// standing is how far the services have come, as it was last seen.
type standing struct {
	head      uint64
	followers []ledger.Follower
	live      map[string]string // the live generation by kind; none if it is not known
	failed    map[string]string // why a kind's service could not be looked at, by kind
}

// refresh asks the ledger how far the services have come, and drops what they
// have from the tails.
func (s *shared) refresh(ctx context.Context) error {
	l := s.engine.parts.Ledger
	followers, err := l.Followers(ctx, s.engine.now())
	if err != nil {
		return err
	}
	head, err := l.Head(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.known.followers, s.known.head, s.admitted = followers, head, 0
	s.mu.Unlock()
	marks, skipped := s.engine.marks(), false
	for _, k := range s.kinds {
		if mark, any := s.mark(k); any {
			k.drop(mark)
			skipped = raise(marks[k.name], mark) || skipped
		}
	}
	if skipped { // changes that this process will not see any more
		s.engine.shelf.clear()
	}
	return nil
}

// mark is what every generation of k that is followed has; any is false if
// there is none. A rebuild's new generation counts, too: it may serve soon.
func (s *shared) mark(k *kind) (mark uint64, any bool) {
	for _, f := range s.following(k) {
		if !any || f.Mark < mark {
			mark, any = f.Mark, true
		}
	}
	return mark, any
}

// placed is up to where every service has what changed; 0 where none follows.
func (s *shared) placed() uint64 {
	least := uint64(math.MaxUint64)
	for _, k := range s.kinds {
		mark, _ := s.mark(k)
		least = min(least, mark)
	}
	return least
}

// following are the followers of k.
func (s *shared) following(k *kind) []ledger.Follower {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []ledger.Follower
	for _, f := range s.known.followers {
		if strings.HasPrefix(f.Name, k.name+"/") {
			out = append(out, f)
		}
	}
	return out
}

// noteLive remembers what a look at the service of k showed, or why it did not.
func (s *shared) noteLive(k *kind, live string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known.live == nil {
		s.known.live, s.known.failed = map[string]string{}, map[string]string{}
	}
	delete(s.known.failed, k.name)
	if err != nil {
		s.known.failed[k.name] = err.Error()
		return
	}
	s.known.live[k.name] = live
	k.backend.absent.Store(live == "")
}

// admit refuses n memories more with Full while an index lags behind by more
// than the bound.
func (s *shared) admit(ctx context.Context, op string, n int) error {
	f, owed := s.furthest(n)
	if owed <= s.opt.MaxOwed*9/10 {
		return nil
	}
	if err := s.refresh(ctx); err != nil {
		return err
	}
	if f, owed = s.furthest(n); owed <= s.opt.MaxOwed {
		return nil
	}
	return &memtypes.Error{Op: op, Code: memtypes.Full, Err: &memtypes.Field{
		Name:   "outbox",
		Found:  fmt.Sprintf("%d changes that the index %s has yet to take", f.Owed, f.Name),
		Wanted: fmt.Sprintf("at most %d; its service does not keep up, try again later", s.opt.MaxOwed)}}
}

// furthest is the follower that owes most, and how much that is with n more.
func (s *shared) furthest(n int) (ledger.Follower, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admitted += n
	if len(s.known.followers) == 0 { // no service was ever reached: the tails have it all
		k := slices.MaxFunc(s.kinds, func(a, b *kind) int { return a.size() - b.size() })
		f := ledger.Follower{Name: k.name + ", whose service was never reached,", Owed: k.size()}
		return f, f.Owed + n
	}
	var most ledger.Follower
	for _, f := range s.known.followers {
		vectors, dense := strings.CutPrefix(f.Name, "dense/")
		if dense && !s.ours(vectors) {
			continue // of another embedder: nothing here waits for it
		}
		if f.Owed >= most.Owed {
			most = f
		}
	}
	return most, most.Owed + s.admitted
}
