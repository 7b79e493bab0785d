package engine

import (
	"context"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

var _ sparse.Many = (*sparseOverlay)(nil)

// SearchMany finds in the tail and in the service, which is asked once for all
// if it can be. With an error come the hits of the tail alone.
func (o *sparseOverlay) SearchMany(ctx context.Context, qs []sparse.Query) ([][]memtypes.Scored, error) {
	out := make([][]memtypes.Scored, len(qs))
	if err := o.manyInTail(ctx, qs, out); err != nil {
		return nil, err
	}
	seen, err := o.tail.read(func(sparse.Index) error { return nil })
	if err != nil {
		return nil, err
	}
	wide := slices.Clone(qs)
	for i := range wide {
		wide[i].K += min(seen.size, wide[i].K)
	}
	var found [][]memtypes.Scored
	err = o.backend.search(ctx, o.limit, func(ctx context.Context) (err error) {
		found, err = searchMany(ctx, o.service, wide)
		return err
	})
	for i := range found {
		out[i] = slices.Concat(out[i], seen.uncovered(found[i]))
	}
	for i := range out {
		out[i] = best(out[i], qs[i].K)
	}
	return out, err
}

// manyInTail finds in the tail, with the words as rare as they are in both
// together: of each tenant and field that is asked once.
func (o *sparseOverlay) manyInTail(ctx context.Context, qs []sparse.Query, out [][]memtypes.Scored) error {
	if o.tail.len() == 0 {
		return nil
	}
	type place struct {
		tenant string
		field  sparse.Field
	}
	all := map[place]*sparse.Query{}
	for i := range qs {
		at := place{qs[i].Filter.Scope.Tenant(), qs[i].Field}
		if all[at] == nil {
			all[at] = &sparse.Query{Field: at.field, Filter: qs[i].Filter}
		}
		all[at].Terms = append(all[at].Terms, qs[i].Terms...)
	}
	for at, q := range all {
		stats, err := o.statistics(ctx, q)
		if err != nil {
			return err
		}
		for i := range qs {
			if one := qs[i]; at == (place{one.Filter.Scope.Tenant(), one.Field}) {
				one.Stats = stats
				if out[i], _, err = o.inTail(ctx, one); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// searchMany asks ix at once if it can be asked so, else one after the other.
func searchMany(ctx context.Context, ix sparse.Index, qs []sparse.Query) ([][]memtypes.Scored, error) {
	if m, ok := ix.(sparse.Many); ok {
		return m.SearchMany(ctx, qs)
	}
	out := make([][]memtypes.Scored, len(qs))
	for i := range qs {
		var err error
		if out[i], err = ix.Search(ctx, qs[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
