package qdrant

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/vimbank/vimbank/memtypes"
)

// reconnect is how a lost connection is made again: a server that is back after
// an hour is used within seconds. The library's own pauses grow to minutes.
func reconnect() grpc.DialOption {
	return grpc.WithConnectParams(grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: .2, MaxDelay: 2 * time.Second},
		MinConnectTimeout: 5 * time.Second,
	})
}

// maxAnswer bounds what one answer may hold, in bytes: a million hits.
const maxAnswer = 64 << 20

// dial makes the client; connections are made when they are needed.
func dial(op string, o *Options) (*qc.Client, error) {
	host, port, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return nil, memtypes.BadField(op, "addr", o.Addr, "host:port")
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return nil, memtypes.BadField(op, "addr", o.Addr, "host:port")
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]" // the client joins host and port with a colon
	}
	c := &qc.Config{
		Host: host, Port: n, PoolSize: uint(o.Conns),
		// The version is asked for with an answer of our own to what comes.
		SkipCompatibilityCheck: true,
		GrpcOptions:            append([]grpc.DialOption{reconnect(), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer))}, o.dial...),
	}
	if o.APIKey != "" {
		// As a header of ours: the client's own field writes to the process's log.
		c.Headers = map[string]string{"api-key": o.APIKey}
	}
	if o.Retry.Max > 0 {
		c.RetryConfig = &qc.RetryConfig{MaxRetries: uint(o.Retry.Max), BaseBackoff: o.Retry.Base, MaxBackoff: o.Retry.Cap}
	}
	if o.TLS != nil {
		c.UseTLS = true
		if c.TLSConfig, err = o.TLS.config(op); err != nil {
			return nil, err
		}
	}
	client, err := qc.NewClient(c)
	if err != nil {
		return nil, memtypes.Errorf(op, memtypes.Invalid, "qdrant at %s: %w", o.Addr, err)
	}
	return client, nil
}

func (t *TLS) config(op string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile == "" {
		return c, nil
	}
	pem, err := os.ReadFile(t.CAFile)
	if err != nil {
		return nil, memtypes.BadField(op, "tls.ca_file", memtypes.Remark(err.Error()), "a file of certificates in PEM")
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM(pem) {
		return nil, memtypes.BadField(op, "tls.ca_file", memtypes.Remark(t.CAFile+" without a certificate"), "a file of certificates in PEM")
	}
	return c, nil
}

// release is a version of the server.
type release struct {
	major, minor int
	text         string
}

// The oldest release that looks at the filter of an upsert and keeps a
// collection's metadata, and the one that the tests run with.
var oldest = release{1, 16, "1.16"}

const tested = "1.19"

func (r release) atLeast(o release) bool {
	return r.major > o.major || r.major == o.major && r.minor >= o.minor
}

// version asks the server who it is. No key is needed for that.
func (s *Store) version(ctx context.Context, op string) (release, error) {
	var reply *qc.HealthCheckReply
	err := s.call(ctx, op, "", s.opt.Timeout, func(ctx context.Context) (err error) {
		reply, err = s.client.GetQdrantClient().HealthCheck(ctx, &qc.HealthCheckRequest{})
		return err
	})
	if err != nil {
		return release{}, err
	}
	v, err := qc.ParseVersion(reply.GetVersion())
	if err != nil {
		return release{}, memtypes.Errorf(op, memtypes.Incompatible, "qdrant at %s: found a server of version %q, wanted Qdrant %s or newer", s.opt.Addr, reply.GetVersion(), oldest.text)
	}
	return release{v.Major, v.Minor, reply.GetVersion()}, nil
}
