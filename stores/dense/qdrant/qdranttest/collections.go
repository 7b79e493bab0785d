package qdranttest

import (
	"context"
	"maps"
	"slices"
	"strings"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// collection is one, guarded by the server's lock.
type collection struct {
	made    *qc.CreateCollection
	indexes map[string]*qc.CreateFieldIndexCollection
	points  map[string]*point // by UUID
	ops     uint64
}

// resolve finds a collection by its name or an alias; the caller holds s.mu.
func (s *Server) resolve(name string) (*collection, error) {
	if to, ok := s.aliases[name]; ok {
		name = to
	}
	c := s.collections[name]
	if c == nil {
		return nil, status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", name)
	}
	return c, nil
}

type collectionsService struct {
	qc.UnimplementedCollectionsServer
	s *Server
}

func (h collectionsService) Create(_ context.Context, r *qc.CreateCollection) (*qc.CollectionOperationResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	name := r.GetCollectionName()
	if name == "" || len(name) > 255 || strings.ContainsAny(name, "<>:\"/\\|?*\x00\x1f") {
		return nil, status.Error(codes.InvalidArgument, "Validation error: collection_name")
	}
	if h.s.collections[name] != nil {
		return nil, status.Errorf(codes.AlreadyExists, "Wrong input: Collection `%s` already exists!", name)
	}
	if h.s.aliases[name] != "" {
		return nil, status.Errorf(codes.InvalidArgument, "Wrong input: Can't create collection with name %s. Alias with the same name already exists", name)
	}
	for _, p := range r.GetVectorsConfig().GetParamsMap().GetMap() {
		if p.GetSize() < 1 || p.GetSize() > 65536 || p.GetDistance() != qc.Distance_Cosine {
			return nil, status.Error(codes.Unimplemented, "qdranttest knows only cosine, and 1 to 65536 dimensions")
		}
	}
	h.s.collections[name] = &collection{
		made: proto.CloneOf(r), indexes: map[string]*qc.CreateFieldIndexCollection{}, points: map[string]*point{},
	}
	return &qc.CollectionOperationResponse{Result: true}, nil
}

func (h collectionsService) Delete(_ context.Context, r *qc.DeleteCollection) (*qc.CollectionOperationResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	name := r.GetCollectionName()
	_, there := h.s.collections[name]
	delete(h.s.collections, name)
	maps.DeleteFunc(h.s.aliases, func(_, to string) bool { return to == name })
	return &qc.CollectionOperationResponse{Result: there}, nil
}

func (h collectionsService) List(context.Context, *qc.ListCollectionsRequest) (*qc.ListCollectionsResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	out := &qc.ListCollectionsResponse{}
	for _, name := range slices.Sorted(maps.Keys(h.s.collections)) {
		out.Collections = append(out.Collections, &qc.CollectionDescription{Name: name})
	}
	return out, nil
}

func (h collectionsService) Get(_ context.Context, r *qc.GetCollectionInfoRequest) (*qc.GetCollectionInfoResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	c, err := h.s.resolve(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	m := proto.CloneOf(c.made)
	info := &qc.CollectionInfo{
		Status: qc.CollectionStatus_Green, OptimizerStatus: &qc.OptimizerStatus{Ok: true}, SegmentsCount: 1,
		PointsCount: new(uint64(len(c.points))), PayloadSchema: map[string]*qc.PayloadSchemaInfo{},
		Config: &qc.CollectionConfig{
			Params: &qc.CollectionParams{
				ShardNumber: max(1, m.GetShardNumber()), VectorsConfig: m.GetVectorsConfig(),
				ReplicationFactor: new(max(1, m.GetReplicationFactor())), WriteConsistencyFactor: new(max(1, m.GetWriteConsistencyFactor())),
			},
			HnswConfig: m.GetHnswConfig(), QuantizationConfig: m.GetQuantizationConfig(), Metadata: m.GetMetadata(),
		},
	}
	for key, i := range c.indexes {
		info.PayloadSchema[key] = &qc.PayloadSchemaInfo{DataType: schema(i.GetFieldType()), Params: proto.CloneOf(i.GetFieldIndexParams())}
	}
	return &qc.GetCollectionInfoResponse{Result: info}, nil
}

// schema is what a collection's information calls a type of a payload index.
func schema(t qc.FieldType) qc.PayloadSchemaType {
	return qc.PayloadSchemaType(qc.PayloadSchemaType_value[strings.TrimPrefix(t.String(), "FieldType")])
}

func (h collectionsService) UpdateAliases(_ context.Context, r *qc.ChangeAliases) (*qc.CollectionOperationResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	for _, a := range r.GetActions() { // those before one that fails stay, as on the server
		switch {
		case a.GetCreateAlias() != nil:
			alias, to := a.GetCreateAlias().GetAliasName(), a.GetCreateAlias().GetCollectionName()
			if h.s.collections[to] == nil {
				return nil, status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", to)
			}
			if h.s.collections[alias] != nil {
				return nil, status.Errorf(codes.AlreadyExists, "Wrong input: Collection `%s` already exists!", alias)
			}
			h.s.aliases[alias] = to
		case a.GetDeleteAlias() != nil:
			delete(h.s.aliases, a.GetDeleteAlias().GetAliasName())
		default:
			return nil, status.Error(codes.Unimplemented, "qdranttest does not rename aliases")
		}
	}
	return &qc.CollectionOperationResponse{Result: true}, nil
}

func (h collectionsService) ListAliases(context.Context, *qc.ListAliasesRequest) (*qc.ListAliasesResponse, error) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	out := &qc.ListAliasesResponse{}
	for _, alias := range slices.Sorted(maps.Keys(h.s.aliases)) {
		out.Aliases = append(out.Aliases, &qc.AliasDescription{AliasName: alias, CollectionName: h.s.aliases[alias]})
	}
	return out, nil
}
