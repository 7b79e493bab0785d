package qdrant

import (
	"fmt"
	"maps"
	"slices"

	qc "github.com/qdrant/go-client/qdrant"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

// rebuild is what mends a collection that was made for something else.
const rebuild = "`vimbank rebuild` makes a new one from the ledger"

// fits says what of a collection is not as this program needs it.
func (s *Store) fits(op, name string, info *qc.CollectionInfo) error {
	for _, m := range s.misfits(info) {
		return memtypes.Errorf(op, memtypes.Incompatible, "qdrant at %s, collection %s: %s: found %s, wanted %s: %s", s.opt.Addr, name, m.what, m.found, m.wanted, rebuild)
	}
	return nil
}

// misfit is one setting of a collection that is not as it must be.
type misfit struct{ what, found, wanted string }

func (s *Store) misfits(info *qc.CollectionInfo) []misfit {
	var out []misfit
	want := func(what, found, wanted string) {
		if found != wanted {
			out = append(out, misfit{what, found, wanted})
		}
	}
	meta := info.GetConfig().GetMetadata()
	if meta[metaFormat] == nil {
		return []misfit{{"metadata", "a collection that VIMBank did not make", "one of format " + fmt.Sprint(format)}}
	}
	want("format", fmt.Sprint(meta[metaFormat].GetIntegerValue()), fmt.Sprint(format))
	want("embedder", meta[metaFingerprint].GetStringValue(), s.opt.Fingerprint)
	want("tenancy", meta[metaTenancy].GetStringValue(), string(s.opt.Tenancy))
	vectors := info.GetConfig().GetParams().GetVectorsConfig().GetParamsMap().GetMap()
	for _, space := range []dense.Space{dense.Text, dense.Context} {
		p := vectors[string(space)]
		found := "none"
		if p != nil {
			found = fmt.Sprintf("%d dimensions, %v", p.GetSize(), p.GetDistance())
		}
		want("vector "+string(space), found, fmt.Sprintf("%d dimensions, %v", s.opt.Dim, qc.Distance_Cosine))
	}
	all := fields()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if have := info.GetPayloadSchema()[key]; have != nil {
			want("payload index "+key, have.GetDataType().String(), all[key].kind.String())
		}
	}
	return out
}
