package qdrant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/vimbank/vimbank/memtypes"
)

// call runs one request within d. What collection it concerns is for the error.
func (s *Store) call(ctx context.Context, op, collection string, d time.Duration, do func(context.Context) error) error {
	if ctx.Err() != nil {
		return canceled(ctx, op)
	}
	limited, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	err := do(limited)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return canceled(ctx, op)
	}
	if s.closed.Load() {
		return errClosed(op)
	}
	return s.verdict(op, collection, d, err)
}

// verdict says what a failed request means for the caller, and what mends it.
func (s *Store) verdict(op, collection string, d time.Duration, err error) error {
	at := "qdrant at " + s.opt.Addr
	if collection != "" {
		at += ", collection " + collection
	}
	st := status.Convert(err)
	fail := func(code memtypes.Code, format string, args ...any) error {
		return &memtypes.Error{Op: op, Code: code, Err: &refusal{st.Code(), at + ": " + fmt.Sprintf(format, args...)}}
	}
	if busy, ok := errors.AsType[*qc.QdrantResourceExhaustedError](err); ok {
		return fail(memtypes.Unavailable, "too many requests: %s; it wants %d s of rest", brief(busy.Reason), busy.RetryAfterS)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fail(memtypes.Unavailable, "no answer within %v (dense.timeout)", d)
	}
	says := brief(st.Message())
	switch st.Code() {
	case codes.DeadlineExceeded, codes.Canceled:
		return fail(memtypes.Unavailable, "no answer within %v (dense.timeout)", d)
	case codes.Unavailable:
		return fail(memtypes.Unavailable, "%s%s", says, s.hint(says))
	case codes.Unauthenticated, codes.PermissionDenied:
		return fail(memtypes.Unavailable, "the server refuses %s: %s; wanted a key that may read, write and make collections: see dense.api_key", s.credential(), says)
	case codes.NotFound:
		return fail(memtypes.Unavailable, "the collection is gone (%s): `vimbank rebuild` makes it again from the ledger", says)
	case codes.ResourceExhausted:
		if strings.HasPrefix(says, "Insufficient storage") {
			return fail(memtypes.Full, "%s: free space on the server", says)
		}
		return fail(memtypes.Unavailable, "the server takes in no more for now: %s", says)
	case codes.InvalidArgument:
		return fail(memtypes.Invalid, "%s", says)
	case codes.Unimplemented:
		return fail(memtypes.Incompatible, "%s: wanted Qdrant %s or newer at dense.addr", says, oldest.text)
	}
	if strings.Contains(says, "No space left") {
		return fail(memtypes.Full, "%s: free space on the server", says)
	}
	return fail(memtypes.Unavailable, "%s%s", says, s.hint(says))
}

// credential says what was shown to the server, without showing it.
func (s *Store) credential() string {
	if s.opt.APIKey == "" {
		return "a request without a key"
	}
	return "the key"
}

// hint names the setting behind a connection that cannot be made.
func (s *Store) hint(says string) string {
	switch {
	case strings.Contains(says, "x509:") || strings.Contains(says, "certificate"):
		return ": see dense.tls.ca_file and dense.tls.server_name"
	case strings.Contains(says, "first record does not look like a TLS handshake"):
		return ": the server does not encrypt, see dense.tls.enabled"
	case strings.Contains(says, "server preface") || strings.Contains(says, "http2:") || strings.Contains(says, "unexpected HTTP status code"):
		return ": wanted the port of gRPC (6334) in dense.addr, not that of HTTP (6333), and dense.tls.enabled as the server has it"
	case strings.Contains(says, "connection refused") || strings.Contains(says, "no such host"):
		return ": is it running, and is dense.addr right?"
	}
	return ""
}

// brief shortens what a server says to what fits a line.
func brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// refusal is the cause of an error that a request ended with.
type refusal struct {
	code codes.Code
	text string
}

func (r *refusal) Error() string { return r.text }

// answered reports whether err is a request's that ended with code.
func answered(err error, code codes.Code) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && r.code == code
}

func canceled(ctx context.Context, op string) error {
	return memtypes.Errorf(op, memtypes.Canceled, "%w", context.Cause(ctx))
}

func errClosed(op string) error {
	return memtypes.Errorf(op, memtypes.Unavailable, "the index is closed")
}
