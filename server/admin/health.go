package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/vimbank/vimbank/memtypes"
)

// Health is the answer of /readyz, and with a status alone that of /healthz.
type Health struct {
	// Status is ok (/healthz), ready, degraded (ready, with a fault in a part
	// that can be done without), unready or draining.
	Status   string             `json:"status"`
	Error    string             `json:"error,omitempty"` // why it could not be looked at
	Findings []memtypes.Finding `json:"findings,omitempty"`
}

// Ready reports whether a process that answers so can serve.
func (h Health) Ready() bool { return h.Status == "ready" || h.Status == "degraded" }

// Handler answers /healthz, /readyz and /metrics, GET and HEAD only.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, Health{Status: "ok"})
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		h := s.look(r.Context())
		status := http.StatusOK
		if !h.Ready() {
			status = http.StatusServiceUnavailable
		}
		answer(w, status, h)
	})
	mux.Handle("GET /metrics", s.metrics())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		mux.ServeHTTP(w, r)
	})
}

// look asks whether the process can serve now.
func (s *Server) look(ctx context.Context) Health {
	switch {
	case s.draining.Load():
		return Health{Status: "draining"}
	case s.sources.Ready == nil:
		return Health{Status: "ready"}
	}
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	findings, err := s.sources.Ready(ctx)
	if err != nil {
		s.opts.Log.WarnContext(ctx, "not ready", "error", err)
		return Health{Status: "unready", Error: err.Error(), Findings: findings}
	}
	h := Health{Status: "ready", Findings: findings}
	for _, f := range findings {
		switch {
		case f.OK:
		case slices.Contains(s.opts.Needed, f.Part):
			h.Status = "unready"
		case h.Status == "ready":
			h.Status = "degraded"
		}
	}
	return h
}

func answer(w http.ResponseWriter, status int, h Health) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(h) // fails only if the client has gone
}
