package elastic

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
)

// result is what became of one line of a bulk request.
type result struct {
	Status int
	Error  *cause
}

// bulk sends one batch and adds what is refused to rejected. Writes to indices
// that are not there make them, once: made says that it has been done.
func (x *Index) bulk(ctx context.Context, op string, batch []write, lines []byte, rejected map[memtypes.ID]*memtypes.Error, made bool) error {
	var answer struct{ Items []map[string]result }
	s := x.store
	err := s.call(ctx, ask{op: op, index: s.list(x.name), make: func() esapi.Request {
		return esapi.BulkRequest{Body: bytes.NewReader(lines), Refresh: string(s.opt.refresh(len(batch))), RequireAlias: &yes,
			FilterPath: []string{"items.*.status", "items.*.error"}}
	}}, &answer)
	switch {
	case isStatus(err, http.StatusRequestEntityTooLarge), isKind(err, invalidItems):
		return x.split(ctx, op, batch, len(lines), err, rejected)
	case err != nil:
		return err
	case len(answer.Items) != len(batch):
		return memtypes.Errorf(op, memtypes.Unavailable, "%s: found an answer about %d documents, wanted one about %d: write them again", s.where(), len(answer.Items), len(batch))
	}
	var missing []write
	for i := range batch {
		for _, r := range answer.Items[i] {
			again, err := x.item(op, &batch[i], r, rejected)
			if err != nil {
				return err
			}
			if again {
				missing = append(missing, batch[i])
			}
		}
	}
	return x.resend(ctx, op, missing, rejected, made)
}

// worthRefresh is from how many documents a write makes itself found at once:
// the segment that comes of it is not small, and waiting for the next refresh
// would let through no more than a batch a second.
const worthRefresh = 128

// refresh is how a write of so many documents is made to be found.
func (o *Options) refresh(docs int) Refresh {
	if o.Refresh == Wait && docs >= worthRefresh {
		return Now
	}
	return o.Refresh
}

// item looks at one result. An index that is not there asks for the write again;
// what concerns all writes, not this one, is an error.
func (x *Index) item(op string, w *write, r result, rejected map[memtypes.ID]*memtypes.Error) (again bool, err error) {
	if r.Status/100 == 2 || r.Status == http.StatusConflict || r.Error == nil && w.doc == nil && r.Status == http.StatusNotFound {
		delete(rejected, w.id) // of a conflict, the newer is there
		return false, nil
	}
	why := &refusal{status: r.Status, reason: "no reason given"}
	if r.Error != nil {
		why = r.Error.refusal(r.Status)
	}
	if why.kind == noIndex {
		return true, nil
	}
	code, words := x.store.judge(why)
	e := &memtypes.Error{Op: op, Code: code, ID: w.id, Err: fmt.Errorf("%s, index %s: %w%s", x.store.where(), x.of(w.tenant), why, words)}
	switch {
	case why.kind == blocked, code == memtypes.Incompatible, r.Status == http.StatusUnauthorized, r.Status == http.StatusForbidden:
		e.ID = ""
		return false, e
	}
	rejected[w.id] = e
	return false, nil
}

// resend makes the indices that were not there and writes to them.
func (x *Index) resend(ctx context.Context, op string, missing []write, rejected map[memtypes.ID]*memtypes.Error, made bool) error {
	if len(missing) == 0 {
		return nil
	}
	if made {
		return x.lost(op, missing[0].tenant)
	}
	seen := map[string]bool{}
	var lines bytes.Buffer
	for i := range missing {
		w := &missing[i]
		if part := x.store.part(w.tenant); !seen[part] {
			seen[part] = true
			if err := x.settleIn(ctx, op, w.tenant); err != nil {
				return err
			}
		}
		x.append(&lines, w)
	}
	return x.bulk(ctx, op, missing, lines.Bytes(), rejected, true)
}

// split sends the halves of a batch that is too large, or has a document for
// which all of it is refused. A single one is refused itself.
func (x *Index) split(ctx context.Context, op string, batch []write, size int, cause error, rejected map[memtypes.ID]*memtypes.Error) error {
	if len(batch) == 1 {
		rejected[batch[0].id] = &memtypes.Error{Op: op, Code: memtypes.Invalid, ID: batch[0].id,
			Err: fmt.Errorf("a document of %d bytes: %w", size, cause)}
		return nil
	}
	half := len(batch) / 2
	for _, some := range [][]write{batch[:half], batch[half:]} {
		var lines bytes.Buffer
		for i := range some {
			x.append(&lines, &some[i])
		}
		if err := x.bulk(ctx, op, some, lines.Bytes(), rejected, false); err != nil {
			return err
		}
	}
	return nil
}
