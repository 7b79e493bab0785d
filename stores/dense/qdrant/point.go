package qdrant

import (
	"math"
	"unicode/utf8"

	qc "github.com/qdrant/go-client/qdrant"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

// The payload of a point. Empty facets are left out.
const (
	keyTenant  = "tenant"
	keyUser    = "user"
	keyAgent   = "agent"
	keyRun     = "run"
	keyKind    = "kind"
	keyLayer   = "layer"
	keyGroup   = "group" // not written yet: kept for memories that belong together
	keySession = "session"
	keyWhen    = "when" // Unix seconds
	keyRev     = "rev"
	keyVer     = "ver"  // how new it is: the higher of revision and cause
	keyGone    = "gone" // true: a removal, of which nothing else is kept but tenant, rev and ver
)

// maxVer bounds what the server compares exactly: its ranges are floating-point.
const maxVer = 1 << 53

// write is one point on its way, with how new it is.
type write struct {
	id    memtypes.ID
	ver   uint64
	point *qc.PointStruct
}

// stored is the point of a memory. The context of one without a text vector is
// not kept: it must not be found.
func stored(d *dense.Doc) write {
	ver := max(d.Rev, d.Cause)
	payload := map[string]*qc.Value{
		keyTenant: qc.NewValueString(d.Facets.Scope.Tenant()),
		keyRev:    qc.NewValueInt(int64(d.Rev)), keyVer: qc.NewValueInt(int64(ver)),
		keyWhen: qc.NewValueInt(d.Facets.When.Unix()),
	}
	for key, v := range words(&d.Facets) {
		if v != "" {
			payload[key] = qc.NewValueString(v)
		}
	}
	vectors := map[string]*qc.Vector{}
	if d.Text != nil {
		vectors[string(dense.Text)] = qc.NewVectorDense(d.Text)
		if d.Context != nil {
			vectors[string(dense.Context)] = qc.NewVectorDense(d.Context)
		}
	}
	return write{d.ID, ver, &qc.PointStruct{Id: qc.NewIDUUID(string(d.ID)), Payload: payload, Vectors: qc.NewVectorsMap(vectors)}}
}

// words is the facets that are compared as a whole, but for the tenant.
func words(f *memtypes.Facets) map[string]string {
	return map[string]string{
		keyUser: f.Scope.User(), keyAgent: f.Scope.Agent(), keyRun: f.Scope.Run(),
		keyKind: string(f.Kind), keyLayer: string(f.Layer), keySession: f.Session,
	}
}

// removed is the point that takes a memory's place.
func removed(g memtypes.Gone) write {
	return write{g.ID, g.Rev, &qc.PointStruct{
		Id: qc.NewIDUUID(string(g.ID)),
		Payload: map[string]*qc.Value{
			keyTenant: qc.NewValueString(g.Tenant), keyGone: qc.NewValueBool(true),
			keyRev: qc.NewValueInt(int64(g.Rev)), keyVer: qc.NewValueInt(int64(g.Rev)),
		},
		Vectors: qc.NewVectorsMap(map[string]*qc.Vector{}),
	}}
}

// writable says what of a write the server cannot take, or nil.
func writable(op string, id memtypes.ID, ver uint64, texts ...string) *memtypes.Error {
	_, err := memtypes.ParseID(string(id))
	var bad *memtypes.Error
	switch {
	case err != nil:
		bad = memtypes.BadField(op, "id", string(id), "a UUID, which Qdrant needs")
	case ver > maxVer:
		bad = memtypes.BadField(op, "rev", ver, "at most 2^53")
	default:
		for _, s := range texts {
			if !utf8.ValidString(s) {
				bad = memtypes.BadField(op, "facets", memtypes.Remark("invalid UTF-8"), "UTF-8 text")
			}
		}
	}
	if bad != nil {
		bad.ID = id
	}
	return bad
}

// newest keeps of several writes of one memory the newest, of equal ones the
// last: within one request the server would take any of them.
func newest(ws []write) []write {
	at := make(map[memtypes.ID]int, len(ws))
	out := ws[:0:0]
	for _, w := range ws {
		i, twice := at[w.id]
		switch {
		case !twice:
			at[w.id] = len(out)
			out = append(out, w)
		case w.ver >= out[i].ver:
			out[i] = w
		}
	}
	return out
}

// ifNotNewer is the condition under which each point may replace the one that is there.
func ifNotNewer(ws []write) *qc.Filter {
	ids := map[uint64][]*qc.PointId{}
	for _, w := range ws {
		ids[w.ver] = append(ids[w.ver], w.point.GetId())
	}
	f := &qc.Filter{}
	for ver, these := range ids {
		f.Should = append(f.Should, qc.NewFilterAsCondition(&qc.Filter{Must: []*qc.Condition{
			qc.NewHasID(these...), qc.NewRange(keyVer, &qc.Range{Lte: new(float64(ver))}),
		}}))
	}
	return f
}

// score is the cosine as the port has it, within [-1,1].
func score(x float32) float64 { return math.Max(-1, math.Min(1, float64(x))) }
