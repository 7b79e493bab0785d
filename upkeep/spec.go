package upkeep

import (
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/vimbank/vimbank/memtypes"
)

// Schedule is a checked cron spec. The zero Schedule never fires.
type Schedule struct {
	spec string
	s    cron.Schedule
	// slack is how much too early a tick may be that came from another
	// process's @every, whose ticks count from its own start.
	slack time.Duration
}

// Parse checks spec: five fields (minute, hour, day of month, month, day of
// week), @hourly, @daily, @weekly, @monthly, @yearly, or "@every " with a
// duration in whole seconds. It fails with Invalid on anything else; on a time
// zone, since all is UTC; and on fields that no date ever meets, such as the
// 31st of February. The cron library takes all but the first of these.
func Parse(spec string) (Schedule, error) {
	bad := func(wanted string) (Schedule, error) {
		return Schedule{}, memtypes.BadField("upkeep.Parse", "spec", spec, wanted)
	}
	trimmed := strings.TrimSpace(spec)
	if strings.Contains(trimmed, "TZ=") {
		return bad("no time zone: schedules are in UTC")
	}
	var slack time.Duration
	if every, ok := strings.CutPrefix(trimmed, "@every"); ok {
		d, err := time.ParseDuration(strings.TrimSpace(every))
		if err != nil || d < time.Second || d%time.Second != 0 {
			return bad("@every with a duration in whole seconds, at least 1s, such as \"@every 6h\"")
		}
		trimmed, slack = "@every "+d.String(), d/10
	}
	s, err := cron.ParseStandard(trimmed)
	if err != nil {
		return bad("five cron fields, such as \"0 3 * * *\", or @daily, or @every 6h (" + err.Error() + ")")
	}
	// From a fixed moment, so that the answer does not depend on today: four
	// years hold every date that there is.
	if s.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return bad("a date that exists")
	}
	return Schedule{spec: trimmed, s: s, slack: slack}, nil
}

// Next is the first tick after t, in UTC; zero if there is none within the
// next five years.
func (s Schedule) Next(t time.Time) time.Time {
	if s.s == nil {
		return time.Time{}
	}
	return s.s.Next(t.UTC())
}

// String is the spec, as it was given but for spaces around it.
func (s Schedule) String() string { return s.spec }

// due reports whether at tick a run is owed to a job whose last one belonged
// to the tick last: never run, a tick in between, or a last run in a future
// that only a wrong clock can have seen.
func (s Schedule) due(last, tick time.Time) bool {
	if last.IsZero() || last.After(tick.Add(time.Minute)) {
		return true
	}
	next := s.Next(last)
	return !next.IsZero() && !next.Add(-s.slack).After(tick)
}
