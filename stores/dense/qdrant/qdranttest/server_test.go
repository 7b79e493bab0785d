package qdranttest_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	qc "github.com/qdrant/go-client/qdrant"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/stores/dense/qdrant/qdranttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSpeaksAsTheServer: what package qdrant builds on holds here and on the
// server that the environment names, error codes included.
func TestSpeaksAsTheServer(t *testing.T) {
	t.Run("in process", func(t *testing.T) { speaks(t, qdranttest.New(t, nil).Addr) })
	t.Run("live", func(t *testing.T) { speaks(t, live.Qdrant(t)) })
}

// talk is a collection on a server, and a client that asks it.
type talk struct {
	*qc.Client
	t    *testing.T
	name string
}

func speaks(t *testing.T, addr string) {
	host, port, err := net.SplitHostPort(addr)
	must(t, err)
	n, err := strconv.Atoi(port)
	must(t, err)
	c, err := qc.NewClient(&qc.Config{Host: host, Port: n, PoolSize: 1, SkipCompatibilityCheck: true})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	var b [6]byte
	rand.Read(b[:])
	k := &talk{c, t, "test_" + hex.EncodeToString(b[:])}
	must(t, c.CreateCollection(t.Context(), &qc.CreateCollection{CollectionName: k.name, VectorsConfig: vectors(), Metadata: map[string]*qc.Value{"made": qc.NewValueString("here")}}))
	t.Cleanup(func() { must(t, c.DeleteCollection(context.WithoutCancel(t.Context()), k.name)) })
	k.collections()
	k.refusals()
	k.conditions()
	k.searches()
	k.scrolls()
}

func vectors() *qc.VectorsConfig {
	return qc.NewVectorsConfigMap(map[string]*qc.VectorParams{
		"a": {Size: 2, Distance: qc.Distance_Cosine}, "b": {Size: 2, Distance: qc.Distance_Cosine},
	})
}

func uuid(n int) *qc.PointId { return qc.NewIDUUID(fmt.Sprintf("00000000-0000-8000-8000-%012x", n)) }

// point has the number ver in its payload, and the vectors that are given.
func point(n int, ver int64, a, b []float32) *qc.PointStruct {
	m := map[string]*qc.Vector{}
	if a != nil {
		m["a"] = qc.NewVectorDense(a)
	}
	if b != nil {
		m["b"] = qc.NewVectorDense(b)
	}
	return &qc.PointStruct{Id: uuid(n), Vectors: qc.NewVectorsMap(m), Payload: map[string]*qc.Value{"ver": qc.NewValueInt(ver), "word": qc.NewValueString(fmt.Sprint("w", n%2))}}
}

func atMost(ver float64) *qc.Filter {
	return &qc.Filter{Must: []*qc.Condition{qc.NewRange("ver", &qc.Range{Lte: &ver})}}
}

func (k *talk) upsert(f *qc.Filter, points ...*qc.PointStruct) error {
	_, err := k.GetPointsClient().Upsert(k.t.Context(), &qc.UpsertPoints{CollectionName: k.name, Wait: new(true), Points: points, UpdateFilter: f})
	return err
}

func (k *talk) code(what string, err error, want codes.Code) {
	k.t.Helper()
	if got := status.Code(err); got != want {
		k.t.Errorf("%s: %v, want %v", what, err, want)
	}
}

// collections: metadata comes back, a second one is refused, an alias leads on
// and goes with what it leads to.
func (k *talk) collections() {
	ctx, cs := k.t.Context(), k.GetCollectionsClient()
	info, err := k.GetCollectionInfo(ctx, k.name)
	must(k.t, err)
	if got := info.GetConfig().GetMetadata()["made"].GetStringValue(); got != "here" {
		k.t.Errorf("metadata %q, want here", got)
	}
	_, err = cs.Create(ctx, &qc.CreateCollection{CollectionName: k.name, VectorsConfig: vectors()})
	k.code("second Create", err, codes.AlreadyExists)
	_, err = cs.Get(ctx, &qc.GetCollectionInfoRequest{CollectionName: k.name + "x"})
	k.code("Get of none", err, codes.NotFound)
	_, err = cs.Delete(ctx, &qc.DeleteCollection{CollectionName: k.name + "x"})
	k.code("Delete of none", err, codes.OK)
	alias := k.name + "_alias"
	k.code("alias to none", k.CreateAlias(ctx, alias, k.name+"x"), codes.NotFound)
	must(k.t, k.CreateAlias(ctx, alias, k.name))
	_, err = cs.Create(ctx, &qc.CreateCollection{CollectionName: alias, VectorsConfig: vectors()})
	k.code("collection named as an alias", err, codes.InvalidArgument)
	must(k.t, k.CreateCollection(ctx, &qc.CreateCollection{CollectionName: k.name + "2", VectorsConfig: vectors()}))
	must(k.t, k.CreateAlias(ctx, alias, k.name+"2")) // replaces
	must(k.t, k.DeleteCollection(ctx, k.name+"2"))
	_, err = cs.Get(ctx, &qc.GetCollectionInfoRequest{CollectionName: alias})
	k.code("alias to what is gone", err, codes.NotFound)
}

func (k *talk) refusals() {
	_, err := k.GetPointsClient().Upsert(k.t.Context(), &qc.UpsertPoints{CollectionName: k.name + "x", Points: []*qc.PointStruct{point(1, 1, nil, nil)}})
	k.code("Upsert into none", err, codes.NotFound)
	k.code("no points", k.upsert(nil), codes.InvalidArgument)
	k.code("three dimensions", k.upsert(nil, point(1, 1, []float32{1, 0, 0}, nil), point(2, 1, []float32{1, 0}, nil)), codes.InvalidArgument)
	odd := point(3, 1, nil, nil)
	odd.Id = qc.NewIDUUID("odd")
	k.code("not a UUID", k.upsert(nil, odd), codes.InvalidArgument)
	odd = point(3, 1, nil, nil)
	odd.Vectors = qc.NewVectorsMap(map[string]*qc.Vector{"c": qc.NewVectorDense([]float32{1, 0})})
	k.code("unknown vector", k.upsert(nil, odd), codes.InvalidArgument)
	odd.Vectors = nil
	k.code("no vectors at all", k.upsert(nil, odd), codes.InvalidArgument)
	k.holds("after refusals", map[int]int64{})
}

// conditions: a point that is there is replaced only if it matches; one that is
// not there is taken in in any case.
func (k *talk) conditions() {
	must(k.t, k.upsert(nil, point(1, 5, []float32{1, 0}, []float32{0, 1}), point(2, 5, nil, nil)))
	must(k.t, k.upsert(atMost(4), point(1, 4, nil, nil), point(3, 4, []float32{1, 0}, nil)))
	k.holds("older", map[int]int64{1: 5, 2: 5, 3: 4})
	must(k.t, k.upsert(atMost(5), point(1, 6, []float32{0, 1}, nil)))
	k.holds("not older", map[int]int64{1: 6, 2: 5, 3: 4})
	own := &qc.Filter{Should: []*qc.Condition{ // each by a number of its own
		qc.NewFilterAsCondition(&qc.Filter{Must: append(atMost(9).Must, qc.NewHasID(uuid(1)))}),
		qc.NewFilterAsCondition(&qc.Filter{Must: append(atMost(4).Must, qc.NewHasID(uuid(2)))}),
	}}
	must(k.t, k.upsert(own, point(1, 9, []float32{0, 1}, nil), point(2, 4, nil, nil)))
	k.holds("each by its own", map[int]int64{1: 9, 2: 5, 3: 4})
}

// holds compares the points with their numbers.
func (k *talk) holds(when string, want map[int]int64) {
	k.t.Helper()
	got := map[int]int64{}
	r, err := k.Scroll(k.t.Context(), &qc.ScrollPoints{CollectionName: k.name, Limit: new(uint32(100)), WithPayload: qc.NewWithPayload(true)})
	must(k.t, err)
	for _, p := range r {
		n, err := strconv.ParseInt(p.GetId().GetUuid()[24:], 16, 64)
		must(k.t, err)
		got[int(n)] = p.GetPayload()["ver"].GetIntegerValue()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		k.t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// searches: a point that was replaced has lost the vector that was not given.
func (k *talk) searches() {
	must(k.t, k.upsert(nil, point(4, 1, []float32{3, 4}, []float32{1, 0})))
	for _, tt := range []struct {
		using string
		f     *qc.Filter
		limit uint64
		want  []string
	}{
		{"a", nil, 10, []string{"3 1.00", "4 0.60", "1 0.00"}},
		{"a", nil, 2, []string{"3 1.00", "4 0.60"}},
		{"b", nil, 10, []string{"4 1.00"}},
		{"a", &qc.Filter{MustNot: []*qc.Condition{qc.NewHasVector("b")}}, 10, []string{"3 1.00", "1 0.00"}},
		{"a", &qc.Filter{Must: []*qc.Condition{qc.NewMatchKeyword("word", "w0")}}, 10, []string{"4 0.60"}},
		{"a", &qc.Filter{Must: []*qc.Condition{qc.NewMatchKeywords("word", "w1", "w7")}}, 10, []string{"3 1.00", "1 0.00"}},
		{"a", &qc.Filter{Must: []*qc.Condition{qc.NewHasID(uuid(1), uuid(77))}}, 10, []string{"1 0.00"}},
		{"a", &qc.Filter{MustNot: []*qc.Condition{qc.NewMatchBool("gone", true)}, Must: atMost(4).Must}, 10, []string{"3 1.00", "4 0.60"}},
	} {
		r, err := k.GetPointsClient().QueryBatch(k.t.Context(), &qc.QueryBatchPoints{CollectionName: k.name, QueryPoints: []*qc.QueryPoints{
			{CollectionName: k.name, Using: &tt.using, Query: qc.NewQueryDense([]float32{1, 0}), Filter: tt.f, Limit: &tt.limit},
		}})
		must(k.t, err)
		var got []string
		for _, p := range r.GetResult()[0].GetResult() {
			got = append(got, fmt.Sprintf("%s %.2f", p.GetId().GetUuid()[35:], p.GetScore()))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			k.t.Errorf("%s, %v (-want +got):\n%s", tt.using, tt.f, diff)
		}
	}
	_, err := k.GetPointsClient().QueryBatch(k.t.Context(), &qc.QueryBatchPoints{CollectionName: k.name, QueryPoints: []*qc.QueryPoints{
		{CollectionName: k.name, Using: new("a"), Query: qc.NewQueryDense([]float32{1, 0, 0}), Limit: new(uint64(1))},
	}})
	k.code("question of three dimensions", err, codes.InvalidArgument)
}

// scrolls: pages in ascending order of IDs, and deleting by a filter.
func (k *talk) scrolls() {
	var points []*qc.PointStruct
	for n := range 25 {
		points = append(points, point(24-n, int64(n), nil, nil))
	}
	must(k.t, k.upsert(nil, points...))
	ask := &qc.ScrollPoints{CollectionName: k.name, Limit: new(uint32(10)), WithPayload: qc.NewWithPayloadInclude("ver")}
	var pages []int
	last := ""
	for {
		r, next, err := k.ScrollAndOffset(k.t.Context(), ask)
		must(k.t, err)
		pages = append(pages, len(r))
		for _, p := range r {
			if id := p.GetId().GetUuid(); id <= last || len(p.GetPayload()) != 1 {
				k.t.Errorf("%s after %s with %v, want ascending IDs and what was asked for", id, last, p.GetPayload())
			}
			last = p.GetId().GetUuid()
		}
		if ask.Offset = next; next == nil {
			break
		}
	}
	if diff := cmp.Diff([]int{10, 10, 5}, pages); diff != "" {
		k.t.Errorf("pages (-want +got):\n%s", diff)
	}
	_, err := k.Delete(k.t.Context(), &qc.DeletePoints{CollectionName: k.name, Wait: new(true), Points: qc.NewPointsSelectorFilter(atMost(19))})
	must(k.t, err)
	n, err := k.Count(k.t.Context(), &qc.CountPoints{CollectionName: k.name, Exact: new(true)})
	must(k.t, err)
	if n != 5 {
		k.t.Errorf("%d points left, want 5", n)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
