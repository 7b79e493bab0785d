package memtypes_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
)

func TestQueryCheck(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*memtypes.Query)
		field string // empty: fine
	}{
		{"as it is", func(*memtypes.Query) {}, ""},
		{"no scope", func(q *memtypes.Query) { q.Scope = memtypes.Scope{} }, "scope"},
		{"blank", func(q *memtypes.Query) { q.Text = " " }, "query"},
		{"k below", func(q *memtypes.Query) { q.K = -1 }, "k"},
		{"k above", func(q *memtypes.Query) { q.K = memtypes.MaxK + 1 }, "k"},
		{"kind", func(q *memtypes.Query) { q.Kinds = []memtypes.Kind{"x"} }, "kind"},
		{"empty span", func(q *memtypes.Query) { q.From, q.To = noon, noon }, "from"},
	} {
		q := memtypes.Query{Scope: ada(t), Text: "where?", K: 5}
		tt.spoil(&q)
		err := q.Check()
		var f *memtypes.Field
		if tt.field == "" && err != nil || tt.field != "" && (!errors.As(err, &f) || f.Name != tt.field) {
			t.Errorf("%s: err = %v, want field %q", tt.name, err, tt.field)
		}
	}
}

func TestFilterAdmits(t *testing.T) {
	in := memtypes.Facets{Scope: scope(t, "", "ada", "coder", ""), Kind: memtypes.Dialogue, Layer: memtypes.Raw, Session: "s1", When: noon}
	user := ada(t)
	for _, tt := range []struct {
		name string
		f    memtypes.Filter
		want bool
	}{
		{"scope alone", memtypes.Filter{Scope: user}, true},
		{"no scope admits nothing", memtypes.Filter{}, false},
		{"kind", memtypes.Filter{Scope: user, Kinds: []memtypes.Kind{memtypes.TaskKind, memtypes.Dialogue}}, true},
		{"other kind", memtypes.Filter{Scope: user, Kinds: []memtypes.Kind{memtypes.TaskKind}}, false},
		{"other layer", memtypes.Filter{Scope: user, Layers: []memtypes.Layer{memtypes.Thought}}, false},
		{"other session", memtypes.Filter{Scope: user, Session: "s2"}, false},
		{"from is inclusive", memtypes.Filter{Scope: user, From: noon}, true},
		{"to is exclusive", memtypes.Filter{Scope: user, To: noon}, false},
		{"ids", memtypes.Filter{Scope: user, IDs: []memtypes.ID{"a", "b"}}, true},
		{"other ids", memtypes.Filter{Scope: user, IDs: []memtypes.ID{"b"}}, false},
		{"an empty list of ids", memtypes.Filter{Scope: user, IDs: []memtypes.ID{}}, false},
	} {
		if got := tt.f.Admits("a", in); got != tt.want {
			t.Errorf("%s: Admits = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestErrors(t *testing.T) {
	cause := errors.New("disk on fire")
	err := fmt.Errorf("while saving: %w", &memtypes.Error{Op: "ledger.Append", Code: memtypes.Unavailable, ID: "x", Err: cause})
	if got := memtypes.CodeOf(err); got != memtypes.Unavailable {
		t.Errorf("CodeOf = %q, want unavailable", got)
	}
	if !errors.Is(err, cause) {
		t.Error("the cause is lost")
	}
	if got := memtypes.CodeOf(cause); got != memtypes.Internal {
		t.Errorf("CodeOf of a foreign error = %q, want internal", got)
	}
	long := memtypes.BadField("op", "text", string(make([]rune, 200)), "less")
	if n := len(long.Error()); n > 600 {
		t.Errorf("an error of %d bytes quotes the whole input", n)
	}
}

func TestCodes(t *testing.T) {
	exits := map[int]memtypes.Code{}
	for _, c := range []memtypes.Code{memtypes.Invalid, memtypes.NotFound, memtypes.Conflict, memtypes.Refused, memtypes.Incompatible,
		memtypes.ReadOnly, memtypes.Full, memtypes.Unavailable, memtypes.Canceled, memtypes.Internal} {
		if s := c.HTTPStatus(); s < 400 || s > 599 {
			t.Errorf("%s: HTTP status %d is not an error's", c, s)
		}
		if c.ExitCode() == 0 {
			t.Errorf("%s: exit code 0 would say that all is well", c)
		}
		exits[c.ExitCode()] = c
	}
	if memtypes.Invalid.HTTPStatus() != http.StatusBadRequest || len(exits) < 8 {
		t.Errorf("codes run together: %v", exits)
	}
}

func TestKinds(t *testing.T) {
	for _, k := range memtypes.Kinds() {
		if got, err := memtypes.ParseKind(string(k)); err != nil || got != k {
			t.Errorf("ParseKind(%q) = %q, %v", k, got, err)
		}
	}
	if _, err := memtypes.ParseKind("Dialogue"); memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf("ParseKind is not exact: %v", err)
	}
	task := memtypes.Task{Commands: []memtypes.Command{{Name: "go to", Args: []string{"desk 1"}}, {Name: "take", Args: []string{"mug", "desk 1"}}}}
	if got, want := task.Steps(), "go to(desk 1)\ntake(mug, desk 1)"; got != want {
		t.Errorf("Steps = %q, want %q", got, want)
	}
}
