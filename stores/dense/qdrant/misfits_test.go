package qdrant_test

import (
	"testing"

	qc "github.com/qdrant/go-client/qdrant"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense/densetest"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/dense/qdrant/qdranttest"
)

func TestOptions(t *testing.T) {
	good := qdrant.Options{Addr: "127.0.0.1:6334", Dim: 8}
	for name, change := range map[string]func(*qdrant.Options){
		"addr":              func(o *qdrant.Options) { o.Addr = "http://localhost:6334" },
		"prefix":            func(o *qdrant.Options) { o.Prefix = "a.b" },
		"dim":               func(o *qdrant.Options) { o.Dim = 0 },
		"tenancy":           func(o *qdrant.Options) { o.Tenancy = "each" },
		"quantization":      func(o *qdrant.Options) { o.Quantization = "product" },
		"oversampling":      func(o *qdrant.Options) { o.Oversampling = .5 },
		"hnsw.m":            func(o *qdrant.Options) { o.HNSW.M = 1 },
		"hnsw.ef":           func(o *qdrant.Options) { o.HNSW.Ef = -1 },
		"shards":            func(o *qdrant.Options) { o.Shards = -1 },
		"timeout":           func(o *qdrant.Options) { o.Timeout = -1 },
		"batch":             func(o *qdrant.Options) { o.Batch = -1 },
		"tls.ca_file":       func(o *qdrant.Options) { o.TLS = &qdrant.TLS{CAFile: "/nowhere/ca.pem"} },
		"hnsw.ef_construct": func(o *qdrant.Options) { o.HNSW.EfConstruct = 1 },
	} {
		o := good
		change(&o)
		_, err := qdrant.Open(t.Context(), &o)
		wantError(t, err, memtypes.Invalid, `"`+name+`"`)
	}
	_, err := qdrant.Open(t.Context(), nil)
	wantError(t, err, memtypes.Invalid, `"addr"`)
	s, err := qdrant.Open(t.Context(), &good) // nobody is there: that shows later
	must(t, err)
	must(t, s.Close())
}

// TestMadeForSomethingElse: a collection of other settings is refused before
// anything is read or written, with what was found and what mends it.
func TestMadeForSomethingElse(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		o := qdrant.Options{Prefix: unique(), Fingerprint: "e5-small"}
		t.Cleanup(func() { tidy(t, addr, o.Prefix) })
		first := open(t, addr, o)
		made(t, first, "one")
		must(t, first.Switch(t.Context(), "one"))
		for name, tt := range map[string]struct {
			change func(*qdrant.Options)
			says   []string
		}{
			"dimension": {func(o *qdrant.Options) { o.Dim = 4 }, []string{"found 8 dimensions", "wanted 4 dimensions"}},
			"embedder":  {func(o *qdrant.Options) { o.Fingerprint = "bge-m3" }, []string{"embedder: found e5-small, wanted bge-m3"}},
			"tenancy":   {func(o *qdrant.Options) { o.Tenancy = qdrant.Apart }, []string{"tenancy: found shared, wanted collection"}},
		} {
			other := o
			tt.change(&other)
			s := open(t, addr, other)
			_, err := s.Open(t.Context(), "one")
			wantError(t, err, memtypes.Incompatible, append(tt.says, o.Prefix+".one", "vimbank rebuild")...)
			if name != "dimension" { // a query of another dimension is Invalid for itself
				_, err = s.Serving().Search(t.Context(), ask(t, 1))
				wantError(t, err, memtypes.Incompatible, tt.says...)
			}
			_, err = s.Serving().Len(t.Context())
			wantError(t, err, memtypes.Incompatible, tt.says...)
		}
	})
}

// TestServingOfAnotherEmbedder: another process switches to vectors that this
// one's questions cannot be compared with.
func TestServingOfAnotherEmbedder(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		o := qdrant.Options{Prefix: unique(), Fingerprint: "old"}
		t.Cleanup(func() { tidy(t, addr, o.Prefix) })
		old := open(t, addr, o)
		o.Fingerprint = "new"
		young := open(t, addr, o)
		must(t, made(t, old, "old").Upsert(t.Context(), docs(t, 1)))
		made(t, young, "new")
		must(t, old.Switch(t.Context(), "old"))
		serving := old.Serving()
		wantFound(t, serving, ask(t, 5), 0)
		must(t, young.Switch(t.Context(), "new"))
		_, err := serving.Search(t.Context(), ask(t, 5))
		wantError(t, err, memtypes.Incompatible, "found new, wanted old")
		must(t, old.Switch(t.Context(), "old"))
		wantFound(t, serving, ask(t, 5), 0)
	})
}

// TestStrangeCollections: what others have made under our names.
func TestStrangeCollections(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		prefix, c := unique(), raw(t, addr)
		t.Cleanup(func() { tidy(t, addr, prefix) })
		vectors := qc.NewVectorsConfigMap(map[string]*qc.VectorParams{"text": {Size: 8, Distance: qc.Distance_Cosine}})
		must(t, c.CreateCollection(t.Context(), &qc.CreateCollection{CollectionName: prefix + ".one", VectorsConfig: vectors}))
		must(t, c.CreateCollection(t.Context(), &qc.CreateCollection{CollectionName: prefix + ".two", VectorsConfig: vectors, Metadata: map[string]*qc.Value{"vimbank_format": qc.NewValueInt(7)}}))
		must(t, c.CreateCollection(t.Context(), &qc.CreateCollection{CollectionName: prefix + ".NOT.ours", VectorsConfig: vectors}))
		s := open(t, addr, qdrant.Options{Prefix: prefix})
		_, err := s.Open(t.Context(), "one")
		wantError(t, err, memtypes.Incompatible, "a collection that VIMBank did not make", "vimbank rebuild")
		_, err = s.Open(t.Context(), "two")
		wantError(t, err, memtypes.Incompatible, "format: found 7, wanted 1")
		must(t, c.CreateAlias(t.Context(), prefix, prefix+".NOT.ours"))
		_, err = s.Live(t.Context())
		wantError(t, err, memtypes.Incompatible, "alias "+prefix+" leads to "+prefix+".NOT.ours")
		_, err = s.Serving().Search(t.Context(), ask(t, 1))
		wantError(t, err, memtypes.Incompatible)
		if list, err := s.List(t.Context()); err != nil || len(list) != 2 {
			t.Errorf("List = %q, %v, want one and two", list, err)
		}
	})
}

// TestPayloadIndexes: missing ones are made by opening; one of another type is
// somebody's change.
func TestPayloadIndexes(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		prefix, c := unique(), raw(t, addr)
		t.Cleanup(func() { tidy(t, addr, prefix) })
		s := open(t, addr, qdrant.Options{Prefix: prefix})
		made(t, s, "one")
		name := prefix + ".one"
		all := indexes(t, c, name)
		if len(all) != 11 || all["tenant"] != "Keyword" || all["when"] != "Integer" || all["ver"] != "Integer" || all["gone"] != "Bool" {
			t.Errorf("payload indexes %v, want 11", all)
		}
		_, err := c.DeleteFieldIndex(t.Context(), &qc.DeleteFieldIndexCollection{CollectionName: name, FieldName: "user", Wait: new(true)})
		must(t, err)
		made(t, s, "one")
		if got := indexes(t, c, name); len(got) != len(all) {
			t.Errorf("payload indexes %v after opening, want all again", got)
		}
		_, err = c.DeleteFieldIndex(t.Context(), &qc.DeleteFieldIndexCollection{CollectionName: name, FieldName: "user", Wait: new(true)})
		must(t, err)
		_, err = c.CreateFieldIndex(t.Context(), &qc.CreateFieldIndexCollection{CollectionName: name, FieldName: "user", FieldType: qc.FieldType_FieldTypeInteger.Enum(), Wait: new(true)})
		must(t, err)
		_, err = s.Open(t.Context(), "one")
		wantError(t, err, memtypes.Incompatible, "payload index user: found Integer, wanted Keyword")
	})
}

func indexes(t *testing.T, c *qc.Client, name string) map[string]string {
	t.Helper()
	info, err := c.GetCollectionInfo(t.Context(), name)
	must(t, err)
	out := map[string]string{}
	for key, s := range info.GetPayloadSchema() {
		out[key] = s.GetDataType().String()
	}
	return out
}

// TestCollectionGone: deleted under load, the collection is not made anew by a
// write, which would look like a bank that forgot.
func TestCollectionGone(t *testing.T) {
	for _, tenancy := range []qdrant.Tenancy{qdrant.Shared, qdrant.Apart} {
		t.Run(string(tenancy), func(t *testing.T) {
			everywhere(t, func(t *testing.T, addr string) {
				prefix, c := unique(), raw(t, addr)
				t.Cleanup(func() { tidy(t, addr, prefix) })
				s := open(t, addr, qdrant.Options{Prefix: prefix, Tenancy: tenancy})
				ix := made(t, s, "one")
				must(t, ix.Upsert(t.Context(), docs(t, 3)))
				must(t, s.Switch(t.Context(), "one"))
				for _, name := range owned(t, c, prefix) {
					must(t, c.DeleteCollection(t.Context(), name))
				}
				for _, err := range each(t, ix) {
					wantError(t, err, memtypes.Unavailable, "gone", "vimbank rebuild", prefix+".one")
				}
				for _, err := range each(t, s.Serving()) {
					wantError(t, err, memtypes.Unavailable, "alias "+prefix+" leads nowhere", "vimbank rebuild")
				}
				if left := owned(t, c, prefix); len(left) != 0 {
					t.Errorf("%q were made", left)
				}
			})
		})
	}
}

// TestChangedUnderLoad: a collection that somebody replaced by another.
func TestChangedUnderLoad(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		prefix, c := unique(), raw(t, addr)
		t.Cleanup(func() { tidy(t, addr, prefix) })
		ix := made(t, open(t, addr, qdrant.Options{Prefix: prefix}), "one")
		must(t, c.DeleteCollection(t.Context(), prefix+".one"))
		made(t, open(t, addr, qdrant.Options{Prefix: prefix, Dim: 2 * densetest.Dim}), "one")
		err := ix.Upsert(t.Context(), docs(t, 3))
		wantError(t, err, memtypes.Incompatible, "found 16 dimensions", "wanted 8 dimensions", "vimbank rebuild")
		_, err = ix.Search(t.Context(), ask(t, 1))
		wantError(t, err, memtypes.Incompatible, "found 16 dimensions")
	})
}

func TestOldServer(t *testing.T) {
	for version, found := range map[string]string{"1.15.3": "found version 1.15.3, wanted 1.16 or newer", "who knows": `"who knows"`} {
		s := open(t, qdranttest.New(t, &qdranttest.Options{Version: version}).Addr, qdrant.Options{})
		_, err := s.Open(t.Context(), "one")
		wantError(t, err, memtypes.Incompatible, found)
		_, err = s.Serving().Search(t.Context(), ask(t, 1))
		wantError(t, err, memtypes.Incompatible, found)
	}
	for _, version := range []string{"1.16.0", "1.19.0", "v1.20.1-dev", "2.0.0"} {
		made(t, open(t, qdranttest.New(t, &qdranttest.Options{Version: version}).Addr, qdrant.Options{}), "one")
	}
}
