package qdrant

import (
	"context"
	"maps"
	"slices"
	"time"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"

	"github.com/vimbank/vimbank/stores/dense"
)

// The entries of a collection's metadata that say what it was made for.
const (
	metaFormat      = "vimbank_format"
	metaDim         = "vimbank_dim"
	metaFingerprint = "vimbank_fingerprint"
	metaTenancy     = "vimbank_tenancy"
)

// format changes when a collection of an older program cannot be read.
const format = 1

// field is a payload index.
type field struct {
	kind   qc.PayloadSchemaType
	params func() *qc.PayloadIndexParams
}

// fields are the payload indexes. A revision is only listed, never searched, so
// it has none; the number that upserts are compared by is.
func fields() map[string]field {
	word := field{qc.PayloadSchemaType_Keyword, func() *qc.PayloadIndexParams {
		return qc.NewPayloadIndexParamsKeyword(&qc.KeywordIndexParams{})
	}}
	number := field{qc.PayloadSchemaType_Integer, func() *qc.PayloadIndexParams {
		return qc.NewPayloadIndexParamsInt(&qc.IntegerIndexParams{Lookup: new(false), Range: new(true)})
	}}
	return map[string]field{
		keyTenant: {qc.PayloadSchemaType_Keyword, func() *qc.PayloadIndexParams {
			return qc.NewPayloadIndexParamsKeyword(&qc.KeywordIndexParams{IsTenant: new(true)})
		}},
		keyUser: word, keyAgent: word, keyRun: word, keyKind: word, keyLayer: word, keyGroup: word, keySession: word,
		keyWhen: number, keyVer: number,
		keyGone: {qc.PayloadSchemaType_Bool, func() *qc.PayloadIndexParams {
			return qc.NewPayloadIndexParamsBool(&qc.BoolIndexParams{})
		}},
	}
}

// fieldType is the type of a request for an index of a kind.
func fieldType(k qc.PayloadSchemaType) qc.FieldType {
	switch k {
	case qc.PayloadSchemaType_Integer:
		return qc.FieldType_FieldTypeInteger
	case qc.PayloadSchemaType_Bool:
		return qc.FieldType_FieldTypeBool
	}
	return qc.FieldType_FieldTypeKeyword
}

// ensure makes a collection unless it is there, and checks that it is ours.
// Several processes may do so at once.
func (s *Store) ensure(ctx context.Context, op, name string) error {
	info, err := s.info(ctx, op, name)
	if answered(err, codes.NotFound) {
		if err := s.create(ctx, op, name); err != nil {
			return err
		}
		info, err = s.info(ctx, op, name)
	}
	if err != nil {
		return err
	}
	if err := s.fits(op, name, info); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(fields())) {
		if info.GetPayloadSchema()[key] != nil {
			continue
		}
		if err := s.index(ctx, op, name, key, fields()[key]); err != nil {
			return err
		}
	}
	s.know(name, true)
	return nil
}

// create makes a collection; one that another process has made meanwhile is as good.
func (s *Store) create(ctx context.Context, op, name string) error {
	err := s.call(ctx, op, name, s.slow(), func(ctx context.Context) error {
		_, err := s.client.GetCollectionsClient().Create(ctx, s.creation(name))
		return err
	})
	if answered(err, codes.AlreadyExists) {
		return nil
	}
	return err
}

// slow is the timeout of what changes a collection as a whole.
func (s *Store) slow() time.Duration { return 6 * s.opt.Timeout }

func (s *Store) index(ctx context.Context, op, name, key string, f field) error {
	return s.call(ctx, op, name, s.slow(), func(ctx context.Context) error {
		_, err := s.client.GetPointsClient().CreateFieldIndex(ctx, &qc.CreateFieldIndexCollection{
			CollectionName: name, FieldName: key, Wait: new(true),
			FieldType: fieldType(f.kind).Enum(), FieldIndexParams: f.params(),
		})
		return err
	})
}

// creation is the request that makes a collection.
func (s *Store) creation(name string) *qc.CreateCollection {
	o := &s.opt
	vector := func() *qc.VectorParams {
		p := &qc.VectorParams{Size: uint64(o.Dim), Distance: qc.Distance_Cosine}
		if o.OnDisk {
			p.Memory = qc.Memory_Cold.Enum()
		}
		return p
	}
	return &qc.CreateCollection{
		CollectionName: name,
		VectorsConfig: qc.NewVectorsConfigMap(map[string]*qc.VectorParams{
			string(dense.Text): vector(), string(dense.Context): vector(),
		}),
		HnswConfig:             &qc.HnswConfigDiff{M: new(uint64(o.HNSW.M)), EfConstruct: new(uint64(o.HNSW.EfConstruct))},
		OptimizersConfig:       o.optimizers(),
		QuantizationConfig:     o.quantization(),
		ShardNumber:            positive(o.Shards),
		ReplicationFactor:      positive(o.Replicas),
		WriteConsistencyFactor: positive(o.WriteConsistency),
		Metadata: map[string]*qc.Value{
			metaFormat: qc.NewValueInt(format), metaDim: qc.NewValueInt(int64(o.Dim)),
			metaFingerprint: qc.NewValueString(o.Fingerprint), metaTenancy: qc.NewValueString(string(o.Tenancy)),
		},
	}
}

func (o *Options) quantization() *qc.QuantizationConfig {
	switch o.Quantization {
	case Scalar:
		return qc.NewQuantizationScalar(&qc.ScalarQuantization{Type: qc.QuantizationType_Int8, Quantile: new(float32(.99))})
	case Binary:
		return qc.NewQuantizationBinary(&qc.BinaryQuantization{})
	}
	return nil
}

// positive leaves zero to the server.
// optimizers are nil where the server's own will do.
func (o *Options) optimizers() *qc.OptimizersConfigDiff {
	if o.HNSW.Above == 0 {
		return nil
	}
	return &qc.OptimizersConfigDiff{IndexingThreshold: new(uint64(o.HNSW.Above))}
}

func positive(n int) *uint32 {
	if n == 0 {
		return nil
	}
	return new(uint32(n))
}

func (s *Store) info(ctx context.Context, op, name string) (*qc.CollectionInfo, error) {
	var reply *qc.GetCollectionInfoResponse
	err := s.call(ctx, op, name, s.opt.Timeout, func(ctx context.Context) (err error) {
		reply, err = s.client.GetCollectionsClient().Get(ctx, &qc.GetCollectionInfoRequest{CollectionName: name})
		return err
	})
	return reply.GetResult(), err
}
