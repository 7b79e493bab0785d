package qdrant

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"

	"github.com/vimbank/vimbank/memtypes"
)

// nobody is an ID that no memory has: theirs are of version 8.
const nobody = "00000000-0000-0000-0000-000000000000"

// Inspect looks at the server and at the live generation, each with what mends
// it. It ends early where nothing further can be seen, and changes nothing.
func (s *Store) Inspect(ctx context.Context) []memtypes.Finding {
	r := report{}
	if s.inspectServer(ctx, &r) {
		if live := s.inspectAlias(ctx, &r); live != "" {
			s.inspectCollection(ctx, &r, live)
		}
	}
	return r.findings
}

// report gathers findings.
type report struct{ findings []memtypes.Finding }

func (r *report) ok(check, found string) {
	r.findings = append(r.findings, memtypes.Finding{Part: "dense", Check: check, OK: true, Found: found})
}

func (r *report) bad(check, found, wanted, mend string) {
	r.findings = append(r.findings, memtypes.Finding{Part: "dense", Check: check, Found: found, Wanted: wanted, Mend: mend})
}

// inspectServer reports whether it can be asked for more.
func (s *Store) inspectServer(ctx context.Context, r *report) bool {
	const op = "qdrant.Inspect"
	if s.closed.Load() {
		r.bad("reachable", "a closed store", "an open one", "open the bank again")
		return false
	}
	v, err := s.version(ctx, op)
	if err != nil {
		r.bad("reachable", err.Error(), "Qdrant at "+s.opt.Addr, "start it, or correct dense.addr and dense.tls")
		return false
	}
	r.ok("reachable", "Qdrant at "+s.opt.Addr+s.transport())
	if !v.atLeast(oldest) {
		r.bad("version", v.text, oldest.text+" or newer; "+tested+" is tested", "replace the server")
		return false
	}
	r.ok("version", v.text+" ("+tested+" is tested)")
	return true
}

// transport says how the connection is protected.
func (s *Store) transport() string {
	switch {
	case s.opt.TLS != nil:
		return ", encrypted"
	case s.opt.APIKey != "":
		return ", not encrypted: the key can be read on the way"
	}
	return ", not encrypted"
}

// inspectAlias gives the live collection, or empty.
func (s *Store) inspectAlias(ctx context.Context, r *report) string {
	const op = "qdrant.Inspect"
	live, err := s.live(ctx, op)
	if err != nil {
		r.bad("permissions", err.Error(), "a list of the aliases", "give dense.api_key a key that may read, write and make collections")
		return ""
	}
	name, ours := s.generation(live)
	switch {
	case live == "":
		r.bad("alias", s.opt.Prefix+" leads nowhere", s.collection("GENERATION"), "vimbank rebuild")
		return ""
	case !ours:
		r.bad("alias", s.opt.Prefix+" leads to "+live, s.collection("GENERATION"), "vimbank rebuild")
		return ""
	}
	r.ok("alias", s.opt.Prefix+" leads to generation "+name)
	return live
}

func (s *Store) inspectCollection(ctx context.Context, r *report, name string) {
	const op = "qdrant.Inspect"
	info, err := s.info(ctx, op, name)
	if err != nil {
		if answered(err, codes.NotFound) {
			r.bad("collection", name+" is gone", "the live collection", "vimbank rebuild")
		} else {
			r.bad("collection", err.Error(), "its information", "see what the server logs")
		}
		return
	}
	s.inspectSettings(r, name, info)
	s.inspectMapping(r, info)
	inspectStatus(r, info)
	s.inspectWriting(ctx, r, name)
}

// inspectSettings: what must be as it is, and what only makes a search better or cheaper.
func (s *Store) inspectSettings(r *report, name string, info *qc.CollectionInfo) {
	wrong := s.misfits(info)
	for _, m := range wrong {
		r.bad("settings", m.what+": "+m.found, m.wanted, "vimbank rebuild")
	}
	if len(wrong) == 0 {
		r.ok("settings", fmt.Sprintf("%s: %d dimensions, tenancy %s", name, s.opt.Dim, s.opt.Tenancy))
	}
	c := info.GetConfig()
	h := HNSW{M: int(c.GetHnswConfig().GetM()), EfConstruct: int(c.GetHnswConfig().GetEfConstruct())}
	found := fmt.Sprintf("m %d, ef_construct %d, quantization %s", h.M, h.EfConstruct, quantized(c.GetQuantizationConfig()))
	wanted := fmt.Sprintf("m %d, ef_construct %d, quantization %s", s.opt.HNSW.M, s.opt.HNSW.EfConstruct, s.opt.Quantization)
	if found != wanted {
		r.bad("tuning", found, wanted, "vimbank rebuild, or dense.hnsw and dense.quantization as they were")
		return
	}
	r.ok("tuning", found)
}

func quantized(q *qc.QuantizationConfig) Quantization {
	switch {
	case q.GetScalar() != nil:
		return Scalar
	case q.GetBinary() != nil:
		return Binary
	case q.GetQuantization() == nil:
		return Full
	}
	return "of another kind"
}

// inspectMapping looks for the payload indexes: without one a filter reads every point.
func (s *Store) inspectMapping(r *report, info *qc.CollectionInfo) {
	var missing []string
	for _, key := range slices.Sorted(maps.Keys(fields())) {
		if info.GetPayloadSchema()[key] == nil {
			missing = append(missing, key)
		}
	}
	if len(missing) > 0 {
		r.bad("mapping", "no payload index for "+strings.Join(missing, ", "), "one for each facet", "restart VIMBank, which makes what is missing")
		return
	}
	r.ok("mapping", fmt.Sprintf("%d payload indexes", len(fields())))
}

func inspectStatus(r *report, info *qc.CollectionInfo) {
	points := fmt.Sprintf("%d points with removals", info.GetPointsCount())
	switch o := info.GetOptimizerStatus(); {
	case info.GetStatus() == qc.CollectionStatus_Red || !o.GetOk():
		r.bad("collection", strings.TrimSpace(fmt.Sprintf("status %v, %s: %s", info.GetStatus(), points, brief(o.GetError()))), "Green", "see what the server logs; vimbank rebuild makes it again")
	case info.GetStatus() == qc.CollectionStatus_Green:
		r.ok("collection", "green, "+points)
	default: // yellow: it is optimizing; grey: it will when it is written to
		r.ok("collection", fmt.Sprintf("%s (it answers, and is busy with itself), %s", strings.ToLower(info.GetStatus().String()), points))
	}
}

// inspectWriting deletes a point that cannot be there.
func (s *Store) inspectWriting(ctx context.Context, r *report, name string) {
	err := s.call(ctx, "qdrant.Inspect", name, s.opt.Timeout, func(ctx context.Context) error {
		_, err := s.client.GetPointsClient().Delete(ctx, &qc.DeletePoints{
			CollectionName: name, Wait: new(true), Points: qc.NewPointsSelector(qc.NewIDUUID(nobody)),
		})
		return err
	})
	if err != nil {
		r.bad("permissions", err.Error(), "to write", "give dense.api_key a key that may write, and the server room on its disk")
		return
	}
	r.ok("permissions", "reads and writes")
}
