package elastic_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// TestLateDuplicateAfterDelete: Elasticsearch forgets a delete after gc_deletes;
// a tombstone is not forgotten, whatever comes late.
func TestLateDuplicateAfterDelete(t *testing.T) {
	o := options(t)
	o.GCDeletes = time.Second
	ix := generation(t, store(t, o), "g")
	upsert(t, ix, doc(t, "acme", 1, 3, "cat"), doc(t, "acme", 2, 4, "cat"))
	remove(t, ix, "acme", 5, 1)
	time.Sleep(3 * time.Second) // gc_deletes, and the next pass of the engine
	upsert(t, ix, doc(t, "acme", 3, 6, "dog"))
	upsert(t, ix, doc(t, "acme", 1, 3, "cat"))
	finds(t, ix, query(t, "acme", "cat"), 2)
	upsert(t, ix, doc(t, "acme", 1, 5, "cat")) // as new as the delete
	finds(t, ix, query(t, "acme", "cat"), 1, 2)
}

// TestSweep: tombstones below the horizon go, and nothing else.
func TestSweep(t *testing.T) {
	o := options(t)
	o.GCDeletes = time.Millisecond
	ix := generation(t, store(t, o), "g")
	for n := range 6 {
		upsert(t, ix, doc(t, "acme", n, uint64(n+1), "cat"))
	}
	for n := range 4 {
		remove(t, ix, "acme", uint64(10+n), n)
	}
	remove(t, ix, "beta", 11, 50)
	n, err := ix.Sweep(t.Context(), 12)
	if err != nil || n != 3 {
		t.Fatalf("Sweep = %d, %v, want 3 tombstones of revisions 10, 11 and 11", n, err)
	}
	finds(t, ix, query(t, "acme", "cat"), 4, 5)
	if n, err := ix.Len(t.Context()); err != nil || n != 2 {
		t.Fatalf("Len = %d, %v, want 2", n, err)
	}
	if n, err = ix.Sweep(t.Context(), 12); err != nil || n != 0 {
		t.Fatalf("Sweep again = %d, %v, want 0", n, err)
	}
	upsert(t, ix, doc(t, "acme", 2, 2, "cat")) // its tombstone, of 12, is still there
	finds(t, ix, query(t, "acme", "cat"), 4, 5)
}

// TestTombstonesAreNeutral: what never was and what was deleted are alike to the
// statistics that scores are made of, once segments have merged.
func TestTombstonesAreNeutral(t *testing.T) {
	ix := generation(t, store(t, options(t)), "g")
	mine, _ := sparse.Open(nil)
	for _, d := range []sparse.Doc{doc(t, "acme", 1, 1, "cat", "sees", "a", "cat"), doc(t, "acme", 2, 1, "the", "cat"), doc(t, "acme", 3, 1, "a", "dog", "runs")} {
		upsert(t, ix, d)
		upsert(t, mine, d)
	}
	for n := range 50 { // never held
		remove(t, ix, "acme", 9, 100+n)
	}
	alike(t, mine, ix, query(t, "acme", "cat", "dog"))
	want, _ := mine.Statistics(t.Context(), "acme", sparse.Text, []string{"cat", "dog"})
	if got, err := ix.Statistics(t.Context(), "acme", sparse.Text, []string{"cat", "dog"}); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("Statistics = %v, %v, want %v", got, err, want)
	}
}

// TestCause: a doc that was made for a later change wins over one of the same
// revision that was not, in whatever order they come.
func TestCause(t *testing.T) {
	ix := generation(t, store(t, options(t)), "g")
	old, later := doc(t, "acme", 1, 3, "old"), doc(t, "acme", 1, 3, "new")
	old.Cause, later.Cause = 4, 8
	upsert(t, ix, later)
	upsert(t, ix, old)
	finds(t, ix, query(t, "acme", "old", "new"), 1)
	finds(t, ix, query(t, "acme", "old"))
	remove(t, ix, "acme", 7, 1) // the removal was before
	finds(t, ix, query(t, "acme", "new"), 1)
	for h, err := range ix.Revs(t.Context()) {
		if err != nil || h.Rev != 3 {
			t.Fatalf("Revs gives %v, %v, want revision 3", h, err)
		}
	}
}

// TestTokensAsTheyCome: a token is one token, byte for byte, whatever is in it.
func TestTokensAsTheyCome(t *testing.T) {
	ix := generation(t, store(t, options(t)), "g")
	tokens := []string{"two words", "two", `"quoted"`, "tab\tnew\nline", "<b>&amp;", "\x00nul", "\u3000", "a\u00a0b", "\x1a20;", "İstanbul", "\u00e9", "e\u0301", "😀", "爱", strings.Repeat("long", 5000), " ", "_all", "*", "a*", "\u2028"}
	for n, token := range tokens {
		upsert(t, ix, doc(t, "acme", n, 1, token))
	}
	for n, token := range tokens {
		finds(t, ix, query(t, "acme", token), n)
	}
	finds(t, ix, query(t, "acme", "words"))
	q := query(t, "acme", tokens...)
	got, err := ix.Highlight(t.Context(), q, []memtypes.ID{id(0), id(3), id(12), id(77)})
	if want := fmt.Sprint(map[memtypes.ID][]string{id(0): {"two words"}, id(3): {"tab\tnew\nline"}, id(12): {"😀"}}); err != nil || fmt.Sprint(got) != want {
		t.Fatalf("Highlight = %v, %v, want %v", got, err, want)
	}
}

// TestHighlight names the tokens of the query that a memory holds, and keeps to
// the filter.
func TestHighlight(t *testing.T) {
	ix := generation(t, store(t, options(t)), "g")
	bob := doc(t, "acme", 3, 1, "cat")
	bob.Facets.Scope = scope(t, "acme", "bob")
	upsert(t, ix, doc(t, "acme", 1, 1, "cat", "dog", "cat"), doc(t, "acme", 2, 1, "kitten"), bob, doc(t, "acme", 4, 1, "fish"))
	q := query(t, "acme", "dog")
	q.Terms = append(q.Terms, sparse.Term{Token: "cat", Near: []sparse.Near{{Token: "kitten", Weight: .5}, {Token: "dog", Weight: .2}}})
	got, err := ix.Highlight(t.Context(), q, []memtypes.ID{id(1), id(2), id(3), id(4)})
	if want := fmt.Sprint(map[memtypes.ID][]string{id(1): {"cat", "dog"}, id(2): {"kitten"}}); err != nil || fmt.Sprint(got) != want {
		t.Fatalf("Highlight = %v, %v, want %v", got, err, want)
	}
}

// TestPoison: a document that Elasticsearch never takes is named, and does not
// hold up the others of its batch.
func TestPoison(t *testing.T) {
	ix := generation(t, store(t, options(t)), "g")
	session := doc(t, "acme", 2, 1, "cat")
	session.Facets.Session = strings.Repeat("s", 33_000) // more than a term may have
	err := ix.Upsert(t.Context(), []sparse.Doc{
		doc(t, "acme", 1, 1, "cat"), session, doc(t, "beta", 3, 1, "cat"),
		{ID: memtypes.ID(strings.Repeat("i", 600)), Rev: 1, Facets: doc(t, "acme", 1, 1).Facets},
	})
	code(t, "Upsert", err, memtypes.Invalid)
	r, ok := errors.AsType[*memtypes.Rejected](err)
	if !ok || len(r.Items) != 2 || memtypes.CodeOf(r.Items[id(2)]) != memtypes.Invalid {
		t.Fatalf("got %v, want the second and the fourth refused as invalid", err)
	}
	finds(t, ix, query(t, "acme", "cat"), 1)
	finds(t, ix, query(t, "beta", "cat"), 3)
}

// TestRefresh: by default a write returns when searches find it, and with Later
// a listing has all that was acknowledged.
func TestRefresh(t *testing.T) {
	for _, refresh := range []elastic.Refresh{elastic.Wait, elastic.Later} {
		t.Run(string(refresh), func(t *testing.T) {
			o := options(t)
			o.Refresh = refresh
			ix := generation(t, store(t, o), "g")
			upsert(t, ix, doc(t, "acme", 1, 1, "cat"))
			upsert(t, ix, doc(t, "acme", 2, 1, "cat"))
			if n, err := ix.Len(t.Context()); err != nil || n != 2 {
				t.Fatalf("Len = %d, %v, want 2", n, err)
			}
			finds(t, ix, query(t, "acme", "cat"), 1, 2)
		})
	}
}

// TestBatches: a write of many documents is cut by number and by bytes, and
// complete.
func TestBatches(t *testing.T) {
	for _, o := range []elastic.Options{{BatchDocs: 7}, {BatchBytes: 1000}, {BatchBytes: 1}} {
		opt := options(t)
		opt.BatchDocs, opt.BatchBytes = o.BatchDocs, o.BatchBytes
		ix := generation(t, store(t, opt), "g")
		var docs []sparse.Doc
		for n := range 50 {
			docs = append(docs, doc(t, "acme", n, 1, "cat"))
		}
		upsert(t, ix, docs...)
		if got := found(t, ix, query(t, "acme", "cat")); len(got) != 50 {
			t.Fatalf("%+v: found %d memories, want 50", o, len(got))
		}
	}
}

// TestFirstWritesTogether: many processes that write for the same new tenants at
// once make each index once, and lose nothing.
func TestFirstWritesTogether(t *testing.T) {
	o := options(t)
	first := store(t, o)
	generation(t, first, "g")
	var wg sync.WaitGroup
	for w := range 6 {
		s, err := elastic.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		wg.Go(func() {
			ix, err := s.Open(t.Context(), "g")
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			for n := range 3 {
				if err := ix.Upsert(t.Context(), []sparse.Doc{doc(t, fmt.Sprint("tenant", n), w, 1, "cat")}); err != nil {
					t.Errorf("Upsert: %v", err)
				}
			}
		})
	}
	wg.Wait()
	ix := generation(t, first, "g")
	for n := range 3 {
		finds(t, ix, query(t, fmt.Sprint("tenant", n), "cat"), 0, 1, 2, 3, 4, 5)
	}
}

// TestIndexDeletedUnderLoad: an index that somebody deletes while it is written
// to is an error that names the mend. It is not made again in silence, nor by a
// write with a mapping of its own.
func TestIndexDeletedUnderLoad(t *testing.T) {
	s := store(t, options(t))
	ix := generation(t, s, "g")
	upsert(t, ix, doc(t, "acme", 1, 1, "cat"), doc(t, "beta", 1, 1, "cat"))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 2; ; n++ {
			select {
			case <-stop:
				return
			default:
				_ = ix.Upsert(t.Context(), []sparse.Doc{doc(t, "acme", n, uint64(n), "cat")})
			}
		}
	}()
	time.Sleep(100 * time.Millisecond)
	if err := s.Do(t.Context(), esapi.IndicesDeleteRequest{Index: []string{ix.IndexOf("acme")}}, nil); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	close(stop)
	<-done
	lost := func(what string, err error) {
		t.Helper()
		code(t, what, err, memtypes.Unavailable)
		if !strings.Contains(err.Error(), ix.IndexOf("acme")) || !strings.Contains(err.Error(), "vimbank rebuild") {
			t.Errorf("%s: %v, want the index and `vimbank rebuild` named", what, err)
		}
	}
	lost("Upsert", ix.Upsert(t.Context(), []sparse.Doc{doc(t, "acme", 1, 9, "cat")}))
	_, err := ix.Search(t.Context(), query(t, "acme", "cat"))
	lost("Search", err)
	_, err = ix.DocFreq(t.Context(), "acme", sparse.Text, []string{"cat"})
	lost("DocFreq", err)
	finds(t, ix, query(t, "beta", "cat"), 1) // another tenant's stands
	finds(t, ix, query(t, "nobody", "cat"))  // who never wrote has no memories

	if err := s.Do(t.Context(), esapi.IndicesDeleteRequest{Index: []string{ix.List()}}, nil); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"Upsert for a new tenant": ix.Upsert(t.Context(), []sparse.Doc{doc(t, "new", 1, 9, "cat")}),
		"Search for a new tenant": func() error { _, err := ix.Search(t.Context(), query(t, "new", "cat")); return err }(),
		"Len":                     func() error { _, err := ix.Len(t.Context()); return err }(),
		"Revs": func() (err error) {
			for _, err = range ix.Revs(t.Context()) {
			}
			return err
		}(),
	} {
		code(t, what, err, memtypes.Unavailable)
		if !strings.Contains(err.Error(), "vimbank rebuild") {
			t.Errorf("%s: %v, want `vimbank rebuild` named", what, err)
		}
	}
}
