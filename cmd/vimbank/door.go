package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/server/admin"
)

// door opens the admin address, if the settings name one, and returns what
// closes it.
func (k *keeper) door(e *engine.Engine) (shut func() error, err error) {
	c := &k.app.conf.Config
	if c.Admin.Addr == "" {
		return func() error { return nil }, nil
	}
	s, err := admin.Listen(k.ctx, c.Admin.Addr, admin.Sources{
		Ready:   func(ctx context.Context) ([]memtypes.Finding, error) { return standing(ctx, e) },
		Measure: func(ctx context.Context) (admin.Figures, error) { return figures(ctx, e) },
	}, &admin.Options{Public: c.Admin.Public, Build: buildOf().Version, Log: slog.New(slog.NewTextHandler(k.app.err, nil))})
	if err != nil {
		return nil, err
	}
	if !k.app.flags.json {
		k.app.note("health and metrics at http://%s", s.Addr())
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(k.ctx))
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}, nil
}

// standing says whether the parts of a bank can be used now.
func standing(ctx context.Context, e *engine.Engine) ([]memtypes.Finding, error) {
	h, err := e.Health(ctx)
	if err != nil {
		return []memtypes.Finding{{Part: "ledger", Check: "reachable", Found: oneLine(err), Wanted: "an answer", Mend: "vimbank doctor"}}, nil
	}
	out := []memtypes.Finding{{Part: "ledger", Check: "reachable", OK: true, Found: fmt.Sprintf("revision %d", h.Head)}}
	for i := range h.Indexes {
		if x := &h.Indexes[i]; x.Live {
			out = append(out, indexFinding(x))
		}
	}
	return out, nil
}

// indexFinding is how the live generation of an index stands.
func indexFinding(x *engine.IndexHealth) memtypes.Finding {
	f := memtypes.Finding{Part: x.Index, Check: "index", OK: x.Error == "" && x.Breaker == "closed",
		Found: fmt.Sprintf("generation %s, %d owed, %d dead", x.Generation, x.Owed, x.Dead)}
	if !f.OK {
		f.Found += ", breaker " + x.Breaker
		if x.Error != "" {
			f.Found += ": " + x.Error
		}
		f.Wanted, f.Mend = "a service that answers", "vimbank doctor"
	}
	return f
}

// figures takes those of the metrics.
func figures(ctx context.Context, e *engine.Engine) (admin.Figures, error) {
	h, err := e.Health(ctx)
	f := admin.Figures{Head: h.Head}
	for _, x := range h.Indexes {
		ix := admin.Index{Name: x.Index + "/" + x.Generation, Mark: x.Mark, Owed: x.Owed, Dead: x.Dead, BreakerOpen: x.Breaker == "open", Memories: -1}
		if !x.Waiting.IsZero() {
			ix.Waiting = max(0, time.Since(x.Waiting))
		}
		f.Indexes = append(f.Indexes, ix)
	}
	return f, err
}
