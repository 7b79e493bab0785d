package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/vimbank/vimbank/memtypes"
)

// printf writes to standard output; what cannot be written shows at the flush.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// printJSON writes v on one line, text as it is (no \u003c for <).
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// origin is the line above a memory's text: what, who, when, where.
func (s *show) origin(m *memtypes.Memory) string {
	parts := []string{string(m.Kind)}
	if m.Talk.Speaker != "" {
		parts = append(parts, s.bold(m.Talk.Speaker))
	}
	if m.Title != "" {
		parts = append(parts, s.bold(clip(m.Title, 40)))
	}
	if sec := m.Meta["section"]; sec != "" {
		parts = append(parts, clip(sec, 30))
	}
	if m.Task != nil && m.Task.Outcome != "" {
		parts = append(parts, s.outcome(m.Task.Outcome))
	}
	if !m.Event.IsZero() {
		parts = append(parts, moment(m.Event))
	}
	if m.Talk.Session != "" && m.Kind == memtypes.Dialogue {
		parts = append(parts, s.dim(clip(m.Talk.Session, 36)))
	}
	return strings.Join(parts, s.dim(" · "))
}

func (s *show) outcome(o memtypes.Outcome) string {
	if o == memtypes.Success {
		return s.good("success")
	}
	return s.bad("failure")
}

// steps writes a trajectory, one command a line, at most most of them.
func (s *show) steps(t *memtypes.Task, indent string, most int) (lines []string) {
	for i, c := range t.Commands {
		if i == most {
			return append(lines, s.dim(fmt.Sprintf("%s… %d more", indent, len(t.Commands)-most)))
		}
		call := c.Name + "(" + strings.Join(c.Args, ", ") + ")"
		line := fmt.Sprintf("%s%d. %s", indent, i+1, clip(call, 44))
		if c.Result != "" {
			line = pad(line, 54) + s.dim(" → "+clip(c.Result, max(10, s.width-60)))
		}
		lines = append(lines, line)
	}
	return lines
}

// note writes a remark for the person at the terminal to standard error, after
// what was printed so far.
func (a *app) note(format string, args ...any) {
	_ = a.out.Flush() // shows again at the end
	fmt.Fprintf(a.err, format+"\n", args...)
}
