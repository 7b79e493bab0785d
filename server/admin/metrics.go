package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Figures are what a measure found.
type Figures struct {
	Head     uint64         // the newest change of the ledger
	Memories map[string]int // in the ledger, by state: active, retired; nil: not counted
	Indexes  []Index
}

// Index is one generation of an index and how far it follows the ledger.
type Index struct {
	Name        string        // "dense/<generation>", as the ledger names its follower
	Mark        uint64        // every change up to here is in the index, or a dead letter
	Owed        int           // memories that it has yet to place, dead letters apart
	Dead        int           // dead letters
	Waiting     time.Duration // of the oldest that is owed; 0 if none is
	BreakerOpen bool          // its service is not asked for now, because it failed
	Memories    int           // that it holds; below 0: not known
}

// maxScrapes bounds the scrapes under way: a measure asks the backends.
const maxScrapes = 2

// metrics is the handler of /metrics. A measure that fails leaves its figures
// out and says vimbank_up 0; those of the process are always there.
func (s *Server) metrics() http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "vimbank_build_info", Help: "Always 1; the label says which version runs.",
		ConstLabels: prometheus.Labels{"version": s.opts.Build},
	})
	build.Set(1)
	r.MustRegister(build)
	if s.sources.Measure != nil {
		r.MustRegister(newCollector(s))
	}
	return promhttp.InstrumentMetricHandler(r, promhttp.HandlerFor(r, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes,
		Timeout:             s.opts.Timeout + 5*time.Second,
		Registry:            nil,
	}))
}

// collector measures at each scrape: nothing is measured that nobody asks for.
type collector struct {
	server *Server

	up, head, memories                                     *prometheus.Desc
	mark, behind, waiting, owed, dead, breaker, inTheIndex *prometheus.Desc
}

func newCollector(s *Server) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("vimbank_"+name, help, labels, nil)
	}
	return &collector{
		server:     s,
		up:         desc("up", "1 if the ledger and its followers could be measured at this scrape."),
		head:       desc("ledger_head", "Number of the newest change in the ledger."),
		memories:   desc("ledger_memories", "Memories in the ledger.", "state"),
		mark:       desc("index_mark", "Number of the change up to which everything is in the index, or a dead letter.", "index"),
		behind:     desc("index_behind_changes", "Changes in the ledger after the index's mark.", "index"),
		waiting:    desc("index_lag_seconds", "How long the oldest memory that the index lacks has been waiting.", "index"),
		owed:       desc("index_owed_memories", "Memories that the index lacks, dead letters apart.", "index"),
		dead:       desc("index_dead_letters", "Memories that the index refused for good; see `vimbank dead`.", "index"),
		breaker:    desc("index_breaker_open", "1 if the index's service is not asked for now, because it failed.", "index"),
		inTheIndex: desc("index_memories", "Memories that the index holds.", "index"),
	}
}

// Describe lists the metrics.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.up, c.head, c.memories, c.mark, c.behind, c.waiting, c.owed, c.dead, c.breaker, c.inTheIndex} {
		ch <- d
	}
}

// Collect measures.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.server.opts.Timeout) // the registry passes none on
	defer cancel()
	f, err := c.server.sources.Measure(ctx)
	if err != nil {
		c.server.opts.Log.WarnContext(ctx, "not measured", "error", err)
		gauge(c.up, 0)
		return
	}
	gauge(c.up, 1)
	gauge(c.head, float64(f.Head))
	for state, n := range f.Memories {
		gauge(c.memories, float64(n), state)
	}
	seen := map[string]bool{} // the registry refuses a scrape with one series twice
	for _, i := range f.Indexes {
		if seen[i.Name] {
			continue
		}
		seen[i.Name] = true
		gauge(c.mark, float64(i.Mark), i.Name)
		gauge(c.behind, float64(f.Head-min(i.Mark, f.Head)), i.Name)
		gauge(c.waiting, i.Waiting.Seconds(), i.Name)
		gauge(c.owed, float64(i.Owed), i.Name)
		gauge(c.dead, float64(i.Dead), i.Name)
		gauge(c.breaker, bit(i.BreakerOpen), i.Name)
		if i.Memories >= 0 {
			gauge(c.inTheIndex, float64(i.Memories), i.Name)
		}
	}
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
