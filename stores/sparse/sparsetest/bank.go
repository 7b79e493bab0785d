package sparsetest

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/sparse"
)

// id is the n-th ID in order.
func id(n int) memtypes.ID { return memtypes.ID(fmt.Sprintf("%08d-0000-8000-8000-000000000000", n)) }

// scope is a scope that every backend takes.
func scope(tb fataler, tenant, user, agent, run string) memtypes.Scope {
	tb.Helper()
	s, err := memtypes.NewScope(tenant, user, agent, run)
	if err != nil {
		tb.Fatalf("NewScope: %v", err)
	}
	return s
}

// fataler is what testing.TB and rapid.T have in common, as far as needed.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// day is a time to count from.
var day = time.Date(2024, 5, 2, 10, 0, 0, 0, time.UTC)

// doc makes a document of the scope that ann has, with text cut at blanks.
func doc(tb fataler, n int, text string) sparse.Doc {
	tb.Helper()
	return sparse.Doc{
		ID: id(n), Rev: 1,
		Facets: memtypes.Facets{Scope: scope(tb, "", "ann", "", ""), Kind: memtypes.Dialogue, Layer: memtypes.Raw, When: day},
		Fields: map[sparse.Field][]string{sparse.Text: strings.Fields(text)},
	}
}

func docs(tb fataler, texts ...string) []sparse.Doc {
	tb.Helper()
	var out []sparse.Doc
	for i, t := range texts {
		out = append(out, doc(tb, i+1, t))
	}
	return out
}

// query asks ann's memories for words, with the filter ann.
func query(tb fataler, words string) sparse.Query {
	tb.Helper()
	q := sparse.Query{Field: sparse.Text, K: 10, Filter: memtypes.Filter{Scope: scope(tb, "", "ann", "", "")}}
	for _, w := range strings.Fields(words) {
		q.Terms = append(q.Terms, sparse.Term{Token: w})
	}
	return q
}

func upsert(tb fataler, ix sparse.Index, docs ...sparse.Doc) {
	tb.Helper()
	if err := ix.Upsert(context.Background(), docs); err != nil {
		tb.Fatalf("Upsert: %v", err)
	}
}

func gone(tenant string, rev uint64, ids ...memtypes.ID) []memtypes.Gone {
	out := make([]memtypes.Gone, len(ids))
	for i, id := range ids {
		out[i] = memtypes.Gone{ID: id, Tenant: tenant, Rev: rev}
	}
	return out
}

// remove deletes memories of the default tenant.
func remove(tb fataler, ix sparse.Index, rev uint64, ids ...memtypes.ID) {
	tb.Helper()
	removeOf(tb, ix, memtypes.DefaultTenant, rev, ids...)
}

func removeOf(tb fataler, ix sparse.Index, tenant string, rev uint64, ids ...memtypes.ID) {
	tb.Helper()
	if err := ix.Delete(context.Background(), gone(tenant, rev, ids...)); err != nil {
		tb.Fatalf("Delete: %v", err)
	}
}

// holds checks how many memories ix holds.
func holds(tb fataler, ix sparse.Index, want int) {
	tb.Helper()
	if got, err := ix.Len(context.Background()); err != nil || got != want {
		tb.Fatalf("Len = %d, %v, want %d", got, err, want)
	}
}

func search(tb fataler, ix sparse.Index, q sparse.Query) []memtypes.Scored {
	tb.Helper()
	hits, err := ix.Search(context.Background(), q)
	if err != nil {
		tb.Fatalf("Search: %v", err)
	}
	return hits
}

// finds checks the IDs that q finds, in order.
func finds(tb fataler, ix sparse.Index, q sparse.Query, want ...int) {
	tb.Helper()
	var got []string
	for _, h := range search(tb, ix, q) {
		got = append(got, string(h.ID))
	}
	var wanted []string
	for _, n := range want {
		wanted = append(wanted, string(id(n)))
	}
	if strings.Join(got, " ") != strings.Join(wanted, " ") {
		tb.Fatalf("found %v, want %v", got, wanted)
	}
}

// near reports whether two scores are the same but for single precision.
func near(got, want float64) bool { return math.Abs(got-want) <= 1e-5*max(1e-3, math.Abs(want)) }

// scores checks the IDs and scores that q finds, in order.
func scores(tb fataler, ix sparse.Index, q sparse.Query, want ...memtypes.Scored) {
	tb.Helper()
	got := search(tb, ix, q)
	ok := len(got) == len(want)
	for i := 0; ok && i < len(got); i++ {
		ok = got[i].ID == want[i].ID && near(got[i].Score, want[i].Score)
	}
	if !ok {
		tb.Fatalf("found %v, want %v", got, want)
	}
}

func code(tb testing.TB, what string, err error, want memtypes.Code) {
	tb.Helper()
	if err == nil {
		tb.Fatalf("%s: no error, want %q", what, want)
	}
	if got := memtypes.CodeOf(err); got != want {
		tb.Fatalf("%s: code %q (%v), want %q", what, got, err, want)
	}
}
