package configs_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/configs"
	"github.com/vimbank/vimbank/memtypes"
)

// TestMain leaves out what settings this machine has.
func TestMain(m *testing.M) {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "VIMBANK_") {
			os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}

// write makes a settings file and returns its path.
func write(t *testing.T, yaml string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vimbank.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, s configs.Sources) *configs.Loaded {
	t.Helper()
	l, err := configs.Load(s)
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return l
}

func envOf(key string) string { return "VIMBANK_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_")) }

func TestProfiles(t *testing.T) {
	for _, p := range configs.Profiles() {
		c := load(t, configs.Sources{Flags: map[string]string{"profile": p}}).Config
		if c.Profile != p {
			t.Errorf("profile %q gives %q", p, c.Profile)
		}
		want := map[string]string{"embedded": "default", "paper": "paper", "cluster": "default"}[p]
		if c.Recall.Profile != want {
			t.Errorf("profile %s recalls by %q, want %q", p, c.Recall.Profile, want)
		}
		if c.Recall.K != 10 || !c.Recall.Reinforce || c.Embedder.Kind != "local" || c.Completer.Kind != "none" {
			t.Errorf("profile %s: %+v, want the embedded defaults below it", p, c)
		}
	}
	for _, from := range []configs.Sources{
		{Flags: map[string]string{"profile": "clusters"}},
		{File: write(t, "profile: Paper\n")},
	} {
		_, err := configs.Load(from)
		wantField(t, err, "profile", "embedded, paper, cluster")
	}
}

func TestLaterSourcesWin(t *testing.T) {
	path := write(t, "recall:\n  k: 3\n  profile: rrf\n  reinforce: false\npaper:\n  unit: 2d\n")
	t.Setenv("VIMBANK_RECALL_K", "4")
	t.Setenv("VIMBANK_RECALL_PROFILE", "bm25")
	t.Setenv("VIMBANK_FORGETTING_GRACE", "") // an empty variable is none
	l := load(t, configs.Sources{File: path, Flags: map[string]string{"recall.k": "5"}})
	for _, tt := range []struct {
		key, origin string
		got, want   any
	}{
		{"recall.k", "flag", l.Config.Recall.K, 5},
		{"recall.profile", "environment VIMBANK_RECALL_PROFILE", l.Config.Recall.Profile, "bm25"},
		{"recall.reinforce", path + ":4", l.Config.Recall.Reinforce, false},
		{"paper.unit", path + ":6", l.Config.Paper.Unit, 48 * time.Hour},
		{"forgetting.grace", "default", l.Config.Forgetting.Grace, 7 * 24 * time.Hour},
	} {
		if tt.got != tt.want {
			t.Errorf("%s = %v, want %v", tt.key, tt.got, tt.want)
		}
		if got := l.Origin(tt.key); got != tt.origin {
			t.Errorf("%s is from %q, want %q", tt.key, got, tt.origin)
		}
	}
	if got := load(t, configs.Sources{Flags: map[string]string{"profile": "paper"}}).Origin("recall.profile"); got != "environment VIMBANK_RECALL_PROFILE" {
		t.Errorf("the environment stands over a profile: got origin %q", got)
	}
}

// others is a value for each key that differs from the default and is allowed.
func others() map[string]string {
	return map[string]string{
		"profile": "paper", "bank": "/some/where",
		"scope.tenant": "acme", "scope.user": "ann", "scope.agent": "bot", "scope.run": "7",
		"embedder.kind": "none", "embedder.base_url": "http://127.0.0.1:1/v1", "embedder.model": "m", "embedder.api_key": "k1",
		"embedder.api_key_env": "A_KEY", "embedder.api_key_file": "/key", "embedder.timeout": "1m30s", "embedder.tries": "2",
		"embedder.concurrency": "9", "embedder.dim": "384", "embedder.batch": "8", "embedder.query_model": "q",
		"embedder.query_prefix": "query: ", "embedder.passage_prefix": "passage: ",
		"completer.kind": "none", "completer.base_url": "http://127.0.0.1:2/v1", "completer.model": "n", "completer.api_key": "k2",
		"completer.api_key_env": "B_KEY", "completer.api_key_file": "/key2", "completer.timeout": "1h", "completer.tries": "3",
		"completer.concurrency": "1", "completer.daily_tokens": "1000",
		"recall.profile": "convex", "recall.k": "77", "recall.reinforce": "false",
		"paper.lambda_dialogue": "0.5", "paper.lambda_task": "2", "paper.unit": "12h",
		"forgetting.unit": "2d", "forgetting.keep.knowledge": "forever", "forgetting.keep.dialogue": "1d12h", "forgetting.keep.task": "90d",
		"forgetting.grace": "36h", "forgetting.max_share": "1", "forgetting.max_jump": "3d", "forgetting.max_items": "5",
		"admit.secrets": "redact", "admit.echoes": "allow", "admit.duplicates": "allow", "admit.max_bytes": "1000",
		"admit.echo_window": "90m", "admit.similarity": "0.8",
		"index.binary_above": "-1",
		"ledger.kind":        "sqlite", "ledger.url": "postgres://h/d", "ledger.url_env": "URL", "ledger.url_file": "/url",
		"ledger.password": "k3", "ledger.password_env": "C_KEY", "ledger.password_file": "/key3", "ledger.schema": "other",
		"ledger.max_conns": "3", "ledger.connect_timeout": "3s", "ledger.statement_timeout": "2m",
		"ledger.lock_timeout": "4s", "ledger.pooler": "true",
		"dense.kind": "exact", "dense.addr": "qdrant:6334", "dense.api_key": "k4", "dense.api_key_env": "D_KEY", "dense.api_key_file": "/key4",
		"dense.tls.enabled": "true", "dense.tls.ca_file": "/ca", "dense.tls.server_name": "q", "dense.prefix": "mine", "dense.tenancy": "collection",
		"dense.exact": "true", "dense.hnsw.m": "32", "dense.hnsw.ef_construct": "200", "dense.hnsw.ef": "300", "dense.quantization": "scalar",
		"dense.shards": "2", "dense.replicas": "3", "dense.on_disk": "true", "dense.write_consistency": "2", "dense.timeout": "3s",
		"sparse.kind": "bm25", "sparse.urls": "http://a:9200, https://b", "sparse.user": "elastic", "sparse.password": "k5", "sparse.password_env": "E_KEY",
		"sparse.password_file": "/key5", "sparse.api_key": "k6", "sparse.api_key_env": "F_KEY", "sparse.api_key_file": "/key6", "sparse.ca_file": "/ca",
		"sparse.prefix": "mine", "sparse.cert_fingerprint": "ab:cd", "sparse.tenancy": "shared", "sparse.shards": "4", "sparse.replicas": "0", "sparse.refresh": "immediate", "sparse.timeout": "4s",
		"pump.max_owed": "10", "pump.batch": "20", "admin.addr": "127.0.0.1:9464", "admin.public": "true",
		"upkeep.decay": "", "upkeep.purge": "1 2 * * *", "upkeep.reconcile": "1 3 * * *", "upkeep.snapshot": "1 4 * * *",
	}
}

// TestEveryKey sets each key alone by file, environment and flag: all three
// must give the same settings, and other ones than the default.
func TestEveryKey(t *testing.T) {
	byDefault := load(t, configs.Sources{}).Config
	values := others()
	if got := len(values); got != len(configs.Keys()) {
		t.Errorf("%d values for %d keys: a key without a test", got, len(configs.Keys()))
	}
	for _, key := range configs.Keys() {
		t.Run(key, func(t *testing.T) {
			value, ok := values[key]
			if !ok {
				t.Fatal("no value to test with")
			}
			byFlag := load(t, configs.Sources{Flags: map[string]string{key: value}}).Config
			kind := strings.HasSuffix(key, ".kind") && key != "embedder.kind" // the other kinds need an address too
			if byFlag == byDefault && !kind {
				t.Errorf("flag %s=%q changes nothing", key, value)
			}
			if byFile := load(t, configs.Sources{File: write(t, yamlOf(key, value))}).Config; byFile != byFlag {
				t.Errorf("file gives %+v, want %+v as the flag", byFile, byFlag)
			}
			if value == "" {
				return
			}
			t.Setenv(envOf(key), value)
			if byEnv := load(t, configs.Sources{}).Config; byEnv != byFlag {
				t.Errorf("environment gives %+v, want %+v as the flag", byEnv, byFlag)
			}
		})
	}
}

// yamlOf writes one key as a file would.
func yamlOf(key, value string) string {
	var b strings.Builder
	parts := strings.Split(key, ".")
	for i, p := range parts {
		b.WriteString(strings.Repeat("  ", i) + p + ":")
		if i < len(parts)-1 {
			b.WriteString("\n")
		}
	}
	texts := []string{"bank", "scope.", "model", "url", "prefix", "api_key", "password", "upkeep"}
	for _, t := range texts {
		if strings.Contains(key, t) {
			return b.String() + fmt.Sprintf(" %q\n", value)
		}
	}
	return b.String() + " " + value + "\n"
}

func wantField(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil || memtypes.CodeOf(err) != memtypes.Invalid {
		t.Fatalf("got %v, want an error of code invalid", err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("got %q, want %q in it", err, p)
		}
	}
}

func TestBadFiles(t *testing.T) {
	for _, tt := range []struct {
		name, yaml string
		want       []string
	}{
		{"misspelt key", "recall:\n  k: 3\n  reinforcee: true\n", []string{`"recall.reinforcee"`, "line 3", "recall.reinforce"}},
		{"misspelt section", "recal:\n  k: 3\n", []string{`"recal"`, "line 1"}},
		{"capital", "Recall:\n  k: 3\n", []string{`"Recall"`, "line 1"}},
		{"twice, once dotted", "recall:\n  k: 3\nrecall.k: 4\n", []string{"recall.k", "line 3", "line 2"}},
		{"twice", "recall:\n  k: 3\nrecall:\n  profile: rrf\n", []string{"recall", "line 3", "line 1"}},
		{"a section as a value", "recall: 3\n", []string{`"recall"`, "3", "key: value"}},
		{"a value as a section", "bank:\n  dir: x\n", []string{`"bank"`, "one value"}},
		{"a list", "recall:\n  k: [1, 2]\n", []string{`"recall.k"`, "one value"}},
		{"a list of settings", "- recall\n", []string{"key: value"}},
		{"nothing", "recall:\n  k:\n", []string{`"recall.k"`, "nothing"}},
		{"half a number", "recall:\n  k: 1.5\n", []string{`"recall.k"`, `"1.5"`, "a whole number", ":2)"}},
		{"words for a number", "recall:\n  k: ten\n", []string{`"recall.k"`, `"ten"`, "a whole number"}},
		{"yes for true", "recall:\n  reinforce: yes\n", []string{`"recall.reinforce"`, "true or false"}},
		{"a number for text", "scope:\n  user: 12\n", []string{`"scope.user"`, "quotes"}},
		{"seconds without unit", "embedder:\n  timeout: 30\n", []string{`"embedder.timeout"`, `"30"`, "30s"}},
		{"a date for a duration", "embedder:\n  timeout: 2026-01-01\n", []string{`"embedder.timeout"`, "2026-01-01"}},
		{"not a number", "admit:\n  similarity: .nan\n", []string{`"admit.similarity"`, "a number"}},
		{"no YAML", "recall: [\n", []string{"wanted YAML"}},
		{"two documents", "bank: a\n---\nbank: b\n", []string{"second document"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := configs.Load(configs.Sources{File: write(t, tt.yaml)})
			wantField(t, err, append(tt.want, "vimbank.yaml")...)
		})
	}
	_, err := configs.Load(configs.Sources{File: filepath.Join(t.TempDir(), "none.yaml")})
	wantField(t, err, "config", "none.yaml")
	_, err = configs.Load(configs.Sources{File: write(t, strings.Repeat("# long\n", 200_000))})
	wantField(t, err, "config", "1 MiB")
}

func TestEmptyFilesSayNothing(t *testing.T) {
	want := load(t, configs.Sources{}).Config
	for _, yaml := range []string{"", "# only words\n", "recall:\n"} {
		if got := load(t, configs.Sources{File: write(t, yaml)}).Config; got != want {
			t.Errorf("file %q gives %+v, want the defaults", yaml, got)
		}
	}
}

func TestValuesOutOfRange(t *testing.T) {
	for key, values := range map[string][]string{
		"recall.k":                  {"0", "1001", "-1", "1e3", "9999999999999999999"},
		"recall.profile":            {"", "best"},
		"recall.reinforce":          {"TRUE", "1"},
		"paper.lambda_task":         {"0", "-1", "NaN", "Inf"},
		"paper.unit":                {"0s", "-1h", "forever"},
		"forgetting.unit":           {"", "1", "1y", "d", "-1d", "1d-1h", "999999999d"},
		"forgetting.keep.knowledge": {"0s", "701d"}, // exp(-701) is too small to tell from 0, which never forgets
		"forgetting.max_share":      {"0", "1.1"},
		"forgetting.max_items":      {"0"},
		"admit.secrets":             {"deny"},
		"admit.echoes":              {"redact"},
		"admit.max_bytes":           {"0", "65537"},
		"admit.similarity":          {"0", "2"},
		"index.binary_above":        {"-2"},
		"embedder.kind":             {"ollama"},
		"embedder.dim":              {"-1"},
		"embedder.batch":            {"0"},
		"embedder.tries":            {"0", "21"},
		"embedder.concurrency":      {"0"},
		"completer.timeout":         {"0s"},
		"completer.daily_tokens":    {"-1"},
		"ledger.schema":             {""},
		"ledger.max_conns":          {"1", "1001"},
		"ledger.connect_timeout":    {"0s"},
		"ledger.statement_timeout":  {"forever"},
		"dense.prefix":              {""},
		"dense.tenancy":             {"index"},
		"dense.hnsw.m":              {"1"},
		"dense.hnsw.ef_construct":   {"0"},
		"dense.hnsw.ef":             {"0"},
		"dense.quantization":        {"product"},
		"dense.shards":              {"-1"},
		"dense.replicas":            {"-1"},
		"dense.write_consistency":   {"-1"},
		"ledger.lock_timeout":       {"0s"},
		"dense.timeout":             {"0s"},
		"dense.tls.enabled":         {"on"},
		"sparse.prefix":             {""},
		"sparse.tenancy":            {"collection"},
		"sparse.shards":             {"0"},
		"sparse.replicas":           {"-2"},
		"sparse.refresh":            {"1s", "false"},
		"sparse.timeout":            {"0s"},
		"pump.max_owed":             {"0"},
		"pump.batch":                {"0", "4097"},
		"upkeep.decay":              {"never", "17 3 * *", "0 0 31 2 *", "@every -1s", "CRON_TZ=Europe/Berlin 0 3 * * *"},
	} {
		for _, v := range values {
			_, err := configs.Load(configs.Sources{Flags: map[string]string{key: v}})
			wantField(t, err, fmt.Sprintf("%q", key), "(flag)", "wanted")
		}
	}
	_, err := configs.Load(configs.Sources{Flags: map[string]string{"recall.kk": "1"}})
	wantField(t, err, "recall.kk")
}

func TestAnEndpointNeedsItsSettings(t *testing.T) {
	for _, section := range []string{"embedder", "completer"} {
		flags := map[string]string{section + ".kind": "openai"}
		_, err := configs.Load(configs.Sources{Flags: flags})
		wantField(t, err, section+".base_url")
		flags[section+".base_url"] = "http://127.0.0.1:8080/v1"
		_, err = configs.Load(configs.Sources{Flags: flags})
		wantField(t, err, section+".model")
		flags[section+".model"] = "m"
		load(t, configs.Sources{Flags: flags})
		flags[section+".api_key"], flags[section+".api_key_env"] = "hush", "A_KEY"
		_, err = configs.Load(configs.Sources{Flags: flags})
		wantField(t, err, section+".api_key", "one of")
	}
}

func TestMisspeltVariables(t *testing.T) {
	t.Setenv("VIMBANK_SERVICE_PORT_HTTP", "80") // as Kubernetes makes them
	t.Setenv("VIMBANK_TEST_EMBEDDER", "http://127.0.0.1:18000/v1")
	if got, want := load(t, configs.Sources{}).Ignored, []string{"VIMBANK_SERVICE_PORT_HTTP"}; !cmp.Equal(got, want) {
		t.Errorf("ignored %v, want %v", got, want)
	}
	t.Setenv("VIMBANK_RECAL_PROFILE", "rrf")
	_, err := configs.Load(configs.Sources{})
	wantField(t, err, "VIMBANK_RECAL_PROFILE", "VIMBANK_RECALL_PROFILE")
}

func TestPrintReadsBack(t *testing.T) {
	values := others()
	delete(values, "embedder.api_key") // only one of the three, and no secret comes back
	delete(values, "completer.api_key")
	delete(values, "embedder.api_key_env")
	delete(values, "completer.api_key_file")
	for _, key := range []string{"ledger.url", "ledger.url_env", "ledger.password", "ledger.password_env", "dense.api_key", "dense.api_key_env",
		"sparse.api_key", "sparse.api_key_env", "sparse.api_key_file", "sparse.password", "sparse.password_env"} {
		delete(values, key)
	}
	values["ledger.kind"], values["dense.kind"], values["sparse.kind"] = "postgres", "qdrant", "elasticsearch"
	values["scope.run"], values["embedder.model"], values["scope.agent"] = "007", "true", "# {x}: \"y\"\n"
	want := load(t, configs.Sources{Flags: values})
	var b bytes.Buffer
	if err := want.Print(&b); err != nil {
		t.Fatal(err)
	}
	if got := load(t, configs.Sources{File: write(t, b.String())}).Config; got != want.Config {
		t.Errorf("printed and read again:\n%+v\nwant\n%+v\nfrom\n%s", got, want.Config, &b)
	}
}

func TestPrintSaysWhereFromAndNoSecret(t *testing.T) {
	t.Setenv("VIMBANK_RECALL_K", "3")
	var b bytes.Buffer
	l := load(t, configs.Sources{Flags: map[string]string{"embedder.api_key": "hush-hush", "profile": "paper"}})
	if err := l.Print(&b); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	for _, want := range []string{
		"profile: paper # flag\n", "  k: 3 # environment VIMBANK_RECALL_K\n", "  profile: paper # profile paper\n",
		"  api_key: '***' # flag\n", "  unit: 1d # default\n", `bank: "" # default` + "\n",
	} {
		if !strings.Contains(strings.ReplaceAll(out, `"***"`, `'***'`), want) {
			t.Errorf("no line %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "hush") {
		t.Errorf("the key is printed:\n%s", out)
	}
}

func TestPrintHidesALogin(t *testing.T) {
	for address, want := range map[string]string{
		"http://ann:hush@host:80/v1":   `base_url: http://***@host:80/v1 #`,
		"http://hush@host":             `base_url: http://***@host #`,
		"http://a:hu@sh@host/v1/":      `base_url: http://***@host/v1 #`,
		"http://host/v1":               `base_url: http://host/v1 #`,
		"http://host/v1?user=me@there": `base_url: http://host/v1?user=me@there #`,
	} {
		var b bytes.Buffer
		if err := load(t, configs.Sources{Flags: map[string]string{"embedder.base_url": address}}).Print(&b); err != nil {
			t.Fatal(err)
		}
		if out := b.String(); !strings.Contains(out, want) || strings.Contains(out, "hush") {
			t.Errorf("%s is printed as\n%s\nwant %s", address, out, want)
		}
	}
}
