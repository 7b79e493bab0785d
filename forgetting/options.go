package forgetting

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

const day = 24 * time.Hour

// Options sets the curve and the guards of a run. The zero value, and a nil
// pointer, are ready to use. Options are only read, and may be shared.
type Options struct {
	// Strength is the unit of lambda: the time in which a memory that was never
	// recalled falls to 1/e. Zero means one day.
	Strength time.Duration
	// Thresholds are the retentions below which a memory of a kind is due, in
	// [0,1); 0 never forgets that kind. A kind that is not in the map has its
	// DefaultThreshold.
	Thresholds map[memtypes.Kind]float64
	// Grace is how long a retired memory can still be restored before it is
	// purged. Zero means seven days.
	Grace time.Duration
	// MaxShare is the share of the active memories that one run may retire
	// without being confirmed, in (0,1]; 1 takes the breaker out. One memory
	// may always go. Zero means .05.
	MaxShare float64
	// MaxJump is how far the clock may have moved on since LastRun before
	// forgetting pauses, unless confirmed. Zero means thirty days.
	MaxJump time.Duration
	// LastRun is when the last run that was not paused took place. Zero means
	// that there was none, and then no jump can be told; the breaker still
	// guards that first run.
	LastRun time.Time
	// MaxItems bounds how many memories a plan retires, and how many it purges;
	// the rest is left to the next run. Zero means 10,000.
	MaxItems int
	// Confirmed lets a run go on that the breaker or the clock would stop: a
	// person has seen its plan.
	Confirmed bool
}

// DefaultThreshold is the retention below which a memory of kind k is due
// unless Options say otherwise: exp(-30) for dialogue, exp(-60) for tasks,
// exp(-180) for knowledge. With a strength of one day, a turn that is never
// recalled lives 30 days, a trajectory 60 and a document 180, and each recall
// adds as much again. Talk is the bulk of a bank and mostly said in passing;
// a document was put in on purpose, and may be needed once a year.
//
// The numbers are small because lambda is one day at first: at the .05 that a
// textbook would take, a memory is gone after three days without a recall.
func DefaultThreshold(k memtypes.Kind) float64 {
	switch k {
	case memtypes.Knowledge:
		return ThresholdFor(180*day, day)
	case memtypes.TaskKind:
		return ThresholdFor(60*day, day)
	}
	return ThresholdFor(30*day, day)
}

// ThresholdFor is the threshold at which a memory that is never recalled is
// due after life, for a curve of the given strength: exp(-life/strength).
func ThresholdFor(life, strength time.Duration) float64 {
	return math.Exp(-float64(life) / float64(strength))
}

// Threshold is the retention below which a memory of kind k is due.
func (o *Options) Threshold(k memtypes.Kind) float64 {
	if o != nil {
		if v, ok := o.Thresholds[k]; ok {
			return v
		}
	}
	return DefaultThreshold(k)
}

// Check refuses options that make no sense, with Invalid.
func (o *Options) Check() error {
	if o == nil {
		return nil
	}
	const op = "forgetting.Options"
	for _, d := range []struct {
		name string
		v    time.Duration
	}{{"strength", o.Strength}, {"grace", o.Grace}, {"max_jump", o.MaxJump}} {
		if d.v < 0 {
			return memtypes.BadField(op, d.name, d.v, "a positive duration, or 0 for the default")
		}
	}
	if !(o.MaxShare >= 0 && o.MaxShare <= 1) {
		return memtypes.BadField(op, "max_share", o.MaxShare, "a share above 0 and up to 1, or 0 for the default")
	}
	if o.MaxItems < 0 {
		return memtypes.BadField(op, "max_items", o.MaxItems, "a positive number, or 0 for the default")
	}
	for k, v := range o.Thresholds {
		if _, err := memtypes.ParseKind(string(k)); err != nil {
			return memtypes.BadField(op, "thresholds", string(k), "the kinds knowledge, dialogue and task")
		}
		if !(v >= 0 && v < 1) {
			return memtypes.BadField(op, fmt.Sprintf("thresholds.%s", k), v, "a retention from 0 to below 1; 0 never forgets")
		}
	}
	return nil
}

// filled returns o with every zero replaced by what it means.
func (o *Options) filled() Options {
	var f Options
	if o != nil {
		f = *o
	}
	f.Strength = cmp.Or(f.Strength, day)
	f.Grace = cmp.Or(f.Grace, 7*day)
	f.MaxShare = cmp.Or(f.MaxShare, .05)
	f.MaxJump = cmp.Or(f.MaxJump, 30*day)
	f.MaxItems = cmp.Or(f.MaxItems, 10_000)
	return f
}

// unit is the strength in nanoseconds.
func (o *Options) unit() float64 {
	if o == nil || o.Strength == 0 {
		return float64(day)
	}
	return float64(o.Strength)
}
