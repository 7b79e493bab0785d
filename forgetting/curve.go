package forgetting

import (
	"math"
	"slices"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Lambda is the strength of s as VIMBank counts it: 1 at first, +1 a recall.
func Lambda(s memtypes.Strength) float64 { return 1 + float64(max(s.Recalls, 0)) }

// Recalled is s after a recall at now: lambda + 1, and t back to 0. A clock
// that went back does not move the last recall back.
func Recalled(s memtypes.Strength, now time.Time) memtypes.Strength {
	s.Recalls = max(s.Recalls, 0) + 1
	if now.After(s.LastRecall) {
		s.LastRecall = now
	}
	return s
}

// Since is the moment from which t counts: the last recall, or created if it
// is later or there was no recall. It is the time of storing that counts and
// not the time of the event: a diary of ten years ago is not forgotten on the
// day it is imported.
func Since(s memtypes.Strength, created time.Time) time.Time {
	if s.LastRecall.After(created) {
		return s.LastRecall
	}
	return created
}

// Retention is what is left at now of a memory that was stored at created:
// R0 * exp(-t/lambda), VIMBank equation 6, in [0,1]. A t below zero counts as
// zero, and an R0 outside (0,1] as one: a wrong clock or a broken fact must
// not forget.
func (o *Options) Retention(s memtypes.Strength, created, now time.Time) float64 {
	t := float64(max(now.Sub(Since(s, created)), 0))
	return initial(s) * math.Exp(-t/(Lambda(s)*o.unit()))
}

// Due is the moment at which m falls to its threshold if it is not recalled
// before. It is false when that never happens: the memory is pinned, its kind
// is never forgotten, or the moment is more than 290 years away.
func (o *Options) Due(m *memtypes.Memory) (time.Time, bool) {
	life, ok := o.life(m)
	if !ok || m.Strength.Pinned {
		return time.Time{}, false
	}
	return Since(m.Strength, m.Created).Add(life), true
}

// life is how long m stays above its threshold after its last recall.
func (o *Options) life(m *memtypes.Memory) (time.Duration, bool) {
	theta := o.Threshold(m.Kind)
	if theta <= 0 {
		return 0, false
	}
	n := Lambda(m.Strength) * o.unit() * math.Log(initial(m.Strength)/theta)
	if n > float64(290*365*day) {
		return 0, false
	}
	return time.Duration(max(math.Ceil(n), 0)), true
}

// Point is one point of a curve.
type Point struct {
	At        time.Time `json:"at"`
	Retention float64   `json:"retention"`
}

// Curve gives n points of the retention at even steps of time, from and to
// included, for a memory stored at created and recalled at the times recalls,
// in any order. Times before created have retention R0; a recall counts from
// its own moment on. n below 2 gives the one point at from.
func (o *Options) Curve(r0 float64, created time.Time, recalls []time.Time, from, to time.Time, n int) []Point {
	recalls = slices.SortedFunc(slices.Values(recalls), time.Time.Compare)
	points := make([]Point, 0, max(n, 1))
	s, next := memtypes.Strength{Initial: r0}, 0
	width, steps := to.Sub(from), time.Duration(max(n-1, 1))
	for i := range time.Duration(max(n, 1)) {
		at := from.Add(width/steps*i + width%steps*i/steps) // whole nanoseconds: the last point is exactly to
		for ; next < len(recalls) && !recalls[next].After(at); next++ {
			s = Recalled(s, recalls[next])
		}
		points = append(points, Point{at, o.Retention(s, created, at)})
	}
	return points
}

func initial(s memtypes.Strength) float64 {
	if s.Initial > 0 && s.Initial <= 1 {
		return s.Initial
	}
	return 1
}
