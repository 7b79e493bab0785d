package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/postgres"
)

// slowly has the commits of memories whose text begins with "slow" take a while.
func slowly(t *testing.T, u, schema string, seconds float64) {
	t.Helper()
	run(t, u, fmt.Sprintf(`CREATE FUNCTION %[1]q.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(%[2]f); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON %[1]q.memories_0 DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW WHEN (NEW.text LIKE 'slow%%') EXECUTE FUNCTION %[1]q.wait()`, schema, seconds))
}

// amid waits until a commit is under way.
func amid(t *testing.T, u, name string) {
	t.Helper()
	for range 1000 {
		if ask[int](t, u, "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event = 'PgSleep'", name) > 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("no commit was seen under way")
}

// The connection breaks while the server commits, which it goes on to do: the
// caller is told so, when that is known.
func TestBrokenAmidCommit(t *testing.T) {
	u := live.Postgres(t)
	link, through := linked(t)
	db := open(t, through+"&application_name=amid1", &postgres.Options{Partitions: 1, Schema: schema(t, u)})
	defer db.Close()
	slowly(t, u, db.Schema(), 1)
	done := make(chan error, 1)
	go func() {
		rs, err := db.Append(t.Context(), inserts(said("t", "slow one")))
		if err == nil && rs[0].Outcome != ledger.Done {
			err = fmt.Errorf("result %+v, want it done", rs[0])
		}
		done <- err
	}()
	amid(t, u, "amid1")
	link.Down()
	link.Up(t)
	if err := <-done; err != nil {
		t.Errorf("Append: %v, want success", err)
	}
	must(t, db, inserts(said("t", "two")))
	if changes := sound(t, db, "t"); len(changes) != 2 {
		t.Errorf("the log has %d entries, want 2", len(changes))
	}
}

// Where the server cannot be asked, the caller is told that it is not known,
// and to write again does no harm.
func TestUnknownCommit(t *testing.T) {
	u := live.Postgres(t)
	link, through := linked(t)
	db := open(t, through+"&application_name=amid2", &postgres.Options{Partitions: 1, Schema: schema(t, u), ConnectTimeout: 300 * time.Millisecond})
	defer db.Close()
	slowly(t, u, db.Schema(), 2)
	done := make(chan error, 1)
	m := said("t", "slow one")
	go func() { _, err := db.Append(t.Context(), inserts(m)); done <- err }()
	amid(t, u, "amid2")
	link.Down()
	if err := <-done; memtypes.CodeOf(err) != memtypes.Unavailable || !strings.Contains(err.Error(), "write it again") {
		t.Errorf("Append: %v, want code %q and what to do", err, memtypes.Unavailable)
	}
	link.Up(t)
	rs, err := db.Append(t.Context(), inserts(m))
	if err != nil || rs[0].Outcome != ledger.Same {
		t.Errorf("Append again = %+v, %v; want %q", rs, err, ledger.Same)
	}
	if changes := sound(t, db, "t"); len(changes) != 1 {
		t.Errorf("the log has %d entries, want 1", len(changes))
	}
}

// A commit that is undone by the end of its connection is done again.
func TestAbortedCommit(t *testing.T) {
	u := live.Postgres(t)
	db := open(t, u+"&application_name=amid3", &postgres.Options{Partitions: 1})
	defer db.Close()
	slowly(t, u, db.Schema(), 0.5)
	done := make(chan error, 1)
	go func() {
		rs, err := db.Append(t.Context(), inserts(said("t", "slow one")))
		if err == nil && rs[0].Outcome != ledger.Done {
			err = fmt.Errorf("result %+v, want it done", rs[0])
		}
		done <- err
	}()
	amid(t, u, "amid3")
	run(t, u, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'amid3' AND wait_event = 'PgSleep'")
	if err := <-done; err != nil {
		t.Errorf("Append: %v, want success", err)
	}
	if changes := sound(t, db, "t"); len(changes) != 1 {
		t.Errorf("the log has %d entries, want 1", len(changes))
	}
}
