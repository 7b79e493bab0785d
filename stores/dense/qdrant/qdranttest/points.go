package qdranttest

import (
	"context"
	"maps"
	"math"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// point is one, its vectors scaled to length 1.
type point struct {
	id      string
	payload map[string]*qc.Value
	vectors map[string][]float32
}

type pointsService struct {
	qc.UnimplementedPointsServer
	s *Server
}

func bad(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

// done is the answer to a write.
func (c *collection) done(wait bool) *qc.PointsOperationResponse {
	c.ops++
	st := qc.UpdateStatus_Acknowledged
	if wait {
		st = qc.UpdateStatus_Completed
	}
	return &qc.PointsOperationResponse{Result: &qc.UpdateResult{OperationId: new(c.ops), Status: st}}
}

// Upsert refuses a request as a whole before it stores anything. A point that
// is there is replaced if it matches the filter; one that is not there is taken
// in whatever the filter says.
func (h pointsService) Upsert(_ context.Context, r *qc.UpsertPoints) (*qc.PointsOperationResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	c, err := h.s.resolve(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	if r.GetUpdateMode() != qc.UpdateMode_Upsert {
		return nil, status.Error(codes.Unimplemented, "qdranttest knows only the mode Upsert")
	}
	if len(r.GetPoints()) == 0 {
		return nil, bad("Bad request: Empty update request")
	}
	in := map[string]*point{} // of several with one ID the last
	for _, p := range r.GetPoints() {
		q, err := c.taken(p)
		if err != nil {
			return nil, err
		}
		in[q.id] = q
	}
	for id := range in {
		old := c.points[id]
		if old == nil || r.GetUpdateFilter() == nil {
			continue
		}
		ok, err := matches(r.GetUpdateFilter(), old)
		if err != nil {
			return nil, err
		}
		if !ok {
			delete(in, id)
		}
	}
	maps.Copy(c.points, in)
	return c.done(r.GetWait()), nil
}

// taken checks a point against the collection.
func (c *collection) taken(p *qc.PointStruct) (*point, error) {
	id := p.GetId().GetUuid()
	if len(id) != 36 {
		return nil, bad("Unable to parse UUID: %s", id)
	}
	if p.GetVectors().GetVectorsOptions() == nil {
		return nil, bad("Expected some vectors")
	}
	out := &point{id: id, payload: proto.CloneOf(&qc.PointStruct{Payload: p.GetPayload()}).GetPayload(), vectors: map[string][]float32{}}
	for name, v := range p.GetVectors().GetVectors().GetVectors() {
		x, err := c.vector(name, v.GetDense().GetData())
		if err != nil {
			return nil, err
		}
		out.vectors[name] = x
	}
	return out, nil
}

// vector is v at length 1, if the collection has such vectors.
func (c *collection) vector(name string, v []float32) ([]float32, error) {
	p := c.made.GetVectorsConfig().GetParamsMap().GetMap()[name]
	if p == nil {
		return nil, bad("Wrong input: Not existing vector name error: %s", name)
	}
	if uint64(len(v)) != p.GetSize() {
		return nil, bad("Wrong input: Vector dimension error: expected dim: %d, got %d", p.GetSize(), len(v))
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return out, nil
}

func (h pointsService) Delete(_ context.Context, r *qc.DeletePoints) (*qc.PointsOperationResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	c, err := h.s.resolve(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	for _, id := range r.GetPoints().GetPoints().GetIds() {
		delete(c.points, id.GetUuid())
	}
	if f := r.GetPoints().GetFilter(); f != nil {
		found, err := c.matching(f)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			delete(c.points, p.id)
		}
	}
	return c.done(r.GetWait()), nil
}

func (h pointsService) CreateFieldIndex(_ context.Context, r *qc.CreateFieldIndexCollection) (*qc.PointsOperationResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	c, err := h.s.resolve(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	c.indexes[r.GetFieldName()] = proto.CloneOf(r)
	return c.done(r.GetWait()), nil
}

func (h pointsService) DeleteFieldIndex(_ context.Context, r *qc.DeleteFieldIndexCollection) (*qc.PointsOperationResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	c, err := h.s.resolve(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	delete(c.indexes, r.GetFieldName())
	return c.done(r.GetWait()), nil
}
