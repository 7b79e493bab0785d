package sqlite_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

// rounds is how often a crash test kills: VIMBANK_CRASH_ROUNDS, or n.
func rounds(t *testing.T, n int) int {
	v := os.Getenv("VIMBANK_CRASH_ROUNDS")
	if v == "" {
		return n
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("VIMBANK_CRASH_ROUNDS = %q, want a number", v)
	}
	return n
}

// acked is what children said was durable: the revision of each pair, by
// writer and number.
type acked map[string]map[int]uint64

// note reads a line of a child.
func (a acked) note(t *testing.T, line string) {
	var who string
	var i int
	var rev uint64
	if n, err := fmt.Sscanf(line, "acked %s %d %d", &who, &i, &rev); n != 3 {
		t.Errorf("a child said %q (%v)", line, err)
		return
	}
	if a[who] == nil {
		a[who] = map[int]uint64{}
	}
	a[who][i] = rev
}

// verify checks a bank against what was acknowledged: all of that is there,
// each pair is whole, nothing else was made up, and the file is sound.
func (a acked) verify(t *testing.T, db *sqlite.DB) {
	t.Helper()
	ctx := t.Context()
	if err := db.Check(ctx); err != nil {
		t.Fatalf("Check: %v", err)
	}
	if err := db.VerifyAudit(ctx, memtypes.DefaultTenant); err != nil {
		t.Fatalf("VerifyAudit: %v", err)
	}
	there := map[memtypes.ID]memtypes.Memory{}
	q := ledger.ListQuery{All: true, Limit: ledger.MaxLimit}
	for {
		p, err := db.List(ctx, q)
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		for _, m := range p.Memories {
			there[m.ID] = m
		}
		if q.Cursor = p.Next; p.Next == "" {
			break
		}
	}
	total := len(there)
	for who, list := range a {
		for i, rev := range list {
			for j := range 2 {
				want := memory(who, i+j)
				got, ok := there[want.ID]
				if !ok || got.Text != want.Text || rev > 0 && got.Rev != rev+uint64(j) {
					t.Errorf("%s %d was acknowledged as revision %d: found %v %+v", who, i+j, rev, ok, got)
				}
				delete(there, want.ID)
			}
		}
	}
	pairs := map[string]int{} // what was written and not yet acknowledged
	for _, m := range there {
		var i int
		who, rest, _ := strings.Cut(m.Text, " says ")
		if _, err := fmt.Sscanf(rest, "%d:", &i); err != nil || m.Text != memory(who, i).Text {
			t.Errorf("found %q, which nobody wrote", m.Text)
		}
		pairs[fmt.Sprint(who, " ", i/2)]++
	}
	for pair, n := range pairs {
		if n != 2 {
			t.Errorf("found %d of the pair %s, want both or none", n, pair)
		}
	}
	if n, err := db.Head(ctx); err != nil || n != uint64(total) {
		t.Errorf("Head = %d, %v; want %d, one for each memory", n, err, total)
	}
}

// A process that is killed at any moment loses nothing that it acknowledged.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	said := acked{}
	count := 0
	for round := range rounds(t, 10) {
		c := child(t, "write", dir, fmt.Sprint("round", round))
		stop := rand.IntN(60) // lines, so that the moment does not depend on the machine
		var once sync.Once
		lines(t, c, func(line string) {
			said.note(t, line)
			if count++; stop > 0 {
				stop--
				return
			}
			once.Do(func() {
				time.AfterFunc(time.Duration(rand.IntN(3000))*time.Microsecond, func() { _ = c.Process.Kill() })
			})
		})
		db := open(t, dir, nil)
		said.verify(t, db)
		if err := db.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	t.Logf("%d pairs acknowledged, all there", count)
}

// Two processes write one bank; one is killed, again and again, and the other
// goes on.
func TestKillOneOfTwo(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, nil)
	said := acked{"parent": {}}
	for round := range rounds(t, 4) {
		victim := acked{}
		done := make(chan struct{})
		c := child(t, "write", dir, fmt.Sprint("victim", round))
		go func() {
			defer close(done)
			left := 20 + rand.IntN(40)
			lines(t, c, func(line string) {
				victim.note(t, line)
				if left--; left == 0 {
					_ = c.Process.Kill()
				}
			})
		}()
		base := 100_000 * round
		for i := base; ; i += 2 {
			rs, err := db.Append(t.Context(), insertOf(memory("parent", i), memory("parent", i+1)))
			if err != nil {
				t.Fatalf("Append beside a killed process: %v", err)
			}
			said["parent"][i] = rs[0].Rev
			select {
			case <-done:
			default:
				continue
			}
			break
		}
		maps.Copy(said, victim)
		said.verify(t, db)
	}
	if err := db.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// Revisions of two processes that write at once are each given once, and rise
// for each of them.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, nil)
	defer db.Close()
	said := acked{"parent": {}}
	other := acked{}
	done := make(chan struct{})
	c := child(t, "write", dir, "child")
	go func() {
		defer close(done)
		left := 150
		lines(t, c, func(line string) {
			other.note(t, line)
			if left--; left == 0 {
				_ = c.Process.Kill()
			}
		})
	}()
	turns, lastBy := 0, uint64(0)
	for i := 0; ; i += 2 {
		rs, err := db.Append(t.Context(), insertOf(memory("parent", i), memory("parent", i+1)))
		if err != nil {
			t.Fatalf("Append: %v", err)
		}
		if rs[0].Rev > lastBy+1 {
			turns++ // the child wrote in between
		}
		if rs[0].Rev <= lastBy || rs[1].Rev != rs[0].Rev+1 {
			t.Fatalf("revisions %d, %d after %d, want rising, two in a row", rs[0].Rev, rs[1].Rev, lastBy)
		}
		lastBy = rs[1].Rev
		said["parent"][i] = rs[0].Rev
		select {
		case <-done:
			maps.Copy(said, other)
			said.verify(t, db)
			if turns == 0 {
				t.Error("the processes never took turns: this test has shown nothing")
			}
			return
		default:
		}
	}
}
