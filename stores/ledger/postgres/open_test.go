package postgres_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/postgres"
)

// Many processes start at once on a server that has no bank yet.
func TestOpenAtOnce(t *testing.T) {
	u := live.Postgres(t)
	name := schema(t, u)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			db, err := postgres.Open(t.Context(), u, &postgres.Options{Schema: name, Partitions: 2})
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			must(t, db, inserts(said("t", fmt.Sprint(i))))
			db.Close()
		})
	}
	wg.Wait()
	db := open(t, u, &postgres.Options{Schema: name})
	defer db.Close()
	if changes := sound(t, db, "t"); len(changes) != 6 {
		t.Errorf("the log has %d entries, want 6", len(changes))
	}
}

// fails checks that Open fails with a code, names what is in words, and does
// not name a secret.
func fails(t *testing.T, what, u string, o *postgres.Options, code memtypes.Code, words ...string) {
	t.Helper()
	db, err := postgres.Open(t.Context(), u, o)
	if err == nil {
		db.Close()
	}
	if err == nil || memtypes.CodeOf(err) != code {
		t.Errorf("%s: Open gave %v, want code %q", what, err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: Open gave %q, want it to name %q", what, err, w)
		}
	}
	if strings.Contains(fmt.Sprintf("%v %+v", err, err), "s3cr3t") {
		t.Errorf("%s: Open told the password: %v", what, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	u := live.Postgres(t)
	with := func(change func(*url.URL)) string {
		p, err := url.Parse(u)
		if err != nil {
			t.Fatal("the URL of the server cannot be read")
		}
		p.User = url.UserPassword(p.User.Username(), "s3cr3t")
		change(p)
		return p.String()
	}
	quick := &postgres.Options{ConnectTimeout: 2 * time.Second}
	fails(t, "no server", with(func(p *url.URL) { p.Host = "127.0.0.1:1" }), quick, memtypes.Unavailable, "127.0.0.1:1", "start the server")
	fails(t, "no host", with(func(p *url.URL) { p.Host = "nowhere.invalid:5432" }), quick, memtypes.Unavailable, "nowhere.invalid")
	fails(t, "no database", with(func(p *url.URL) { p.Path = "/none_such" }), quick, memtypes.Unavailable, "none_such", "createdb")
	fails(t, "no user", with(func(p *url.URL) { p.User = url.UserPassword("nobody_here", "s3cr3t") }), quick, memtypes.Unavailable, "nobody_here", "check user and password")
	fails(t, "no TLS there", with(func(p *url.URL) { p.RawQuery = "sslmode=require" }), quick, memtypes.Unavailable, "sslmode=disable")
	fails(t, "an odd mode", with(func(p *url.URL) { p.RawQuery = "sslmode=perhaps" }), quick, memtypes.Invalid, "url")
	fails(t, "no URL", "postgres://ann:s3cr3t@[::1/x", quick, memtypes.Invalid, "url")
	fails(t, "no port", "host=x port=y password=s3cr3t", quick, memtypes.Invalid, "url")
	fails(t, "a missing file", "postgres://127.0.0.1/x?sslmode=verify-full&sslrootcert=/no/such/ca.pem", quick, memtypes.Invalid, "/no/such/ca.pem")
	fails(t, "a reserved name", u, &postgres.Options{Schema: "pg_mine"}, memtypes.Invalid, "schema")
	fails(t, "too many parts", u, &postgres.Options{Partitions: 1000}, memtypes.Invalid, "partitions")

	name := schema(t, u)
	fails(t, "nothing to read", u, &postgres.Options{Schema: name, ReadOnly: true}, memtypes.ReadOnly, name)
	run(t, u, fmt.Sprintf("CREATE SCHEMA %[1]q; CREATE TABLE %[1]q.invoices (n int)", name))
	fails(t, "another program's tables", u, &postgres.Options{Schema: name}, memtypes.Incompatible, "invoices", "another schema")
	db := open(t, u, &postgres.Options{Partitions: 1})
	defer db.Close()
	run(t, u, fmt.Sprintf("UPDATE %q.vimbank_ledger SET version = 99", db.Schema()))
	fails(t, "a newer version", u, &postgres.Options{Schema: db.Schema()}, memtypes.Incompatible, "99", "newer vimbank")
	run(t, u, fmt.Sprintf("UPDATE %q.vimbank_ledger SET app = 'other'", db.Schema()))
	fails(t, "another program's marker", u, &postgres.Options{Schema: db.Schema()}, memtypes.Incompatible, "other")
}

// asUser is the URL for another user.
func asUser(t *testing.T, u, user, password string) string {
	t.Helper()
	p, err := url.Parse(u)
	if err != nil {
		t.Fatal("the URL of the server cannot be read")
	}
	p.User = url.UserPassword(user, password)
	return p.String()
}

// Whoever lacks a right is told which, and what grants it.
func TestRights(t *testing.T) {
	u := live.Postgres(t)
	user := schema(t, u) // a name that nobody has
	run(t, u, fmt.Sprintf("CREATE ROLE %q LOGIN", user))
	t.Cleanup(func() { run(t, u, fmt.Sprintf("DROP OWNED BY %[1]q; DROP ROLE %[1]q", user)) })
	theirs := asUser(t, u, user, "s3cr3t")
	name := schema(t, u)
	o := &postgres.Options{Schema: name, Partitions: 1}
	fails(t, "who may not create a schema", theirs, o, memtypes.ReadOnly, "CREATE SCHEMA", name, user)
	run(t, u, fmt.Sprintf("CREATE SCHEMA %q", name))
	fails(t, "who may not create tables", theirs, o, memtypes.ReadOnly, "GRANT USAGE, CREATE ON SCHEMA", name, user)
	owner := open(t, u, o)
	defer owner.Close()
	must(t, owner, inserts(said("t", "one")))
	fails(t, "who may not read", theirs, o, memtypes.ReadOnly, "USAGE")
	run(t, u, fmt.Sprintf("GRANT USAGE ON SCHEMA %[1]q TO %[2]q; GRANT SELECT ON ALL TABLES IN SCHEMA %[1]q TO %[2]q", name, user))
	db := open(t, theirs, o)
	defer db.Close()
	if n, err := db.Head(t.Context()); err != nil || n != 1 {
		t.Errorf("Head of who may read = %d, %v; want 1", n, err)
	}
	if _, err := db.Append(t.Context(), inserts(said("t", "two"))); memtypes.CodeOf(err) != memtypes.ReadOnly || !strings.Contains(err.Error(), "GRANT") {
		t.Errorf("Append of who may only read: %v, want code %q and the right", err, memtypes.ReadOnly)
	}
	if f := finding(t, db, "permissions"); f.OK || !strings.Contains(f.Mend, "GRANT SELECT, INSERT") {
		t.Errorf("permissions = %+v, want the GRANT that is missing", f)
	}
	run(t, u, fmt.Sprintf("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %q TO %q", name, user))
	must(t, db, inserts(said("t", "two"), said("new tenant", "three")))
	if f := finding(t, db, "permissions"); !f.OK {
		t.Errorf("permissions = %+v, want them fine", f)
	}
	sound(t, owner, "t", "new tenant")
}

// finding is one that Inspect makes.
func finding(t *testing.T, db *postgres.DB, check string) memtypes.Finding {
	t.Helper()
	all := db.Inspect(t.Context())
	for _, f := range all {
		if f.Check == check {
			return f
		}
	}
	t.Fatalf("Inspect made no finding %q: %+v", check, all)
	return memtypes.Finding{}
}

func TestReadOnly(t *testing.T) {
	u := live.Postgres(t)
	owner := open(t, u, &postgres.Options{Partitions: 1})
	defer owner.Close()
	m := said("t", "one")
	must(t, owner, inserts(m))
	if err := owner.Follow(t.Context(), "a", 0); err != nil {
		t.Fatalf("Follow: %v", err)
	}
	db := open(t, u, &postgres.Options{Schema: owner.Schema(), ReadOnly: true})
	defer db.Close()
	refusing := open(t, u+"&default_transaction_read_only=on", &postgres.Options{Schema: owner.Schema(), MaxConns: 2})
	defer refusing.Close()
	for _, db := range []*postgres.DB{db, refusing} {
		if got, err := db.Get(t.Context(), m.Scope, []memtypes.ID{m.ID}); err != nil || len(got) != 1 {
			t.Errorf("Get = %d, %v; want the memory", len(got), err)
		}
	}
	ctx := t.Context()
	for name, f := range map[string]func() error{
		"Append":  func() error { _, err := db.Append(ctx, inserts(said("t", "two"))); return err },
		"Set":     func() error { return db.Set(ctx, "a", "b") },
		"Follow":  func() error { return db.Follow(ctx, "b", 0) },
		"Claim":   func() error { _, err := db.Claim(ctx, "a", "h", start, time.Minute, 1); return err },
		"Acquire": func() error { _, err := db.Acquire(ctx, "a", "h", start, time.Minute); return err },
		"PutVectors": func() error {
			return db.PutVectors(ctx, "f", []memtypes.ID{m.ID}, []string{"h"}, []memtypes.Vector{{1}})
		},
	} {
		if err := f(); memtypes.CodeOf(err) != memtypes.ReadOnly {
			t.Errorf("%s of a bank opened for reading: %v, want code %q", name, err, memtypes.ReadOnly)
		}
	}
	if _, err := refusing.Append(ctx, inserts(said("t", "two"))); memtypes.CodeOf(err) != memtypes.ReadOnly || !strings.Contains(err.Error(), "target_session_attrs") {
		t.Errorf("Append to a server that takes no writes: %v, want code %q and what to do", err, memtypes.ReadOnly)
	}
	for _, f := range db.Inspect(ctx) {
		if !f.OK {
			t.Errorf("Inspect of a bank opened for reading: %+v, want it fine", f)
		}
	}
}

// certify gives a server a certificate for localhost, and returns the file
// with the one that signed it.
func certify(t *testing.T, u string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	secret := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
	// The server writes its files itself, in its own folder.
	for name, text := range map[string][]byte{"server.crt": cert, "server.key": secret} {
		rows := strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "'), ('")
		run(t, u, fmt.Sprintf("COPY (VALUES ('%s')) TO PROGRAM 'umask 077; cat > %s'", rows, name))
	}
	run(t, u, "ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()", "SELECT pg_sleep(0.5)")
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A managed server: TLS, a user with a password, few connections.
func TestManagedServer(t *testing.T) {
	s := live.Own(t, "postgres")
	ca := certify(t, s.Addr)
	run(t, s.Addr, "CREATE ROLE ann LOGIN PASSWORD 's3cr3t-right'", "GRANT CREATE ON DATABASE vimbank TO ann",
		"COPY (VALUES ('host all postgres 127.0.0.1/32 trust'), ('hostssl all all 127.0.0.1/32 scram-sha-256')) TO PROGRAM 'cat > pg_hba.conf'",
		"SELECT pg_reload_conf()", "SELECT pg_sleep(0.5)")
	with := func(user, password, query string) string {
		p, err := url.Parse(s.Addr)
		if err != nil {
			t.Fatal("the URL of the server cannot be read")
		}
		p.User, p.RawQuery = url.UserPassword(user, password), query
		return p.String()
	}
	verified := "sslmode=verify-full&sslrootcert=" + url.QueryEscape(ca)
	o := &postgres.Options{Partitions: 2, MaxConns: 3}
	fails(t, "a wrong password", with("ann", "s3cr3t-wrong", verified), o, memtypes.Unavailable, "28P01", "check user and password")
	fails(t, "no TLS", with("ann", "s3cr3t-right", "sslmode=disable"), o, memtypes.Unavailable, "sslmode=verify-full")
	fails(t, "an unknown certificate", with("ann", "s3cr3t-right", "sslmode=verify-full"), o, memtypes.Unavailable, "sslrootcert")
	db := open(t, with("ann", "s3cr3t-right", verified), &postgres.Options{Schema: "managed", Partitions: 2, MaxConns: 3})
	defer db.Close()
	must(t, db, inserts(said("t", "one")))
	for _, f := range db.Inspect(t.Context()) {
		if !f.OK {
			t.Errorf("Inspect: %+v, want it fine", f)
		}
	}
	if f := finding(t, db, "security"); !strings.Contains(f.Found, "TLS 1.") {
		t.Errorf("security = %q, want TLS", f.Found)
	}
	run(t, s.Addr, "ALTER ROLE ann CONNECTION LIMIT 1")
	if f := finding(t, db, "connections"); f.OK {
		t.Errorf("connections = %+v, want it to say that 1 is too few for 3", f)
	}
	fails(t, "too many connections", with("ann", "s3cr3t-right", verified), &postgres.Options{Schema: "managed"}, memtypes.Unavailable, "max_conns")
	run(t, s.Addr, "ALTER ROLE ann SET synchronous_commit = off", "ALTER ROLE ann CONNECTION LIMIT 50")
	loose := open(t, with("ann", "s3cr3t-right", verified), &postgres.Options{Schema: "managed"})
	defer loose.Close()
	if f := finding(t, loose, "settings"); f.OK || !strings.Contains(f.Found, "synchronous_commit") {
		t.Errorf("settings = %+v, want synchronous_commit to be off", f)
	}
}

// What a checker must find, it finds.
func TestCheckFinds(t *testing.T) {
	u := live.Postgres(t)
	for name, damage := range map[string]string{
		"a hole in the log":    "DELETE FROM {s}.log WHERE seq = 2",
		"a number twice":       "INSERT INTO {s}.log SELECT 2, tenant, prev, was, op, id, at, actor, run, reason, hash FROM {s}.log WHERE seq = 1 AND false; UPDATE {s}.head SET seq = 9",
		"a lost memory":        "DELETE FROM {s}.memories WHERE rev = 1",
		"a lost text":          "UPDATE {s}.memories SET text = '' WHERE rev = 1",
		"text that was purged": "UPDATE {s}.memories SET text = 'back' WHERE state = 2",
		"another revision":     "UPDATE {s}.memories SET rev = 2 WHERE rev = 1",
		"a state alone":        "UPDATE {s}.memories SET state = 1 WHERE rev = 1",
		"another scope":        "UPDATE {s}.memories SET scope = 99999 WHERE rev = 1",
		"recalls of nothing":   "INSERT INTO {s}.recalled VALUES ('0f8fad5b-d9cb-869f-8165-70867728950e', 1, 1)",
		"a cut trail":          "UPDATE {s}.tenants SET seq = 2",
		"another reason":       "UPDATE {s}.log SET reason = 'x' WHERE seq = 1",
		"another hash":         "UPDATE {s}.log SET hash = decode(repeat('00', 32), 'hex') WHERE seq = 1",
	} {
		db := open(t, u, &postgres.Options{Partitions: 1})
		one, two := said("t", "one"), said("t", "two")
		must(t, db, inserts(one, two))
		must(t, db, ledger.Batch{Now: start, Actor: "test", Edits: []ledger.Edit{{Op: ledger.Purge, Memory: two}}})
		sound(t, db, "t")
		run(t, u, strings.ReplaceAll(damage, "{s}", `"`+db.Schema()+`"`))
		err := db.Check(t.Context())
		if err == nil {
			err = db.VerifyAudit(t.Context(), "t")
		}
		if memtypes.CodeOf(err) != memtypes.Internal {
			t.Errorf("%s: Check and VerifyAudit gave %v, want code %q", name, err, memtypes.Internal)
		}
		db.Close()
	}
}

func TestStats(t *testing.T) {
	db := open(t, live.Postgres(t), &postgres.Options{Partitions: 2})
	defer db.Close()
	must(t, db, inserts(said("a", "one"), said("a", "two"), said("b", "three")))
	must(t, db, ledger.Batch{Now: start, Actor: "test", Edits: []ledger.Edit{{Op: ledger.Retire, Memory: said("a", "two")}}})
	s, err := db.Stats(t.Context())
	want := []postgres.Count{{Tenant: "a", Kind: memtypes.Dialogue, State: memtypes.Active, N: 1}, {Tenant: "a", Kind: memtypes.Dialogue, State: memtypes.Retired, N: 1},
		{Tenant: "b", Kind: memtypes.Dialogue, State: memtypes.Active, N: 1}}
	if err != nil || fmt.Sprint(s.Counts) != fmt.Sprint(want) || s.Head != 4 || s.Schema != 1 || s.Bytes <= 0 {
		t.Errorf("Stats = %+v, %v; want counts %v, head 4, schema 1 and some bytes", s, err, want)
	}
}
