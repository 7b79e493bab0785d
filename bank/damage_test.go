package bank_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/llm/local"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// words and vectors are the stores below a bank, for who looks past the engine.
func words(t testing.TB, o *bank.Options) *elastic.Store {
	t.Helper()
	c := *o.Services.Elastic
	c.Fingerprint = fingerprint(t)
	s, err := elastic.Open(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func vectors(t testing.TB, o *bank.Options) *qdrant.Store {
	t.Helper()
	table, err := local.Open()
	if err != nil {
		t.Fatal(err)
	}
	c := *o.Services.Qdrant
	c.Dim, c.Fingerprint = table.Dim(), fingerprint(t)
	s, err := qdrant.Open(t.Context(), &c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// fingerprint is what a bank calls the contents of its indexes.
func fingerprint(t testing.TB) string {
	t.Helper()
	table, err := local.Open()
	if err != nil {
		t.Fatal(err)
	}
	return "projection/1 " + table.Fingerprint()
}

// vector is the direction of a text.
func vector(t testing.TB, text string) memtypes.Vector {
	t.Helper()
	table, err := local.Open()
	if err != nil {
		t.Fatal(err)
	}
	vs, err := table.Embed(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	return vs[0]
}

// tells remembers n memories in one call.
func (w *witness) tells(t testing.TB, e *engine.Engine, n int) []memtypes.ID {
	t.Helper()
	ids := make([]memtypes.ID, n)
	for i := range ids {
		var err error
		if ids[i], err = w.remember(e); err != nil {
			t.Fatal(err)
		}
	}
	return ids
}

// next is the id of what will be said n calls of say from now.
func (w *witness) next(t testing.TB, n int) memtypes.ID {
	t.Helper()
	was := w.said
	w.said += n
	m, err := memtypes.New(memtypes.Draft{Scope: w.scope, Kind: memtypes.Knowledge, Text: w.say()}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	w.said = was
	return m.ID
}

// Elasticsearch refuses single items of a bulk request: the others are placed,
// one that it is too busy for is tried again by itself, one that it cannot take
// is a dead letter until somebody has it tried again.
func TestItemsRefusedByOnes(t *testing.T) {
	t.Parallel()
	o := cluster(t)
	direct := patient(o)
	x, url := newTap(t, o.Services.Elastic.URLs[0])
	o.Services.Elastic.URLs = []string{url}
	e := open(t, "", o)
	w := newWitness(t)
	settles(t, e)
	later, never := w.next(t, 1), w.next(t, 3)
	x.mu.Lock()
	x.refuse[later], x.refuse[never] = busy, picky
	x.mu.Unlock()
	ids := w.tells(t, e, 6)
	if ids[1] != later || ids[3] != never {
		t.Fatalf("ids %v, want %s and %s among them", ids, later, never)
	}
	eventually(t, func() error {
		dead, err := e.DeadLetters(t.Context(), "sparse", 10)
		if err == nil && (len(dead) != 1 || dead[0].ID != never || !strings.Contains(dead[0].Reason, "failed to parse")) {
			err = fmt.Errorf("dead letters %+v, want that of %s with the server's reason", dead, never)
		}
		n, lerr := words(t, direct).Serving().Len(t.Context())
		if lerr == nil && n != 4 {
			lerr = fmt.Errorf("%d memories placed, want the 4 that are not refused", n)
		}
		return errors.Join(err, lerr)
	})
	for _, id := range ids { // refused or not, none is lost from sight
		a, err := e.Recall(t.Context(), memtypes.Query{Scope: w.scope, Text: w.texts[id], Quiet: true})
		if err != nil || !slices.ContainsFunc(a.Hits, func(h memtypes.Hit) bool { return h.Memory.ID == id }) {
			t.Errorf("while items are refused, %s is not found: %v", id, err)
		}
	}
	x.accept()
	if n, err := e.RetryDead(t.Context(), "sparse", nil); n != 1 || err != nil {
		t.Errorf("RetryDead = %d, %v, want 1", n, err)
	}
	settles(t, e)
	w.check(t, open(t, "", direct))
}

// Writes that come again after the memory was erased, forgotten or changed, and
// after the service has forgotten its own deletes, change nothing.
func TestLateDuplicate(t *testing.T) {
	t.Parallel()
	o := cluster(t)
	o.Services.Elastic.GCDeletes = time.Second
	direct := patient(o)
	x, url := newTap(t, o.Services.Elastic.URLs[0])
	o.Services.Elastic.URLs = []string{url}
	e := open(t, "", o)
	w := newWitness(t)
	ids := w.tells(t, e, 6)
	settles(t, e)
	late := x.requests()
	var old []dense.Doc
	for _, id := range ids {
		m, err := e.Get(t.Context(), w.scope, id)
		if err != nil {
			t.Fatal(err)
		}
		old = append(old, dense.Doc{ID: id, Rev: m.Rev, Cause: m.Rev, Facets: memtypes.FacetsOf(&m), Text: vector(t, m.Text)})
	}
	if err := e.Erase(t.Context(), w.scope, "test", ids[0]); err != nil {
		t.Fatal(err)
	}
	w.note(ids[0], "", nil)
	if err := errors.Join(w.forget(e, ids[1]), w.update(e, ids[2])); err != nil {
		t.Fatal(err)
	}
	settles(t, e)
	time.Sleep(2500 * time.Millisecond)      // more than gc_deletes, and than the second in which a server looks for it
	if _, err := w.remember(e); err != nil { // which has it look
		t.Fatal(err)
	}
	settles(t, e)
	x.replay(t, late)
	if err := vectors(t, direct).Serving().Upsert(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	live.HTTP(t, http.MethodPost, direct.Services.Elastic.URLs[0]+"/"+direct.Services.Elastic.Prefix+".*/_refresh", "")
	if len(late) == 0 || !strings.Contains(late[0].body+late[len(late)-1].body, string(ids[0])) {
		t.Errorf("%d requests came again, want those of the first memory", len(late))
	}
	w.check(t, open(t, "", direct))
}

// generations are those that serve.
func generations(t testing.TB, e *engine.Engine) map[string]string {
	t.Helper()
	h, err := e.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, x := range h.Indexes {
		if x.Live {
			out[x.Index] = x.Generation
		}
	}
	return out
}

// indices are those of a generation, the list of them included.
func indices(t testing.TB, o *bank.Options, generation string) []string {
	t.Helper()
	return strings.Fields(live.HTTP(t, http.MethodGet, o.Services.Elastic.URLs[0]+"/_cat/indices/"+generation+"*?h=index", ""))
}

// vandalism is what somebody does with a terminal.
type vandalism struct {
	name, backend string
	// do takes the name of the live index or collection.
	do func(t testing.TB, o *bank.Options, name string)
	// heals: the next who opens the bank mends it, without a rebuild.
	heals bool
	finds string // said by the doctor
}

func vandalisms() []vandalism {
	drop := func(t testing.TB, o *bank.Options, index string) {
		live.HTTP(t, http.MethodDelete, o.Services.Elastic.URLs[0]+"/"+index, "")
	}
	return []vandalism{
		{"collection deleted", "dense", func(t testing.TB, o *bank.Options, name string) {
			live.DropCollection(t, o.Services.Qdrant.Addr, name)
		}, true, "leads nowhere"},
		{"alias of vectors removed", "dense", func(t testing.TB, o *bank.Options, _ string) {
			live.DropAlias(t, o.Services.Qdrant.Addr, o.Services.Qdrant.Prefix)
		}, true, "leads nowhere"},
		{"generation of words deleted", "sparse", func(t testing.TB, o *bank.Options, name string) {
			for _, index := range indices(t, o, name) {
				drop(t, o, index)
			}
		}, true, "points nowhere"},
		{"index of a tenant deleted", "sparse", func(t testing.TB, o *bank.Options, name string) {
			for _, index := range indices(t, o, name) {
				if index != name { // which is the list
					drop(t, o, index)
				}
			}
		}, false, "the list says that it held memories"},
		{"alias of words removed", "sparse", func(t testing.TB, o *bank.Options, name string) {
			live.HTTP(t, http.MethodDelete, o.Services.Elastic.URLs[0]+"/"+name+"/_alias/"+o.Services.Elastic.Prefix, "")
		}, true, "points nowhere"},
	}
}

// What somebody deletes while nobody looks, the doctor names with what mends
// it; and while it is in use, it costs no memory.
func TestDeletedByHand(t *testing.T) {
	for _, v := range vandalisms() {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			o := cluster(t)
			e := open(t, "", o)
			w := newWitness(t)
			w.tells(t, e, 10)
			settles(t, e)
			name := func() string { return o.Services.Qdrant.Prefix + "." + generations(t, e)[v.backend] }
			here := name()
			shut(t, e)
			v.do(t, o, here)
			told(t, bank.Findings(t.Context(), o), v)
			e = open(t, "", o)
			mended(t, e, w, v)
			settles(t, e)
			w.check(t, open(t, "", patient(o)))
			if testing.Short() {
				return
			}
			here = name()
			seen := w.under(t, func() {
				time.Sleep(200 * time.Millisecond)
				v.do(t, o, here)
				time.Sleep(time.Second)
				mended(t, e, w, v)
			}, e)
			for _, o := range seen {
				if o.err != nil {
					t.Errorf("%s: %v, want no error while the ledger and an index are there", o.op, o.err)
				}
			}
			settles(t, e)
			w.check(t, open(t, "", patient(o)))
		})
	}
}

// told fails unless the doctor's findings name v and what mends it.
func told(t testing.TB, found []memtypes.Finding, v vandalism) {
	t.Helper()
	for _, f := range found {
		if !f.OK && f.Part == v.backend && strings.Contains(f.Found+f.Wanted, v.finds) && strings.Contains(f.Mend, "vimbank rebuild") {
			return
		}
	}
	t.Errorf("findings %+v, want one of %s that says %q and `vimbank rebuild`", found, v.backend, v.finds)
}

// mended waits until all is well again by itself, or until the health names
// what is wrong, and rebuilds.
func mended(t testing.TB, e *engine.Engine, w *witness, v vandalism) {
	t.Helper()
	if v.heals {
		answers(t, e)
		return
	}
	if _, err := w.remember(e); err != nil {
		t.Errorf("Remember: %v, want it kept in the ledger", err)
	}
	eventually(t, func() error {
		h, err := e.Health(t.Context())
		if err == nil && !slices.ContainsFunc(h.Indexes, func(x engine.IndexHealth) bool {
			return x.Index == v.backend && strings.Contains(x.Error, "vimbank rebuild") && x.Owed > 0
		}) {
			err = fmt.Errorf("health %+v, want %s with an error that names `vimbank rebuild`, and what waits", h, v.backend)
		}
		return err
	})
	if err := e.Rebuild(t.Context(), nil); err != nil {
		t.Fatalf("Rebuild: %v", err)
	}
	answers(t, e)
}
