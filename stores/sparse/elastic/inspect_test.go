package elastic_test

import (
	"strings"
	"testing"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// check gives the findings about one thing.
func check(s *elastic.Store, t *testing.T, name string) []memtypes.Finding {
	var out []memtypes.Finding
	for _, f := range s.Inspect(t.Context()) {
		if f.Part != "sparse" || f.Check == "" || f.Found == "" || !f.OK && (f.Wanted == "" || f.Mend == "") {
			t.Errorf("%+v lacks something", f)
		}
		if f.Check == name {
			out = append(out, f)
		}
	}
	return out
}

// wrong checks that the one finding about name is not OK, with words in it.
func wrong(t *testing.T, s *elastic.Store, name string, words ...string) {
	t.Helper()
	for _, f := range check(s, t, name) {
		all := f.Found + f.Wanted + f.Mend
		ok := !f.OK
		for _, w := range words {
			ok = ok && strings.Contains(all, w)
		}
		if ok {
			return
		}
	}
	t.Errorf("%s: got %+v, want one that is not OK with %q in it", name, check(s, t, name), words)
}

func TestInspect(t *testing.T) {
	o := options(t)
	s := store(t, o)
	wrong(t, s, "alias", "points nowhere", "vimbank rebuild")
	wrong(t, s, "template", o.Prefix)
	ix := generation(t, s, "g")
	upsert(t, ix, doc(t, "acme", 1, 1, "cat"), doc(t, "beta", 1, 1, "cat"))
	if err := s.Switch(t.Context(), "g"); err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Inspect(t.Context()) {
		if !f.OK {
			t.Errorf("%+v, want it OK", f)
		}
	}
	for _, name := range []string{"reachable", "version", "security", "permissions", "licence", "health", "disk", "template", "alias", "mapping"} {
		if got := check(s, t, name); len(got) != 1 {
			t.Errorf("found %+v about %s, want one finding", got, name)
		}
	}
	do := func(r esapi.Request) {
		t.Helper()
		if err := s.Do(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
	}
	do(esapi.IndicesPutSettingsRequest{Index: []string{ix.IndexOf("beta")}, Body: strings.NewReader(`{"index.blocks.write": true}`)})
	wrong(t, s, "settings", ix.IndexOf("beta"), "index.blocks")
	code(t, "Upsert into a blocked index", ix.Upsert(t.Context(), docs1(t, "beta")), memtypes.Unavailable)
	do(esapi.IndicesPutSettingsRequest{Index: []string{ix.IndexOf("beta")}, Body: strings.NewReader(`{"index.blocks.write": null}`)})
	mapping(t, s, ix.IndexOf("beta"), `{"properties": {"title": {"type": "text"}}}`)
	wrong(t, s, "mapping", ix.IndexOf("beta"), "title", "vimbank rebuild")
	drop(t, s, ix.IndexOf("beta"))
	wrong(t, s, "mapping", "no index "+ix.IndexOf("beta"), "vimbank rebuild")
	do(esapi.IndicesDeleteAliasRequest{Index: []string{ix.List()}, Name: []string{o.Prefix}})
	wrong(t, s, "alias", "points nowhere")
}

// TestFullDisk: an index that Elasticsearch has closed to writes because its disk
// is full is Full, with the mend, and no document is blamed.
func TestFullDisk(t *testing.T) {
	s := store(t, options(t))
	ix := generation(t, s, "g")
	upsert(t, ix, doc(t, "acme", 1, 1, "cat"))
	for _, v := range []string{"true", "null"} {
		r := esapi.IndicesPutSettingsRequest{Index: []string{ix.IndexOf("acme")}, Body: strings.NewReader(`{"index.blocks.read_only_allow_delete": ` + v + `}`)}
		if err := s.Do(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
		err := ix.Upsert(t.Context(), docs1(t, "acme"))
		if v == "null" {
			if err != nil {
				t.Fatalf("Upsert after there is room again: %v", err)
			}
			continue
		}
		code(t, "Upsert", err, memtypes.Full)
		if strings.Contains(err.Error(), string(id(1))) || !strings.Contains(err.Error(), "free space") {
			t.Errorf("got %v, want the disk blamed, not the memory", err)
		}
		finds(t, ix, query(t, "acme", "cat"), 1)
	}
}
