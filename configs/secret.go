package configs

import (
	"fmt"
	"io"
)

// Secret is a value that no print shows: every format, JSON, YAML and log give
// *** for it, or nothing if it is empty. Only Reveal tells it.
type Secret struct{ value string }

// NewSecret wraps s.
func NewSecret(s string) Secret { return Secret{s} }

// Reveal gives the value, to hand it to the one who needs it.
func (s Secret) Reveal() string { return s.value }

// IsZero reports whether there is no value.
func (s Secret) IsZero() bool { return s.value == "" }

// String is *** or empty.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return "***"
}

// Format prints String for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText gives String: JSON, YAML and slog ask for it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
