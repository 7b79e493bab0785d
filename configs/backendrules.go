package configs

import "strings"

// backends are the rules of ledger, dense, sparse, pump and admin. Whether a
// name or an address is one is said by the room that gets it.
func (c *Config) backends() []rule {
	const many = 1 << 30
	out := append(c.Ledger.rules(), c.Dense.rules()...)
	out = append(out, c.Sparse.rules()...)
	return append(out,
		// The two are kept by the same followers and made anew together.
		rule{"dense.kind", c.Dense.Kind, c.Dense.Kind == "qdrant" || c.Sparse.Kind != "elasticsearch",
			"qdrant, because sparse.kind is elasticsearch: both indexes are in the process, or both are services"},
		rule{"sparse.kind", c.Sparse.Kind, c.Sparse.Kind == "elasticsearch" || c.Dense.Kind != "qdrant",
			"elasticsearch, because dense.kind is qdrant: both indexes are in the process, or both are services"},
		whole("pump.max_owed", c.Pump.MaxOwed, 1, many),
		whole("pump.batch", c.Pump.Batch, 1, 4096),
	)
}

func (l *Ledger) rules() []rule {
	u := credential{"ledger", "url", l.URL, l.URLEnv, l.URLFile}
	return []rule{
		one("ledger.kind", l.Kind, "sqlite", "postgres"),
		u.rule(),
		{"ledger.url", "", l.Kind != "postgres" || u.given() > 0, "postgres://user@host:port/database, there or by ledger.url_env or ledger.url_file, because ledger.kind is postgres"},
		credential{"ledger", "password", l.Password, l.PasswordEnv, l.PasswordFile}.rule(),
		filled("ledger.schema", l.Schema, "the name of a schema, such as vimbank"),
		whole("ledger.max_conns", l.MaxConns, 2, 1000),
		long("ledger.connect_timeout", l.Connect),
		long("ledger.statement_timeout", l.Statement),
		long("ledger.lock_timeout", l.Lock),
	}
}

func (d *Dense) rules() []rule {
	return []rule{
		one("dense.kind", d.Kind, "exact", "qdrant"),
		{"dense.addr", d.Addr, d.Kind != "qdrant" || d.Addr != "", "host:port of Qdrant's gRPC, because dense.kind is qdrant, for example 127.0.0.1:6334"},
		{"dense.addr", d.Addr, !strings.Contains(d.Addr, "://"), "host:port without a scheme; dense.tls.enabled says whether it is encrypted"},
		credential{"dense", "api_key", d.APIKey, d.APIKeyEnv, d.APIKeyFile}.rule(),
		filled("dense.prefix", d.Prefix, "what the collections' names begin with, such as vimbank"),
		one("dense.tenancy", d.Tenancy, "shared", "collection"),
		whole("dense.hnsw.m", d.HNSW.M, 2, 256),
		whole("dense.hnsw.ef_construct", d.HNSW.EfConstruct, 4, 4096),
		whole("dense.hnsw.ef", d.HNSW.Ef, 1, 65536),
		one("dense.quantization", d.Quantization, "none", "scalar", "binary"),
		whole("dense.shards", d.Shards, 0, 1024),
		whole("dense.replicas", d.Replicas, 0, 64),
		whole("dense.write_consistency", d.Consistency, 0, 64),
		long("dense.timeout", d.Timeout),
	}
}

func (s *Sparse) rules() []rule {
	password := credential{"sparse", "password", s.Password, s.PasswordEnv, s.PasswordFile}
	key := credential{"sparse", "api_key", s.APIKey, s.APIKeyEnv, s.APIKeyFile}
	used := s.Kind == "elasticsearch"
	out := []rule{
		one("sparse.kind", s.Kind, "bm25", "elasticsearch"),
		{"sparse.urls", s.URLs, !used || len(s.Addresses()) > 0, "addresses of Elasticsearch, because sparse.kind is elasticsearch, for example http://127.0.0.1:9200"},
	}
	for _, u := range s.Addresses() {
		ok := withoutLogin(u) == u && (strings.HasPrefix(u, "http://") || strings.HasPrefix(u, "https://"))
		out = append(out, rule{"sparse.urls", u, ok, "http:// or https:// addresses without a login, which sparse.user and sparse.password_env are for"})
	}
	return append(out,
		password.rule(),
		key.rule(),
		rule{"sparse.user", s.User, !used || password.given() == 0 || s.User != "", "the user whose password sparse.password is"},
		rule{"sparse.password", "", !used || s.User == "" || password.given() > 0, "the password of sparse.user, best by sparse.password_env or sparse.password_file"},
		rule{"sparse.api_key", "", !used || key.given() == 0 || s.User == "", "nothing, because sparse.user is given: either a key, or a user with a password"},
		filled("sparse.prefix", s.Prefix, "what the indexes' names begin with, such as vimbank"),
		one("sparse.tenancy", s.Tenancy, "index", "shared"),
		whole("sparse.shards", s.Shards, 1, 1024),
		whole("sparse.replicas", s.Replicas, 0, 64),
		one("sparse.refresh", s.Refresh, "wait_for", "immediate"),
		long("sparse.timeout", s.Timeout),
	)
}

// filled is that v is not empty.
func filled(key, v, wanted string) rule { return rule{key, v, v != "", wanted} }
