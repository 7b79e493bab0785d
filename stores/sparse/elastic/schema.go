package elastic

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/vimbank/vimbank/stores/sparse"
)

// obj is a JSON object.
type obj = map[string]any

// format is the version of how documents are kept. Raise it with any change of
// the mapping that an older program would not stand.
const format = 1

// schema is how every index of a Store is made. Lists of tenants have the same
// mapping, of which they use the field tenant.
type schema struct {
	mapping  obj // as Elasticsearch gives it back
	settings obj
	body     []byte // settings and mapping
}

func newSchema(o *Options) schema {
	var s schema
	props := obj{
		"id": obj{"type": "keyword"}, "tenant": obj{"type": "keyword"}, "user": obj{"type": "keyword"},
		"agent": obj{"type": "keyword"}, "run": obj{"type": "keyword"}, "kind": obj{"type": "keyword"},
		"layer": obj{"type": "keyword"}, "session": obj{"type": "keyword"}, "group": obj{"type": "keyword"},
		"when": obj{"type": "long"}, "rev": obj{"type": "long"}, "gone": obj{"type": "boolean"},
	}
	similarity := obj{}
	for _, f := range sparse.Fields() {
		name := "vimbank_" + string(f)
		props[string(f)] = obj{"type": "text", "analyzer": "whitespace", "index_options": "freqs", "similarity": name}
		props[lengthOf(f)] = obj{"type": "integer", "index": false}
		similarity[name] = obj{"type": "BM25", "k1": number(sparse.K1), "b": number(f.B())}
	}
	s.mapping = obj{"dynamic": "strict", "_source": obj{"enabled": false}, "properties": props}
	s.settings = obj{
		"number_of_shards": o.Shards, "gc_deletes": fmt.Sprintf("%dms", o.GCDeletes.Milliseconds()),
		"max_result_window": o.MaxK, "similarity": similarity,
		"merge": obj{"policy": obj{"deletes_pct_allowed": 10, "expunge_deletes_allowed": 0}},
	}
	if o.Replicas == 0 {
		s.settings["auto_expand_replicas"] = "0-1"
	} else {
		s.settings["number_of_replicas"] = max(o.Replicas, 0)
	}
	// maps marshal by key, so the same schema has the same fingerprint
	made, _ := json.Marshal([]any{s.mapping, similarity, string(o.Tenancy), o.Fingerprint})
	sum := sha256.Sum256(made)
	s.mapping["_meta"] = obj{"vimbank": obj{
		"format": float64(format), "fingerprint": hex.EncodeToString(sum[:8]), "tenancy": string(o.Tenancy), "tokens": o.Fingerprint,
	}}
	s.body = must(json.Marshal(obj{"settings": obj{"index": s.settings}, "mappings": s.mapping}))
	return s
}

// must is for values that marshal whatever they hold.
func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// number writes a setting as Elasticsearch gives it back: as a string.
func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// lengthOf is the field that holds the number of tokens of f.
func lengthOf(f sparse.Field) string { return string(f) + "_len" }

// made is an index as Elasticsearch describes it.
type made struct {
	Aliases  map[string]json.RawMessage
	Mappings obj
	Settings struct{ Index obj }
}

// differs says what of an index is not as s would make it: found and wanted;
// empty if nothing is.
func (s *schema) differs(m *made) (found, wanted string) {
	if d := difference("_meta", m.Mappings["_meta"], s.mapping["_meta"]); d != nil {
		return d.found, d.wanted
	}
	for _, part := range []string{"dynamic", "_source"} {
		if d := difference(part, m.Mappings[part], s.mapping[part]); d != nil {
			return d.found, d.wanted
		}
	}
	have, _ := m.Mappings["properties"].(obj)
	want := s.mapping["properties"].(obj)
	names := maps.Clone(have)
	if names == nil {
		names = obj{}
	}
	maps.Copy(names, want)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if d := difference("field "+name, have[name], want[name]); d != nil {
			return d.found, d.wanted
		}
	}
	if d := difference("index.similarity", m.Settings.Index["similarity"], s.settings["similarity"]); d != nil {
		return d.found, d.wanted
	}
	return "", ""
}

type mismatch struct{ found, wanted string }

func difference(name string, found, wanted any) *mismatch {
	if reflect.DeepEqual(found, wanted) {
		return nil
	}
	show := func(v any) string {
		if v == nil {
			return "no " + name
		}
		b, _ := json.Marshal(v)
		return name + " " + strings.ReplaceAll(string(b), `"`, "")
	}
	return &mismatch{show(found), show(wanted)}
}
