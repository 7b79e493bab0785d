// Package qdranttest serves Qdrant's gRPC protocol in process, for tests
// without a server: collections with metadata and payload indexes, aliases,
// points with named vectors, conditional upserts, exact search, filters,
// scrolling, counting. It answers as release 1.19 does, errors included, for
// what package qdrant asks of it; everything else is Unimplemented. It breaks
// on demand: see [Faults].
//
// It is no Qdrant: nothing is kept on disk, one lock guards everything, and no
// graph is built.
package qdranttest

import (
	"context"
	"crypto/tls"
	"net"
	"path"
	"sync"
	"testing"
	"time"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// Options makes a server stricter. The zero value asks for no key.
type Options struct {
	APIKey  string      // wanted with every call but the health check; empty: none
	TLS     *tls.Config // nil: not encrypted
	Version string      // empty: "1.19.0"
}

// Faults are switches; all are off at first. Writes are changes of points,
// payload indexes, collections and aliases.
type Faults struct {
	Delay      time.Duration // before every call; a call that is given up ends
	FailCalls  int           // refuse the next so many calls, before they do anything
	FailWrites int           // refuse the next so many writes, before they do anything
	Code       codes.Code    // with this code; zero: Unavailable
	Message    string        // and this text
	RetryAfter string        // and this trailer, as a server that limits rates does
	LoseAcks   int           // make the next so many writes, then cut the connection instead of answering
	Pending    int           // answer the next so many writes of points as taken in, not done
	ReadOnly   bool          // refuse every write with ResourceExhausted, as with a full disk
	Poison     string        // refuse every upsert that has the point of this UUID with InvalidArgument
}

// Server is a running one.
type Server struct {
	Addr string // host:port

	opt   Options
	conns *connections

	mu          sync.Mutex // guards what follows
	faults      Faults
	calls       map[string]int
	collections map[string]*collection
	aliases     map[string]string
}

// New starts a server that ends with the test; o may be nil.
func New(t testing.TB, o *Options) *Server {
	t.Helper()
	s := &Server{calls: map[string]int{}, collections: map[string]*collection{}, aliases: map[string]string{}}
	if o != nil {
		s.opt = *o
	}
	if s.opt.Version == "" {
		s.opt.Version = "1.19.0"
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Addr = l.Addr().String()
	s.conns = &connections{Listener: l, open: map[string]net.Conn{}}
	opts := []grpc.ServerOption{
		grpc.UnaryInterceptor(s.intercept), grpc.MaxRecvMsgSize(64 << 20), grpc.WaitForHandlers(true),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}), // the client pings
	}
	if s.opt.TLS != nil {
		opts = append(opts, grpc.Creds(credentials.NewTLS(s.opt.TLS)))
	}
	g := grpc.NewServer(opts...)
	qc.RegisterQdrantServer(g, health{s: s})
	qc.RegisterCollectionsServer(g, collectionsService{s: s})
	qc.RegisterPointsServer(g, pointsService{s: s})
	done := make(chan error, 1)
	go func() { done <- g.Serve(s.conns) }()
	t.Cleanup(func() {
		g.Stop()
		if err := <-done; err != nil {
			t.Errorf("qdranttest: %v", err)
		}
	})
	return s
}

// Set replaces all switches.
func (s *Server) Set(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
}

// Left is the switches as the calls since have left them.
func (s *Server) Left() Faults {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults
}

// Calls is how often a method was called, by its last name: "Upsert".
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

type health struct {
	qc.UnimplementedQdrantServer
	s *Server
}

func (h health) HealthCheck(context.Context, *qc.HealthCheckRequest) (*qc.HealthCheckReply, error) {
	return &qc.HealthCheckReply{Title: "qdranttest", Version: h.s.opt.Version}, nil
}

// writes reports whether a method changes something.
func writes(method string) bool {
	switch method {
	case "/qdrant.Collections/Create", "/qdrant.Collections/Delete", "/qdrant.Collections/UpdateAliases",
		"/qdrant.Points/Upsert", "/qdrant.Points/Delete",
		"/qdrant.Points/CreateFieldIndex", "/qdrant.Points/DeleteFieldIndex":
		return true
	}
	return false
}

func (s *Server) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	delay, err := s.before(ctx, info.FullMethod, req)
	if err != nil {
		return nil, err
	}
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
	reply, err := handle(ctx, req)
	if err == nil && writes(info.FullMethod) && s.take(func(f *Faults) *int { return &f.LoseAcks }) {
		if p, ok := peer.FromContext(ctx); ok {
			s.conns.cut(p.Addr.String())
		}
	}
	if r, ok := reply.(*qc.PointsOperationResponse); ok && s.take(func(f *Faults) *int { return &f.Pending }) {
		r.Result.Status = qc.UpdateStatus_WaitTimeout
	}
	return reply, err
}

// before refuses a call that has no right to be, or that a switch is set against.
func (s *Server) before(ctx context.Context, method string, req any) (time.Duration, error) {
	s.mu.Lock()
	f := s.faults
	s.calls[path.Base(method)]++
	s.mu.Unlock()
	if s.opt.APIKey != "" && method != "/qdrant.Qdrant/HealthCheck" {
		md, _ := metadata.FromIncomingContext(ctx)
		if keys := md.Get("api-key"); len(keys) != 1 || keys[0] != s.opt.APIKey {
			return 0, status.Error(codes.Unauthenticated, "Invalid API key or JWT")
		}
	}
	write := writes(method)
	switch {
	case write && f.ReadOnly:
		return 0, status.Error(codes.ResourceExhausted, "Insufficient storage: no room on the disk")
	case s.take(func(f *Faults) *int { return &f.FailCalls }), write && s.take(func(f *Faults) *int { return &f.FailWrites }):
		return 0, f.refuse(ctx)
	}
	if up, ok := req.(*qc.UpsertPoints); ok && f.Poison != "" {
		for _, p := range up.GetPoints() {
			if p.GetId().GetUuid() == f.Poison {
				return 0, status.Error(codes.InvalidArgument, "Wrong input: a point that the test wanted refused")
			}
		}
	}
	return f.Delay, nil
}

func (f *Faults) refuse(ctx context.Context) error {
	code, text := f.Code, f.Message
	if code == codes.OK {
		code = codes.Unavailable
	}
	if text == "" {
		text = "refused, as the test wanted"
	}
	if f.RetryAfter != "" {
		if err := grpc.SetTrailer(ctx, metadata.Pairs("retry-after", f.RetryAfter)); err != nil {
			return err
		}
	}
	return status.Error(code, text)
}

// take counts a switch down, and reports whether it was on.
func (s *Server) take(which func(*Faults) *int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := which(&s.faults)
	if *n <= 0 {
		return false
	}
	*n--
	return true
}

// connections is a listener that can cut what it has accepted.
type connections struct {
	net.Listener
	mu   sync.Mutex
	open map[string]net.Conn // by the client's address
}

func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.mu.Lock()
		c.open[conn.RemoteAddr().String()] = conn
		c.mu.Unlock()
	}
	return conn, err
}

func (c *connections) cut(client string) {
	c.mu.Lock()
	conn := c.open[client]
	delete(c.open, client)
	c.mu.Unlock()
	if conn != nil {
		_ = conn.Close() // what is lost is the point
	}
}
