package configs

import (
	"net/url"
	"strings"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Ledger says where memories are kept for good. Kind sqlite is a file in the
// bank's folder and reads nothing else of this section.
type Ledger struct {
	Kind         string        `yaml:"kind"` // sqlite or postgres
	URL          Secret        `yaml:"url"`  // postgres://..., at most one of these three
	URLEnv       string        `yaml:"url_env"`
	URLFile      string        `yaml:"url_file"`
	Password     Secret        `yaml:"password"` // where the URL has none; at most one of these three
	PasswordEnv  string        `yaml:"password_env"`
	PasswordFile string        `yaml:"password_file"`
	Schema       string        `yaml:"schema"`
	MaxConns     int           `yaml:"max_conns"`
	Connect      time.Duration `yaml:"connect_timeout"`
	Statement    time.Duration `yaml:"statement_timeout"`
	Lock         time.Duration `yaml:"lock_timeout"`
	Pooler       bool          `yaml:"pooler"` // a pooler of transactions stands before the server
}

// Dense says what finds memories by nearness. Kind exact is in the process and
// reads the section index instead of this one.
type Dense struct {
	Kind         string        `yaml:"kind"` // exact or qdrant
	Addr         string        `yaml:"addr"` // host:port of gRPC
	APIKey       Secret        `yaml:"api_key"`
	APIKeyEnv    string        `yaml:"api_key_env"`
	APIKeyFile   string        `yaml:"api_key_file"`
	TLS          TLS           `yaml:"tls"`
	Prefix       string        `yaml:"prefix"`  // of the collections' names
	Tenancy      string        `yaml:"tenancy"` // shared or collection
	Exact        bool          `yaml:"exact"`   // compare with every vector
	HNSW         HNSW          `yaml:"hnsw"`
	Quantization string        `yaml:"quantization"`      // none, scalar or binary
	OnDisk       bool          `yaml:"on_disk"`           // vectors are read from disk when needed
	Shards       int           `yaml:"shards"`            // 0: the server's default, here and in the next two
	Replicas     int           `yaml:"replicas"`          // copies of each shard, itself among them
	Consistency  int           `yaml:"write_consistency"` // copies that must have a write
	Timeout      time.Duration `yaml:"timeout"`           // of one request
}

// TLS says how a server proves who it is.
type TLS struct {
	On         bool   `yaml:"enabled"`     // not "on", which YAML 1.1 reads as true
	CAFile     string `yaml:"ca_file"`     // PEM; empty: the authorities that the machine trusts
	ServerName string `yaml:"server_name"` // in the certificate; empty: the host of the address
}

// HNSW sets the graph that near vectors are found by.
type HNSW struct {
	M           int `yaml:"m"`            // links of a vector
	EfConstruct int `yaml:"ef_construct"` // candidates while building
	Ef          int `yaml:"ef"`           // candidates of a search
}

// Sparse says what finds memories by their words. Kind bm25 is in the process
// and reads nothing else of this section.
type Sparse struct {
	Kind         string        `yaml:"kind"` // bm25 or elasticsearch
	URLs         string        `yaml:"urls"` // of its nodes, with commas between; see Addresses
	User         string        `yaml:"user"`
	Password     Secret        `yaml:"password"` // at most one of these three
	PasswordEnv  string        `yaml:"password_env"`
	PasswordFile string        `yaml:"password_file"`
	APIKey       Secret        `yaml:"api_key"` // instead of user and password; at most one of these three
	APIKeyEnv    string        `yaml:"api_key_env"`
	APIKeyFile   string        `yaml:"api_key_file"`
	CAFile       string        `yaml:"ca_file"`          // PEM; empty: the authorities that the machine trusts
	Fingerprint  string        `yaml:"cert_fingerprint"` // SHA-256 in hex of the certificate or its authority
	Prefix       string        `yaml:"prefix"`           // of the indexes' names
	Tenancy      string        `yaml:"tenancy"`          // index or shared
	Shards       int           `yaml:"shards"`
	Replicas     int           `yaml:"replicas"` // spare copies of each shard; 0: none
	Refresh      string        `yaml:"refresh"`  // when a write is found by searches: wait_for or immediate
	Timeout      time.Duration `yaml:"timeout"`  // of one request
}

// Pump sets what brings changes from the ledger to the services.
type Pump struct {
	MaxOwed int `yaml:"max_owed"` // memories that a service may lack before writes are refused
	Batch   int `yaml:"batch"`    // memories of one request
}

// Admin says where `vimbank upkeep` shows its health and its metrics.
type Admin struct {
	Addr   string `yaml:"addr"`   // host:port; empty: nowhere
	Public bool   `yaml:"public"` // the address may be one that other machines reach
}

// Address is the URL of the server, with the password in its place. It reads
// what the settings name, so it fails with Invalid where that holds nothing.
func (l *Ledger) Address() (Secret, error) {
	const op = "configs.Address"
	raw, err := credential{"ledger", "url", l.URL, l.URLEnv, l.URLFile}.read()
	if err != nil {
		return Secret{}, err
	}
	password, err := credential{"ledger", "password", l.Password, l.PasswordEnv, l.PasswordFile}.read()
	if err != nil || password.IsZero() {
		return raw, err
	}
	u, err := url.Parse(raw.Reveal())
	if err != nil || u.Host == "" { // the cause would show the address
		return Secret{}, memtypes.BadField(op, "ledger.url", memtypes.Remark("what is no address"), "postgres://user@host:port/database, with ledger.password apart")
	}
	if _, twice := u.User.Password(); twice {
		return Secret{}, memtypes.BadField(op, "ledger.password", memtypes.Remark("a password besides the one in ledger.url"), "one of them")
	}
	if u.User.Username() == "" {
		return Secret{}, memtypes.BadField(op, "ledger.url", memtypes.Remark("an address without a user"), "postgres://user@host:port/database, to go with ledger.password")
	}
	u.User = url.UserPassword(u.User.Username(), password.Reveal())
	return NewSecret(u.String()), nil
}

// Key is the key of the server, empty where there is none. It fails like Address.
func (d *Dense) Key() (Secret, error) {
	return credential{"dense", "api_key", d.APIKey, d.APIKeyEnv, d.APIKeyFile}.read()
}

// Addresses are those of URLs, without the blanks around them.
func (s *Sparse) Addresses() []string {
	var out []string
	for _, u := range strings.Split(s.URLs, ",") {
		if u = strings.TrimSpace(u); u != "" {
			out = append(out, u)
		}
	}
	return out
}

// Login is the password of User or the key that stands for both; at most one
// is not empty. It fails like Address.
func (s *Sparse) Login() (password, key Secret, err error) {
	if key, err = (credential{"sparse", "api_key", s.APIKey, s.APIKeyEnv, s.APIKeyFile}).read(); err != nil {
		return Secret{}, Secret{}, err
	}
	password, err = credential{"sparse", "password", s.Password, s.PasswordEnv, s.PasswordFile}.read()
	return password, key, err
}
