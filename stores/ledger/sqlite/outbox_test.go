package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

// add inserts memories i to j of ann in batches.
func add(t testing.TB, db *sqlite.DB, i, j int) {
	t.Helper()
	for ; i < j; i += 500 {
		var ms []memtypes.Memory
		for k := i; k < min(i+500, j); k++ {
			ms = append(ms, memory("ann", k))
		}
		if _, err := db.Append(t.Context(), insertOf(ms...)); err != nil {
			t.Fatalf("Append: %v", err)
		}
	}
}

// claim has holder claim of follower "a" for a minute.
func claim(t testing.TB, db *sqlite.DB, holder string, now time.Time, limit int) []ledger.Intent {
	t.Helper()
	got, err := db.Claim(t.Context(), "a", holder, now, time.Minute, limit)
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	return got
}

// place settles what holder claimed.
func place(t testing.TB, db *sqlite.DB, holder string, intents []ledger.Intent) {
	t.Helper()
	var settled []ledger.Settled
	for _, i := range intents {
		settled = append(settled, ledger.Settled{Intent: i, Verdict: ledger.Placed})
	}
	if err := db.Settle(t.Context(), "a", holder, settled); err != nil {
		t.Fatalf("Settle: %v", err)
	}
}

// follower describes the only follower.
func follower(t testing.TB, db *sqlite.DB) ledger.Follower {
	t.Helper()
	list, err := db.Followers(t.Context(), epoch)
	if err != nil || len(list) != 1 {
		t.Fatalf("Followers = %v, %v; want one", list, err)
	}
	return list[0]
}

// Who asks again and again while there is nothing to do makes the disk do nothing.
func TestIdleClaimWritesNothing(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	defer db.Close()
	add(t, db, 0, 10)
	if err := db.Follow(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	got := claim(t, db, "h", epoch, 4)
	place(t, db, "h", got)
	held := claim(t, db, "h", epoch, 100)
	if len(got) != 4 || len(held) != 6 {
		t.Fatalf("claimed %d and %d, want 4 and 6", len(got), len(held))
	}
	if err := db.File(t.Context()); err != nil { // nothing is left to be tidied up
		t.Fatal(err)
	}
	before := db.Commits()
	for range 50 {
		if got := claim(t, db, "h2", epoch, 100); len(got) != 0 {
			t.Fatalf("claimed %v, want nothing: all is held", got)
		}
	}
	place(t, db, "h", held)
	for range 50 {
		if got := claim(t, db, "h2", epoch.Add(time.Hour), 100); len(got) != 0 {
			t.Fatalf("claimed %v, want nothing: all is placed", got)
		}
	}
	if n := db.Commits() - before; n != 1 {
		t.Errorf("%d commits, want 1: of the settlement", n)
	}
}

// What was not claimed for long is drawn by and by, each claim a bounded part.
func TestClaimBacklog(t *testing.T) {
	const n = 3*sqlite.DrawMost + 100
	db := open(t, t.TempDir(), nil)
	defer db.Close()
	if err := db.Follow(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	add(t, db, 0, n)
	if f := follower(t, db); f.Owed != n || f.Mark != 0 || !f.Due.Equal(epoch) {
		t.Errorf("Followers = %+v, want %d owed since %v", f, n, epoch)
	}
	for at := uint64(0); at < n; {
		got := claim(t, db, "h", epoch, 200)
		if len(got) == 0 || len(got) > 200 {
			t.Fatalf("after %d of %d: claimed %d, want 1 to 200", at, n, len(got))
		}
		for i, in := range got {
			if in.Seq != at+uint64(i)+1 {
				t.Fatalf("claimed change %d, want %d: in order", in.Seq, at+uint64(i)+1)
			}
		}
		place(t, db, "h", got)
		at += uint64(len(got))
		if f := follower(t, db); f.Owed != n-int(at) || f.Mark != at {
			t.Fatalf("Followers = %+v, want %d owed and mark %d", f, n-at, at)
		}
	}
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
}

// Far behind, what is owed is estimated, but never too low.
func TestFollowersFarBehind(t *testing.T) {
	const n = 10_500
	db := open(t, t.TempDir(), nil)
	defer db.Close()
	if err := db.Follow(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	add(t, db, 0, n)
	for _, drawn := range []bool{false, true} {
		if f := follower(t, db); f.Owed != n || f.Mark != 0 {
			t.Errorf("Followers = %+v, want %d owed and mark 0", f, n)
		}
		if !drawn {
			claim(t, db, "h", epoch, ledger.MaxLimit)
		}
	}
	if err := db.Unfollow(t.Context(), "a"); err != nil {
		t.Errorf("Unfollow: %v", err)
	}
	if err := db.Follow(t.Context(), "a", n); err != nil {
		t.Fatal(err)
	}
	if f := follower(t, db); f.Owed != 0 || f.Mark != n {
		t.Errorf("Followers after following anew = %+v, want nothing owed", f)
	}
}

// Two processes share a follower: neither gets what the other holds, and what
// one leaves behind the other gets when its time is over, also after it was
// opened anew.
func TestClaimBeside(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, nil), open(t, dir, nil)
	defer b.Close()
	if err := a.Follow(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	if err := b.Follow(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	add(t, a, 0, 30)
	add(t, b, 30, 60)
	left, own := claim(t, a, "one", epoch, 20), claim(t, b, "two", epoch, 100)
	if len(left) != 20 || len(own) != 40 {
		t.Fatalf("claimed %d and %d, want 20 and 40", len(left), len(own))
	}
	place(t, b, "two", own)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if got := claim(t, b, "two", epoch.Add(59*time.Second), 100); len(got) != 0 {
		t.Errorf("claimed %d of what a closed process holds, want none yet", len(got))
	}
	c := open(t, dir, nil)
	defer c.Close()
	got := claim(t, c, "three", epoch.Add(time.Minute), 100)
	if len(got) != 20 {
		t.Fatalf("claimed %d after the time was over, want 20", len(got))
	}
	place(t, b, "one", left) // too late
	place(t, c, "three", got[:19])
	if f := follower(t, b); f.Owed != 1 || f.Mark != got[19].Seq-1 {
		t.Errorf("Followers = %+v, want one owed and mark %d", f, got[19].Seq-1)
	}
}

// What a killed process claimed or put off is handed out again: in the end
// every change was placed, whenever who placed it was killed.
func TestKillClaimers(t *testing.T) {
	dir := t.TempDir()
	placed := map[memtypes.ID]uint64{}
	for round := range rounds(t, 5) {
		c := child(t, "pump", dir, fmt.Sprint("round", round))
		stop := 5 + rand.IntN(60) // lines, so that the moment does not depend on the machine
		lines(t, c, func(line string) {
			var id memtypes.ID
			var seq uint64
			if n, err := fmt.Sscanf(line, "placed %s %d", &id, &seq); n != 2 {
				t.Errorf("a child said %q (%v)", line, err)
				return
			}
			placed[id] = max(placed[id], seq)
			if stop--; stop == 0 {
				time.AfterFunc(time.Duration(rand.IntN(3000))*time.Microsecond, func() { _ = c.Process.Kill() })
			}
		})
	}
	db := open(t, dir, nil)
	defer db.Close()
	if err := db.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
	before := follower(t, db)
	rest := claim(t, db, "last", epoch.Add(time.Hour), ledger.MaxLimit)
	if len(rest) == 0 || len(rest) != before.Owed {
		t.Errorf("claimed %d in the end, want the %d that are owed", len(rest), before.Owed)
	}
	for _, in := range rest {
		if in.Seq <= before.Mark {
			t.Errorf("change %d is owed, want none up to the mark %d", in.Seq, before.Mark)
		}
		placed[in.ID] = max(placed[in.ID], in.Seq)
	}
	for after, more := uint64(0), true; more; {
		changes, _, err := db.Changes(t.Context(), after, 1000)
		if err != nil {
			t.Fatalf("Changes: %v", err)
		}
		for _, ch := range changes {
			if after = ch.Seq; placed[ch.ID] < ch.Seq {
				t.Errorf("change %d was neither placed nor is it owed", ch.Seq)
			}
		}
		more = len(changes) > 0
	}
}

// Changes of another process end a Wait, too.
func TestWaitBeside(t *testing.T) {
	dir := t.TempDir()
	a, b := open(t, dir, nil), open(t, dir, nil)
	defer a.Close()
	defer b.Close()
	for i := range 5 {
		done := make(chan error, 1)
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			for n := uint64(0); n <= uint64(i); { // it may return early for no reason
				if err := b.Wait(ctx, uint64(i)); err != nil {
					done <- err
					return
				}
				n, _ = b.Head(ctx)
			}
			done <- nil
		}()
		add(t, a, i, i+1)
		if err := <-done; err != nil {
			t.Fatalf("Wait for change %d of another process: %v", i+1, err)
		}
	}
}

// A change of this process wakes whoever waits at once, a claim nobody.
func TestBell(t *testing.T) {
	var b sqlite.Bell
	rung := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	b.Ring(1)
	one, two := b.Listen(), b.Listen()
	if b.Ring(1); rung(one) || rung(two) {
		t.Error("rung without a change, want silence")
	}
	if b.Ring(2); !rung(one) || !rung(two) {
		t.Error("silent after a change, want both woken")
	}
	if rung(b.Listen()) {
		t.Error("rung for who listens after the change, want silence")
	}
}

// BenchmarkClaim times a memory's way through the outbox: drawn, claimed and
// placed, by hundreds.
func BenchmarkClaim(b *testing.B) {
	for _, limit := range []int{10, 500} {
		b.Run(fmt.Sprintf("limit=%d", limit), func(b *testing.B) {
			db := open(b, b.TempDir(), nil)
			defer db.Close()
			add(b, db, 0, b.N)
			if err := db.Follow(b.Context(), "a", 0); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for n := 0; n < b.N; {
				got := claim(b, db, "h", epoch, limit)
				place(b, db, "h", got)
				n += len(got)
			}
		})
	}
}

// BenchmarkFollowers times the state of a follower that is far behind.
func BenchmarkFollowers(b *testing.B) {
	db := open(b, b.TempDir(), nil)
	defer db.Close()
	add(b, db, 0, 9_000)
	if err := db.Follow(b.Context(), "a", 0); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if f := follower(b, db); f.Owed != 9_000 {
			b.Fatalf("Followers = %+v, want 9000 owed", f)
		}
	}
}
