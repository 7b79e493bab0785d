package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// Link stands between a client and a server.
type Link struct {
	Addr  string // host:port to connect to instead
	proxy *toxiproxy.Proxy
}

// Between makes a link to the server at upstream, host:port. It passes
// everything on until it is told otherwise, and ends with the test.
func Between(t testing.TB, upstream string) *Link {
	t.Helper()
	s := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	p := toxiproxy.NewProxy(s, t.Name(), "127.0.0.1:0", upstream)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return &Link{Addr: p.Listen, proxy: p}
}

// Down closes every connection and refuses new ones, until Up.
func (l *Link) Down() { l.proxy.Stop() }

// Up takes connections again, at the same address.
func (l *Link) Up(t testing.TB) {
	t.Helper()
	l.proxy.Listen = l.Addr
	if err := l.proxy.Start(); err != nil {
		t.Fatal(err)
	}
}

// Hold keeps connections open and passes nothing on, as a server that was
// stopped by a signal does.
func (l *Link) Hold(t testing.TB) {
	l.add(t, `{"name":"down","type":"timeout","stream":"downstream","attributes":{"timeout":0}}`)
	l.add(t, `{"name":"up","type":"timeout","stream":"upstream","attributes":{"timeout":0}}`)
}

// Slow adds d to every answer.
func (l *Link) Slow(t testing.TB, d time.Duration) {
	l.add(t, fmt.Sprintf(`{"name":"slow","type":"latency","attributes":{"latency":%d,"jitter":%d}}`, d.Milliseconds(), d.Milliseconds()/4))
}

// Reset answers everything that is sent with a reset of the connection.
func (l *Link) Reset(t testing.TB) {
	l.add(t, `{"name":"reset","type":"reset_peer","attributes":{"timeout":0}}`)
}

// Cut ends each connection after n bytes of answers.
func (l *Link) Cut(t testing.TB, n int) {
	l.add(t, fmt.Sprintf(`{"name":"cut","type":"limit_data","attributes":{"bytes":%d}}`, n))
}

// Heal takes all faults away but Down.
func (l *Link) Heal(t testing.TB) {
	t.Helper()
	l.proxy.Toxics.ResetToxics(t.Context())
}

func (l *Link) add(t testing.TB, toxic string) {
	t.Helper()
	if _, err := l.proxy.Toxics.AddToxicJson(strings.NewReader(toxic)); err != nil {
		t.Fatal(err)
	}
}
