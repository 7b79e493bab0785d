package admit_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/memtypes"
)

func TestShape(t *testing.T) {
	r := rules(t, &admit.Options{MaxText: 100})
	for _, tt := range []struct {
		name, text string
		want       admit.Code
	}{
		{"empty", "", admit.Empty},
		{"blank", " \t\n\u3000", admit.Empty},
		{"invisible", "\u200b\u200d\ufeff", admit.Empty},
		{"Hangul filler", "\u3164", admit.Empty},
		{"control characters", "\x01\x02", admit.Empty},
		{"too large", strings.Repeat("a", 101), admit.TooLarge},
		{"at the limit", strings.Repeat("a", 100), admit.OK},
		{"not UTF-8", "caf\xe9", admit.NotText},
		{"NUL", "a\x00b", admit.NotText},
		{"one sign says something", "?", admit.OK},
		{"so does an emoji", "👍", admit.OK},
		{"and one Han character", "好", admit.OK},
		{"thanks", "Thanks!", admit.OK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := r.Check(memtypes.Draft{Kind: memtypes.Dialogue, Text: tt.text}, admit.Facts{})
			if v.Code != tt.want || (v.Reason == "") != (tt.want == admit.OK) {
				t.Fatalf("code %s, reason %q, want %s and a reason unless ok", v.Code, v.Reason, tt.want)
			}
			if err := v.Err(); (err != nil) != (tt.want != admit.OK) || err != nil && memtypes.CodeOf(err) != memtypes.Invalid {
				t.Errorf("Err = %v, want Invalid unless ok", err)
			}
		})
	}
}

func TestLimitIsThatOfAMemory(t *testing.T) {
	r := rules(t, nil)
	for n, want := range map[int]admit.Code{memtypes.MaxText: admit.OK, memtypes.MaxText + 1: admit.TooLarge} {
		if v := r.Check(memtypes.Draft{Kind: memtypes.Dialogue, Text: strings.Repeat("a", n)}, admit.Facts{}); v.Code != want {
			t.Errorf("%d bytes: %s, want %s", n, v.Code, want)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    admit.Options
		want string // the field refused; empty: accepted
	}{
		{"zero", admit.Options{}, ""},
		{"full", admit.Options{Secrets: admit.Redact, Echoes: admit.Allow, Duplicates: admit.Allow, MaxText: 10, EchoWindow: 1, Similarity: 1}, ""},
		{"secrets", admit.Options{Secrets: "mask"}, "secrets"},
		{"an echo cannot be redacted", admit.Options{Echoes: admit.Redact}, "echoes"},
		{"nor a duplicate", admit.Options{Duplicates: admit.Redact}, "duplicates"},
		{"negative limit", admit.Options{MaxText: -1}, "max_text"},
		{"limit above that of a memory", admit.Options{MaxText: memtypes.MaxText + 1}, "max_text"},
		{"window", admit.Options{EchoWindow: -1}, "echo_window"},
		{"similarity", admit.Options{Similarity: 1.01}, "similarity"},
		{"similarity not a number", admit.Options{Similarity: math.NaN()}, "similarity"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := admit.New(&tt.o)
			field, ok := errors.AsType[*memtypes.Field](err)
			if ok != (tt.want != "") || ok && field.Name != tt.want {
				t.Errorf("New = %v, want field %q refused", err, tt.want)
			}
		})
	}
}
