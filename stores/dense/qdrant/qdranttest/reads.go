package qdranttest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func (h pointsService) Get(_ context.Context, r *qc.GetPoints) (*qc.GetResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	c, err := h.s.resolve(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	out := &qc.GetResponse{}
	for _, id := range r.GetIds() {
		p := c.points[id.GetUuid()]
		if p == nil {
			continue
		}
		x := &qc.RetrievedPoint{Id: qc.NewIDUUID(p.id), Payload: shown(p, r.GetWithPayload())}
		if r.GetWithVectors().GetEnable() {
			all := map[string]*qc.VectorOutput{}
			for name, v := range p.vectors {
				all[name] = &qc.VectorOutput{Vector: &qc.VectorOutput_Dense{Dense: &qc.DenseVector{Data: v}}}
			}
			x.Vectors = &qc.VectorsOutput{VectorsOptions: &qc.VectorsOutput_Vectors{Vectors: &qc.NamedVectorsOutput{Vectors: all}}}
		}
		out.Result = append(out.Result, x)
	}
	return out, nil
}

func (h pointsService) Count(_ context.Context, r *qc.CountPoints) (*qc.CountResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	c, err := h.s.resolve(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	found, err := c.matching(r.GetFilter())
	if err != nil {
		return nil, err
	}
	return &qc.CountResponse{Result: &qc.CountResult{Count: uint64(len(found))}}, nil
}

func (h pointsService) Scroll(_ context.Context, r *qc.ScrollPoints) (*qc.ScrollResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	c, err := h.s.resolve(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	found, err := c.matching(r.GetFilter())
	if err != nil {
		return nil, err
	}
	if r.GetOrderBy() != nil || r.GetWithVectors().GetEnable() {
		return nil, status.Error(codes.Unimplemented, "qdranttest scrolls by ID, without vectors")
	}
	slices.SortFunc(found, func(a, b *point) int { return cmp.Compare(a.id, b.id) })
	if from := r.GetOffset().GetUuid(); from != "" {
		found = slices.DeleteFunc(found, func(p *point) bool { return p.id < from })
	}
	out := &qc.ScrollResponse{}
	limit := 10
	if r.Limit != nil {
		limit = int(r.GetLimit())
	}
	if len(found) > limit {
		out.NextPageOffset = qc.NewIDUUID(found[limit].id)
		found = found[:limit]
	}
	for _, p := range found {
		out.Result = append(out.Result, &qc.RetrievedPoint{Id: qc.NewIDUUID(p.id), Payload: shown(p, r.GetWithPayload())})
	}
	return out, nil
}

// shown is the part of a point's payload that was asked for.
func shown(p *point, w *qc.WithPayloadSelector) map[string]*qc.Value {
	out := proto.CloneOf(&qc.PointStruct{Payload: p.payload}).GetPayload()
	if w == nil || w.GetEnable() {
		return out
	}
	maps.DeleteFunc(out, func(key string, _ *qc.Value) bool { return !slices.Contains(w.GetInclude().GetFields(), key) })
	return out
}

// QueryBatch finds the nearest of each question.
func (h pointsService) QueryBatch(_ context.Context, r *qc.QueryBatchPoints) (*qc.QueryBatchResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	c, err := h.s.resolve(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	out := &qc.QueryBatchResponse{}
	for _, q := range r.GetQueryPoints() {
		hits, err := c.nearest(q)
		if err != nil {
			return nil, err
		}
		out.Result = append(out.Result, &qc.BatchResult{Result: hits})
	}
	return out, nil
}

// nearest is by descending cosine. Ties come in descending order of their IDs:
// a client that wants another order must see to it.
func (c *collection) nearest(q *qc.QueryPoints) ([]*qc.ScoredPoint, error) {
	if q.GetLimit() < 1 || len(q.GetPrefetch()) > 0 || q.GetQuery().GetNearest() == nil || q.GetWithPayload().GetEnable() {
		return nil, status.Error(codes.Unimplemented, "qdranttest answers only nearest, with a limit, without payload")
	}
	v, err := c.vector(q.GetUsing(), q.GetQuery().GetNearest().GetDense().GetData())
	if err != nil {
		return nil, err
	}
	found, err := c.matching(q.GetFilter())
	if err != nil {
		return nil, err
	}
	var hits []*qc.ScoredPoint
	for _, p := range found {
		if x := p.vectors[q.GetUsing()]; x != nil {
			hits = append(hits, &qc.ScoredPoint{Id: qc.NewIDUUID(p.id), Score: dot(v, x)})
		}
	}
	slices.SortFunc(hits, func(a, b *qc.ScoredPoint) int {
		return cmp.Or(cmp.Compare(b.GetScore(), a.GetScore()), cmp.Compare(b.GetId().GetUuid(), a.GetId().GetUuid()))
	})
	return hits[:min(len(hits), int(q.GetLimit()))], nil
}

func dot(a, b []float32) float32 {
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return float32(sum)
}
