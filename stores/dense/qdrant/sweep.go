package qdrant

import (
	"context"

	qc "github.com/qdrant/go-client/qdrant"
)

// Sweep clears away the marks of removals as of a revision below before, and
// says how many there were. From then on a late duplicate of a write before
// such a removal would bring its memory back: before must lie below every
// change that may still be on its way.
func (x *Index) Sweep(ctx context.Context, before uint64) (int, error) {
	const op = "qdrant.Sweep"
	base, err := x.begin(ctx, op)
	if err != nil {
		return 0, err
	}
	homes, err := x.s.homes(ctx, op, base)
	if err != nil {
		return 0, err
	}
	marks := &qc.Filter{Must: []*qc.Condition{
		qc.NewMatchBool(keyGone, true), qc.NewRange(keyVer, &qc.Range{Lt: new(float64(min(before, maxVer)))}),
	}}
	total := 0
	for _, c := range homes {
		n, err := x.s.count(ctx, op, c, marks)
		if err == nil && n > 0 {
			err = x.s.clear(ctx, op, c, marks)
		}
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

// clear deletes points for good.
func (s *Store) clear(ctx context.Context, op, collection string, f *qc.Filter) error {
	var reply *qc.PointsOperationResponse
	err := s.call(ctx, op, collection, s.slow(), func(ctx context.Context) (err error) {
		reply, err = s.client.GetPointsClient().Delete(ctx, &qc.DeletePoints{
			CollectionName: collection, Wait: new(true), Points: qc.NewPointsSelectorFilter(f),
		})
		return err
	})
	if err != nil {
		return err
	}
	return s.completed(op, collection, reply)
}
