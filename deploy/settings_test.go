package deploy_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/vimbank/vimbank/configs"
)

// TestMain leaves out what settings this machine has.
func TestMain(m *testing.M) {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "VIMBANK_") && !strings.HasPrefix(name, "VIMBANK_TEST_") && name != "VIMBANK_REQUIRE_SERVERS" {
			os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}

// loadWith loads the settings that a container with these variables and this
// file (empty: none) has; a variable that is no setting is a fault.
func loadWith(t *testing.T, env map[string]string, file string) configs.Config {
	t.Helper()
	for name, value := range env {
		t.Setenv(name, value)
	}
	var from configs.Sources
	if file != "" {
		from.File = filepath.Join(t.TempDir(), "vimbank.yaml")
		if err := os.WriteFile(from.File, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := configs.Load(from)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Ignored) > 0 {
		t.Errorf("variables that are no setting: %v", l.Ignored)
	}
	return l.Config
}

// TestComposeSettings: what the compose file tells VIMBank loads, and reaches
// the servers beside it with their passwords.
func TestComposeSettings(t *testing.T) {
	for _, tt := range []struct{ service, profile, ledger string }{
		{"vimbank", "cluster", "postgres"},
		{"vimbank-minimal", "minimal", "sqlite"},
	} {
		t.Run(tt.service, func(t *testing.T) {
			p := must(t, tt.profile)
			env := map[string]string{}
			for name, v := range p.Services[tt.service].Environment {
				env[name] = *v
			}
			c := loadWith(t, env, "")
			if c.Ledger.Kind != tt.ledger || c.Dense.Kind != "qdrant" || c.Sparse.Kind != "elasticsearch" {
				t.Errorf("ledger %s, dense %s, sparse %s", c.Ledger.Kind, c.Dense.Kind, c.Sparse.Kind)
			}
			secrets := filled()
			key, err := c.Dense.Key()
			if err != nil || key.Reveal() != secrets["QDRANT_API_KEY"] {
				t.Errorf("Qdrant's key %q, %v", key.Reveal(), err)
			}
			if password, _, err := c.Sparse.Login(); err != nil || password.Reveal() != secrets["ELASTIC_PASSWORD"] {
				t.Errorf("Elasticsearch's password %q, %v", password.Reveal(), err)
			}
			hosts := []string{c.Dense.Addr, strings.TrimPrefix(c.Sparse.Addresses()[0], "http://")}
			if tt.ledger == "postgres" {
				url, err := c.Ledger.Address()
				want := fmt.Sprintf("postgres://vimbank:%s@postgres:5432/vimbank?sslmode=disable", secrets["POSTGRES_PASSWORD"])
				if err != nil || url.Reveal() != want {
					t.Errorf("ledger %q, %v, want %q", url.Reveal(), err, want)
				}
				hosts = append(hosts, "postgres:5432")
			}
			for _, addr := range hosts {
				host, _, err := net.SplitHostPort(addr)
				if _, ok := p.Services[host]; err != nil || !ok {
					t.Errorf("%s is no service of the profile %s", addr, tt.profile)
				}
			}
			if c.Admin.Addr != "0.0.0.0:9464" || !c.Admin.Public {
				t.Errorf("admin %+v, want the port that is published", c.Admin)
			}
		})
	}
}

// TestComposeBanksAreApart: the two ways of running it share servers, and not
// their collections and indexes.
func TestComposeBanksAreApart(t *testing.T) {
	a, b := everything(t)["vimbank"], everything(t)["vimbank-minimal"]
	if a.Volumes[0].Source == b.Volumes[0].Source {
		t.Errorf("both have the volume %s", a.Volumes[0].Source)
	}
	for _, name := range []string{"VIMBANK_DENSE_PREFIX", "VIMBANK_SPARSE_PREFIX"} {
		if got := b.Environment[name]; got == nil || *got == "vimbank" {
			t.Errorf("%s is not set apart for minimal", name)
		}
	}
}

func dockerfile(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDockerfile: made with the Go that is pinned, which is not below go.mod's,
// and ends in a small image without a shell and without root.
func TestDockerfile(t *testing.T) {
	text := dockerfile(t)
	for _, want := range []string{
		"ARG GO_VERSION=" + pins(t)["go"].Version + "\n",
		"ARG BASE=gcr.io/distroless/static-debian12:nonroot\n",
		"\nUSER 65532:65532\n", "\nHEALTHCHECK ", `"/usr/local/bin/vimbank", "health"]`, "-trimpath", "CGO_ENABLED=0",
		"org.opencontainers.image.licenses", "org.opencontainers.image.revision",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the Dockerfile", want)
		}
	}
	stages := regexp.MustCompile(`(?m)^FROM .*$`).FindAllString(text, -1)
	if len(stages) != 2 || stages[1] != "FROM ${BASE}" {
		t.Errorf("stages %q, want a build and ${BASE}", stages)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^go (\d+)\.(\d+)\.(\d+)$`).FindStringSubmatch(string(mod))
	if m == nil {
		t.Fatal("go.mod has no go line")
	}
	wanted, pinned := numbers(t, m[0][len("go "):]), numbers(t, pins(t)["go"].Version)
	if pinned[0] != wanted[0] || pinned[1] != wanted[1] || pinned[2] < wanted[2] {
		t.Errorf("Go %v is pinned, go.mod wants %v: the same release, no older patch", pinned, wanted)
	}
}

// TestDockerfileSettings: what the image sets are settings.
func TestDockerfileSettings(t *testing.T) {
	env := map[string]string{}
	for _, m := range regexp.MustCompile(`(VIMBANK_[A-Z_]+)=(\S+)`).FindAllStringSubmatch(dockerfile(t), -1) {
		env[m[1]] = m[2]
	}
	c := loadWith(t, env, "")
	if c.Bank != "/var/lib/vimbank" || c.Admin.Addr != "127.0.0.1:9464" || c.Admin.Public {
		t.Errorf("bank %q, admin %+v, want the volume and loopback", c.Bank, c.Admin)
	}
}

func numbers(t *testing.T, version string) (n [3]int) {
	t.Helper()
	if _, err := fmt.Sscanf(version, "%d.%d.%d", &n[0], &n[1], &n[2]); err != nil {
		t.Fatalf("version %q: %v", version, err)
	}
	return n
}
