package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
	"github.com/vimbank/vimbank/stores/ledger/sqlite"
)

// Some tests need a second process: it is this test binary, told by its
// environment what to do.
const (
	childEnv = "VIMBANK_TEST_CHILD" // the job
	bankEnv  = "VIMBANK_TEST_BANK"  // the folder
	nameEnv  = "VIMBANK_TEST_NAME"  // goes before each text
)

func TestMain(m *testing.M) {
	jobs := map[string]func(dir, name string) error{"write": childWrite, "fill": childFill, "read": childRead, "unsynced": childUnsynced, "pump": childPump}
	if job := os.Getenv(childEnv); job != "" {
		if err := jobs[job](os.Getenv(bankEnv), os.Getenv(nameEnv)); err != nil {
			fmt.Println("error", memtypes.CodeOf(err), err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child prepares a process that does a job in a bank.
func child(t *testing.T, job, dir, name string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), childEnv+"="+job, bankEnv+"="+dir, nameEnv+"="+name)
	c.Stderr = os.Stderr
	return c
}

// lines starts c and hands its output to see, line by line, until it ends.
func lines(t *testing.T, c *exec.Cmd, see func(string)) {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(out); s.Scan(); {
		see(s.Text())
	}
	_ = c.Wait() // how it ended is what the test is about
}

// user is whose memories the children write.
func user(name string) memtypes.Scope {
	s, err := memtypes.NewScope("", name, "", "")
	if err != nil {
		panic(err) // a mistake of the test itself
	}
	return s
}

var epoch = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)

func memory(name string, i int) memtypes.Memory {
	m, err := memtypes.New(memtypes.Draft{Scope: user(name), Kind: memtypes.Dialogue, Talk: memtypes.Talk{Session: fmt.Sprint("s", i/20)},
		Text: fmt.Sprintf("%s says %d: %s", name, i, strings.Repeat("words ", i%90))}, epoch.Add(time.Duration(i)*time.Second))
	if err != nil {
		panic(err) // a mistake of the test itself
	}
	return m
}

func insertOf(ms ...memtypes.Memory) ledger.Batch {
	b := ledger.Batch{Now: ms[0].Created, Actor: "test"}
	for _, m := range ms {
		b.Edits = append(b.Edits, ledger.Edit{Op: ledger.Insert, Memory: m})
	}
	return b
}

// childWrite writes pairs of memories from four goroutines without end, and
// prints each pair's number once it is acknowledged.
func childWrite(dir, name string) error {
	db, err := sqlite.Open(context.Background(), dir, nil)
	if err != nil {
		return err
	}
	var mu sync.Mutex // one line at a time
	fail := make(chan error)
	for w := range 4 {
		go func() {
			who := fmt.Sprint(name, "-", w)
			for i := 0; ; i += 2 {
				rs, err := db.Append(context.Background(), insertOf(memory(who, i), memory(who, i+1)))
				if err != nil {
					fail <- err
					return
				}
				mu.Lock()
				fmt.Println("acked", who, i, rs[0].Rev)
				mu.Unlock()
			}
		}()
	}
	return <-fail
}

// childFill writes until its files may not grow any more, then shows that
// reading goes on, then that writing does when there is room again.
func childFill(dir, name string) error {
	ctx := context.Background()
	signal.Ignore(syscall.SIGXFSZ) // so that a write above the limit fails instead
	db, err := sqlite.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 400 << 10, Max: before.Max}); err != nil {
		return err
	}
	i := 0
	for ; err == nil && i < 5000; i += 2 {
		if _, err = db.Append(ctx, insertOf(memory(name, i), memory(name, i+1))); err == nil {
			fmt.Println("acked", name, i, 0)
		}
	}
	fmt.Println("full", memtypes.CodeOf(err))
	_, err = db.Append(ctx, insertOf(memory(name, 6000), memory(name, 6001)))
	fmt.Println("full", memtypes.CodeOf(err))
	ms, err := db.Get(ctx, user(name), []memtypes.ID{memory(name, 0).ID})
	fmt.Println("read", len(ms), err)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	if _, err = db.Append(ctx, insertOf(memory(name, 8000), memory(name, 8001))); err != nil {
		return err
	}
	fmt.Println("acked", name, 8000, 0)
	return db.Check(ctx)
}

// childRead opens the bank as it can and tells how it can be used.
func childRead(dir, name string) error {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	p, err := db.List(ctx, ledger.ListQuery{All: true})
	fmt.Println("list", len(p.Memories), err)
	_, err = db.Append(ctx, insertOf(memory(name, 0)))
	fmt.Println("append", memtypes.CodeOf(err))
	fmt.Println("readonly", db.ReadOnly())
	return db.Close()
}

// childUnsynced writes until the disk does not confirm a write, then shows
// that nothing is acknowledged any more and reading goes on.
func childUnsynced(dir, name string) error {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	for i := 0; err == nil && i < 2000; i += 2 {
		if _, err = db.Append(ctx, insertOf(memory(name, i), memory(name, i+1))); err == nil {
			fmt.Println("acked", name, i, 0)
		}
	}
	fmt.Println("failed", memtypes.CodeOf(err))
	for i := range 20 { // by now the disk says that all is well
		_, err = db.Append(ctx, insertOf(memory(name, 5000+2*i), memory(name, 5001+2*i)))
		fmt.Println("then", memtypes.CodeOf(err))
	}
	ms, err := db.Get(ctx, user(name), []memtypes.ID{memory(name, 0).ID})
	fmt.Println("read", len(ms), err)
	return nil
}

// childPump writes, and places what it claims without end: from two goroutines
// that hold their claims for an hour. It prints what it placed before it settles
// it, as an index has a memory before the ledger knows.
func childPump(dir, name string) error {
	ctx := context.Background()
	db, err := sqlite.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	if err := db.Follow(ctx, "a", 0); err != nil {
		return err
	}
	var mu sync.Mutex // one line at a time
	fail := make(chan error)
	for w := range 2 {
		go func() {
			who := fmt.Sprint(name, "-", w)
			for i := 0; ; i += 2 {
				if err := pumpOnce(ctx, db, &mu, who, i); err != nil {
					fail <- err
					return
				}
			}
		}()
	}
	return <-fail
}

func pumpOnce(ctx context.Context, db *sqlite.DB, mu *sync.Mutex, who string, i int) error {
	if _, err := db.Append(ctx, insertOf(memory(who, i), memory(who, i+1))); err != nil {
		return err
	}
	got, err := db.Claim(ctx, "a", who, epoch, time.Hour, 3)
	if err != nil {
		return err
	}
	var settled []ledger.Settled
	mu.Lock()
	for n, in := range got {
		s := ledger.Settled{Intent: in, Verdict: ledger.Placed}
		if (i+n)%5 == 0 {
			s.Verdict, s.At = ledger.Later, epoch.Add(time.Minute)
		} else {
			fmt.Println("placed", in.ID, in.Seq)
		}
		settled = append(settled, s)
	}
	mu.Unlock()
	return db.Settle(ctx, "a", who, settled)
}
