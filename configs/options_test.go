package configs_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/vimbank/vimbank/admit"
	"github.com/vimbank/vimbank/configs"
	"github.com/vimbank/vimbank/forgetting"
	"github.com/vimbank/vimbank/fusion"
	"github.com/vimbank/vimbank/memtypes"
)

// TestDefaultsAreTheZeroValues: who uses the packages without any settings gets
// what the embedded profile says.
func TestDefaultsAreTheZeroValues(t *testing.T) {
	c := load(t, configs.Sources{}).Config
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

	var zeroPaper fusion.Options
	for _, k := range memtypes.Kinds() {
		for _, age := range []time.Duration{time.Hour, 50 * time.Hour, 1000 * time.Hour} {
			if got, want := c.Paper.Options().TimeWeight(k, now, now.Add(-age)), zeroPaper.TimeWeight(k, now, now.Add(-age)); got != want {
				t.Errorf("time weight of %s after %v: %v, want %v", k, age, got, want)
			}
		}
	}

	var zeroCurve forgetting.Options
	curve := c.Forgetting.Options()
	if err := curve.Check(); err != nil {
		t.Errorf("forgetting options: %v", err)
	}
	for _, k := range memtypes.Kinds() {
		if got, want := curve.Threshold(k), zeroCurve.Threshold(k); got != want {
			t.Errorf("threshold of %s: %v, want %v", k, got, want)
		}
		m := memtypes.Memory{Kind: k, Created: now, Strength: memtypes.Strength{Initial: 1, Recalls: 2}}
		got, _ := curve.Due(&m)
		if want, _ := zeroCurve.Due(&m); !got.Equal(want) {
			t.Errorf("%s is due at %v, want %v", k, got, want)
		}
	}

	for _, o := range []admit.Options{{}, c.Admit.Options()} {
		if _, err := admit.New(&o); err != nil {
			t.Errorf("admit options %+v: %v", o, err)
		}
	}
}

func TestKeepForeverNeverForgets(t *testing.T) {
	c := load(t, configs.Sources{Flags: map[string]string{"forgetting.keep.task": "forever", "forgetting.unit": "2d"}}).Config
	o := c.Forgetting.Options()
	if got := o.Threshold(memtypes.TaskKind); got != 0 {
		t.Errorf("threshold of tasks %v, want 0", got)
	}
	m := memtypes.Memory{Kind: memtypes.Dialogue, Created: time.Unix(0, 0), Strength: memtypes.Strength{Initial: 1}}
	due, ok := o.Due(&m)
	if got := due.Sub(m.Created).Round(time.Second); !ok || got != 30*24*time.Hour {
		t.Errorf("a turn that is never recalled is due after %v, want 30 days whatever the unit", got)
	}
}

func TestKeyComesFromWhereItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("from-file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SOME_KEY", "from-env")
	for _, tt := range []struct{ key, value, want string }{
		{"api_key", "inline", "inline"},
		{"api_key_env", "SOME_KEY", "from-env"},
		{"api_key_file", path, "from-file"},
		{"query_prefix", "x", ""}, // no key at all is fine
		{"api_key_env", "NO_SUCH_VARIABLE", "error"},
		{"api_key_file", empty, "error"},
		{"api_key_file", path + "x", "error"},
	} {
		c := load(t, configs.Sources{Flags: map[string]string{
			"embedder.kind": "openai", "embedder.base_url": "http://h/v1", "embedder.model": "m", "embedder." + tt.key: tt.value,
		}}).Config
		o, err := c.Embedder.Options()
		if tt.want == "error" {
			wantField(t, err, "embedder."+tt.key)
			continue
		}
		if err != nil || o.APIKey != tt.want {
			t.Errorf("%s=%s: got key %q, %v, want %q", tt.key, tt.value, o.APIKey, err, tt.want)
		}
	}
}

func TestNoWayOfPrintingShowsASecret(t *testing.T) {
	type holder struct {
		Key  configs.Secret
		Ptr  *configs.Secret
		List []configs.Secret
	}
	s := configs.NewSecret("hush-hush")
	h := holder{s, &s, []configs.Secret{s}}
	var out []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T %v"} {
		out = append(out, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, h), fmt.Sprintf(verb, []any{s}))
	}
	j, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	y, err := yaml.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", s, "all", h)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", s, "all", h)
	out = append(out, string(j), string(y), log.String(), fmt.Errorf("with %v", s).Error())
	for _, o := range out {
		if strings.Contains(o, "hush") || strings.Contains(o, fmt.Sprintf("%x", "hush")) {
			t.Errorf("the secret shows in %q", o)
		}
	}
	if got, want := string(j), `{"Key":"***","Ptr":"***","List":["***"]}`; got != want {
		t.Errorf("JSON %s, want %s", got, want)
	}
	if s.Reveal() != "hush-hush" || s.IsZero() || s.String() != "***" {
		t.Errorf("Reveal %q, IsZero %v, String %q", s.Reveal(), s.IsZero(), s)
	}
	if zero := (configs.Secret{}); !zero.IsZero() || zero.String() != "" {
		t.Errorf("the zero secret prints %q, want nothing", zero)
	}
}

func TestBadValuesOfSecretsAreNotShown(t *testing.T) {
	_, err := configs.Load(configs.Sources{File: write(t, "embedder:\n  api_key: 12345678\n")})
	wantField(t, err, "embedder.api_key")
	if strings.Contains(err.Error(), "12345678") {
		t.Errorf("the error shows the key: %v", err)
	}
}

func TestKeysHaveNoTwoOfOneVariable(t *testing.T) {
	seen := map[string]string{}
	for _, k := range configs.Keys() {
		if other := seen[envOf(k)]; other != "" {
			t.Errorf("%s and %s share the variable %s", other, k, envOf(k))
		}
		seen[envOf(k)] = k
	}
	if got, want := configs.Keys()[:3], []string{"profile", "bank", "scope.tenant"}; !cmp.Equal(got, want) {
		t.Errorf("keys begin with %v, want %v", got, want)
	}
}
