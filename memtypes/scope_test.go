package memtypes_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/memtypes"
)

func scope(t testing.TB, tenant, user, agent, run string) memtypes.Scope {
	t.Helper()
	s, err := memtypes.NewScope(tenant, user, agent, run)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNewScope(t *testing.T) {
	for _, tt := range []struct {
		name                     string
		tenant, user, agent, run string
		ok                       bool
	}{
		{"user alone", "", "ada", "", "", true},
		{"run alone", "acme", "", "", "r1", true},
		{"tenant alone", "acme", "", "", "", false},
		{"nothing", "", "", "", "", false},
		{"newline", "", "a\nb", "", "", false},
		{"invalid UTF-8", "", "\xff", "", "", false},
		{"too long", strings.Repeat("t", 257), "ada", "", "", false},
	} {
		s, err := memtypes.NewScope(tt.tenant, tt.user, tt.agent, tt.run)
		if (err == nil) != tt.ok || s.IsZero() == tt.ok {
			t.Errorf("%s: NewScope = %v, %v, want ok %v", tt.name, s, err, tt.ok)
		}
		if err != nil && memtypes.CodeOf(err) != memtypes.Invalid {
			t.Errorf("%s: code %q, want invalid", tt.name, memtypes.CodeOf(err))
		}
	}
	if got := scope(t, "", "ada", "", "").Tenant(); got != memtypes.DefaultTenant {
		t.Errorf("tenant = %q, want %q", got, memtypes.DefaultTenant)
	}
}

func TestCovers(t *testing.T) {
	full := scope(t, "acme", "ada", "coder", "r1")
	for _, tt := range []struct {
		filter memtypes.Scope
		want   bool
	}{
		{scope(t, "acme", "ada", "", ""), true},
		{scope(t, "acme", "", "coder", "r1"), true},
		{full, true},
		{scope(t, "other", "ada", "", ""), false},
		{scope(t, "acme", "bo", "", ""), false},
		{scope(t, "acme", "ada", "", "r2"), false},
		{memtypes.Scope{}, false},
	} {
		if got := tt.filter.Covers(full); got != tt.want {
			t.Errorf("%v covers %v = %v, want %v", tt.filter, full, got, tt.want)
		}
	}
	if full.Covers(scope(t, "acme", "ada", "", "")) {
		t.Error("a narrower scope covers a wider memory")
	}
}

func TestScopeJSON(t *testing.T) {
	s := scope(t, "acme", "ada", "", "r1")
	b, _ := json.Marshal(s)
	if got, want := string(b), `{"tenant":"acme","user":"ada","run":"r1"}`; got != want {
		t.Errorf("JSON = %s, want %s", got, want)
	}
	var back memtypes.Scope
	if err := json.Unmarshal(b, &back); err != nil || back != s {
		t.Errorf("back = %v, %v, want %v", back, err, s)
	}
	if err := json.Unmarshal([]byte(`{"tenant":"acme"}`), &back); memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf("a scope of nobody: err = %v, want Invalid", err)
	}
}
