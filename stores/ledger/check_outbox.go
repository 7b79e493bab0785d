package ledger

import (
	"fmt"
	"strings"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// CheckFollower refuses a name that no follower may have.
func CheckFollower(op, name string) error {
	other := func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789/-", r) }
	if len(name) < 1 || len(name) > 100 || strings.ContainsFunc(name, other) {
		return memtypes.BadField(op, "follower", name, "1 to 100 of a-z, 0-9, / and -")
	}
	return nil
}

// CheckClaim refuses a claim without a holder, or of no duration or number;
// MaxLimit is what a larger limit gets.
func CheckClaim(name, holder string, now time.Time, hold time.Duration, limit int) (int, error) {
	const op = "ledger.Claim"
	if err := CheckFollower(op, name); err != nil {
		return 0, err
	}
	if err := checkName(op, "holder", holder); err != nil {
		return 0, err
	}
	if hold <= 0 {
		return 0, memtypes.BadField(op, "hold", hold, "a duration above zero")
	}
	if err := CheckTime(op, "now", now); err != nil {
		return 0, err
	}
	if err := CheckTime(op, "now+hold", now.Add(hold)); err != nil {
		return 0, err
	}
	return CheckLimit(op, limit)
}

// CheckSettled refuses what nobody can have claimed, an unknown verdict, Later
// without a time and a reason that is too long.
func CheckSettled(name, holder string, settled []Settled) error {
	const op = "ledger.Settle"
	if err := CheckFollower(op, name); err != nil {
		return err
	}
	if err := checkName(op, "holder", holder); err != nil {
		return err
	}
	if len(settled) > MaxEdits {
		return memtypes.BadField(op, "settled", len(settled), fmt.Sprintf("at most %d at once", MaxEdits))
	}
	for i := range settled {
		if err := settled[i].check(op); err != nil {
			return err
		}
	}
	return nil
}

func (s *Settled) check(op string) error {
	if _, err := memtypes.ParseID(string(s.ID)); err != nil {
		return err
	}
	switch s.Verdict {
	case Placed, Later, Poison:
	default:
		return memtypes.BadField(op, "verdict", string(s.Verdict), "placed, later or poison")
	}
	if s.Verdict == Later || s.Verdict == Poison && !s.At.IsZero() {
		if err := CheckTime(op, "at", s.At); err != nil {
			return err
		}
	}
	return checkString(op, "reason", s.Reason)
}
