package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/vimbank/vimbank/memtypes"
)

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		err    error
		code   memtypes.Code
		advice string
	}{
		{&pgconn.PgError{Code: "53100"}, memtypes.Full, "disk is full"},
		{&pgconn.PgError{Code: "53200"}, memtypes.Unavailable, ""},
		{&pgconn.PgError{Code: "53300"}, memtypes.Unavailable, "max_conns"},
		{&pgconn.PgError{Code: "57014"}, memtypes.Unavailable, "statement_timeout"},
		{&pgconn.PgError{Code: "55P03"}, memtypes.Unavailable, "lock_timeout"},
		{&pgconn.PgError{Code: "40001"}, memtypes.Unavailable, "collided"},
		{&pgconn.PgError{Code: "40P01"}, memtypes.Unavailable, "collided"},
		{&pgconn.PgError{Code: "57P01"}, memtypes.Unavailable, "administrator"},
		{&pgconn.PgError{Code: "57P03"}, memtypes.Unavailable, "starting"},
		{&pgconn.PgError{Code: "08006"}, memtypes.Unavailable, ""},
		{&pgconn.PgError{Code: "25006"}, memtypes.ReadOnly, "target_session_attrs"},
		{&pgconn.PgError{Code: "42501"}, memtypes.ReadOnly, "GRANT"},
		{&pgconn.PgError{Code: "42P01"}, memtypes.Incompatible, "backup"},
		{&pgconn.PgError{Code: "22021"}, memtypes.Invalid, "UTF-8"},
		{&pgconn.PgError{Code: "XX001"}, memtypes.Internal, ""},
		{&pgconn.PgError{Code: ""}, memtypes.Internal, ""},
		{fmt.Errorf("read: %w", io.ErrUnexpectedEOF), memtypes.Unavailable, ""},
		{context.DeadlineExceeded, memtypes.Unavailable, "in time"},
		{errors.New("anything else"), memtypes.Internal, ""},
	} {
		code, advice := judge(fmt.Errorf("in passing: %w", c.err))
		if code != c.code || c.advice != "" && !strings.Contains(advice, c.advice) {
			t.Errorf("judge(%v) = %q, %q; want %q and advice with %q", c.err, code, advice, c.code, c.advice)
		}
	}
}

// An error keeps the code that it has, says whose server it is, and gives way
// to the caller's own end.
func TestFail(t *testing.T) {
	config, err := pgx.ParseConfig("postgres://ann:s3cr3t@db.example:5433/bank")
	if err != nil {
		t.Fatal(err)
	}
	db := &DB{config: config, place: placeOf(config, "vimbank")}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		err   error
		code  memtypes.Code
		words string
	}{
		{"a code", t.Context(), memtypes.Errorf("x", memtypes.Conflict, "y"), memtypes.Conflict, "x: conflict: y"},
		{"a cancelled call", ended, io.EOF, memtypes.Canceled, "canceled"},
		{"a server's error", t.Context(), &pgconn.PgError{Code: "53100", Severity: "ERROR", Message: "no space"}, memtypes.Full, "db.example:5433/bank"},
		{"a secret", t.Context(), fmt.Errorf("cannot use s3cr3t: %w", io.EOF), memtypes.Unavailable, "cannot use xxxxx"},
	} {
		got := db.fail(c.ctx, "postgres.Get", c.err)
		if memtypes.CodeOf(got) != c.code || !strings.Contains(got.Error(), c.words) || strings.Contains(got.Error(), "s3cr3t") {
			t.Errorf("%s: fail gave %q, want code %q and %q", c.name, got, c.code, c.words)
		}
	}
	if db.fail(t.Context(), "postgres.Get", nil) != nil {
		t.Error("fail made an error of none")
	}
}
