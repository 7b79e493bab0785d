package elastic_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

func isLive(t *testing.T, s *elastic.Store, want string) {
	t.Helper()
	if got, err := s.Live(t.Context()); err != nil || got != want {
		t.Fatalf("Live = %q, %v, want %q", got, err, want)
	}
}

func list(t *testing.T, s *elastic.Store, want ...string) {
	t.Helper()
	if got, err := s.List(t.Context()); err != nil || !slices.Equal(got, want) {
		t.Fatalf("List = %v, %v, want %v", got, err, want)
	}
}

// TestGenerations: a new one is made beside the live one, takes its place in one
// step for all tenants, and the old one goes.
func TestGenerations(t *testing.T) {
	s := store(t, options(t))
	serving := s.Serving()
	isLive(t, s, "")
	list(t, s)
	_, err := serving.Search(t.Context(), query(t, "acme", "cat"))
	code(t, "Search without a generation", err, memtypes.Unavailable)
	code(t, "Switch to none", s.Switch(t.Context(), "g1"), memtypes.NotFound)

	one := generation(t, s, "g1")
	upsert(t, one, doc(t, "acme", 1, 1, "cat"), doc(t, "beta", 1, 1, "cat"))
	_, err = serving.Search(t.Context(), query(t, "acme", "cat"))
	code(t, "Search before the switch", err, memtypes.Unavailable)
	for range 2 {
		if err := s.Switch(t.Context(), "g1"); err != nil {
			t.Fatalf("Switch: %v", err)
		}
	}
	isLive(t, s, "g1")
	finds(t, serving, query(t, "acme", "cat"), 1)

	two := generation(t, s, "g1-b") // begins as the other does
	list(t, s, "g1", "g1-b")
	upsert(t, two, doc(t, "acme", 2, 1, "cat"))
	finds(t, serving, query(t, "acme", "cat"), 1)
	code(t, "Drop of the live one", s.Drop(t.Context(), "g1"), memtypes.Conflict)
	if err := s.Switch(t.Context(), "g1-b"); err != nil {
		t.Fatalf("Switch: %v", err)
	}
	isLive(t, s, "g1-b")
	finds(t, serving, query(t, "acme", "cat"), 2)
	finds(t, serving, query(t, "beta", "cat")) // there in the old one only
	upsert(t, serving, doc(t, "late", 3, 1, "cat"))
	finds(t, two, query(t, "late", "cat"), 3)
	if n, err := serving.Len(t.Context()); err != nil || n != 2 {
		t.Fatalf("Len = %d, %v, want 2", n, err)
	}
	for range 2 {
		if err := s.Drop(t.Context(), "g1"); err != nil {
			t.Fatalf("Drop: %v", err)
		}
	}
	list(t, s, "g1-b")
	finds(t, serving, query(t, "acme", "cat"), 2)
	_, err = one.Search(t.Context(), query(t, "acme", "cat"))
	code(t, "Search in a dropped generation", err, memtypes.Unavailable)
	for _, bad := range []string{"", "G", "a.b", "a*", strings.Repeat("x", 65), "ä"} {
		_, err := s.Open(t.Context(), bad)
		code(t, "Open of "+bad, err, memtypes.Invalid)
		code(t, "Switch to "+bad, s.Switch(t.Context(), bad), memtypes.Invalid)
		code(t, "Drop of "+bad, s.Drop(t.Context(), bad), memtypes.Invalid)
	}
}

// TestServingElsewhere: another process's switch shows in the next call, though
// this one has asked before.
func TestServingElsewhere(t *testing.T) {
	o := options(t)
	here, there := store(t, o), store(t, o)
	serving := here.Serving()
	for n := range 6 {
		name := fmt.Sprint("g", n)
		upsert(t, generation(t, there, name), doc(t, "acme", n, 1, "cat"))
		if err := there.Switch(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		finds(t, serving, query(t, "acme", "cat"), n)
		freq, err := serving.(sparse.Frequencies).DocFreq(t.Context(), "acme", sparse.Text, []string{"cat", "dog"})
		if err != nil || fmt.Sprint(freq) != "[1 0]" {
			t.Fatalf("DocFreq = %v, %v, want [1 0]", freq, err)
		}
		if n > 0 {
			if err := there.Drop(t.Context(), fmt.Sprint("g", n-1)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestSwitchTogether: switches at once leave one generation live, and searches
// meanwhile find that of one or the other.
func TestSwitchTogether(t *testing.T) {
	o := options(t)
	s := store(t, o)
	for n := range 3 {
		upsert(t, generation(t, s, fmt.Sprint("g", n)), doc(t, "acme", n, 1, "cat"))
	}
	if err := s.Switch(t.Context(), "g0"); err != nil {
		t.Fatal(err)
	}
	serving := s.Serving()
	var wg sync.WaitGroup
	for n := range 3 {
		wg.Go(func() {
			for range 5 {
				if err := s.Switch(t.Context(), fmt.Sprint("g", n)); err != nil && memtypes.CodeOf(err) != memtypes.Conflict {
					t.Errorf("Switch: %v", err)
				}
				if hits, err := serving.Search(t.Context(), query(t, "acme", "cat")); err != nil || len(hits) != 1 {
					t.Errorf("Search = %v, %v, want one memory", hits, err)
				}
			}
		})
	}
	wg.Wait()
	if got, err := s.Live(t.Context()); err != nil || !strings.HasPrefix(got, "g") {
		t.Fatalf("Live = %q, %v, want one", got, err)
	}
}

// TestAliasElsewhere: an alias that somebody put on something else is named.
func TestAliasElsewhere(t *testing.T) {
	o := options(t)
	s := store(t, o)
	ix := generation(t, s, "g")
	upsert(t, ix, doc(t, "acme", 1, 1, "cat"))
	err := s.Do(t.Context(), esapi.IndicesPutAliasRequest{Index: []string{ix.IndexOf("acme")}, Name: o.Prefix}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Live(t.Context())
	code(t, "Live", err, memtypes.Incompatible)
	if !strings.Contains(err.Error(), ix.IndexOf("acme")) {
		t.Errorf("got %v, want the index named", err)
	}
}

// TestOtherMaking: what was made in another way, or changed since, is refused,
// with what was found and what was wanted.
func TestOtherMaking(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*testing.T, *elastic.Store, *elastic.Index, *elastic.Options)
		words  string
	}{
		{"another tokenizer", func(_ *testing.T, _ *elastic.Store, _ *elastic.Index, o *elastic.Options) { o.Fingerprint = "other" }, "tokens:other"},
		{"another tenancy", func(_ *testing.T, _ *elastic.Store, _ *elastic.Index, o *elastic.Options) { o.Tenancy = elastic.Shared }, "tenancy:shared"},
		{"one field more", func(t *testing.T, s *elastic.Store, ix *elastic.Index, _ *elastic.Options) {
			mapping(t, s, ix.IndexOf("acme"), `{"properties": {"title": {"type": "text"}}}`)
		}, "field title"},
		{"any field taken", func(t *testing.T, s *elastic.Store, ix *elastic.Index, _ *elastic.Options) {
			mapping(t, s, ix.IndexOf("acme"), `{"dynamic": true}`)
		}, "dynamic"},
		{"another index in its place", func(t *testing.T, s *elastic.Store, ix *elastic.Index, _ *elastic.Options) {
			drop(t, s, ix.IndexOf("acme"))
			r := esapi.IndicesCreateRequest{Index: ix.IndexOf("acme"), Body: strings.NewReader(`{"mappings": {"properties": {"id": {"type": "keyword"}}}}`)}
			if err := s.Do(t.Context(), r, nil); err != nil {
				t.Fatal(err)
			}
			s.Do(t.Context(), esapi.IndicesPutAliasRequest{Index: []string{ix.IndexOf("acme")}, Name: ix.IndexOf("acme") + ".w"}, nil)
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options(t)
			s := store(t, o)
			ix := generation(t, s, "g")
			upsert(t, ix, doc(t, "acme", 1, 1, "cat"))
			again := *o
			tt.change(t, s, ix, &again)
			if tt.words == "" { // the template has made it as it should be
				finds(t, ix, query(t, "acme", "cat"))
				return
			}
			other := store(t, &again)
			_, err := other.Open(t.Context(), "g")
			code(t, "Open", err, memtypes.Incompatible)
			for _, w := range []string{tt.words, "vimbank rebuild", "found", "wanted"} {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("got %v, want %q in it", err, w)
				}
			}
		})
	}
}

func mapping(t *testing.T, s *elastic.Store, index, change string) {
	t.Helper()
	if err := s.Do(t.Context(), esapi.IndicesPutMappingRequest{Index: []string{index}, Body: strings.NewReader(change)}, nil); err != nil {
		t.Fatal(err)
	}
}

func drop(t *testing.T, s *elastic.Store, index string) {
	t.Helper()
	if err := s.Do(t.Context(), esapi.IndicesDeleteRequest{Index: []string{index}}, nil); err != nil {
		t.Fatal(err)
	}
}

// TestForeignIndex: an index without VIMBank's mapping in the place of a tenant's
// gives no answers, neither wrong ones nor empty ones.
func TestForeignIndex(t *testing.T) {
	s := store(t, options(t))
	ix := generation(t, s, "g")
	upsert(t, ix, doc(t, "acme", 1, 1, "cat"))
	if err := s.Do(t.Context(), esapi.IndicesDeleteIndexTemplateRequest{Name: s.Prefix()}, nil); err != nil {
		t.Fatal(err)
	}
	drop(t, s, ix.IndexOf("acme"))
	for _, r := range []esapi.Request{
		esapi.IndicesCreateRequest{Index: ix.IndexOf("acme"), Body: strings.NewReader(`{"mappings": {"dynamic": "strict"}}`)},
		esapi.IndicesPutAliasRequest{Index: []string{ix.IndexOf("acme")}, Name: ix.IndexOf("acme") + ".w"},
	} {
		if err := s.Do(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err := ix.Search(t.Context(), query(t, "acme", "cat"))
	code(t, "Search", err, memtypes.Incompatible)
	code(t, "Upsert", ix.Upsert(t.Context(), []sparse.Doc{doc(t, "acme", 1, 2, "cat")}), memtypes.Incompatible)
	_, err = s.Open(t.Context(), "g")
	code(t, "Open", err, memtypes.Incompatible)
}
