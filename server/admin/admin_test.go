package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"go.uber.org/goleak"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/server/admin"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open serves on a free port until the test ends.
func open(t *testing.T, s admin.Sources, o *admin.Options) *admin.Server {
	t.Helper()
	srv, err := admin.Listen(t.Context(), "127.0.0.1:0", s, o)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, srv)
	return srv
}

// serve gives what ends the serving and waits for it; the end of the test does too.
func serve(t *testing.T, srv *admin.Server) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx) }()
	var err error
	done := false
	stop = func() error {
		if cancel(); !done {
			err, done = <-ended, true
		}
		return err
	}
	t.Cleanup(func() { _ = stop() })
	return stop
}

func get(t *testing.T, srv *admin.Server, path string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + srv.Addr() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func finding(part string, ok bool) memtypes.Finding {
	return memtypes.Finding{Part: part, Check: "reachable", OK: ok, Found: "something"}
}

func TestReadiness(t *testing.T) {
	for _, tt := range []struct {
		name     string
		findings []memtypes.Finding
		err      error
		opts     admin.Options
		status   int
		want     string
	}{
		{name: "all is well", findings: []memtypes.Finding{finding("ledger", true), finding("dense", true)}, status: 200, want: "ready"},
		{name: "nothing to look at", status: 200, want: "ready"},
		{name: "an index is away", findings: []memtypes.Finding{finding("dense", false), finding("ledger", true)}, status: 200, want: "degraded"},
		{name: "the ledger is away", findings: []memtypes.Finding{finding("ledger", false), finding("dense", true)}, status: 503, want: "unready"},
		{name: "both are", findings: []memtypes.Finding{finding("ledger", false), finding("dense", false)}, status: 503, want: "unready"},
		{name: "an index that is needed", findings: []memtypes.Finding{finding("dense", false)}, opts: admin.Options{Needed: []string{"dense"}}, status: 503, want: "unready"},
		{name: "it cannot be looked at", err: errors.New("no way"), status: 503, want: "unready"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			look := func(context.Context) ([]memtypes.Finding, error) { return tt.findings, tt.err }
			srv := open(t, admin.Sources{Ready: look}, &tt.opts)
			status, body := get(t, srv, "/readyz")
			var h admin.Health
			if err := json.Unmarshal([]byte(body), &h); err != nil {
				t.Fatalf("%v in %s", err, body)
			}
			if status != tt.status || h.Status != tt.want || h.Ready() != (tt.status == 200) {
				t.Errorf("got %d %q, want %d %q", status, h.Status, tt.status, tt.want)
			}
			if !cmp.Equal(h.Findings, tt.findings) {
				t.Errorf("findings %v, want %v", h.Findings, tt.findings)
			}
			if tt.err != nil && h.Error != tt.err.Error() {
				t.Errorf("error %q, want %q", h.Error, tt.err)
			}
			if status, body := get(t, srv, "/healthz"); status != 200 || body != `{"status":"ok"}`+"\n" {
				t.Errorf("healthz %d %q: it must not depend on the backends", status, body)
			}
			if got, err := admin.Probe(t.Context(), srv.Addr(), 0); err != nil || !cmp.Equal(got, h) {
				t.Errorf("probe %+v, %v, want %+v", got, err, h)
			}
		})
	}
}

func TestALookHasADeadline(t *testing.T) {
	srv := open(t, admin.Sources{Ready: func(ctx context.Context) ([]memtypes.Finding, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}, &admin.Options{Timeout: 10 * time.Millisecond})
	if status, body := get(t, srv, "/readyz"); status != 503 || !strings.Contains(body, "deadline") {
		t.Errorf("got %d %s, want 503 because of the deadline", status, body)
	}
}

func figures() admin.Figures {
	return admin.Figures{
		Head: 12, Memories: map[string]int{"active": 7, "retired": 2},
		Indexes: []admin.Index{
			{Name: "dense/a1", Mark: 10, Owed: 2, Dead: 1, Waiting: 1500 * time.Millisecond, Memories: 6},
			{Name: "sparse/a1", Mark: 99, BreakerOpen: true, Memories: -1}, // the mark was read after the head
			{Name: "sparse/a1", Mark: 5},
		},
	}
}

func TestMetrics(t *testing.T) {
	srv := open(t, admin.Sources{Measure: func(context.Context) (admin.Figures, error) { return figures(), nil }}, &admin.Options{Build: `v1"x`})
	status, body := get(t, srv, "/metrics")
	if status != 200 {
		t.Fatalf("status %d: %s", status, body)
	}
	var got []string
	for _, line := range strings.Split(body, "\n") {
		if strings.HasPrefix(line, "vimbank_") {
			got = append(got, line)
		}
	}
	slices.Sort(got)
	want := []string{
		`vimbank_build_info{version="v1\"x"} 1`,
		`vimbank_index_behind_changes{index="dense/a1"} 2`,
		`vimbank_index_behind_changes{index="sparse/a1"} 0`,
		`vimbank_index_breaker_open{index="dense/a1"} 0`,
		`vimbank_index_breaker_open{index="sparse/a1"} 1`,
		`vimbank_index_dead_letters{index="dense/a1"} 1`,
		`vimbank_index_dead_letters{index="sparse/a1"} 0`,
		`vimbank_index_lag_seconds{index="dense/a1"} 1.5`,
		`vimbank_index_lag_seconds{index="sparse/a1"} 0`,
		`vimbank_index_mark{index="dense/a1"} 10`,
		`vimbank_index_mark{index="sparse/a1"} 99`,
		`vimbank_index_memories{index="dense/a1"} 6`,
		`vimbank_index_owed_memories{index="dense/a1"} 2`,
		`vimbank_index_owed_memories{index="sparse/a1"} 0`,
		`vimbank_ledger_head 12`,
		`vimbank_ledger_memories{state="active"} 7`,
		`vimbank_ledger_memories{state="retired"} 2`,
		`vimbank_up 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "vimbank_") {
			t.Errorf("metric %s: %s", p.Metric, p.Text)
		}
	}
	for _, name := range []string{"go_goroutines", "promhttp_metric_handler_requests_total"} {
		if !strings.Contains(body, "\n"+name) {
			t.Errorf("no %s among the metrics", name)
		}
	}
}

func TestWhatCannotBeMeasuredIsLeftOut(t *testing.T) {
	srv := open(t, admin.Sources{Measure: func(context.Context) (admin.Figures, error) { return figures(), errors.New("away") }}, nil)
	status, body := get(t, srv, "/metrics")
	if status != 200 || !strings.Contains(body, "\nvimbank_up 0\n") || strings.Contains(body, "vimbank_index") || !strings.Contains(body, "go_goroutines") {
		t.Errorf("got %d\n%s\nwant vimbank_up 0, and of the rest only the process's own", status, body)
	}
}

func TestScrapesAreBounded(t *testing.T) {
	inside, leave := make(chan bool, 8), make(chan bool)
	srv := open(t, admin.Sources{Measure: func(ctx context.Context) (admin.Figures, error) {
		inside <- true
		<-leave
		return figures(), nil
	}}, nil)
	ended := make(chan int, 2)
	for range 2 {
		go func() {
			status, _ := get(t, srv, "/metrics")
			ended <- status
		}()
	}
	<-inside
	<-inside
	if status, _ := get(t, srv, "/metrics"); status != 503 {
		t.Errorf("a third scrape beside two gets %d, want 503", status)
	}
	close(leave)
	for range 2 {
		if got := <-ended; got != 200 {
			t.Errorf("a scrape gets %d, want 200", got)
		}
	}
}

func TestOnlyReading(t *testing.T) {
	srv := open(t, admin.Sources{}, nil)
	for _, tt := range []struct {
		method, path string
		want         int
	}{
		{"POST", "/healthz", 405}, {"DELETE", "/readyz", 405}, {"PUT", "/metrics", 405}, {"GET", "/", 404}, {"GET", "/debug/pprof/", 404},
		{"HEAD", "/healthz", 200}, {"HEAD", "/readyz", 200},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, "http://"+srv.Addr()+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Close = true
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != tt.want || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: %d, Cache-Control %q, want %d and no-store", tt.method, tt.path, resp.StatusCode, resp.Header.Get("Cache-Control"), tt.want)
		}
	}
}

func TestAddressesBeyondThisMachine(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.org:0", "[::ffff:192.0.2.1]:0", "127.0.0.1", "", "127.0.0.1:0:1"} {
		srv, err := admin.Listen(t.Context(), addr, admin.Sources{}, nil)
		if memtypes.CodeOf(err) != memtypes.Invalid || !strings.Contains(fmt.Sprint(err), "admin.addr") {
			t.Errorf("%q: got %v, want an Invalid error about admin.addr", addr, err)
		}
		if srv != nil {
			t.Errorf("%q: got a server that listens at %s", addr, srv.Addr())
		}
	}
	for addr, public := range map[string]bool{"127.0.0.1:0": false, "127.8.8.8:0": false, "localhost:0": false, "0.0.0.0:0": true} {
		srv, err := admin.Listen(t.Context(), addr, admin.Sources{}, &admin.Options{Public: public})
		if err != nil {
			t.Errorf("%q, public %v: %v", addr, public, err)
			continue
		}
		if err := serve(t, srv)(); err != nil {
			t.Errorf("%q: %v", addr, err)
		}
	}
}

func TestAnAddressInUse(t *testing.T) {
	srv := open(t, admin.Sources{}, nil)
	_, err := admin.Listen(t.Context(), srv.Addr(), admin.Sources{}, nil)
	if memtypes.CodeOf(err) != memtypes.Unavailable || !strings.Contains(fmt.Sprint(err), srv.Addr()) {
		t.Errorf("got %v, want Unavailable with the address", err)
	}
}

// TestLeaving: first it says that it is not ready, then it waits for who is
// inside, then the door is closed.
func TestLeaving(t *testing.T) {
	inside, answer := make(chan bool), make(chan bool)
	srv, err := admin.Listen(t.Context(), "127.0.0.1:0", admin.Sources{Measure: func(context.Context) (admin.Figures, error) {
		inside <- true
		<-answer
		return admin.Figures{}, nil
	}}, &admin.Options{Drain: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx) }()
	scraped := make(chan int, 1)
	go func() {
		status, _ := get(t, srv, "/metrics")
		scraped <- status
	}()
	<-inside
	cancel()
	for {
		h, err := admin.Probe(t.Context(), srv.Addr(), 0)
		if err != nil {
			t.Fatalf("the door closed without a word: %v", err)
		}
		if h.Status == "draining" && !h.Ready() {
			break
		}
	}
	close(answer)
	if got := <-scraped; got != 200 {
		t.Errorf("a request under way gets %d, want its answer", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("Serve: %v", err)
	}
	_, err = admin.Probe(t.Context(), srv.Addr(), 0)
	if memtypes.CodeOf(err) != memtypes.Unavailable {
		t.Errorf("a probe of a closed door: got %v, want Unavailable", err)
	}
}

func TestProbe(t *testing.T) {
	srv, err := admin.Listen(t.Context(), "0.0.0.0:0", admin.Sources{}, &admin.Options{Public: true})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, srv)
	_, port, err := net.SplitHostPort(srv.Addr())
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range []string{"0.0.0.0:" + port, ":" + port, "localhost:" + port} {
		if h, err := admin.Probe(t.Context(), addr, 0); err != nil || !h.Ready() {
			t.Errorf("probe of %s: %+v, %v, want ready", addr, h, err)
		}
	}
	_, err = admin.Probe(t.Context(), "nonsense", 0)
	if memtypes.CodeOf(err) != memtypes.Invalid {
		t.Errorf("got %v, want Invalid", err)
	}
	other := &http.Server{Handler: http.NotFoundHandler()}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- other.Serve(l) }()
	_, err = admin.Probe(t.Context(), l.Addr().String(), 0)
	if memtypes.CodeOf(err) != memtypes.Incompatible {
		t.Errorf("got %v, want Incompatible: something else answers there", err)
	}
	other.Close()
	<-ended
}
