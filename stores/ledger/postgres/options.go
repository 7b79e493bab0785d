package postgres

import (
	"strings"
	"time"

	"github.com/vimbank/vimbank/memtypes"
)

// Options sets up a DB. A nil *Options is the zero Options, which is ready to use.
type Options struct {
	// Schema holds the bank's tables and nothing else; it is made where it is
	// missing. Zero means "vimbank".
	Schema string
	// Partitions is how many parts the tables of a new bank have, by the hash
	// of the tenant. Zero means 8.
	Partitions int
	// ReadOnly opens an existing bank for reading; every write is then ReadOnly.
	ReadOnly bool

	// MaxConns bounds the connections of this process, of which one writes and,
	// from 3 on, one listens; calls wait for one that is free. Zero means 10,
	// less than 2 means 2.
	MaxConns int
	// MinConns is how many are kept open for reading. Zero means none.
	MinConns int
	// MaxConnLifetime is after how long a connection is replaced. Zero means an hour.
	MaxConnLifetime time.Duration
	// ConnectTimeout bounds the making of a connection, unless the URL says
	// connect_timeout. Zero means 5 seconds.
	ConnectTimeout time.Duration
	// StatementTimeout bounds each statement, on the server and here. Zero means 30 seconds.
	StatementTimeout time.Duration
	// LockTimeout is how long a write waits for another process that writes.
	// Zero means 10 seconds.
	LockTimeout time.Duration

	// Queue bounds the writes that wait for their commit; more callers wait for
	// a place, as long as their context lets them. Zero means 256.
	Queue int
	// Pooler says that a pooler of transactions stands before the server:
	// nothing is prepared, no session is set up and nobody listens, Wait asks
	// every Poll.
	Pooler bool
	// Poll is how often Wait asks where it cannot listen. Zero means 250 ms.
	Poll time.Duration
}

func (o *Options) orDefaults() Options {
	var v Options
	if o != nil {
		v = *o
	}
	number := func(n *int, zero int) {
		if *n <= 0 {
			*n = zero
		}
	}
	long := func(d *time.Duration, zero time.Duration) {
		if *d <= 0 {
			*d = zero
		}
	}
	if v.Schema == "" {
		v.Schema = "vimbank"
	}
	number(&v.Partitions, 8)
	number(&v.MaxConns, 10)
	number(&v.Queue, 256)
	v.MaxConns = max(v.MaxConns, 2)
	long(&v.MaxConnLifetime, time.Hour)
	long(&v.ConnectTimeout, 5*time.Second)
	long(&v.StatementTimeout, 30*time.Second)
	long(&v.LockTimeout, 10*time.Second)
	long(&v.Poll, 250*time.Millisecond)
	return v
}

// check refuses names and numbers that the server would refuse or cut off.
func (o *Options) check() error {
	const op = "postgres.Open"
	if len(o.Schema) > 50 || strings.ContainsAny(o.Schema, "\x00\"") || strings.HasPrefix(o.Schema, "pg_") {
		return memtypes.BadField(op, "schema", o.Schema, "a name of at most 50 bytes, without quotes, that does not begin with pg_")
	}
	if o.Partitions > 256 {
		return memtypes.BadField(op, "partitions", o.Partitions, "1 to 256")
	}
	return nil
}
