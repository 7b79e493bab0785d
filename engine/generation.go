package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// generationsLease is the lease under which a first generation is made, and
// generationsTime how long it lasts.
const (
	generationsLease = "generations"
	generationsTime  = 30 * time.Second
)

// ensure sees to it that k has a live generation that is followed. A new bank
// gets an empty one at once; one that holds more than may be owed is rebuilt.
func (s *shared) ensure(ctx context.Context, k *kind, live string, names []string) error {
	if s.whole(k, live) && len(s.orphans(k, names)) == 0 && len(s.leftovers(k, live, names)) == 0 {
		return nil
	}
	e := s.engine
	lease, err := e.parts.Ledger.Acquire(ctx, generationsLease, s.opt.Holder, e.now(), generationsTime)
	switch c := memtypes.CodeOf(err); {
	case err != nil && (c == memtypes.Conflict || c == memtypes.ReadOnly):
		return nil // somebody else makes it
	case err != nil:
		return err
	}
	defer func() { _ = e.parts.Ledger.Release(context.WithoutCancel(ctx), lease) }()
	if err := s.refresh(ctx); err != nil {
		return err
	}
	if err := s.make(ctx, k); err != nil {
		return err
	}
	return s.refresh(ctx)
}

// whole reports whether the live generation of k needs nothing of this process.
func (s *shared) whole(k *kind, live string) bool {
	return live != "" && (s.followed(k, live) || k.name == "dense" && !s.ours(live))
}

// make is ensure under the lease.
func (s *shared) make(ctx context.Context, k *kind) error {
	l := s.engine.parts.Ledger
	if run, err := s.unfinished(ctx); err != nil || run != nil {
		return err // the rebuild makes and removes what it needs
	}
	live, names, err := s.look(ctx, k)
	if err != nil {
		return err
	}
	for _, name := range s.orphans(k, names) {
		if err := l.Unfollow(ctx, k.follower(name)); err != nil {
			return err
		}
	}
	for _, name := range s.leftovers(k, live, names) {
		if err := k.backend.insist(ctx, s.opt.Hold, func(ctx context.Context) error { return k.gens.Drop(ctx, name) }); err != nil {
			return err
		}
	}
	if s.whole(k, live) {
		return nil
	}
	head, err := l.Head(ctx)
	if err != nil {
		return err
	}
	if head > uint64(s.opt.MaxOwed/2) {
		return s.plan(ctx)
	}
	name := live
	if i := slices.IndexFunc(names, s.ours); name == "" && i >= 0 {
		name = names[i] // somebody was stopped before it was live, or its alias was removed
	}
	if name == "" {
		name = s.next(names, s.followedNames(k))
	}
	if err := l.Follow(ctx, k.follower(name), 0); err != nil || live != "" {
		return err
	}
	return s.found(ctx, k, name)
}

// orphans are followers of k whose generation somebody has deleted.
func (s *shared) orphans(k *kind, names []string) []string {
	return slices.DeleteFunc(s.followedNames(k), func(name string) bool { return slices.Contains(names, name) })
}

// leftovers are generations of this process's making that neither serve nor
// follow while another does both: a writer that was late made again what a
// rebuild had dropped.
func (s *shared) leftovers(k *kind, live string, names []string) []string {
	if !s.ours(live) || !s.followed(k, live) {
		return nil
	}
	var out []string
	for _, name := range names {
		if name != live && s.ours(name) && !s.followed(k, name) {
			out = append(out, name)
		}
	}
	return out
}

// found makes an empty generation the live one.
func (s *shared) found(ctx context.Context, k *kind, name string) error {
	return k.backend.insist(ctx, s.opt.Hold, func(ctx context.Context) error {
		if _, err := k.open(ctx, name); err != nil {
			return err
		}
		return k.gens.Switch(ctx, name)
	})
}

// followed reports whether the generation of k is a follower of the ledger.
func (s *shared) followed(k *kind, generation string) bool {
	return slices.Contains(s.followedNames(k), generation)
}

// followedNames are the generations of k that follow the ledger.
func (s *shared) followedNames(k *kind) []string {
	var out []string
	for _, f := range s.following(k) {
		out = append(out, strings.TrimPrefix(f.Name, k.name+"/"))
	}
	return out
}

// next is a name for a generation of this process's making, unlike all in use.
func (s *shared) next(used ...[]string) string {
	n := 0
	for _, name := range slices.Concat(used...) {
		if i, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:]); err == nil {
			n = max(n, i)
		}
	}
	return s.hash + "-" + strconv.Itoa(n+1)
}
