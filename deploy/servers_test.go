package deploy_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/qdrant/go-client/qdrant"
)

// TestServersAreOfThePinnedLine: the servers that tests run on are of the
// release lines that docker-compose.yml pins, so that what is tested is what is
// deployed.
func TestServersAreOfThePinnedLine(t *testing.T) {
	for _, tt := range []struct {
		name, variable string
		version        func(t *testing.T, ctx context.Context, addr string) string
	}{
		{"qdrant", "VIMBANK_TEST_QDRANT", qdrantVersion},
		{"elasticsearch", "VIMBANK_TEST_ELASTICSEARCH", elasticVersion},
		{"postgres", "VIMBANK_TEST_POSTGRES", postgresVersion},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr := os.Getenv(tt.variable)
			if addr == "" {
				if os.Getenv("VIMBANK_REQUIRE_SERVERS") != "" {
					t.Fatalf("%s names no server, and VIMBANK_REQUIRE_SERVERS is set", tt.variable)
				}
				t.Skipf("%s names no server", tt.variable)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, line := tt.version(t, ctx, addr), pins(t)[tt.name].Line
			if got != line && !strings.HasPrefix(got, line+".") {
				t.Errorf("the server is of version %s, %s pins %s: move one of them", got, versions, line)
			}
		})
	}
}

// TestPinsAreOfTheirLine: a tag is of the line that it is said to be of.
func TestPinsAreOfTheirLine(t *testing.T) {
	for name, p := range pins(t) {
		if p.Image == "" {
			continue
		}
		if tag := strings.TrimPrefix(p.Tag, "v"); !strings.HasPrefix(tag, p.Line+".") || p.Line == "" {
			t.Errorf("%s: tag %s is not of the line %q", name, p.Tag, p.Line)
		}
	}
}

func qdrantVersion(t *testing.T, ctx context.Context, addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	c, err := qdrant.NewClient(&qdrant.Config{Host: host, Port: n, SkipCompatibilityCheck: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	reply, err := c.HealthCheck(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return reply.GetVersion()
}

func elasticVersion(t *testing.T, ctx context.Context, urls string) string {
	url, _, _ := strings.Cut(urls, ",")
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/_nodes/_local?filter_path=nodes.*.version", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var reply struct {
		Nodes map[string]struct {
			Version string `json:"version"`
		} `json:"nodes"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		t.Fatal(err)
	}
	for _, n := range reply.Nodes {
		return n.Version
	}
	t.Fatalf("%s has no nodes: %s", url, resp.Status)
	return ""
}

func postgresVersion(t *testing.T, ctx context.Context, url string) string {
	c, err := pgconn.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	version, _, _ := strings.Cut(c.ParameterStatus("server_version"), " ")
	return version
}
