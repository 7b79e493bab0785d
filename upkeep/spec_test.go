package upkeep_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/upkeep"
)

func TestParse(t *testing.T) {
	after := time.Date(2024, 2, 28, 2, 30, 15, 0, time.UTC)
	for _, tt := range []struct{ spec, next string }{
		{"0 3 * * *", "2024-02-28T03:00:00Z"},
		{" 0 3 * * * ", "2024-02-28T03:00:00Z"},
		{"*/15 * * * *", "2024-02-28T02:45:00Z"},
		{"0 0 29 2 *", "2024-02-29T00:00:00Z"},
		{"0 9 * * mon-fri", "2024-02-28T09:00:00Z"},
		{"@daily", "2024-02-29T00:00:00Z"},
		{"@hourly", "2024-02-28T03:00:00Z"},
		{"@weekly", "2024-03-03T00:00:00Z"},
		{"@monthly", "2024-03-01T00:00:00Z"},
		{"@yearly", "2025-01-01T00:00:00Z"},
		{"@every 90s", "2024-02-28T02:31:45Z"},
		{"@every 1s", "2024-02-28T02:30:16Z"},
	} {
		s, err := upkeep.Parse(tt.spec)
		if err != nil {
			t.Errorf("Parse(%q): %v", tt.spec, err)
			continue
		}
		if got := s.Next(after.In(time.FixedZone("", 5*3600))).Format(time.RFC3339); got != tt.next {
			t.Errorf("%q after %v: %s, want %s", tt.spec, after, got, tt.next)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ spec, says string }{
		{"", "five cron fields"},
		{"   ", "five cron fields"},
		{"TZ=UTC", "no time zone"}, // makes the library panic
		{"TZ=UTC 0 3 * * *", "no time zone"},
		{"  CRON_TZ=Europe/Berlin 0 3 * * *", "no time zone"},
		{"0 0 31 2 *", "a date that exists"},
		{"0 0 30 feb *", "a date that exists"},
		{"0 0 31 4,6,9,11 *", "a date that exists"},
		{", * * * *", "a date that exists"},
		{"@every -1s", "whole seconds"},
		{"@every 0s", "whole seconds"},
		{"@every 500ms", "whole seconds"},
		{"@every 1500ms", "whole seconds"},
		{"@every", "whole seconds"},
		{"@every day", "whole seconds"},
		{"@reboot", "five cron fields"},
		{"0 3 * *", "expected exactly 5 fields"},
		{"0 0 3 * * *", "expected exactly 5 fields"},
		{"60 3 * * *", "above maximum"},
		{"0 3 * * 7", "above maximum"},
		{"*/0 * * * *", "positive"},
		{"often", "five cron fields"},
	} {
		s, err := upkeep.Parse(tt.spec)
		field, ok := errors.AsType[*memtypes.Field](err)
		if !ok || field.Name != "spec" || !strings.Contains(field.Wanted, tt.says) {
			t.Errorf("Parse(%q) = %v, %v, want an error about the spec that says %q", tt.spec, s, err, tt.says)
		}
	}
}

func TestZeroScheduleNeverFires(t *testing.T) {
	if next := (upkeep.Schedule{}).Next(time.Now()); !next.IsZero() {
		t.Errorf("Next = %v, want none", next)
	}
}

// No spec may panic or hang; what is accepted fires after the moment asked for.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0 3 * * *", "TZ=UTC", "@every 1h", "1-5/2,7 * ? jan sun", "*/99999999999 * * * *", "@daily"} {
		f.Add(s)
	}
	after := time.Date(2024, 2, 28, 2, 30, 15, 0, time.UTC)
	f.Fuzz(func(t *testing.T, spec string) {
		s, err := upkeep.Parse(spec)
		if err != nil {
			if memtypes.CodeOf(err) != memtypes.Invalid {
				t.Fatalf("Parse(%q): code %s, want invalid", spec, memtypes.CodeOf(err))
			}
			return
		}
		if next := s.Next(after); !next.After(after) {
			t.Fatalf("%q fires at %v, want after %v", spec, next, after)
		}
		if _, err := upkeep.Parse(s.String()); err != nil {
			t.Fatalf("%q was read as %q, which is refused: %v", spec, s, err)
		}
	})
}
