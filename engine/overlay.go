package engine

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/sparse"
)

// tailed is an index that has a tail: it finds what is there even while its
// service does not answer. Its Search then gives both, hits and an error.
type tailed interface{ tailed() }

// denseOverlay is a shared index of vectors as the engine sees it: writes go
// into the tail, because the pump brings them to the service; a search is the
// union of both.
type denseOverlay struct {
	service dense.Index // whatever generation is live
	tail    *tail[dense.Index]
	backend *backend
	limit   time.Duration // of one search of the service
}

var _ dense.Index = (*denseOverlay)(nil)

func (*denseOverlay) tailed() {}

// Upsert puts docs into the tail.
func (o *denseOverlay) Upsert(ctx context.Context, docs []dense.Doc) error {
	ids, newest := make([]memtypes.ID, len(docs)), uint64(0)
	for i := range docs {
		ids[i], newest = docs[i].ID, max(newest, docs[i].Rev, docs[i].Cause)
	}
	return o.tail.put(ctx, ids, newest, func(ix dense.Index) error { return ix.Upsert(ctx, docs) })
}

// Delete notes removals in the tail.
func (o *denseOverlay) Delete(ctx context.Context, gone []memtypes.Gone) error {
	ids, newest := goneIDs(gone)
	return o.tail.put(ctx, ids, newest, func(ix dense.Index) error { return ix.Delete(ctx, gone) })
}

func goneIDs(gone []memtypes.Gone) (ids []memtypes.ID, newest uint64) {
	ids = make([]memtypes.ID, len(gone))
	for i := range gone {
		ids[i], newest = gone[i].ID, max(newest, gone[i].Rev)
	}
	return ids, newest
}

// Search finds in the tail and in the service. With an error come the hits of
// the tail alone.
func (o *denseOverlay) Search(ctx context.Context, q dense.Query) ([]memtypes.Scored, error) {
	hits, seen, err := o.inTail(ctx, q)
	if err != nil {
		return nil, err
	}
	return union(hits, q.K, seen, func(k int) (list []memtypes.Scored, err error) {
		wide := q
		wide.K = k
		err = o.backend.search(ctx, o.limit, func(ctx context.Context) (err error) {
			list, err = o.service.Search(ctx, wide)
			return err
		})
		return list, err
	})
}

func (o *denseOverlay) inTail(ctx context.Context, q dense.Query) (hits []memtypes.Scored, seen *view[dense.Index], err error) {
	seen, err = o.tail.read(func(ix dense.Index) error {
		some, err := ix.Search(ctx, q)
		hits = append(hits, some...)
		return err
	})
	return hits, seen, err
}

// Revs lists what the service holds.
func (o *denseOverlay) Revs(ctx context.Context) iter.Seq2[dense.Held, error] {
	return o.service.Revs(ctx)
}

// Len is the number of memories that the service holds.
func (o *denseOverlay) Len(ctx context.Context) (n int, err error) {
	err = o.backend.search(ctx, o.limit, func(ctx context.Context) (err error) { n, err = o.service.Len(ctx); return err })
	return n, err
}

// Close forgets the tail; the service is closed by whoever opened it.
func (o *denseOverlay) Close() error {
	o.tail.clear()
	return nil
}

// sparseOverlay is a shared index of words as the engine sees it; see denseOverlay.
type sparseOverlay struct {
	service sparse.Index
	tail    *tail[sparse.Index]
	backend *backend
	limit   time.Duration
	told    toldStats
}

var (
	_ sparse.Index       = (*sparseOverlay)(nil)
	_ sparse.Frequencies = (*sparseOverlay)(nil)
)

func (*sparseOverlay) tailed() {}

// Upsert puts docs into the tail.
func (o *sparseOverlay) Upsert(ctx context.Context, docs []sparse.Doc) error {
	ids, newest := make([]memtypes.ID, len(docs)), uint64(0)
	for i := range docs {
		ids[i], newest = docs[i].ID, max(newest, docs[i].Rev, docs[i].Cause)
	}
	return o.tail.put(ctx, ids, newest, func(ix sparse.Index) error { return ix.Upsert(ctx, docs) })
}

// Delete notes removals in the tail.
func (o *sparseOverlay) Delete(ctx context.Context, gone []memtypes.Gone) error {
	ids, newest := goneIDs(gone)
	return o.tail.put(ctx, ids, newest, func(ix sparse.Index) error { return ix.Delete(ctx, gone) })
}

// Search finds in the tail and in the service. With an error come the hits of
// the tail alone. The best of each session over both cannot be told, so
// q.BySession is Invalid.
func (o *sparseOverlay) Search(ctx context.Context, q sparse.Query) ([]memtypes.Scored, error) {
	if q.BySession {
		return nil, memtypes.BadField("engine", "by_session", true, "false, for an index with a tail")
	}
	hits, seen, err := o.inTail(ctx, q)
	if err != nil {
		return nil, err
	}
	return union(hits, q.K, seen, func(k int) (list []memtypes.Scored, err error) {
		wide := q
		wide.K = k
		err = o.backend.search(ctx, o.limit, func(ctx context.Context) (err error) {
			list, err = o.service.Search(ctx, wide)
			return err
		})
		return list, err
	})
}

// inTail finds in the tail, with the words as rare as they are in both together.
func (o *sparseOverlay) inTail(ctx context.Context, q sparse.Query) (hits []memtypes.Scored, seen *view[sparse.Index], err error) {
	if q.Stats == nil && o.tail.len() > 0 {
		if q.Stats, err = o.statistics(ctx, &q); err != nil {
			return nil, nil, err
		}
	}
	seen, err = o.tail.read(func(ix sparse.Index) error {
		some, err := ix.Search(ctx, q)
		hits = append(hits, some...)
		return err
	})
	return hits, seen, err
}

// union merges what the tail found with what the service does, the k best. As
// what the tail hides takes places among them, more are asked for until there
// are enough.
func union[I tailIndex](inTail []memtypes.Scored, k int, seen *view[I], search func(k int) ([]memtypes.Scored, error)) ([]memtypes.Scored, error) {
	for want := k + min(seen.size, k); ; want *= 2 {
		list, err := search(min(want, k+seen.size))
		if err != nil {
			return best(inTail, k), err
		}
		rest := seen.uncovered(list)
		if len(rest) >= k || len(list) < want || want >= k+seen.size {
			return best(slices.Concat(inTail, rest), k), nil
		}
	}
}

// best sorts hits as every index does, and cuts: each memory once, as the first
// that names it has it.
func best(hits []memtypes.Scored, k int) []memtypes.Scored {
	seen := make(map[memtypes.ID]bool, len(hits))
	hits = slices.DeleteFunc(hits, func(h memtypes.Scored) bool {
		again := seen[h.ID]
		seen[h.ID] = true
		return again
	})
	slices.SortFunc(hits, func(a, b memtypes.Scored) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID)) })
	return hits[:min(k, len(hits))]
}

// Revs lists what the service holds.
func (o *sparseOverlay) Revs(ctx context.Context) iter.Seq2[sparse.Held, error] {
	return o.service.Revs(ctx)
}

// Len is the number of memories that the service holds.
func (o *sparseOverlay) Len(ctx context.Context) (n int, err error) {
	err = o.backend.search(ctx, o.limit, func(ctx context.Context) (err error) { n, err = o.service.Len(ctx); return err })
	return n, err
}

// Close forgets the tail; the service is closed by whoever opened it.
func (o *sparseOverlay) Close() error {
	o.tail.clear()
	return nil
}
