package facet_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/facet"
)

type fataler interface {
	Helper()
	Fatal(args ...any)
}

func scope(t fataler, user, agent, run string) memtypes.Scope {
	t.Helper()
	s, err := memtypes.NewScope("", user, agent, run)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func name(doc uint32) memtypes.ID { return memtypes.ID(fmt.Sprint("id", doc)) }

func at(second int) time.Time { return time.Date(1970, 1, 1, 0, 0, second, 0, time.UTC) }

// numberIn tells the number of an ID of name among the documents of held.
func numberIn(held map[uint32]memtypes.Facets) func(memtypes.ID) (uint32, bool) {
	return func(id memtypes.ID) (uint32, bool) {
		var d uint32
		if _, err := fmt.Sscanf(string(id), "id%d", &d); err != nil {
			return 0, false
		}
		_, ok := held[d]
		return d, ok
	}
}

// check compares Admitted with Filter.Admits, asked of each document.
func check(t interface {
	Helper()
	Errorf(string, ...any)
}, s *facet.Set, held map[uint32]memtypes.Facets, q memtypes.Filter) {
	t.Helper()
	want := []uint32{}
	for d, f := range held {
		if q.Admits(name(d), f) {
			want = append(want, d)
		}
	}
	slices.Sort(want)
	got := slices.Sorted(maps.Keys(held))
	if in := s.Admitted(&q, numberIn(held)); in != nil {
		got = in.ToArray()
	}
	if diff := cmp.Diff(want, append([]uint32{}, got...)); diff != "" {
		t.Errorf("Admitted(%+v) (-want +got):\n%s", q, diff)
	}
}

func TestZeroSet(t *testing.T) {
	var s facet.Set
	if got := s.Len(); got != 0 {
		t.Errorf("Len = %d, want 0", got)
	}
	q := memtypes.Filter{Scope: scope(t, "ann", "", ""), IDs: []memtypes.ID{name(1)}, From: at(0)}
	check(t, &s, nil, q)
	s.Remove(3, memtypes.Facets{}) // nothing to forget
}

// TestAdmitted names the cases that a random run may seldom meet.
func TestAdmitted(t *testing.T) {
	var s facet.Set
	held := map[uint32]memtypes.Facets{}
	for d := range uint32(60) {
		f := memtypes.Facets{
			Scope: scope(t, fmt.Sprint("u", d%3), fmt.Sprint("a", d%4), ""), Kind: memtypes.Kinds()[d%3],
			Layer: memtypes.Raw, Session: fmt.Sprint("s", d/20), When: at(int(d) - 30),
		}
		held[d*1500] = f // beyond 65,536: two containers of a bitmap
		s.Put(d*1500, f, nil)
	}
	u := scope(t, "u1", "", "")
	for name, q := range map[string]memtypes.Filter{
		"scope":                 {Scope: u},
		"scope of two":          {Scope: scope(t, "u1", "a2", "")},
		"a run that none has":   {Scope: scope(t, "u1", "", "r")},
		"an unknown user":       {Scope: scope(t, "u9", "", "")},
		"kinds":                 {Scope: scope(t, "", "a1", ""), Kinds: []memtypes.Kind{memtypes.TaskKind, memtypes.Knowledge}},
		"an unknown kind":       {Scope: u, Kinds: []memtypes.Kind{"dream"}},
		"no kind and a kind":    {Scope: u, Kinds: []memtypes.Kind{"", memtypes.Dialogue}},
		"an unknown layer":      {Scope: u, Layers: []memtypes.Layer{memtypes.Thought}},
		"session":               {Scope: u, Session: "s1"},
		"before the epoch":      {Scope: u, From: at(-20), To: at(-2)},
		"from within a second":  {Scope: u, From: at(-5).Add(time.Nanosecond)},
		"to within a second":    {Scope: u, To: at(-5).Add(time.Nanosecond)},
		"to on a second":        {Scope: u, To: at(-5)},
		"ids":                   {Scope: u, IDs: []memtypes.ID{"id1500", "id3000", "id999", "none"}},
		"no ids":                {Scope: u, IDs: []memtypes.ID{}},
		"ids, session and time": {Scope: u, IDs: []memtypes.ID{"id1500", "id6000"}, Session: "s0", From: at(-27)},
	} {
		t.Run(name, func(t *testing.T) { check(t, &s, held, q) })
	}
}

// TestAllAdmitted asks for what all documents have, which makes no bitmap, and
// again when one has it no more.
func TestAllAdmitted(t *testing.T) {
	var s facet.Set
	f := memtypes.Facets{Scope: scope(t, "ann", "x", ""), Kind: memtypes.Dialogue, Layer: memtypes.Raw, Session: "s"}
	other := memtypes.Facets{Scope: scope(t, "bob", "x", ""), Kind: memtypes.Knowledge, Layer: memtypes.Thought, Session: "t"}
	held := map[uint32]memtypes.Facets{1: f, 70_000: f}
	for d, f := range held {
		s.Put(d, f, nil)
	}
	x := scope(t, "", "x", "")
	all := []memtypes.Filter{
		{Scope: x}, {Scope: f.Scope}, {Scope: x, Session: "s"}, {Scope: x, Kinds: []memtypes.Kind{memtypes.Dialogue}},
		{Scope: x, Layers: []memtypes.Layer{memtypes.Raw}}, {Scope: x, Kinds: memtypes.Kinds()}, {Scope: f.Scope, Kinds: []memtypes.Kind{memtypes.Dialogue}, Session: "s"},
	}
	for _, q := range all {
		if in := s.Admitted(&q, numberIn(held)); in != nil {
			t.Errorf("Admitted(%+v) = %v, want nil for all", q, in)
		}
	}
	s.Put(5, other, nil)
	held[5] = other
	for _, q := range all {
		check(t, &s, held, q)
	}
	if in := s.Admitted(&all[1], numberIn(held)); in == nil || in.GetCardinality() != 2 {
		t.Errorf("Admitted(%+v) = %v, want the two of ann", all[1], in)
	}
}

func TestShared(t *testing.T) {
	long := "a user with a long name"
	fresh := func() memtypes.Facets {
		return memtypes.Facets{Scope: scope(t, string([]byte(long)), "", ""), Kind: memtypes.Dialogue, Layer: memtypes.Raw, Session: string([]byte("s")), When: at(5)}
	}
	var s facet.Set
	a, b := fresh(), fresh()
	s.Put(1, a, nil)
	s.Put(2, b, nil)
	got := s.Shared(b)
	if diff := cmp.Diff(b, got, cmp.Comparer(func(x, y memtypes.Scope) bool { return x == y })); diff != "" {
		t.Errorf("Shared changed the facets (-want +got):\n%s", diff)
	}
	if unsafe.StringData(got.Scope.User()) != unsafe.StringData(a.Scope.User()) {
		t.Error("Shared keeps the document's own copy of the user's name")
	}
}

// TestAgainstFilter puts, replaces, removes and asks at random.
func TestAgainstFilter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s facet.Set
		held := map[uint32]memtypes.Facets{}
		number := rapid.Uint32Range(0, 30)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				d, f := number.Draw(t, "doc")*4000, facets(t)
				if old, ok := held[d]; ok {
					s.Put(d, f, &old)
				} else {
					s.Put(d, f, nil)
				}
				held[d] = f
			},
			"remove": func(t *rapid.T) {
				d := number.Draw(t, "doc") * 4000
				if f, ok := held[d]; ok {
					s.Remove(d, f)
					delete(held, d)
				}
			},
			"ask": func(t *rapid.T) {
				check(t, &s, held, filter(t))
				if got, want := s.Len(), len(held); got != want {
					t.Errorf("Len = %d, want %d", got, want)
				}
			},
		})
	})
}

var names = rapid.SampledFrom([]string{"", "a", "b"})

func scopes(t *rapid.T) memtypes.Scope {
	u, a, r := names.Draw(t, "user"), names.Draw(t, "agent"), names.Draw(t, "run")
	if u+a+r == "" {
		u = "a"
	}
	return scope(t, u, a, r)
}

func facets(t *rapid.T) memtypes.Facets {
	return memtypes.Facets{
		Scope: scopes(t), Kind: rapid.SampledFrom(memtypes.Kinds()).Draw(t, "kind"),
		Layer:   rapid.SampledFrom([]memtypes.Layer{"", memtypes.Raw, memtypes.Thought}).Draw(t, "layer"),
		Session: names.Draw(t, "session"), When: at(rapid.IntRange(-5, 5).Draw(t, "when")),
	}
}

func filter(t *rapid.T) memtypes.Filter {
	q := memtypes.Filter{
		Scope: scopes(t), Session: names.Draw(t, "session"),
		Kinds:  rapid.SliceOfN(rapid.SampledFrom(memtypes.Kinds()), 0, 2).Draw(t, "kinds"),
		Layers: rapid.SliceOfN(rapid.SampledFrom([]memtypes.Layer{"", memtypes.Raw, memtypes.Thought}), 0, 2).Draw(t, "layers"),
	}
	moment := rapid.Custom(func(t *rapid.T) time.Time {
		return at(rapid.IntRange(-6, 6).Draw(t, "s")).Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 999_999_999}).Draw(t, "ns")))
	})
	if rapid.Bool().Draw(t, "from") {
		q.From = moment.Draw(t, "from")
	}
	if rapid.Bool().Draw(t, "to") {
		q.To = moment.Draw(t, "to")
	}
	if rapid.IntRange(0, 3).Draw(t, "by ID") == 0 {
		q.IDs = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) memtypes.ID {
			return name(rapid.Uint32Range(0, 31).Draw(t, "id") * 4000)
		}), 0, 9).Draw(t, "ids")
	}
	return q
}

// BenchmarkAdmitted is a Set of 100,000 documents of 100 users, one a minute.
func BenchmarkAdmitted(b *testing.B) {
	var s facet.Set
	for d := range uint32(100_000) {
		s.Put(d, memtypes.Facets{
			Scope: scope(b, fmt.Sprint("u", d%100), "bot", ""), Kind: memtypes.Kinds()[d%3], Layer: memtypes.Raw,
			Session: fmt.Sprint("s", d/50), When: at(60 * int(d)),
		}, nil)
	}
	for name, q := range map[string]memtypes.Filter{
		"agent":            {Scope: scope(b, "", "bot", "")},
		"user":             {Scope: scope(b, "u7", "", "")},
		"user and kind":    {Scope: scope(b, "u7", "", ""), Kinds: []memtypes.Kind{memtypes.Dialogue}},
		"session":          {Scope: scope(b, "", "bot", ""), Session: "s70"},
		"half of the time": {Scope: scope(b, "", "bot", ""), From: at(1_000_000), To: at(4_000_000)},
		"user in a day":    {Scope: scope(b, "u7", "", ""), From: at(1_000_000), To: at(1_086_400)},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s.Admitted(&q, nil)
			}
		})
	}
}
