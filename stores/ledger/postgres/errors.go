package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vimbank/vimbank/memtypes"
)

// fail gives err its code and op, and says which server it is about; an error
// that has a code keeps both. ctx is the caller's: where it has ended, that is
// the cause.
func (db *DB) fail(ctx context.Context, op string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*memtypes.Error](err); ok {
		return e
	}
	if cause := ctx.Err(); cause != nil {
		return memtypes.Errorf(op, memtypes.Canceled, "%w", cause)
	}
	code, advice := judge(err)
	if advice != "" {
		advice = ": " + advice
	}
	if _, ok := errors.AsType[*pgconn.PgError](err); ok && !isConnect(err) {
		return memtypes.Errorf(op, code, "PostgreSQL at %s: %w%s", db.place, err, advice)
	}
	// Errors of connecting carry all settings, with the password: only their text goes on.
	return memtypes.Errorf(op, code, "PostgreSQL at %s: %s%s", db.place, hide(err.Error(), db.config.Password), advice)
}

func isConnect(err error) bool {
	_, ok := errors.AsType[*pgconn.ConnectError](err)
	return ok
}

// verdict is what an SQLSTATE means here, and what mends it.
type verdict struct {
	code   memtypes.Code
	advice string
}

// judge finds code and advice for an error of the server or of the network.
func judge(err error) (memtypes.Code, string) {
	if isConnect(err) {
		if advice := connectAdvice(err.Error()); advice != "" {
			return memtypes.Unavailable, advice
		}
		return memtypes.Unavailable, states()[state(err)].advice
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		if v, ok := states()[e.Code]; ok {
			return v.code, v.advice
		}
		if v, ok := states()[e.Code[:min(2, len(e.Code))]]; ok {
			return v.code, v.advice
		}
		return memtypes.Internal, ""
	}
	if errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) {
		return memtypes.Unavailable, "the server did not answer in time"
	}
	if away(err) {
		return memtypes.Unavailable, ""
	}
	return memtypes.Internal, ""
}

// states are the SQLSTATEs, or their classes, that say more than "a bug".
func states() map[string]verdict {
	return map[string]verdict{
		"08":    {memtypes.Unavailable, ""},
		"57P01": {memtypes.Unavailable, "the server is shutting down or an administrator ended the connection"},
		"57P02": {memtypes.Unavailable, "the server crashed and restarts"},
		"57P03": {memtypes.Unavailable, "the server is starting up"},
		"57":    {memtypes.Unavailable, ""},
		"57014": {memtypes.Unavailable, "the statement took longer than statement_timeout allows"},
		"55P03": {memtypes.Unavailable, "another process has been writing for longer than lock_timeout allows"},
		"25P03": {memtypes.Unavailable, ""}, // idle in transaction for too long
		"40":    {memtypes.Unavailable, "it collided with other transactions, also when it was tried again"},
		"53100": {memtypes.Full, "the server's disk is full: make room or a larger volume"},
		"53":    {memtypes.Unavailable, ""},
		"53300": {memtypes.Unavailable, "lower max_conns of each process or raise the server's max_connections"},
		"25006": {memtypes.ReadOnly, "the server takes no writes, it is a standby or default_transaction_read_only is on: name the primary, or add target_session_attrs=read-write to the URL"},
		"42501": {memtypes.ReadOnly, "the user lacks a right: GRANT USAGE on the schema and SELECT, INSERT, UPDATE, DELETE on all its tables, or have their owner open the bank"},
		"28":    {memtypes.Unavailable, "check user and password in the URL, and the server's pg_hba.conf"},
		"3D000": {memtypes.Unavailable, "create it with createdb, or name another one in the URL"},
		"3F000": {memtypes.Incompatible, "the bank's schema is gone: restore it from a backup, or open the bank anew for an empty one"},
		"42P01": {memtypes.Incompatible, "a table of the bank is gone: restore it from a backup"},
		"42703": {memtypes.Incompatible, "a column of the bank is gone: restore it from a backup"},
		"22021": {memtypes.Invalid, "wanted UTF-8 without NUL"},
	}
}

// connectAdvice says what mends a connection that was not made.
func connectAdvice(text string) string {
	for _, a := range [][2]string{
		{"no encryption", "the server wants TLS: say sslmode=verify-full in the URL"},
		{"SQLSTATE 28", "check user and password in the URL, and the server's pg_hba.conf"},
		{"SQLSTATE 3D000", "create it with createdb, or name another one in the URL"},
		{"SQLSTATE 53300", "lower max_conns of each process or raise the server's max_connections"},
		{"refused TLS", "the server has no TLS: turn ssl on there, or say sslmode=disable in the URL"},
		{"x509:", "the server's certificate does not fit: check host, sslrootcert and sslmode in the URL"},
		{"tls:", "TLS failed: check sslmode, sslcert and sslrootcert in the URL"},
		{"no such host", "check the host in the URL"},
		{"connection refused", "start the server, or check host and port in the URL"},
	} {
		if strings.Contains(text, a[0]) {
			return a[1]
		}
	}
	return ""
}

// away says that a connection could not be made or broke.
func away(err error) bool {
	if isConnect(err) || errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return true
	}
	_, ok := errors.AsType[net.Error](err)
	return ok || strings.Contains(err.Error(), "conn closed") || strings.Contains(err.Error(), "closed pool")
}

// state is the SQLSTATE of err; empty if it is not the server's.
func state(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// collided says that a transaction can be done again at once.
func collided(err error) bool {
	s := state(err)
	return s == "40001" || s == "40P01"
}

// noNUL refuses what no text of the server can hold.
func noNUL(op, field, v string) error {
	if strings.IndexByte(v, 0) >= 0 {
		return memtypes.BadField(op, field, memtypes.Remark("a NUL byte"), "text without NUL")
	}
	return nil
}
