// Package admin is the door for whoever runs VIMBank: whether the process lives
// (/healthz), whether it can serve (/readyz) and its figures (/metrics, in the
// format of Prometheus).
//
// It listens on this machine unless it is told otherwise, shows no memory, no
// tenant and no secret, and bounds the time and the number of requests. What is
// looked at and measured is said by its caller; nothing can be changed here.
package admin

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Sources are what the answers are made of. All are called concurrently and
// must end soon after their context.
type Sources struct {
	// Ready looks at the backends. An error says that it could not look, and
	// then the process is not ready; nil: ready as long as it is not draining.
	Ready func(ctx context.Context) ([]memtypes.Finding, error)
	// Measure takes the figures; nil: /metrics has those of the process only.
	Measure func(ctx context.Context) (Figures, error)
}

// Options sets how the door behaves. The zero value is ready to use.
type Options struct {
	// Public allows an address that other machines can reach. There is no
	// password: leave who may come to a network policy.
	Public bool
	// Needed are the parts without which the process is not ready, as
	// Finding.Part names them. A fault in any other part is "degraded", and
	// ready: recall goes on without an index. Empty means ledger.
	Needed []string
	// Timeout bounds one look and one measure. Zero means 5 s.
	Timeout time.Duration
	// Drain is how long /readyz says no before the door closes, so that whoever
	// sends requests here can turn elsewhere first. Zero: not at all.
	Drain time.Duration
	// Build is the version that vimbank_build_info shows. Empty means unknown.
	Build string
	// Log gets what went wrong behind an answer. Nil: nobody does.
	Log *slog.Logger
}

// Server is an open door. Its methods are safe for concurrent use.
type Server struct {
	opts     Options
	sources  Sources
	listener net.Listener
	http     *http.Server
	draining atomic.Bool
}

const grace = 5 * time.Second // for requests that run when the door closes

// Listen opens the door at addr, host:port, where port 0 takes a free one. An
// address beyond this machine without Options.Public, or none at all, is
// Invalid; one that cannot be had is Unavailable.
func Listen(ctx context.Context, addr string, s Sources, o *Options) (*Server, error) {
	if o == nil {
		o = &Options{}
	}
	if err := checkAddr(addr, o.Public); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, memtypes.Errorf("admin.Listen", memtypes.Unavailable, "admin.addr %q: found %w, wanted an address that is free here", addr, err)
	}
	srv := &Server{opts: withDefaults(*o), sources: s, listener: l}
	srv.http = &http.Server{
		Handler:           srv.Handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      srv.opts.Timeout + 10*time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(srv.opts.Log.Handler(), slog.LevelWarn),
	}
	return srv, nil
}

func withDefaults(o Options) Options {
	if len(o.Needed) == 0 {
		o.Needed = []string{"ledger"}
	}
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Build == "" {
		o.Build = "unknown"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// checkAddr refuses what would let other machines in unasked.
func checkAddr(addr string, public bool) error {
	const op, wanted = "admin.Listen", "host:port, such as 127.0.0.1:9464"
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return memtypes.BadField(op, "admin.addr", addr, wanted)
	}
	if public || host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return nil
	}
	return memtypes.BadField(op, "admin.addr", addr, "an address of this machine alone, such as 127.0.0.1:9464, or admin.public true")
}

// Addr is where the door is open: host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers until ctx ends, says that it is not ready for Options.Drain,
// waits a few seconds for the requests that run, and closes the door. A nil
// error says that it ended so. It must be called once, or the door stays open.
func (s *Server) Serve(ctx context.Context) error {
	served := make(chan error, 1)
	go func() { served <- s.http.Serve(s.listener) }()
	select {
	case err := <-served:
		return s.broken(err)
	case <-ctx.Done():
	}
	s.draining.Store(true)
	wait := time.NewTimer(s.opts.Drain)
	defer wait.Stop()
	select {
	case err := <-served:
		return s.broken(err)
	case <-wait.C:
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := s.http.Shutdown(within)
	if err != nil {
		_ = s.http.Close()
		err = memtypes.Errorf("admin.Serve", memtypes.Canceled, "requests that were still running after %v: %w", grace, err)
	}
	<-served
	return err
}

func (s *Server) broken(err error) error {
	return memtypes.Errorf("admin.Serve", memtypes.Unavailable, "admin.addr %s: %w", s.Addr(), err)
}
