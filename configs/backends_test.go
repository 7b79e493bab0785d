package configs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/configs"
)

func cluster(more ...string) configs.Sources {
	flags := map[string]string{"profile": "cluster"}
	for i := 0; i < len(more); i += 2 {
		flags[more[i]] = more[i+1]
	}
	return configs.Sources{Flags: flags}
}

// TestClusterIsOnLoopbackWithoutAPassword: the profile is complete, reaches no
// other machine and holds no secret.
func TestClusterIsOnLoopbackWithoutAPassword(t *testing.T) {
	l := load(t, cluster())
	c := l.Config
	if c.Ledger.Kind != "postgres" || c.Dense.Kind != "qdrant" || c.Sparse.Kind != "elasticsearch" {
		t.Errorf("kinds %s, %s, %s, want postgres, qdrant, elasticsearch", c.Ledger.Kind, c.Dense.Kind, c.Sparse.Kind)
	}
	url, err := c.Ledger.Address()
	if err != nil || url.Reveal() != "postgres://vimbank@127.0.0.1:5432/vimbank" {
		t.Errorf("address %q (%v), want loopback and no password", url.Reveal(), err)
	}
	if want := []string{"http://127.0.0.1:9200"}; c.Dense.Addr != "127.0.0.1:6334" || !cmp.Equal(c.Sparse.Addresses(), want) {
		t.Errorf("addresses %q and %q, want loopback", c.Dense.Addr, c.Sparse.Addresses())
	}
	for _, s := range []configs.Secret{c.Ledger.Password, c.Dense.APIKey, c.Sparse.Password, c.Sparse.APIKey} {
		if !s.IsZero() {
			t.Error("the profile holds a secret")
		}
	}
	if got := l.Origin("dense.kind"); got != "profile cluster" {
		t.Errorf("dense.kind is from %q, want the profile", got)
	}
}

func TestTheLedgersAddressGetsItsPassword(t *testing.T) {
	t.Setenv("A_PASSWORD", "p@ss/w:rd#1\n")
	t.Setenv("A_URL", "postgres://ann@db/x")
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte("postgres://ann:own@db/x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const withPassword = "postgres://ann:p%40ss%2Fw%3Ard%231@db/x"
	for _, tt := range []struct {
		name  string
		flags []string
		want  string // begins with "field" for an error about one
	}{
		{"none", []string{"ledger.url", "postgres://ann@db/x?sslmode=require"}, "postgres://ann@db/x?sslmode=require"},
		{"its own", []string{"ledger.url", "postgres://ann:own@db/x"}, "postgres://ann:own@db/x"},
		{"as keywords", []string{"ledger.url", "host=db user=ann"}, "host=db user=ann"},
		{"from a variable", []string{"ledger.url", "postgres://ann@db/x", "ledger.password_env", "A_PASSWORD"}, withPassword},
		{"given", []string{"ledger.url", "postgres://ann@db/x", "ledger.password", "p@ss/w:rd#1"}, withPassword},
		{"both from variables", []string{"ledger.url_env", "A_URL", "ledger.password_env", "A_PASSWORD"}, withPassword},
		{"from a file", []string{"ledger.url_file", file}, "postgres://ann:own@db/x"},
		{"two passwords", []string{"ledger.url", "", "ledger.url_file", file, "ledger.password", "hush"}, `field "ledger.password"`},
		{"no user", []string{"ledger.url", "postgres://db/x", "ledger.password", "hush"}, `field "ledger.url"`},
		{"no address", []string{"ledger.url", "host=db user=hush", "ledger.password", "hush"}, `field "ledger.url"`},
		{"no variable", []string{"ledger.url", "", "ledger.url_env", "NO_SUCH"}, `field "ledger.url_env"`},
		{"no file", []string{"ledger.password_file", file + "x"}, `field "ledger.password_file"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, cluster(tt.flags...)).Config
			got, err := c.Ledger.Address()
			if strings.HasPrefix(tt.want, "field") {
				wantField(t, err, tt.want)
				if strings.Contains(err.Error(), "hush") {
					t.Errorf("the error shows a secret: %v", err)
				}
				return
			}
			if err != nil || got.Reveal() != tt.want {
				t.Errorf("got %q, %v, want %q", got.Reveal(), err, tt.want)
			}
		})
	}
}

func TestKeysOfTheIndexes(t *testing.T) {
	t.Setenv("A_KEY", " from-env ")
	c := load(t, cluster("dense.api_key_env", "A_KEY", "sparse.user", "elastic", "sparse.password_env", "A_KEY")).Config
	if key, err := c.Dense.Key(); err != nil || key.Reveal() != "from-env" {
		t.Errorf("Qdrant's key %q, %v, want from-env", key.Reveal(), err)
	}
	if password, key, err := c.Sparse.Login(); err != nil || password.Reveal() != "from-env" || !key.IsZero() {
		t.Errorf("Elasticsearch's password %q, key %q, %v, want from-env alone", password.Reveal(), key.Reveal(), err)
	}
	c = load(t, cluster("sparse.api_key", "given")).Config
	if password, key, err := c.Sparse.Login(); err != nil || key.Reveal() != "given" || !password.IsZero() {
		t.Errorf("Elasticsearch's password %q, key %q, %v, want the key alone", password.Reveal(), key.Reveal(), err)
	}
	c = load(t, cluster("sparse.api_key_env", "NO_SUCH", "dense.api_key_file", "/no/such")).Config
	_, _, err := c.Sparse.Login()
	wantField(t, err, "sparse.api_key_env", "NO_SUCH")
	_, err = c.Dense.Key()
	wantField(t, err, "dense.api_key_file")
}

func TestBackendsThatDoNotGoTogether(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flags []string
		want  []string
	}{
		{"Qdrant alone", []string{"sparse.kind", "bm25"}, []string{`"sparse.kind"`, `"bm25" (flag)`, "elasticsearch, because dense.kind is qdrant"}},
		{"Elasticsearch alone", []string{"dense.kind", "exact"}, []string{`"dense.kind"`, `"exact" (flag)`, "qdrant, because sparse.kind is elasticsearch"}},
		{"no server of that kind", []string{"dense.kind", "milvus"}, []string{`"dense.kind"`, "milvus"}},
		{"nor of this", []string{"ledger.kind", "mysql"}, []string{`"ledger.kind"`, "sqlite, postgres"}},
		{"no ledger's address", []string{"ledger.url", ""}, []string{`"ledger.url"`, "ledger.url_env"}},
		{"two of them", []string{"ledger.url", "postgres://ann:hush@h/d", "ledger.url_env", "X"}, []string{`"ledger.url"`, "one of url, url_env and url_file"}},
		{"no Qdrant's address", []string{"dense.addr", ""}, []string{`"dense.addr"`, "host:port"}},
		{"a scheme", []string{"dense.addr", "https://ann:hush@q:6334"}, []string{`"dense.addr"`, "https://***@q:6334", "dense.tls.enabled"}},
		{"no Elasticsearch's address", []string{"sparse.urls", " , "}, []string{`"sparse.urls"`}},
		{"no scheme", []string{"sparse.urls", "http://a:9200,b:9200"}, []string{`"sparse.urls"`, `"b:9200"`, "https://"}},
		{"a login within", []string{"sparse.urls", "https://ann:hush@a:9200"}, []string{`"sparse.urls"`, "***@a:9200", "sparse.user"}},
		{"a login with a comma", []string{"sparse.urls", "https://ann:a,hush@a:9200"}, []string{`"sparse.urls"`, "***@a:9200"}},
		{"two passwords", []string{"sparse.user", "e", "sparse.password", "hush", "sparse.password_env", "X"}, []string{`"sparse.password"`, "one of"}},
		{"a password of nobody", []string{"sparse.password", "hush"}, []string{`"sparse.user"`}},
		{"a user without", []string{"sparse.user", "elastic"}, []string{`"sparse.password"`, "sparse.password_env"}},
		{"key and user", []string{"sparse.user", "e", "sparse.password", "hush", "sparse.api_key", "hush"}, []string{`"sparse.api_key"`, "either a key"}},
		{"two keys", []string{"dense.api_key", "hush", "dense.api_key_file", "x"}, []string{`"dense.api_key"`, "one of"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := configs.Load(cluster(tt.flags...))
			wantField(t, err, tt.want...)
			if strings.Contains(err.Error(), "hush") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// TestTheMinimalClusterKeepsSQLite: what the profile says of PostgreSQL is not
// read when the ledger is a file.
func TestTheMinimalClusterKeepsSQLite(t *testing.T) {
	t.Setenv("VIMBANK_LEDGER_KIND", "sqlite")
	c := load(t, cluster()).Config
	if c.Ledger.Kind != "sqlite" || c.Dense.Kind != "qdrant" {
		t.Errorf("ledger %s, dense %s, want sqlite and qdrant", c.Ledger.Kind, c.Dense.Kind)
	}
}

func TestNoSecretOfABackendIsPrinted(t *testing.T) {
	secrets := []string{"ledger.url", "ledger.password", "dense.api_key", "sparse.password"}
	flags := []string{"sparse.user", "elastic"}
	for _, key := range secrets {
		flags = append(flags, key, "postgres://ann:hush@h/d")
	}
	var b bytes.Buffer
	if err := load(t, cluster(flags...)).Print(&b); err != nil {
		t.Fatal(err)
	}
	if out := b.String(); strings.Contains(out, "hush") || strings.Count(out, "***") != len(secrets) {
		t.Errorf("want %d times *** and no secret in\n%s", len(secrets), out)
	}
	for _, key := range append(secrets, "sparse.api_key") {
		section, name, _ := strings.Cut(key, ".")
		_, err := configs.Load(configs.Sources{File: write(t, section+":\n  "+name+": 12345678\n")})
		wantField(t, err, key)
		if strings.Contains(err.Error(), "12345678") {
			t.Errorf("the error shows the secret: %v", err)
		}
	}
}
