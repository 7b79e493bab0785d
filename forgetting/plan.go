package forgetting

import (
	"fmt"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Item is one memory that a plan would retire or purge. ID, Rev and Recalls
// together say which state of the memory was judged: an engine that applies
// the plan leaves a memory alone that was changed or recalled since.
type Item struct {
	ID        memtypes.ID    `json:"id"`
	Scope     memtypes.Scope `json:"scope"`
	Kind      memtypes.Kind  `json:"kind"`
	Rev       uint64         `json:"rev"`
	Recalls   int            `json:"recalls"`
	Retention float64        `json:"retention"`
	Threshold float64        `json:"threshold"`
	Due       time.Time      `json:"due"` // since when it may be retired, or purged
	Reason    string         `json:"reason"`
}

// Counts says what became of every memory that a planner was shown.
type Counts struct {
	Active  int `json:"active"`  // = Kept + Pinned + Due
	Kept    int `json:"kept"`    // above their threshold
	Pinned  int `json:"pinned"`  // active and pinned: never due
	Due     int `json:"due"`     // below their threshold, also those beyond MaxItems
	Retired int `json:"retired"` // retired already; those that stay are Retired - Purge
	Purge   int `json:"purge"`   // retired longer than the grace, also those beyond MaxItems
}

// Guard is the verdict of the breaker or of the clock.
type Guard struct {
	Tripped bool   `json:"tripped"`          // it would stop the run
	Found   string `json:"found,omitempty"`  // what was found: "12.5 %", "61 days"
	Limit   string `json:"limit,omitempty"`  // what was allowed
	Reason  string `json:"reason,omitempty"` // in words, with the way out; empty unless Tripped
}

// Plan is what a run would do. It holds no text of any memory.
type Plan struct {
	Now       time.Time `json:"now"`
	Retire    []Item    `json:"retire"` // longest due first, ties by ID; at most MaxItems
	Purge     []Item    `json:"purge"`  // likewise
	Counts    Counts    `json:"counts"`
	Breaker   Guard     `json:"breaker"` // too large a share of the memories
	Clock     Guard     `json:"clock"`   // too far a jump since the last run
	Confirmed bool      `json:"confirmed"`
}

// Left is how many more memories are due, to be retired and to be purged, than
// the plan lists: they are left to the next run.
func (p *Plan) Left() (retire, purge int) {
	return p.Counts.Due - len(p.Retire), p.Counts.Purge - len(p.Purge)
}

// Err is nil if the memories of Retire may be retired, and Refused, with the
// reason and the way out, if the clock or the breaker stops that and nobody
// confirmed it. A plan that would retire nothing is never refused.
func (p *Plan) Err() error {
	if p.Confirmed || len(p.Retire) == 0 {
		return nil
	}
	for _, g := range []Guard{p.Clock, p.Breaker} {
		if g.Tripped {
			return refused(g)
		}
	}
	return nil
}

// PurgeErr is the same for Purge. Only the clock stops a purge: its memories
// passed the breaker when they were retired, or a person asked for it, and
// then the erasure must not wait for anybody's confirmation of something else.
func (p *Plan) PurgeErr() error {
	if p.Confirmed || len(p.Purge) == 0 || !p.Clock.Tripped {
		return nil
	}
	return refused(p.Clock)
}

func refused(g Guard) error {
	return memtypes.Errorf("forgetting.Plan", memtypes.Refused, "%s", g.Reason)
}

// breaker judges a run that would retire due of active memories.
func breaker(due, active int, o *Options) Guard {
	if active == 0 {
		return Guard{}
	}
	share := float64(due) / float64(active)
	g := Guard{Found: percent(share), Limit: percent(o.MaxShare)}
	if due <= 1 || share <= o.MaxShare {
		return g
	}
	g.Tripped = true
	g.Reason = fmt.Sprintf("would retire %d of %d active memories (%s; the limit of one run is %s). "+
		"This is expected at the first run over an old bank and after a bulk import; else look at the clock, the strength and the thresholds. "+
		"Look through the preview, then run again confirmed", due, active, g.Found, g.Limit)
	return g
}

// clock judges how far now is from the last run.
func clock(now time.Time, o *Options) Guard {
	if o.LastRun.IsZero() {
		return Guard{}
	}
	jump := max(now.Sub(o.LastRun), 0)
	g := Guard{Found: span(jump), Limit: span(o.MaxJump)}
	if jump <= o.MaxJump {
		return g
	}
	g.Tripped = true
	g.Reason = fmt.Sprintf("the clock says %s, %s after the last run (a gap of at most %s is taken on trust). "+
		"Forgetting pauses, as a clock that is wrong would forget everything; if the time is right, run again confirmed",
		now.UTC().Format(time.RFC3339), g.Found, g.Limit)
	return g
}
