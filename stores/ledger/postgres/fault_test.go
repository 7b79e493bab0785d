package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/postgres"
)

// start is the first moment of every test.
var start = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// said is a memory of a tenant.
func said(tenant, text string) memtypes.Memory {
	s, err := memtypes.NewScope(tenant, "ann", "", "")
	if err != nil {
		panic(err) // a mistake of the test itself
	}
	m, err := memtypes.New(memtypes.Draft{Scope: s, Kind: memtypes.Dialogue, Text: text, Talk: memtypes.Talk{Session: "s"}}, start)
	if err != nil {
		panic(err)
	}
	return m
}

func inserts(ms ...memtypes.Memory) ledger.Batch {
	b := ledger.Batch{Now: start, Actor: "test"}
	for _, m := range ms {
		b.Edits = append(b.Edits, ledger.Edit{Op: ledger.Insert, Memory: m})
	}
	return b
}

// must appends a batch of which every edit must be done.
func must(t testing.TB, db *postgres.DB, b ledger.Batch) []ledger.Result {
	t.Helper()
	rs, err := db.Append(t.Context(), b)
	if err != nil {
		t.Fatalf("Append: %v", err)
	}
	for _, r := range rs {
		if r.Outcome != ledger.Done {
			t.Fatalf("Append: %+v, want it done", r)
		}
	}
	return rs
}

// sound checks the whole bank, and that the feed names every number once.
func sound(t testing.TB, db *postgres.DB, tenants ...string) (changes []ledger.Change) {
	t.Helper()
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
	for _, tenant := range tenants {
		if err := db.VerifyAudit(t.Context(), tenant); err != nil {
			t.Errorf("VerifyAudit: %v", err)
		}
	}
	for {
		page, gone, err := db.Changes(t.Context(), uint64(len(changes)), ledger.MaxLimit)
		if err != nil || gone {
			t.Fatalf("Changes: gone = %v, %v", gone, err)
		}
		if len(page) == 0 {
			return changes
		}
		for _, c := range page {
			changes = append(changes, c)
			if c.Seq != uint64(len(changes)) {
				t.Fatalf("the feed has change %d at place %d", c.Seq, len(changes))
			}
		}
	}
}

// persistent appends m until the bank has it, as callers do; it returns how
// often it was told that the server is away.
func persistent(t *testing.T, db *postgres.DB, m memtypes.Memory) (away int) {
	for {
		rs, err := db.Append(t.Context(), inserts(m))
		switch {
		case err == nil && rs[0].Outcome == ledger.Done, err == nil && rs[0].Outcome == ledger.Same && away > 0:
			return away
		case err == nil:
			t.Errorf("Append of %q = %+v after %d failures, want it done, or the same after one", m.Text, rs[0], away)
			return away
		case memtypes.CodeOf(err) != memtypes.Unavailable:
			t.Errorf("Append: %v, want code %q", err, memtypes.Unavailable)
			return away
		}
		away++
		time.Sleep(20 * time.Millisecond)
	}
}

// The server is killed twice under load. No acknowledged write is lost or
// done twice, and nobody needs to open the bank anew.
func TestServerKilled(t *testing.T) {
	s := live.Own(t, "postgres")
	db := open(t, s.Addr, &postgres.Options{Schema: "killed", Partitions: 2, ConnectTimeout: 2 * time.Second, Poll: 50 * time.Millisecond})
	defer db.Close()
	stop := make(chan struct{})
	var written [6]int
	var away atomic.Int64
	var wg sync.WaitGroup
	for w := range written {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				away.Add(int64(persistent(t, db, said(fmt.Sprint("t", w%2), fmt.Sprint(w, "/", i)))))
				written[w]++
			}
		})
	}
	heard := make(chan uint64)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // follows the feed all the time
		defer close(heard)
		seq := uint64(0)
		for {
			if err := db.Wait(ctx, seq); err != nil {
				heard <- seq
				return
			}
			for {
				page, _, err := db.Changes(ctx, seq, 100)
				if err != nil || len(page) == 0 {
					break
				}
				if page[0].Seq != seq+1 {
					t.Errorf("the feed goes on with %d after %d", page[0].Seq, seq)
				}
				seq = page[len(page)-1].Seq
			}
		}
	}()
	for range 2 {
		time.Sleep(700 * time.Millisecond)
		s.Kill(t)
		time.Sleep(300 * time.Millisecond)
		s.Resume(t)
	}
	time.Sleep(700 * time.Millisecond)
	close(stop)
	wg.Wait()
	t.Logf("%d calls were told that the server is away", away.Load())
	total := 0
	for w, n := range written {
		total += n
		var ids []memtypes.ID
		for i := range n {
			ids = append(ids, said(fmt.Sprint("t", w%2), fmt.Sprint(w, "/", i)).ID)
		}
		got, err := db.Get(t.Context(), said(fmt.Sprint("t", w%2), "x").Scope, ids)
		if err != nil || len(got) != n {
			t.Errorf("writer %d: %d of %d acknowledged memories are there, %v", w, len(got), n, err)
		}
	}
	changes := sound(t, db, "t0", "t1")
	if len(changes) != total {
		t.Errorf("the log has %d entries for %d writes, want as many", len(changes), total)
	}
	must(t, db, inserts(said("t0", "the last")))
	time.Sleep(500 * time.Millisecond) // to hear of it, if it is heard of at all
	cancel()
	if seq := <-heard; seq != uint64(total+1) {
		t.Errorf("who follows the feed heard of change %d, want %d", seq, total+1)
	}
}

// linked is the URL of a server over a link.
func linked(t *testing.T) (*live.Link, string) {
	u, err := url.Parse(live.Postgres(t))
	if err != nil {
		t.Fatal("the URL of the server cannot be read")
	}
	l := live.Between(t, u.Host)
	u.Host = l.Addr
	return l, u.String()
}

// Connections break at random places, also between a commit and its answer:
// the bank finds out which, so that callers see neither a failure nor a double.
func TestConnectionsBreak(t *testing.T) {
	link, through := linked(t)
	db := open(t, live.Postgres(t), &postgres.Options{Partitions: 1, Schema: schema(t, live.Postgres(t))})
	defer db.Close()
	frail := open(t, through, &postgres.Options{Schema: db.Schema(), ConnectTimeout: 2 * time.Second})
	defer frail.Close()
	var wg sync.WaitGroup
	done := make(chan struct{})
	var failed atomic.Int64
	const writers, each = 4, 60
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				failed.Add(int64(persistent(t, frail, said("t", fmt.Sprint(w, "/", i)))))
			}
		})
	}
	go func() { wg.Wait(); close(done) }()
	for breaking := true; breaking; {
		link.Cut(t, 200+rand.IntN(6000))
		select {
		case <-done:
			breaking = false
		case <-time.After(time.Duration(10+rand.IntN(60)) * time.Millisecond):
		}
		link.Heal(t)
		time.Sleep(5 * time.Millisecond)
	}
	if changes := sound(t, db, "t"); len(changes) != writers*each {
		t.Errorf("the log has %d entries for %d writes, want as many", len(changes), writers*each)
	}
	t.Logf("%d calls were told that the server is away", failed.Load())
}

// A server that keeps connections open and does not answer holds nobody up for
// longer than the time-outs.
func TestServerHolds(t *testing.T) {
	link, through := linked(t)
	db := open(t, through, &postgres.Options{Partitions: 1, Schema: schema(t, live.Postgres(t)),
		ConnectTimeout: 300 * time.Millisecond, StatementTimeout: 300 * time.Millisecond, LockTimeout: 200 * time.Millisecond})
	defer db.Close()
	must(t, db, inserts(said("t", "one")))
	link.Hold(t)
	begun := time.Now()
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			var err error
			if i%2 == 0 {
				_, err = db.Append(t.Context(), inserts(said("t", fmt.Sprint("held ", i))))
			} else {
				_, err = db.Head(t.Context())
			}
			if memtypes.CodeOf(err) != memtypes.Unavailable {
				t.Errorf("a call while nothing is answered: %v, want code %q", err, memtypes.Unavailable)
			}
		})
		wg.Go(func() { // a caller's own limit is sooner
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := db.Head(ctx); memtypes.CodeOf(err) != memtypes.Canceled {
				t.Errorf("a call that was given 50 ms: %v, want code %q", err, memtypes.Canceled)
			}
		})
	}
	wg.Wait()
	if took := time.Since(begun); took > 40*time.Second {
		t.Errorf("the calls took %v, want them to end by their time-outs", took)
	}
	link.Heal(t)
	if away := persistent(t, db, said("t", "two")); away > 50 {
		t.Errorf("%d writes failed after the server answered again", away)
	}
	sound(t, db, "t")
}

// More callers than connections wait their turn.
func TestPoolIsBounded(t *testing.T) {
	u := live.Postgres(t)
	db := open(t, u+"&application_name=bounded", &postgres.Options{Partitions: 1, MaxConns: 4})
	defer db.Close()
	must(t, db, inserts(said("t", "one")))
	go db.Wait(t.Context(), 1<<40) // Close ends it
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 10 {
				if _, err := db.List(t.Context(), ledger.ListQuery{All: true}); err != nil {
					t.Errorf("List: %v", err)
				}
			}
		})
	}
	most := 0
	for range 20 {
		most = max(most, ask[int](t, u, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bounded'"))
	}
	wg.Wait()
	if most > 4 || most == 0 {
		t.Errorf("found %d connections, want 1 to 4", most)
	}
}

// Several DBs on one schema, as several processes have them.
func TestManyProcesses(t *testing.T) {
	u := live.Postgres(t)
	first := open(t, u, &postgres.Options{Partitions: 2})
	dbs := []*postgres.DB{first}
	for range 2 {
		dbs = append(dbs, open(t, u, &postgres.Options{Schema: first.Schema()}))
	}
	defer func() {
		for _, db := range dbs {
			db.Close()
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	var feed []uint64
	followed := make(chan struct{})
	go func() { // reads while they write: nothing may come later with a lower number
		defer close(followed)
		for ctx.Err() == nil {
			page, _, err := dbs[2].Changes(t.Context(), uint64(len(feed)), 50)
			if err != nil {
				t.Errorf("Changes: %v", err)
				return
			}
			for _, c := range page {
				feed = append(feed, c.Seq)
			}
		}
	}()
	var wg sync.WaitGroup
	const writers, each = 9, 40
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				own, shared := said(fmt.Sprint("t", w%4), fmt.Sprint(w, "/", i)), said("t0", fmt.Sprint("of all ", i))
				rs, err := dbs[w%3].Append(t.Context(), inserts(own, shared))
				if err != nil || rs[0].Outcome != ledger.Done || rs[1].Outcome != ledger.Done && rs[1].Outcome != ledger.Same {
					t.Errorf("writer %d: %+v, %v", w, rs, err)
				}
			}
		})
	}
	wg.Wait()
	cancel()
	<-followed
	const want = writers*each + each
	if changes := sound(t, dbs[1], "t0", "t1", "t2", "t3"); len(changes) != want {
		t.Errorf("the log has %d entries, want %d", len(changes), want)
	}
	for i, seq := range feed {
		if seq != uint64(i+1) {
			t.Fatalf("who follows read change %d at place %d", seq, i+1)
		}
	}
}

// What the server refuses of one write does not touch its companions.
func TestOneFailsAlone(t *testing.T) {
	u := live.Postgres(t)
	db := open(t, u, &postgres.Options{Partitions: 1})
	defer db.Close()
	run(t, u, fmt.Sprintf(`CREATE FUNCTION %[1]q.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON %[1]q.memories_0 FOR EACH ROW WHEN (NEW.text LIKE 'bad%%') EXECUTE FUNCTION %[1]q.refuse()`, db.Schema()))
	var wg sync.WaitGroup
	for w := range 12 {
		wg.Go(func() {
			for i := range 10 {
				text, want := fmt.Sprint("good ", w, "/", i), memtypes.Code("")
				if w == 3 {
					text, want = fmt.Sprint("bad ", i), memtypes.Internal
				}
				_, err := db.Append(t.Context(), inserts(said("t", text)))
				if got := memtypes.CodeOf(err); err != nil && got != want || err == nil && want != "" {
					t.Errorf("Append of %q: %v, want code %q", text, err, want)
				}
			}
		})
	}
	wg.Wait()
	if changes := sound(t, db, "t"); len(changes) != 110 {
		t.Errorf("the log has %d entries, want 110", len(changes))
	}
}

// Whoever holds the head for too long is not waited for for ever.
func TestLockTimeout(t *testing.T) {
	u := live.Postgres(t)
	db := open(t, u, &postgres.Options{Partitions: 1, LockTimeout: 200 * time.Millisecond})
	defer db.Close()
	release := hold(t, u, fmt.Sprintf("SELECT 1 FROM %q.head FOR UPDATE", db.Schema()))
	_, err := db.Append(t.Context(), inserts(said("t", "one")))
	if memtypes.CodeOf(err) != memtypes.Unavailable {
		t.Errorf("Append while another writes: %v, want code %q", err, memtypes.Unavailable)
	}
	if _, err := db.Head(t.Context()); err != nil {
		t.Errorf("Head while another writes: %v, want no waiting", err)
	}
	release()
	must(t, db, inserts(said("t", "one")))
}

// A notification wakes who waits, long before it would ask again by itself.
func TestWaitHears(t *testing.T) {
	u := live.Postgres(t)
	db := open(t, u, &postgres.Options{Partitions: 1, Poll: time.Hour})
	defer db.Close()
	other := open(t, u, &postgres.Options{Schema: db.Schema()})
	defer other.Close()
	for i := range 5 {
		done := make(chan error, 3)
		for range cap(done) {
			go func() { done <- db.Wait(t.Context(), uint64(i)) }()
		}
		for db.Listening() == false {
			time.Sleep(time.Millisecond)
		}
		if i == 3 { // and again after its connection was ended
			run(t, u, fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %%%s%%'", db.Channel()))
			for db.Listening() == false {
				time.Sleep(time.Millisecond)
			}
		}
		must(t, other, inserts(said("t", fmt.Sprint("news ", i))))
		for range cap(done) {
			if err := <-done; err != nil {
				t.Errorf("Wait: %v", err)
			}
		}
	}
}

// A process that is paused between two statements of a commit does not keep the
// others from writing for longer than they wait.
func TestPausedProcess(t *testing.T) {
	u := live.Postgres(t)
	o := &postgres.Options{Partitions: 1, LockTimeout: 3 * time.Second}
	db := open(t, u, o)
	defer db.Close()
	// It has the settings of the process that it stands for.
	release := hold(t, u+"&idle_in_transaction_session_timeout=1500", fmt.Sprintf("SELECT 1 FROM %q.head FOR UPDATE", db.Schema()))
	must(t, db, inserts(said("t", "one")))
	release()
	if ms := db.Setting(t, "idle_in_transaction_session_timeout"); ms != "1500ms" {
		t.Errorf("the bank's own connections may be idle in a transaction for %s, want 1500ms: half of LockTimeout", ms)
	}
}

// A follower that goes while others claim for it leaves nothing behind.
func TestUnfollowAtOnce(t *testing.T) {
	db := open(t, live.Postgres(t), &postgres.Options{Partitions: 1})
	defer db.Close()
	var ms []memtypes.Memory
	for i := range 200 {
		ms = append(ms, said("t", fmt.Sprint("note ", i)))
	}
	must(t, db, inserts(ms...))
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for w := range 3 {
		wg.Go(func() {
			for holder := fmt.Sprint("h", w); ; {
				select {
				case <-stop:
					return
				default:
				}
				got, err := db.Claim(t.Context(), "a", holder, start.Add(time.Hour), time.Hour, 50)
				var settled []ledger.Settled
				for _, i := range got {
					settled = append(settled, ledger.Settled{Intent: i, Verdict: ledger.Placed})
				}
				if err == nil {
					err = db.Settle(t.Context(), "a", holder, settled)
				}
				if err != nil && memtypes.CodeOf(err) != memtypes.NotFound {
					t.Errorf("Claim or Settle: %v, want success or code %q", err, memtypes.NotFound)
				}
			}
		})
	}
	for range 30 {
		if err := db.Follow(t.Context(), "a", 0); err != nil {
			t.Errorf("Follow: %v", err)
		}
		time.Sleep(5 * time.Millisecond)
		if err := db.Unfollow(t.Context(), "a"); err != nil {
			t.Errorf("Unfollow: %v", err)
		}
	}
	close(stop)
	wg.Wait()
	sound(t, db, "t") // and no debts of nobody
}
