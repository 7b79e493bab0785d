package qdrant

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"sync/atomic"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

// Index is one generation, or the one that is live at each call. A Store makes
// it; it is safe for concurrent use.
type Index struct {
	s          *Store
	generation string // empty: the live one
	closed     atomic.Bool
}

var _ dense.Index = (*Index)(nil)

// Close implements dense.Index; the Store stays open.
func (x *Index) Close() error {
	x.closed.Store(true)
	return nil
}

// begin gives the collection of the index's generation, or says why op cannot begin.
func (x *Index) begin(ctx context.Context, op string) (string, error) {
	if ctx.Err() != nil {
		return "", canceled(ctx, op)
	}
	if x.closed.Load() {
		return "", errClosed(op)
	}
	if err := x.s.usable(ctx, op); err != nil {
		return "", err
	}
	if x.generation != "" {
		return x.s.collection(x.generation), nil
	}
	base, err := x.s.live(ctx, op)
	if err != nil {
		return "", err
	}
	if base == "" {
		return "", memtypes.Errorf(op, memtypes.Unavailable, "qdrant at %s: alias %s leads nowhere: no generation is live: `vimbank rebuild` makes one from the ledger", x.s.opt.Addr, x.s.opt.Prefix)
	}
	return base, x.s.familiar(ctx, op, base)
}

// familiar checks a collection's settings unless they have been seen: the
// vectors of another embedder would be found by chance.
func (s *Store) familiar(ctx context.Context, op, collection string) error {
	if s.knows(collection) {
		return nil
	}
	info, err := s.info(ctx, op, collection)
	if err != nil {
		return err
	}
	if err := s.fits(op, collection, info); err != nil {
		return err
	}
	s.know(collection, true)
	return nil
}

// home is the collection in which a tenant's memories are.
func (s *Store) home(base, tenant string) string {
	if s.opt.Tenancy != Apart {
		return base
	}
	h := sha256.Sum256([]byte(tenant))
	return base + separator + hex.EncodeToString(h[:16])
}

// homes is all collections that hold memories.
func (s *Store) homes(ctx context.Context, op, base string) ([]string, error) {
	if s.opt.Tenancy != Apart {
		return []string{base}, nil
	}
	if _, err := s.info(ctx, op, base); err != nil { // a generation that is gone is not an empty one
		return nil, err
	}
	return s.parts(ctx, op, base)
}

// alive is the condition that a point is no removal.
func alive() *qc.Filter {
	return &qc.Filter{MustNot: []*qc.Condition{qc.NewMatchBool(keyGone, true)}}
}

// Len implements dense.Index.
func (x *Index) Len(ctx context.Context) (int, error) {
	const op = "qdrant.Len"
	base, err := x.begin(ctx, op)
	if err != nil {
		return 0, err
	}
	homes, err := x.s.homes(ctx, op, base)
	if err != nil {
		return 0, err
	}
	total := 0
	for _, c := range homes {
		n, err := x.s.count(ctx, op, c, alive())
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

func (s *Store) count(ctx context.Context, op, collection string, f *qc.Filter) (int, error) {
	var reply *qc.CountResponse
	err := s.call(ctx, op, collection, s.opt.Timeout, func(ctx context.Context) (err error) {
		reply, err = s.client.GetPointsClient().Count(ctx, &qc.CountPoints{CollectionName: collection, Filter: f, Exact: new(true)})
		return err
	})
	return int(reply.GetResult().GetCount()), err
}

// page is how many points one request lists.
const page = 1000

// Revs implements dense.Index. It reads in pages: what is written meanwhile may
// be in it or not.
func (x *Index) Revs(ctx context.Context) iter.Seq2[dense.Held, error] {
	const op = "qdrant.Revs"
	return func(yield func(dense.Held, error) bool) {
		base, err := x.begin(ctx, op)
		var homes []string
		if err == nil {
			homes, err = x.s.homes(ctx, op, base)
		}
		if err != nil {
			yield(dense.Held{}, err)
			return
		}
		for _, c := range homes {
			if !x.scroll(ctx, op, c, yield) {
				return
			}
		}
	}
}

// scroll yields what a collection holds; it is false when that was the end of it.
func (x *Index) scroll(ctx context.Context, op, collection string, yield func(dense.Held, error) bool) bool {
	ask := &qc.ScrollPoints{
		CollectionName: collection, Filter: alive(), Limit: new(uint32(page)),
		WithPayload: qc.NewWithPayloadInclude(keyTenant, keyRev), WithVectors: qc.NewWithVectors(false),
	}
	for {
		var reply *qc.ScrollResponse
		err := x.s.call(ctx, op, collection, x.s.opt.Timeout, func(ctx context.Context) (err error) {
			reply, err = x.s.client.GetPointsClient().Scroll(ctx, ask)
			return err
		})
		if x.closed.Load() {
			err = errClosed(op)
		}
		if err != nil {
			yield(dense.Held{}, err)
			return false
		}
		for _, p := range reply.GetResult() {
			h := dense.Held{
				ID:     memtypes.ID(p.GetId().GetUuid()),
				Rev:    uint64(p.GetPayload()[keyRev].GetIntegerValue()),
				Tenant: p.GetPayload()[keyTenant].GetStringValue(),
			}
			if !yield(h, nil) {
				return false
			}
		}
		if ask.Offset = reply.GetNextPageOffset(); ask.Offset == nil {
			return true
		}
	}
}

// absent reports whether a tenant's collection is not there, which with a
// collection for each tenant means that it holds nothing.
func (s *Store) absent(err error, collection, base string) bool {
	return collection != base && answered(err, codes.NotFound)
}
