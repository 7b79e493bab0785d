package densetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

// RunGenerations checks the generations that open makes. Each must have none,
// make indexes of dimension Dim, and is closed by RunGenerations, perhaps more
// than once; what it then still holds is open's to clear away.
func RunGenerations(t *testing.T, open func(testing.TB) dense.Generations) {
	for _, c := range []struct {
		name string
		test func(*testing.T, dense.Generations)
	}{
		{"None", none},
		{"Names", names},
		{"Open", opens},
		{"Switch", switches},
		{"SwitchWhileSearching", switchesWhileSearching},
		{"DropWhileSearching", dropsWhileSearching},
		{"Drop", drops},
		{"CanceledGenerations", canceledGenerations},
		{"ClosedGenerations", closedGenerations},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := open(t)
			t.Cleanup(func() { g.Close() })
			c.test(t, g)
		})
	}
}

func none(t *testing.T, g dense.Generations) {
	wantLive(t, g, "")
	wantList(t, g)
	if err := g.Drop(t.Context(), "one"); err != nil {
		t.Errorf("Drop of an unknown one: %v, want no error", err)
	}
	wantCode(t, g.Switch(t.Context(), "one"), memtypes.NotFound)
	wantLive(t, g, "")
	wantUnavailable(t, g.Serving())
	generation(t, g, "one") // not live by being there
	wantLive(t, g, "")
	wantUnavailable(t, g.Serving())
}

func names(t *testing.T, g dense.Generations) {
	for _, bad := range []string{"", "One", "a.b", "a_b", "ä", "a b", strings.Repeat("x", 65)} {
		_, err := g.Open(t.Context(), bad)
		wantCode(t, err, memtypes.Invalid)
		wantCode(t, g.Switch(t.Context(), bad), memtypes.Invalid)
		wantCode(t, g.Drop(t.Context(), bad), memtypes.Invalid)
	}
	long := strings.Repeat("x-9", 21) + "y"
	generation(t, g, long)
	wantList(t, g, long)
}

// opens: a generation is the same whoever opens it, and apart from others.
func opens(t *testing.T, g dense.Generations) {
	one, two := generation(t, g, "one"), generation(t, g, "one-two")
	upsert(t, one, doc(t, 1, east))
	upsert(t, two, doc(t, 2, east), doc(t, 3, north))
	again := generation(t, g, "one")
	wantHeld(t, again, map[memtypes.ID]uint64{id(1): 1})
	wantHeld(t, two, map[memtypes.ID]uint64{id(2): 1, id(3): 1})
	if err := again.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wantIDs(t, one, ask(t, east, 5), id(1)) // each handle is closed for itself
	wantList(t, g, "one", "one-two")
}

func switches(t *testing.T, g dense.Generations) {
	a, b := generation(t, g, "a"), generation(t, g, "b")
	upsert(t, a, doc(t, 1, east))
	upsert(t, b, doc(t, 2, east))
	serving := g.Serving()
	for _, step := range []struct {
		to   string
		want memtypes.ID
	}{{"a", id(1)}, {"b", id(2)}, {"b", id(2)}, {"a", id(1)}} {
		if err := g.Switch(t.Context(), step.to); err != nil {
			t.Fatalf("Switch to %s: %v", step.to, err)
		}
		wantLive(t, g, step.to)
		wantIDs(t, serving, ask(t, east, 5), step.want)
		wantHeld(t, serving, map[memtypes.ID]uint64{step.want: 1})
	}
	wantCode(t, g.Switch(t.Context(), "c"), memtypes.NotFound)
	wantLive(t, g, "a")
	wantIDs(t, b, ask(t, east, 5), id(2)) // what is not live can be searched by its name
	upsert(t, a, doc(t, 3, north))
	wantIDs(t, serving, ask(t, east, 5), id(1), id(3))
}

// switchesWhileSearching: a search sees one generation or the other, never neither.
func switchesWhileSearching(t *testing.T, g dense.Generations) {
	a, b := generation(t, g, "a"), generation(t, g, "b")
	upsert(t, a, doc(t, 1, east))
	upsert(t, b, doc(t, 2, east))
	if err := g.Switch(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	whileSearching(t, g, func() {
		for n := range 100 {
			if err := g.Switch(t.Context(), []string{"b", "a"}[n%2]); err != nil {
				t.Errorf("Switch: %v", err)
				return
			}
		}
	})
}

// dropsWhileSearching: the one that served goes as soon as another serves.
func dropsWhileSearching(t *testing.T, g dense.Generations) {
	next := func(n int) string {
		name := fmt.Sprint("g", n)
		upsert(t, generation(t, g, name), doc(t, n, east))
		if err := g.Switch(t.Context(), name); err != nil {
			t.Errorf("Switch: %v", err)
		}
		return name
	}
	old := next(0)
	whileSearching(t, g, func() {
		for n := 1; n < 4; n++ {
			name := next(n)
			if err := g.Drop(t.Context(), old); err != nil {
				t.Errorf("Drop: %v", err)
			}
			old = name
		}
	})
}

// whileSearching does work while searches must find one memory each.
func whileSearching(t *testing.T, g dense.Generations, work func()) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		serving := g.Serving()
		for {
			select {
			case <-stop:
				return
			default:
			}
			hits, err := serving.Search(t.Context(), ask(t, east, 5))
			if err != nil || len(hits) != 1 {
				t.Errorf("found %v, %v, want what one of the generations holds", hits, err)
				return
			}
		}
	}()
	work()
	close(stop)
	<-done
}

func drops(t *testing.T, g dense.Generations) {
	a, b := generation(t, g, "a"), generation(t, g, "b")
	upsert(t, a, doc(t, 1, east))
	upsert(t, b, doc(t, 2, east))
	if err := g.Switch(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, g.Drop(t.Context(), "b"), memtypes.Conflict)
	if err := g.Drop(t.Context(), "a"); err != nil {
		t.Fatalf("Drop: %v", err)
	}
	wantList(t, g, "b")
	wantUnavailable(t, a)
	wantCode(t, a.Upsert(t.Context(), []dense.Doc{doc(t, 3, east)}), memtypes.Unavailable)
	wantList(t, g, "b") // writing makes nothing in its place
	if err := g.Drop(t.Context(), "a"); err != nil {
		t.Errorf("second Drop: %v", err)
	}
	wantHeld(t, generation(t, g, "a"), map[memtypes.ID]uint64{})
	wantIDs(t, g.Serving(), ask(t, east, 5), id(2))
}

func canceledGenerations(t *testing.T, g dense.Generations) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := g.Live(over)
	wantCode(t, err, memtypes.Canceled)
	_, err = g.Open(over, "a")
	wantCode(t, err, memtypes.Canceled)
	_, err = g.List(over)
	wantCode(t, err, memtypes.Canceled)
	wantCode(t, g.Switch(over, "a"), memtypes.Canceled)
	wantCode(t, g.Drop(over, "a"), memtypes.Canceled)
	wantList(t, g)
}

func closedGenerations(t *testing.T, g dense.Generations) {
	a := generation(t, g, "a")
	if err := g.Switch(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	serving := g.Serving()
	for range 2 {
		if err := g.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	_, err := g.Live(t.Context())
	wantCode(t, err, memtypes.Unavailable)
	_, err = g.Open(t.Context(), "a")
	wantCode(t, err, memtypes.Unavailable)
	_, err = g.List(t.Context())
	wantCode(t, err, memtypes.Unavailable)
	wantCode(t, g.Switch(t.Context(), "a"), memtypes.Unavailable)
	wantCode(t, g.Drop(t.Context(), "a"), memtypes.Unavailable)
	wantUnavailable(t, a)
	wantUnavailable(t, serving)
}

// generation opens one.
func generation(t testing.TB, g dense.Generations, name string) dense.Index {
	t.Helper()
	ix, err := g.Open(t.Context(), name)
	if err != nil {
		t.Fatalf("Open %s: %v", name, err)
	}
	t.Cleanup(func() { ix.Close() })
	return ix
}

func wantLive(t testing.TB, g dense.Generations, want string) {
	t.Helper()
	if got, err := g.Live(t.Context()); err != nil || got != want {
		t.Errorf("Live = %q, %v, want %q", got, err, want)
	}
}

func wantList(t testing.TB, g dense.Generations, want ...string) {
	t.Helper()
	got, err := g.List(t.Context())
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("List = %q, want %q", got, want)
	}
}

// wantUnavailable checks that nothing can be read from ix.
func wantUnavailable(t testing.TB, ix dense.Index) {
	t.Helper()
	_, err := ix.Search(t.Context(), ask(t, east, 1))
	wantCode(t, err, memtypes.Unavailable)
	_, err = ix.Len(t.Context())
	wantCode(t, err, memtypes.Unavailable)
	n := 0
	for _, err := range ix.Revs(t.Context()) {
		wantCode(t, err, memtypes.Unavailable)
		n++
	}
	if n != 1 {
		t.Errorf("Revs yields %d times, want its error once", n)
	}
}
