package qdrant

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

// maxRequest bounds the vectors of one write, in bytes.
const maxRequest = 8 << 20

// Upsert implements dense.Index. What the server has acknowledged can be
// searched at once.
func (x *Index) Upsert(ctx context.Context, docs []dense.Doc) error {
	const op = "qdrant.Upsert"
	if err := dense.CheckDocs(op, docs, x.s.opt.Dim); err != nil {
		return err
	}
	b := batch{op: op, tenants: map[string][]write{}}
	for i := range docs {
		d := &docs[i]
		f := &d.Facets
		if b.refuse(writable(op, d.ID, max(d.Rev, d.Cause), f.Session, string(f.Kind), string(f.Layer))) {
			continue
		}
		b.add(f.Scope.Tenant(), stored(d))
	}
	return x.write(ctx, &b)
}

// Delete implements dense.Index: a point that says so takes the place of each
// memory, also of one that is not held.
func (x *Index) Delete(ctx context.Context, gone []memtypes.Gone) error {
	const op = "qdrant.Delete"
	b := batch{op: op, tenants: map[string][]write{}}
	for _, g := range gone {
		g.Tenant = cmp.Or(g.Tenant, memtypes.DefaultTenant)
		if b.refuse(writable(op, g.ID, g.Rev, g.Tenant)) {
			continue
		}
		b.add(g.Tenant, removed(g))
	}
	return x.write(ctx, &b)
}

// batch is the writes of one call.
type batch struct {
	op      string
	tenants map[string][]write
	refused map[memtypes.ID]*memtypes.Error
}

func (b *batch) add(tenant string, w write) { b.tenants[tenant] = append(b.tenants[tenant], w) }

// refuse notes an item that cannot be written, and reports whether it is one.
func (b *batch) refuse(err *memtypes.Error) bool {
	if err == nil {
		return false
	}
	if b.refused == nil {
		b.refused = map[memtypes.ID]*memtypes.Error{}
	}
	b.refused[err.ID] = err
	return true
}

// err is what came of the batch, once all that could be written has been.
func (b *batch) err() error {
	if len(b.refused) == 0 {
		return nil
	}
	r := &memtypes.Rejected{Items: b.refused}
	code := memtypes.Invalid
	for _, e := range b.refused {
		if e.Code == memtypes.Unavailable {
			code = memtypes.Unavailable
		}
	}
	return &memtypes.Error{Op: b.op, Code: code, Err: r}
}

func (x *Index) write(ctx context.Context, b *batch) error {
	base, err := x.begin(ctx, b.op)
	if err != nil {
		return err
	}
	groups := map[string][]write{}
	for tenant, ws := range b.tenants {
		c := x.s.home(base, tenant)
		groups[c] = append(groups[c], ws...)
	}
	size := max(1, min(x.s.opt.Batch, maxRequest/(8*x.s.opt.Dim)))
	for _, c := range slices.Sorted(maps.Keys(groups)) {
		for ws := range slices.Chunk(newest(groups[c]), size) {
			if err := x.put(ctx, b, base, c, ws); err != nil {
				return err
			}
		}
	}
	return b.err()
}

// put writes ws into a collection, and makes one that a tenant does not have yet.
func (x *Index) put(ctx context.Context, b *batch, base, collection string, ws []write) error {
	err := x.s.upsert(ctx, b.op, collection, ws)
	if x.s.absent(err, collection, base) {
		if _, err := x.s.info(ctx, b.op, base); err != nil { // the whole generation is gone: nothing is made in its place
			return err
		}
		if err := x.s.ensure(ctx, b.op, collection); err != nil {
			return err
		}
		err = x.s.upsert(ctx, b.op, collection, ws)
	}
	if answered(err, codes.InvalidArgument) {
		return x.sift(ctx, b, collection, ws, err)
	}
	return err
}

// sift finds what the server does not take in among ws: it looks at a request
// as a whole. A collection whose settings were changed would refuse everything.
func (x *Index) sift(ctx context.Context, b *batch, collection string, ws []write, cause error) error {
	info, err := x.s.info(ctx, b.op, collection)
	if err != nil {
		return err
	}
	if err := x.s.fits(b.op, collection, info); err != nil {
		return err
	}
	return x.halve(ctx, b, collection, ws, cause)
}

// halve writes both halves of what was refused as a whole, down to single points.
func (x *Index) halve(ctx context.Context, b *batch, collection string, ws []write, cause error) error {
	if len(ws) == 1 {
		e, _ := errors.AsType[*memtypes.Error](cause)
		b.refuse(&memtypes.Error{Op: b.op, Code: e.Code, ID: ws[0].id, Err: e.Err})
		return nil
	}
	for _, half := range [][]write{ws[:len(ws)/2], ws[len(ws)/2:]} {
		err := x.s.upsert(ctx, b.op, collection, half)
		if answered(err, codes.InvalidArgument) {
			err = x.halve(ctx, b, collection, half, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// upsert sends one request and waits until it is done: not only logged.
func (s *Store) upsert(ctx context.Context, op, collection string, ws []write) error {
	points := make([]*qc.PointStruct, len(ws))
	for i := range ws {
		points[i] = ws[i].point
	}
	var reply *qc.PointsOperationResponse
	err := s.call(ctx, op, collection, s.opt.Timeout, func(ctx context.Context) (err error) {
		reply, err = s.client.GetPointsClient().Upsert(ctx, &qc.UpsertPoints{
			CollectionName: collection, Points: points, Wait: new(true), UpdateFilter: ifNotNewer(ws),
		})
		return err
	})
	if err != nil {
		return err
	}
	return s.completed(op, collection, reply)
}

// completed refuses to take a write for done that was only taken in.
func (s *Store) completed(op, collection string, reply *qc.PointsOperationResponse) error {
	if st := reply.GetResult().GetStatus(); st != qc.UpdateStatus_Completed {
		return memtypes.Errorf(op, memtypes.Unavailable, "qdrant at %s, collection %s: the write is %v, wanted Completed", s.opt.Addr, collection, st)
	}
	return nil
}
