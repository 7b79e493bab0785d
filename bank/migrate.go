package bank

import (
	"context"
	"errors"
	"time"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// Place is a bank by the folder and the options that open it.
type Place struct {
	Dir     string
	Options *Options
}

// Moved says what Migrate did.
type Moved struct {
	Sum     ledger.Sum     // of both ledgers; zero where they are one
	Indexes []engine.Drift // of the bank moved to, against its ledger
}

// MigrateOptions sets up Migrate; nil is the zero one.
type MigrateOptions struct {
	// Each is told how far a step ("ledger", "dense", "sparse") has come. Nil tells nobody.
	Each func(step string, done, total int)
	// Poll is how often services are asked how far they have come. Zero means 200 ms.
	Poll time.Duration
}

// Migrate copies the bank from into to, which must be empty or hold the
// beginning of the same migration: it goes on where that was interrupted.
// Everything moves: memories with all revisions, retired and purged ones, the
// audit trail with its hashes, recalls, runs, leases and settings. Both ledgers
// are verified and compared, then to's indexes are made and compared with its
// ledger. from is only read. If somebody writes it meanwhile, that is Conflict.
func Migrate(ctx context.Context, from, to Place, o *MigrateOptions) (m Moved, err error) {
	if o == nil {
		o = &MigrateOptions{}
	}
	tell := o.Each
	if tell == nil {
		tell = func(string, int, int) {}
	}
	if !from.Options.services().local() || !to.Options.services().local() || from.Dir != to.Dir {
		if m.Sum, err = moveLedger(ctx, from, to, tell); err != nil {
			return m, err
		}
	}
	e, err := Open(ctx, to.Dir, to.Options)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, e.Close(context.WithoutCancel(ctx))) }()
	if to.Options.services().indexed() {
		if err := Settled(ctx, e, o.Poll, tell); err != nil {
			return m, err
		}
	}
	m.Indexes, err = e.Reconcile(ctx, false)
	return m, err
}

func (o *Options) services() *Services {
	if o == nil {
		return nil
	}
	return o.Services
}

// moveLedger copies one ledger into another.
func moveLedger(ctx context.Context, from, to Place, tell func(string, int, int)) (sum ledger.Sum, err error) {
	const op = "bank.Migrate"
	if from.Options.services().local() && !Exists(from.Dir) {
		return sum, memtypes.Errorf(op, memtypes.NotFound, "no bank in %s", from.Dir)
	}
	read := Options{}
	if from.Options != nil {
		read = *from.Options
	}
	read.ReadOnly = true
	old, err := Ledger(ctx, from.Dir, &read)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	fresh, err := Ledger(ctx, to.Dir, to.Options)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, fresh.Close()) }()
	a, ok := old.(ledger.Bank)
	b, also := fresh.(ledger.Bank)
	if !ok || !also {
		return sum, memtypes.Errorf(op, memtypes.Internal, "found a ledger that cannot be moved, %T to %T", old, fresh)
	}
	return ledger.Move(ctx, a, b, &ledger.MoveOptions{Each: func(done, of uint64) { tell("ledger", int(done), int(of)) }})
}

// Settled waits until the services of e's indexes have everything that the
// ledger has, asking every poll (zero: 200 ms), and tells each (nil: nobody) how
// far they are. It is Conflict where one has dead letters.
func Settled(ctx context.Context, e *engine.Engine, poll time.Duration, each func(index string, done, total int)) error {
	if poll <= 0 {
		poll = 200 * time.Millisecond
	}
	if each == nil {
		each = func(string, int, int) {}
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		h, err := e.Health(ctx)
		if err != nil {
			return err
		}
		done := 0
		for _, x := range h.Indexes {
			if !x.Live {
				continue
			}
			if x.Dead > 0 {
				return memtypes.Errorf("bank.Settled", memtypes.Conflict, "%d memories that the index %s cannot take: see `vimbank dead`", x.Dead, x.Index)
			}
			each(x.Index, int(h.Head-x.Lag), int(h.Head))
			if x.Lag == 0 {
				done++
			}
		}
		if st := e.Stats(); done == 2 || done == 1 && st.Embedder == "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return memtypes.Errorf("bank.Settled", memtypes.Canceled, "%w", ctx.Err())
		case <-tick.C:
		}
	}
}
