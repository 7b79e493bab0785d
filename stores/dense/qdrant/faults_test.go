package qdrant_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/dense/qdrant/qdranttest"
)

// quick retries without much waiting.
var quick = qdrant.Retry{Max: 2, Base: time.Millisecond, Cap: 5 * time.Millisecond}

// never sends nothing twice.
var never = qdrant.Retry{Max: -1}

// broken is an index on a server of its own whose switches can be set.
func broken(t *testing.T, o qdrant.Options) (dense.Index, *qdranttest.Server) {
	t.Helper()
	s := qdranttest.New(t, nil)
	ix := made(t, open(t, s.Addr, o), "one")
	t.Cleanup(func() { s.Set(qdranttest.Faults{}) }) // so that it can be tidied
	return ix, s
}

// TestRetries: what a busy server refuses is sent again, as often as is set.
func TestRetries(t *testing.T) {
	for _, code := range []codes.Code{codes.Unavailable, codes.ResourceExhausted} {
		for _, tt := range []struct {
			fails int
			retry qdrant.Retry
			calls int
			ok    bool
		}{{0, quick, 1, true}, {2, quick, 3, true}, {3, quick, 3, false}, {1, never, 1, false}} {
			ix, s := broken(t, qdrant.Options{Retry: tt.retry})
			s.Set(qdranttest.Faults{FailWrites: tt.fails, Code: code})
			err := ix.Upsert(t.Context(), docs(t, 1))
			if tt.ok {
				must(t, err)
			} else {
				wantError(t, err, memtypes.Unavailable, "qdrant at "+s.Addr, "as the test wanted")
			}
			if got := s.Calls("Upsert"); got != tt.calls {
				t.Errorf("%v, %d failures, %+v: %d calls, want %d", code, tt.fails, tt.retry, got, tt.calls)
			}
		}
	}
}

// TestVerdicts: what the caller may do about a failure, and what mends it.
func TestVerdicts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		faults qdranttest.Faults
		code   memtypes.Code
		says   []string
	}{
		{"too many requests", qdranttest.Faults{FailCalls: 1, Code: codes.ResourceExhausted, Message: "slow down", RetryAfter: "7"}, memtypes.Unavailable, []string{"too many requests", "slow down", "7 s"}},
		{"full", qdranttest.Faults{ReadOnly: true}, memtypes.Full, []string{"Insufficient storage", "free space"}},
		{"full, as its log says it", qdranttest.Faults{FailCalls: 1, Code: codes.Internal, Message: "No space left on device"}, memtypes.Full, []string{"free space"}},
		{"a fault of the server", qdranttest.Faults{FailCalls: 1, Code: codes.Internal, Message: "it broke"}, memtypes.Unavailable, []string{"it broke"}},
		{"another program", qdranttest.Faults{FailCalls: 1, Code: codes.Unimplemented, Message: "unknown service"}, memtypes.Incompatible, []string{"unknown service", "dense.addr"}},
		{"rights withdrawn", qdranttest.Faults{FailCalls: 1, Code: codes.PermissionDenied, Message: "Global write access is required"}, memtypes.Unavailable, []string{"dense.api_key", "Global write access"}},
		{"taken in, not done", qdranttest.Faults{Pending: 1}, memtypes.Unavailable, []string{"WaitTimeout", "wanted Completed"}},
		{"slow", qdranttest.Faults{Delay: 30 * time.Second}, memtypes.Unavailable, []string{"no answer within 200ms", "dense.timeout"}},
		{"a long story", qdranttest.Faults{FailCalls: 1, Code: codes.Internal, Message: strings.Repeat("so\nlong ", 1000)}, memtypes.Unavailable, []string{"so long so long", "…"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := qdranttest.New(t, nil)
			prefix := unique()
			made(t, open(t, s.Addr, qdrant.Options{Prefix: prefix}), "one")
			ix := made(t, open(t, s.Addr, qdrant.Options{Prefix: prefix, Retry: never, Timeout: 200 * time.Millisecond}), "one")
			s.Set(tt.faults)
			err := ix.Upsert(t.Context(), docs(t, 1))
			wantError(t, err, tt.code, append(tt.says, "qdrant at "+s.Addr, prefix+".one")...)
			if err != nil && len(err.Error()) > 700 {
				t.Errorf("an error of %d bytes, want a line", len(err.Error()))
			}
			s.Set(qdranttest.Faults{})
			must(t, ix.Upsert(t.Context(), docs(t, 1)))
			wantLen(t, ix, 1)
		})
	}
}

// TestCallerGivesUp: that is the caller's doing, not the server's.
func TestCallerGivesUp(t *testing.T) {
	ix, s := broken(t, qdrant.Options{})
	s.Set(qdranttest.Faults{Delay: 30 * time.Second})
	_, err := ix.Search(within(t, 50*time.Millisecond), ask(t, 1))
	wantError(t, err, memtypes.Canceled)
}

// TestLostAcknowledgement: a write whose answer was lost is made again, by the
// client or by the caller, and that changes nothing.
func TestLostAcknowledgement(t *testing.T) {
	for name, retry := range map[string]qdrant.Retry{"client": quick, "caller": never} {
		t.Run(name, func(t *testing.T) {
			ix, s := broken(t, qdrant.Options{Retry: retry, Batch: 4})
			insist := func(write func() error) {
				t.Helper()
				s.Set(qdranttest.Faults{LoseAcks: 1})
				err := write()
				if name == "caller" {
					wantError(t, err, memtypes.Unavailable)
					err = write()
				}
				must(t, err)
				if left := s.Left().LoseAcks; left != 0 {
					t.Errorf("%d acknowledgements were not lost", left)
				}
			}
			newer := doc(t, 3, 9)
			must(t, ix.Upsert(t.Context(), []dense.Doc{newer}))
			insist(func() error { return ix.Upsert(t.Context(), docs(t, 10)) })
			wantLen(t, ix, 10)
			insist(func() error { return ix.Delete(t.Context(), gone(5, 1, 2, 3)) })
			wantFound(t, ix, ask(t, 10), 0, 3, 4, 5, 6, 7, 8, 9)
			must(t, ix.Upsert(t.Context(), docs(t, 10)))
			wantFound(t, ix, ask(t, 10), 0, 3, 4, 5, 6, 7, 8, 9)
		})
	}
}

// TestRejected: one item that the server does not take in is named, and all
// others are stored.
func TestRejected(t *testing.T) {
	t.Run("by the server", func(t *testing.T) {
		ix, s := broken(t, qdrant.Options{Batch: 16})
		s.Set(qdranttest.Faults{Poison: string(id(5))})
		wantRejected(t, ix.Upsert(t.Context(), docs(t, 40)), id(5))
		wantLen(t, ix, 39)
	})
	everywhere(t, func(t *testing.T, addr string) {
		ix := made(t, open(t, addr, qdrant.Options{}), "one")
		odd, late := doc(t, 1, 1), doc(t, 2, 1<<60)
		odd.ID = "not-a-uuid"
		wantRejected(t, ix.Upsert(t.Context(), []dense.Doc{odd, doc(t, 3, 1), late}), "not-a-uuid", id(2))
		wantRejected(t, ix.Delete(t.Context(), []memtypes.Gone{{ID: "not-a-uuid", Rev: 1}, gone(1, 4)[0]}), "not-a-uuid")
		wantLen(t, ix, 1)
		q := ask(t, 5)
		q.Filter.IDs = []memtypes.ID{"not-a-uuid"}
		wantFound(t, ix, q)
	})
}

func wantRejected(t *testing.T, err error, ids ...memtypes.ID) {
	t.Helper()
	wantError(t, err, memtypes.Invalid)
	r, ok := errors.AsType[*memtypes.Rejected](err)
	if !ok || len(r.Items) != len(ids) {
		t.Fatalf("error = %v, want one that names %v", err, ids)
	}
	for _, id := range ids {
		if e := r.Items[id]; e == nil || e.Code != memtypes.Invalid || e.ID != id {
			t.Errorf("%s: %v, want Invalid", id, e)
		}
	}
}

// TestLink: a connection that is held, reset, cut and down, and whole again.
func TestLink(t *testing.T) {
	everywhere(t, func(t *testing.T, addr string) {
		l := live.Between(t, addr)
		prefix := unique()
		made(t, open(t, addr, qdrant.Options{Prefix: prefix}), "one")
		t.Cleanup(func() { tidy(t, addr, prefix) })
		ix := made(t, open(t, l.Addr, qdrant.Options{Prefix: prefix, Retry: quick, Timeout: 2 * time.Second}), "one")
		must(t, ix.Upsert(t.Context(), docs(t, 5)))
		for _, fault := range []struct {
			name       string
			break_, up func()
		}{
			{"held", func() { l.Hold(t) }, func() { l.Heal(t) }},
			{"reset", func() { l.Reset(t) }, func() { l.Heal(t) }},
			{"cut", func() { l.Cut(t, 1) }, func() { l.Heal(t) }},
			{"down", l.Down, func() { l.Up(t) }},
		} {
			fault.break_()
			for name, err := range each(t, ix) {
				if memtypes.CodeOf(err) != memtypes.Unavailable {
					t.Errorf("%s, %s: error = %v, want Unavailable", fault.name, name, err)
				}
			}
			fault.up()
			again(t, ix)
		}
		wantLen(t, ix, 6) // with what each writes
	})
}

// again waits until ix answers on each of its connections, which are made anew
// after pauses.
func again(t *testing.T, ix dense.Index) {
	t.Helper()
	var err error
	in := 0
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = ix.Upsert(t.Context(), []dense.Doc{doc(t, 77, 1)}); err != nil {
			in = 0
		} else if in++; in == 6 {
			return
		}
	}
	t.Fatalf("still %v", err)
}

// TestKilled: a server that is killed and comes back has what it acknowledged.
func TestKilled(t *testing.T) {
	server := live.Own(t, "qdrant")
	o := qdrant.Options{Retry: never, Prefix: unique(), Timeout: 5 * time.Second}
	ix := made(t, open(t, server.Addr, o), "one")
	must(t, ix.Upsert(t.Context(), docs(t, 200)))
	must(t, ix.Delete(t.Context(), gone(2, 0, 1)))
	server.Kill(t)
	for name, err := range each(t, ix) {
		if memtypes.CodeOf(err) != memtypes.Unavailable {
			t.Errorf("%s: error = %v, want Unavailable", name, err)
		}
	}
	server.Resume(t)
	again(t, ix)
	must(t, ix.Upsert(t.Context(), docs(t, 200))) // late duplicates
	wantFound(t, ix, ask(t, 3), 2, 3, 4)
	wantLen(t, ix, 198) // among them what says that it is back
}
