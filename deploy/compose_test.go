package deploy_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/deploy"
)

const (
	root     = ".."
	compose  = root + "/docker-compose.yml"
	versions = "versions.yaml"
)

// passwords are what .env.example leaves to be filled in.
func passwords() []string { return []string{"POSTGRES_PASSWORD", "ELASTIC_PASSWORD", "QDRANT_API_KEY"} }

func filled() map[string]string {
	return map[string]string{"POSTGRES_PASSWORD": "pg-hush", "ELASTIC_PASSWORD": "es-hush", "QDRANT_API_KEY": "qd-hush"}
}

// project loads the compose file as Compose does: schema, interpolation,
// normalisation and consistency.
func project(t *testing.T, env map[string]string, profiles ...string) (*types.Project, error) {
	t.Helper()
	return loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  root,
		ConfigFiles: []types.ConfigFile{{Filename: compose}},
		Environment: env,
	}, func(o *loader.Options) {
		o.SetProjectName("vimbank", true)
		o.Profiles = profiles
	})
}

func must(t *testing.T, profiles ...string) *types.Project {
	t.Helper()
	p, err := project(t, filled(), profiles...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// everything is every service, whichever profile it is of.
func everything(t *testing.T) types.Services { return must(t, "*").Services }

func pins(t *testing.T) map[string]deploy.Pin {
	t.Helper()
	p, err := deploy.Versions(versions)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestComposeProfiles(t *testing.T) {
	for _, tt := range []struct {
		profiles []string
		want     []string
	}{
		{nil, []string{"elasticsearch", "qdrant"}},
		{[]string{"cluster"}, []string{"elasticsearch", "postgres", "qdrant", "vimbank"}},
		{[]string{"minimal"}, []string{"elasticsearch", "qdrant", "vimbank-minimal"}},
	} {
		got := slices.Sorted(maps.Keys(must(t, tt.profiles...).Services))
		if !cmp.Equal(got, tt.want) {
			t.Errorf("profiles %v start %v, want %v", tt.profiles, got, tt.want)
		}
	}
}

// TestComposeAsksForPasswords: nothing starts while one is missing or empty,
// and the message says where to give it.
func TestComposeAsksForPasswords(t *testing.T) {
	for _, name := range passwords() {
		for _, value := range []string{"", "absent"} {
			env := filled()
			if env[name] = value; value == "absent" {
				delete(env, name)
			}
			_, err := project(t, env, "cluster")
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), ".env.example") {
				t.Errorf("%s=%q: got %v, want an error that names it and .env.example", name, value, err)
			}
		}
	}
}

// TestComposeExampleIsComplete: .env.example has every password, empty, and
// otherwise starts the cluster.
func TestComposeExampleIsComplete(t *testing.T) {
	env, err := dotenv.Read(filepath.Join(root, ".env.example"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range passwords() {
		if v, ok := env[name]; !ok || v != "" {
			t.Errorf("%s = %q (there: %v), want it there and empty", name, v, ok)
		}
		env[name] = "hush"
	}
	if got := env["COMPOSE_PROFILES"]; got != "cluster" {
		t.Errorf("COMPOSE_PROFILES = %q, want cluster", got)
	}
	if _, err := project(t, env, "cluster"); err != nil {
		t.Error(err)
	}
}

func TestComposeIsReachedFromThisMachineOnly(t *testing.T) {
	for name, s := range everything(t) {
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" || p.Published == "" {
				t.Errorf("%s publishes %s:%s, want 127.0.0.1 and a port of its own", name, p.HostIP, p.Published)
			}
		}
		if s.NetworkMode != "" && s.NetworkMode != "bridge" {
			t.Errorf("%s has network mode %q", name, s.NetworkMode)
		}
		if _, ok := s.Networks["stores"]; !ok || len(s.Networks) != 1 {
			t.Errorf("%s is in the networks %v, want stores alone", name, s.Networks)
		}
	}
}

func TestComposePinsWhatIsTested(t *testing.T) {
	services := everything(t)
	for _, name := range []string{"qdrant", "elasticsearch", "postgres"} {
		if got, want := services[name].Image, pins(t)[name].Ref(); got != want {
			t.Errorf("%s: image %s, want %s as %s has it", name, got, want, versions)
		}
	}
	for name, s := range services {
		_, tag, _ := strings.Cut(s.Image, ":")
		if tag == "" || tag == "latest" {
			t.Errorf("%s: image %s, want one with a version", name, s.Image)
		}
	}
}

// TestComposeIsHardened: limits, health, and no more rights than needed.
func TestComposeIsHardened(t *testing.T) {
	writable := []string{"elasticsearch"} // its keystore is made beside its settings
	ownUser := []string{"qdrant", "elasticsearch"}
	for name, s := range everything(t) {
		t.Run(name, func(t *testing.T) {
			if h := s.HealthCheck; h == nil || h.Disable || len(h.Test) < 2 || h.Interval == nil || h.Timeout == nil || h.Retries == nil {
				t.Errorf("health check %+v, want one with interval, timeout and retries", h)
			}
			if s.Deploy == nil || s.Deploy.Resources.Limits == nil {
				t.Fatal("no limits")
			}
			if l := s.Deploy.Resources.Limits; l.NanoCPUs <= 0 || l.MemoryBytes <= 0 || l.Pids <= 0 {
				t.Errorf("limits %+v, want processors, memory and processes", l)
			}
			if !slices.Contains(s.SecurityOpt, "no-new-privileges:true") || !cmp.Equal(s.CapDrop, []string{"ALL"}) || len(s.CapAdd) > 0 || s.Privileged {
				t.Errorf("security_opt %v, cap_drop %v, cap_add %v, privileged %v", s.SecurityOpt, s.CapDrop, s.CapAdd, s.Privileged)
			}
			if s.ReadOnly == slices.Contains(writable, name) {
				t.Errorf("read_only is %v", s.ReadOnly)
			}
			// These two images have a user of their own.
			if uid, _, _ := strings.Cut(s.User, ":"); !slices.Contains(ownUser, name) && (uid == "" || uid == "0" || uid == "root") {
				t.Errorf("user %q, want another than root", s.User)
			}
			if s.Restart != "unless-stopped" || s.Logging == nil || s.Logging.Options["max-size"] == "" {
				t.Errorf("restart %q, logging %+v, want restarts and logs of a bounded size", s.Restart, s.Logging)
			}
			for _, v := range s.Volumes {
				if v.Type != types.VolumeTypeVolume || v.Source == "" {
					t.Errorf("mount %s of type %s, want volumes with names", v.Target, v.Type)
				}
			}
			if len(s.Volumes) == 0 {
				t.Error("no volume: what it keeps is lost with the container")
			}
		})
	}
	if !strings.HasSuffix(pins(t)["qdrant"].Tag, "-unprivileged") {
		t.Error("Qdrant's image runs as root")
	}
}

func TestComposeAuthenticates(t *testing.T) {
	services, secrets := everything(t), filled()
	env := func(service, name string) string {
		if v := services[service].Environment[name]; v != nil {
			return *v
		}
		return ""
	}
	for _, tt := range []struct{ service, name, want string }{
		{"qdrant", "QDRANT__SERVICE__API_KEY", secrets["QDRANT_API_KEY"]},
		{"elasticsearch", "ELASTIC_PASSWORD", secrets["ELASTIC_PASSWORD"]},
		{"elasticsearch", "xpack.security.enabled", "true"},
		{"postgres", "POSTGRES_PASSWORD", secrets["POSTGRES_PASSWORD"]},
		{"postgres", "POSTGRES_INITDB_ARGS", "--auth=scram-sha-256 --data-checksums"},
		{"postgres", "POSTGRES_HOST_AUTH_METHOD", ""},
		{"vimbank", "VIMBANK_DENSE_API_KEY", secrets["QDRANT_API_KEY"]},
		{"vimbank", "VIMBANK_SPARSE_PASSWORD", secrets["ELASTIC_PASSWORD"]},
		{"vimbank", "VIMBANK_LEDGER_PASSWORD", secrets["POSTGRES_PASSWORD"]},
		{"vimbank-minimal", "VIMBANK_DENSE_API_KEY", secrets["QDRANT_API_KEY"]},
		{"vimbank-minimal", "VIMBANK_SPARSE_PASSWORD", secrets["ELASTIC_PASSWORD"]},
		{"vimbank-minimal", "VIMBANK_LEDGER_PASSWORD", ""},
	} {
		if got := env(tt.service, tt.name); got != tt.want {
			t.Errorf("%s: %s = %q, want %q", tt.service, tt.name, got, tt.want)
		}
	}
	// A command line can be read by everybody on the machine.
	for name, s := range services {
		for _, word := range slices.Concat([]string(s.Command), []string(s.Entrypoint), healthTest(s)) {
			for _, secret := range secrets {
				if strings.Contains(word, secret) {
					t.Errorf("%s: a password in the command line %q", name, word)
				}
			}
		}
	}
}

func healthTest(s types.ServiceConfig) []string {
	if s.HealthCheck == nil {
		return nil
	}
	return s.HealthCheck.Test
}
