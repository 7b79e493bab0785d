package engine

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// DeadLetter is a memory that an index cannot take as it is.
type DeadLetter struct {
	Index string `json:"index"` // the follower: "dense/<generation>"
	ledger.Letter
}

// DeadLetters lists what the shared index, "dense" or "sparse", could not take,
// oldest change first, at most limit. They are found by the other index still.
func (e *Engine) DeadLetters(ctx context.Context, index string, limit int) ([]DeadLetter, error) {
	followers, err := e.followersOf(ctx, "engine.DeadLetters", index)
	if err != nil {
		return nil, err
	}
	out := []DeadLetter{}
	for _, name := range followers {
		letters, err := e.parts.Ledger.Dead(ctx, name, limit-len(out))
		if err != nil {
			return nil, err
		}
		for _, l := range letters {
			out = append(out, DeadLetter{Index: name, Letter: l})
		}
		if len(out) >= limit {
			break
		}
	}
	return out, nil
}

// RetryDead has an index try dead letters again, those of ids or, if nil, all;
// it returns how many that are.
func (e *Engine) RetryDead(ctx context.Context, index string, ids []memtypes.ID) (int, error) {
	followers, err := e.followersOf(ctx, "engine.RetryDead", index)
	if err != nil {
		return 0, err
	}
	revived := 0
	for _, name := range followers {
		n, err := e.parts.Ledger.Revive(ctx, name, ids)
		if revived += n; err != nil {
			return revived, err
		}
	}
	if revived > 0 {
		e.shared.pump.wake()
	}
	return revived, nil
}

// followersOf names the followers of an index.
func (e *Engine) followersOf(ctx context.Context, op, index string) ([]string, error) {
	if err := e.open(op); err != nil {
		return nil, err
	}
	if e.shared == nil {
		return nil, memtypes.Errorf(op, memtypes.Unavailable, "the indexes are this process's own: nothing is ever given up, see Reconcile")
	}
	names := map[string]bool{}
	for _, k := range e.shared.kinds {
		names[k.name] = true
	}
	if !names[index] {
		return nil, memtypes.BadField(op, "index", index, strings.Join(slices.Sorted(maps.Keys(names)), " or "))
	}
	followers, err := e.parts.Ledger.Followers(ctx, e.now())
	var out []string
	for _, f := range followers {
		if strings.HasPrefix(f.Name, index+"/") {
			out = append(out, f.Name)
		}
	}
	return out, err
}
