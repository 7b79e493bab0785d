package memtypes

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// DefaultTenant is the tenant of a bank that has only one.
const DefaultTenant = "default"

// maxName bounds a tenant, user, agent, run, session, speaker or idempotency key, in bytes.
const maxName = 256

// Scope says whose a memory is: a tenant and at least one of user, agent and
// run. The zero Scope is empty and refused by every store: make one with
// NewScope. A Scope is comparable.
type Scope struct {
	tenant, user, agent, run string
}

// NewScope checks and makes a Scope. An empty tenant means DefaultTenant; at
// least one of user, agent and run must be given. Each is at most 256 bytes of
// UTF-8 without control characters.
func NewScope(tenant, user, agent, run string) (Scope, error) {
	if tenant == "" {
		tenant = DefaultTenant
	}
	for _, p := range []struct{ name, v string }{{"tenant", tenant}, {"user", user}, {"agent", agent}, {"run", run}} {
		if err := checkName("memtypes.NewScope", p.name, p.v); err != nil {
			return Scope{}, err
		}
	}
	if user == "" && agent == "" && run == "" {
		return Scope{}, BadField("memtypes.NewScope", "scope", Remark("none of user, agent, run"), "at least one of them")
	}
	return Scope{tenant, user, agent, run}, nil
}

// Tenant is never empty in a valid Scope.
func (s Scope) Tenant() string { return s.tenant }

// User may be empty.
func (s Scope) User() string { return s.user }

// Agent may be empty.
func (s Scope) Agent() string { return s.agent }

// Run may be empty.
func (s Scope) Run() string { return s.run }

// IsZero reports whether s was never made by NewScope.
func (s Scope) IsZero() bool { return s == Scope{} }

// Covers reports whether a memory of scope m is within s when s is used as a
// filter: the same tenant, and each of user, agent and run that s gives.
func (s Scope) Covers(m Scope) bool {
	return !s.IsZero() && s.tenant == m.tenant &&
		(s.user == "" || s.user == m.user) && (s.agent == "" || s.agent == m.agent) && (s.run == "" || s.run == m.run)
}

// String renders the parts that are given: "tenant=t user=u".
func (s Scope) String() string {
	var b strings.Builder
	for _, p := range []struct{ name, v string }{{"tenant", s.tenant}, {"user", s.user}, {"agent", s.agent}, {"run", s.run}} {
		if p.v == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p.name + "=" + p.v)
	}
	return b.String()
}

type scopeJSON struct {
	Tenant string `json:"tenant,omitempty"`
	User   string `json:"user,omitempty"`
	Agent  string `json:"agent,omitempty"`
	Run    string `json:"run,omitempty"`
}

// MarshalJSON writes {"tenant","user","agent","run"} without the empty ones.
func (s Scope) MarshalJSON() ([]byte, error) {
	return json.Marshal(scopeJSON{s.tenant, s.user, s.agent, s.run})
}

// UnmarshalJSON reads what MarshalJSON writes, with NewScope's checks.
func (s *Scope) UnmarshalJSON(b []byte) error {
	var j scopeJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	v, err := NewScope(j.Tenant, j.User, j.Agent, j.Run)
	if err == nil {
		*s = v
	}
	return err
}

func checkName(op, field, v string) error {
	switch {
	case !utf8.ValidString(v):
		return BadField(op, field, Remark("invalid UTF-8"), "UTF-8 text")
	case len(v) > maxName:
		return BadField(op, field, v, "at most 256 bytes")
	case strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return BadField(op, field, v, "no control characters")
	}
	return nil
}
