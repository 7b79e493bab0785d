package elastic

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Tenancy says which tenants share an index.
type Tenancy string

// The tenancies.
const (
	// Apart is an index for each tenant. BM25's statistics are an index's, so a
	// tenant's scores depend on its own memories alone.
	Apart Tenancy = "index"
	// Shared is one index, routed by tenant, for banks of very many tenants.
	// Its statistics are shared: a tenant's scores move with what others store,
	// and Statistics are those of all.
	Shared Tenancy = "shared"
)

// Refresh says when a write is found by searches.
type Refresh string

// The refreshes.
const (
	Wait  Refresh = "wait_for" // a write returns when it is found, up to a second later; many at once as with Now
	Now   Refresh = "true"     // each write makes itself found at once; costs small segments
	Later Refresh = "false"    // a write returns at once, and is found within seconds
)

// Options says where Elasticsearch is and how indexes are kept there. URLs must
// be given. Shards, Replicas, GCDeletes and MaxK count when an index is made.
type Options struct {
	URLs []string // of nodes of one cluster: https://host:9200, without a name and password

	// APIKey, or Username and Password; neither: security is off.
	APIKey   string // as Elasticsearch shows it, base64 of id:key
	Username string
	Password string

	CAFile string // PEM, instead of the authorities that the machine trusts
	// CertFingerprint, SHA-256 in hex, pins the server's certificate or the
	// authority that signed it; the name in the certificate then does not count.
	CertFingerprint string

	// Prefix begins the names of all indices and is the alias of the live
	// generation: [a-z0-9][a-z0-9-]{0,63}; empty: "vimbank".
	Prefix string
	// Fingerprint names what made the tokens. A generation of another one is
	// Incompatible.
	Fingerprint string
	Tenancy     Tenancy // empty: Apart

	Shards int // of each index; zero: 1, at most 1,024
	// Replicas is how many further copies each shard has; negative: none, zero:
	// one if the cluster has another node.
	Replicas  int
	Refresh   Refresh       // empty: Wait
	GCDeletes time.Duration // how long Elasticsearch itself remembers a delete; zero: 1 minute
	// MaxK is how many memories one search may ask for (index.max_result_window):
	// 1 to 1,000,000; zero: 100,000.
	MaxK int

	// Timeout is for one request with its retries; making and dropping indices
	// and merging may take six times as long. Zero: 10 seconds.
	Timeout    time.Duration
	BatchDocs  int // documents of one request at most; zero: 1,000
	BatchBytes int // of one request, unless one document has more; zero: 5 MiB
	Retry      Retry
	// Conns is how many idle connections to a node are kept; zero: 8.
	Conns int
}

// Retry says how often a request is sent again that the cluster was too busy
// for (429, 502, 503, 504) or that got no answer. Waits are random, up to Base,
// doubling to Cap, or what the server asks for.
type Retry struct {
	Max  int           // zero: 2; negative: none
	Base time.Duration // zero: 100 ms
	Cap  time.Duration // zero: 2 s
}

var (
	prefixes     = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
	fingerprints = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// resolved fills in the defaults, and refuses what cannot be.
func (o *Options) resolved(op string) (Options, []*url.URL, error) {
	var r Options
	if o != nil {
		r = *o
	}
	r.Prefix = cmp.Or(r.Prefix, "vimbank")
	r.Tenancy = cmp.Or(r.Tenancy, Apart)
	r.Shards = cmp.Or(r.Shards, 1)
	r.Refresh = cmp.Or(r.Refresh, Wait)
	r.GCDeletes = cmp.Or(r.GCDeletes, time.Minute)
	r.MaxK = cmp.Or(r.MaxK, 100_000)
	r.Timeout = cmp.Or(r.Timeout, 10*time.Second)
	r.BatchDocs = cmp.Or(r.BatchDocs, 1000)
	r.BatchBytes = cmp.Or(r.BatchBytes, 5<<20)
	r.Retry = Retry{Max: max(cmp.Or(r.Retry.Max, 2), 0), Base: cmp.Or(r.Retry.Base, 100*time.Millisecond), Cap: cmp.Or(r.Retry.Cap, 2*time.Second)}
	r.Conns = cmp.Or(r.Conns, 8)
	r.CertFingerprint = strings.ToLower(strings.ReplaceAll(r.CertFingerprint, ":", ""))
	urls, err := r.urls(op)
	if err != nil {
		return r, nil, err
	}
	return r, urls, r.check(op)
}

func (o *Options) check(op string) error {
	for _, c := range []struct {
		ok     bool
		name   string
		found  any
		wanted string
	}{
		{o.APIKey == "" || o.Username == "" && o.Password == "", "api_key", memtypes.Remark("an API key and a user"), "one of them"},
		{(o.Username == "") == (o.Password == ""), "user", memtypes.Remark("one of user and password"), "both or none"},
		{o.CAFile == "" || o.CertFingerprint == "", "ca_file", memtypes.Remark("a CA file and a fingerprint"), "one of them"},
		{o.CertFingerprint == "" || fingerprints.MatchString(o.CertFingerprint), "cert_fingerprint", o.CertFingerprint, "SHA-256 as 64 hex digits"},
		{prefixes.MatchString(o.Prefix), "prefix", o.Prefix, "1 to 64 of a-z, 0-9 and -, not - first"},
		{o.Tenancy == Apart || o.Tenancy == Shared, "tenancy", string(o.Tenancy), "index or shared"},
		{o.Shards >= 1 && o.Shards <= 1024, "shards", o.Shards, "1 to 1024, or 0 for 1"},
		{o.Refresh == Wait || o.Refresh == Now || o.Refresh == Later, "refresh", string(o.Refresh), "wait_for, true or false"},
		{o.GCDeletes > 0, "gc_deletes", o.GCDeletes, "more than nothing"},
		{o.MaxK >= 1 && o.MaxK <= 1_000_000, "max_k", o.MaxK, "1 to 1000000, or 0 for 100000"},
		{o.Timeout > 0, "timeout", o.Timeout, "more than nothing"},
		{o.BatchDocs >= 1, "batch_docs", o.BatchDocs, "at least 1"},
		{o.BatchBytes >= 1, "batch_bytes", o.BatchBytes, "at least 1"},
		{o.Conns >= 1, "conns", o.Conns, "at least 1"},
	} {
		if !c.ok {
			return memtypes.BadField(op, c.name, c.found, c.wanted)
		}
	}
	return nil
}

// urls reads the addresses. None is repeated in an error: it may hold a password.
func (o *Options) urls(op string) ([]*url.URL, error) {
	const wanted = "http(s)://host:port of a node, without a name and password (they have settings of their own)"
	var out []*url.URL
	for i, raw := range o.URLs {
		u, err := url.Parse(strings.TrimRight(raw, "/"))
		switch {
		case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
			return nil, memtypes.BadField(op, "urls", memtypes.Remark("something else at place "+ordinal(i)), wanted)
		case u.User != nil || u.RawQuery != "" || u.Fragment != "":
			return nil, memtypes.BadField(op, "urls", memtypes.Remark("a name, a query or a fragment at place "+ordinal(i)), wanted)
		case len(out) > 0 && u.Scheme != out[0].Scheme:
			return nil, memtypes.BadField(op, "urls", memtypes.Remark("http and https"), "the same for all nodes")
		}
		out = append(out, u)
	}
	if len(out) == 0 {
		return nil, memtypes.BadField(op, "urls", memtypes.Remark("none"), wanted)
	}
	if out[0].Scheme == "http" && (o.CAFile != "" || o.CertFingerprint != "") {
		return nil, memtypes.BadField(op, "urls", memtypes.Remark("http, and a certificate to trust"), "https")
	}
	return out, nil
}
