package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"math"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// write is one line of work for a bulk request.
type write struct {
	id      memtypes.ID
	tenant  string
	version uint64
	doc     func() *document // nil: remove the document
}

// Upsert implements sparse.Index. What Doc.Check refuses, or a revision above
// 2^63-1, is Invalid; then nothing is stored.
func (x *Index) Upsert(ctx context.Context, docs []sparse.Doc) error {
	const op = "elastic.Upsert"
	if err := x.begin(ctx, op); err != nil {
		return err
	}
	todo := make([]write, len(docs))
	for i := range docs {
		d := &docs[i]
		if err := d.Check(op); err != nil {
			return err
		}
		w := write{d.ID, d.Facets.Scope.Tenant(), max(d.Rev, d.Cause), func() *document { return documentOf(d) }}
		if err := w.check(op); err != nil {
			return err
		}
		todo[i] = w
	}
	return x.write(ctx, op, todo)
}

// Delete implements sparse.Index: each memory leaves a tombstone. One without an
// ID or a tenant is Invalid; then nothing is deleted.
func (x *Index) Delete(ctx context.Context, gone []memtypes.Gone) error {
	const op = "elastic.Delete"
	if err := x.begin(ctx, op); err != nil {
		return err
	}
	todo := make([]write, len(gone))
	for i, g := range gone {
		switch {
		case g.ID == "":
			return memtypes.BadField(op, "id", "", "the ID of a memory")
		case g.Tenant == "":
			return &memtypes.Error{Op: op, Code: memtypes.Invalid, ID: g.ID, Err: &memtypes.Field{Name: "tenant", Found: "none", Wanted: "whose memory it was"}}
		}
		w := write{g.ID, g.Tenant, g.Rev, func() *document {
			return &document{ID: g.ID, Tenant: g.Tenant, Rev: g.Rev, Gone: true}
		}}
		if err := w.check(op); err != nil {
			return err
		}
		todo[i] = w
	}
	return x.write(ctx, op, todo)
}

func (w *write) check(op string) error {
	if w.version > math.MaxInt64 {
		return &memtypes.Error{Op: op, Code: memtypes.Invalid, ID: w.id, Err: &memtypes.Field{Name: "rev", Found: "2^63 or more", Wanted: "less"}}
	}
	return nil
}

// append adds w to the body of a bulk request.
func (x *Index) append(to *bytes.Buffer, w *write) {
	lines := json.NewEncoder(to)
	lines.SetEscapeHTML(false)
	a := action{writable(x.of(w.tenant)), x.store.key(w.tenant, w.id), x.store.routing(w.tenant), w.version, "external_gte"}
	if w.doc == nil {
		_ = lines.Encode(map[string]action{"delete": a})
		return
	}
	_ = lines.Encode(map[string]action{"index": a})
	_ = lines.Encode(w.doc())
}

// write does todo in batches. What a batch has done stays done when a later one
// fails.
func (x *Index) write(ctx context.Context, op string, todo []write) error {
	rejected := map[memtypes.ID]*memtypes.Error{}
	var batch bytes.Buffer
	for from := 0; from < len(todo); {
		batch.Reset()
		to := from
		for to < len(todo) && to-from < x.store.opt.BatchDocs {
			before := batch.Len()
			x.append(&batch, &todo[to])
			if to > from && batch.Len() > x.store.opt.BatchBytes {
				batch.Truncate(before)
				break
			}
			to++
		}
		if err := x.bulk(ctx, op, todo[from:to], batch.Bytes(), rejected, false); err != nil {
			return err
		}
		from = to
	}
	return rejection(op, rejected)
}

// rejection is the error for what was refused one by one; nil for nothing. Its
// code is Unavailable if trying again helps all of it.
func rejection(op string, items map[memtypes.ID]*memtypes.Error) error {
	if len(items) == 0 {
		return nil
	}
	code := memtypes.Unavailable
	for _, e := range items {
		if e.Code != memtypes.Unavailable {
			code = e.Code
		}
	}
	return &memtypes.Error{Op: op, Code: code, Err: &memtypes.Rejected{Items: items}}
}
