package qdrant

import (
	"cmp"
	"net"
	"regexp"
	"strconv"
	"time"

	"google.golang.org/grpc"

	"github.com/vimbank/vimbank/memtypes"
)

// Tenancy says which collections tenants share.
type Tenancy string

// The tenancies.
const (
	// Shared is one collection for all tenants of a generation, kept apart by
	// the payload index of their names.
	Shared Tenancy = "shared"
	// Apart is a collection for each tenant of a generation: for few, large
	// tenants. A server bears hundreds of collections, not thousands.
	Apart Tenancy = "collection"
)

// Quantization says what small copies of the vectors a search looks at first.
type Quantization string

// The quantizations. With each, the best are scored again from the vectors.
const (
	Full   Quantization = "none"
	Scalar Quantization = "scalar" // a byte for each dimension
	Binary Quantization = "binary" // a bit for each dimension: from about 1,000 dimensions on
)

// Options says where the server is and how collections are kept. Addr and Dim
// must be given. Settings of how a collection is kept (HNSW, Quantization,
// OnDisk, Shards, Replicas, WriteConsistency) count when a generation is made.
type Options struct {
	Addr   string // host:port of gRPC, which is port 6334 by default
	APIKey string // empty: none
	TLS    *TLS   // nil: not encrypted

	// Prefix is the alias of the live generation and the beginning of the names
	// of all collections: [A-Za-z0-9_-]{1,64}; empty: "vimbank".
	Prefix string
	// Dim is the dimension of the vectors, 1 to 65,536.
	Dim int
	// Fingerprint names what made the vectors. A collection of another one is
	// Incompatible.
	Fingerprint string
	Tenancy     Tenancy // empty: Shared

	Exact            bool // compare with every vector that the filter admits
	HNSW             HNSW
	Quantization     Quantization // empty: Full
	Oversampling     float64      // how many times K are scored again where quantized, at least 1; zero: 2, with Binary 4
	OnDisk           bool         // vectors are read from disk when needed
	Shards           int          // zero: the server's default
	Replicas         int          // copies of each shard; zero: the server's default
	WriteConsistency int          // copies that must have a write; zero: the server's default

	// Timeout is for one request with its retries; making and dropping a
	// collection may take six times as long. Zero: 10 seconds.
	Timeout time.Duration
	Batch   int // points of one write, fewer where their vectors exceed 8 MiB; zero: 256
	Retry   Retry
	// Conns is how many connections are held; zero: 3.
	Conns int

	dial []grpc.DialOption // for tests that look at what is sent
}

// TLS says how the server proves who it is. The zero value trusts the
// authorities that the machine trusts.
type TLS struct {
	CAFile     string // PEM, instead of those of the machine
	ServerName string // in the certificate; empty: the host of the address
}

// HNSW sets the graph by which near vectors are found.
type HNSW struct {
	M           int // links of a vector; zero: 16
	EfConstruct int // candidates while building; zero: 128
	Above       int // KiB of vectors of a segment from which it gets a graph, and is not scanned; zero: the server's default, 10,000
	Ef          int // candidates of a search, at least its K; zero: 128
}

// Retry says how often a request is sent again that the server was too busy
// for or that did not reach it. Waits are random, up to Base, doubling to Cap.
type Retry struct {
	Max  int           // zero: 2; negative: none
	Base time.Duration // zero: 100 ms
	Cap  time.Duration // zero: 2 s
}

var prefixes = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// resolved fills in the defaults, and refuses what cannot be.
func (o *Options) resolved(op string) (Options, error) {
	var r Options
	if o != nil {
		r = *o
	}
	r.Prefix = cmp.Or(r.Prefix, "vimbank")
	r.Tenancy = cmp.Or(r.Tenancy, Shared)
	r.Quantization = cmp.Or(r.Quantization, Full)
	r.HNSW = HNSW{M: cmp.Or(r.HNSW.M, 16), EfConstruct: cmp.Or(r.HNSW.EfConstruct, 128), Above: r.HNSW.Above, Ef: cmp.Or(r.HNSW.Ef, 128)}
	if r.Oversampling == 0 && r.Quantization == Binary {
		r.Oversampling = 4
	}
	r.Oversampling = cmp.Or(r.Oversampling, 2)
	r.Timeout = cmp.Or(r.Timeout, 10*time.Second)
	r.Batch = cmp.Or(r.Batch, 256)
	r.Retry = Retry{Max: max(cmp.Or(r.Retry.Max, 2), 0), Base: cmp.Or(r.Retry.Base, 100*time.Millisecond), Cap: cmp.Or(r.Retry.Cap, 2*time.Second)}
	r.Conns = cmp.Or(r.Conns, 3)
	return r, r.check(op)
}

func (o *Options) check(op string) error {
	host, port, err := net.SplitHostPort(o.Addr)
	n, perr := strconv.Atoi(port)
	for _, c := range []struct {
		ok     bool
		name   string
		found  any
		wanted string
	}{
		{err == nil && perr == nil && host != "" && n > 0 && n < 1<<16, "addr", o.Addr, "host:port of Qdrant's gRPC, for example 127.0.0.1:6334"},
		{prefixes.MatchString(o.Prefix), "prefix", o.Prefix, "1 to 64 letters, digits, - and _"},
		{o.Dim >= 1 && o.Dim <= 1<<16, "dim", o.Dim, "1 to 65536"},
		{o.Tenancy == Shared || o.Tenancy == Apart, "tenancy", string(o.Tenancy), "shared or collection"},
		{o.Quantization == Full || o.Quantization == Scalar || o.Quantization == Binary, "quantization", string(o.Quantization), "none, scalar or binary"},
		{o.Oversampling >= 1, "oversampling", o.Oversampling, "at least 1"},
		{o.HNSW.M >= 2, "hnsw.m", o.HNSW.M, "at least 2"},
		{o.HNSW.EfConstruct >= 4, "hnsw.ef_construct", o.HNSW.EfConstruct, "at least 4"},
		{o.HNSW.Ef >= 1, "hnsw.ef", o.HNSW.Ef, "at least 1"},
		{o.HNSW.Above >= 0, "hnsw.above", o.HNSW.Above, "at least 0"},
		{o.Shards >= 0, "shards", o.Shards, "at least 1, or 0"},
		{o.Replicas >= 0, "replicas", o.Replicas, "at least 1, or 0"},
		{o.WriteConsistency >= 0, "write_consistency", o.WriteConsistency, "at least 1, or 0"},
		{o.Timeout > 0, "timeout", o.Timeout, "more than nothing"},
		{o.Batch > 0, "batch", o.Batch, "at least 1"},
		{o.Conns > 0, "conns", o.Conns, "at least 1"},
	} {
		if !c.ok {
			return memtypes.BadField(op, c.name, c.found, c.wanted)
		}
	}
	return nil
}
