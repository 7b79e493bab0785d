package bank_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/internal/live"
	"github.com/vimbank/vimbank/memtypes"
)

// hasty makes of o options under which faults show and heal within a test.
func hasty(o *bank.Options) *bank.Options {
	s := o.Services
	s.Postgres.Options.ConnectTimeout, s.Postgres.Options.StatementTimeout, s.Postgres.Options.LockTimeout = time.Second, time.Second, time.Second
	s.Qdrant.Timeout, s.Elastic.Timeout = 4*time.Second, 4*time.Second
	s.Pump = engine.Shared{Hold: 8 * time.Second, Search: 3 * time.Second, Failures: 3, Pause: 300 * time.Millisecond,
		Refresh: 50 * time.Millisecond, Retry: 50 * time.Millisecond}
	return o
}

// another is o again, for one more engine.
func another(o *bank.Options) *bank.Options {
	c, s := *o, *o.Services
	p, q, x := *s.Postgres, *s.Qdrant, *s.Elastic
	s.Postgres, s.Qdrant, s.Elastic = &p, &q, &x
	c.Services = &s
	return &c
}

// patient is o without haste: for who looks afterwards.
func patient(o *bank.Options) *bank.Options {
	c := another(o)
	c.Services.Pump = engine.Shared{Search: patience, Refresh: 50 * time.Millisecond, Retry: 50 * time.Millisecond}
	c.Services.Qdrant.Timeout, c.Services.Elastic.Timeout = 0, 0
	p := &c.Services.Postgres.Options
	p.ConnectTimeout, p.StatementTimeout, p.LockTimeout = 0, 0, 0
	return c
}

// linked puts a link in front of the server of a backend.
func linked(t testing.TB, o *bank.Options, backend string) *live.Link {
	t.Helper()
	through := func(address string) (string, *live.Link) {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		l := live.Between(t, u.Host)
		u.Host = l.Addr
		return u.String(), l
	}
	var l *live.Link
	switch s := o.Services; backend {
	case "ledger":
		s.Postgres.URL, l = through(s.Postgres.URL)
	case "dense":
		l = live.Between(t, s.Qdrant.Addr)
		s.Qdrant.Addr = l.Addr
	case "sparse":
		s.Elastic.URLs[0], l = through(s.Elastic.URLs[0])
		s.Elastic.URLs = s.Elastic.URLs[:1]
	}
	return l
}

// wrongness is one thing that can happen to a connection.
type wrongness struct {
	name  string
	begin func(testing.TB, *live.Link)
	// lets is what it lets through, of the ledger or of an index: something or nothing.
	ledger, index bool
}

func wrongnesses() []wrongness {
	return []wrongness{
		{"down", func(_ testing.TB, l *live.Link) { l.Down() }, false, false},
		{"hold", func(t testing.TB, l *live.Link) { l.Hold(t) }, false, false},
		{"slow", nil, true, false}, // slower than a search may take, and than a ledger should be
		{"reset", func(t testing.TB, l *live.Link) { l.Reset(t) }, false, false},
		{"cut", func(t testing.TB, l *live.Link) { l.Cut(t, 200) }, true, true},
	}
}

// Whatever happens to the connection of one backend, under load: no memory that
// was acknowledged is lost, none that was forgotten is found, what can answer
// answers and says what is missing, and all is well again by itself.
func TestFaults(t *testing.T) {
	for _, backend := range []string{"ledger", "dense", "sparse"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			o := hasty(cluster(t))
			direct := patient(o)
			link := linked(t, o, backend)
			e := open(t, "", o)
			w := newWitness(t)
			settles(t, e)
			for _, f := range wrongnesses() {
				if testing.Short() && f.name != "reset" {
					continue
				}
				t.Run(f.name, func(t *testing.T) {
					seen := w.under(t, func() { w.wrong(t, func() { begin(t, link, backend, f) }, func() { heal(t, link, f) }) }, e)
					judge(t, seen, backend, f)
					recovers(t, e)
					look := open(t, "", direct)
					settles(t, look)
					w.check(t, look)
				})
			}
		})
	}
}

func begin(t testing.TB, l *live.Link, backend string, f wrongness) {
	t.Helper()
	switch {
	case f.begin != nil:
		f.begin(t, l)
	case backend == "ledger":
		l.Slow(t, 50*time.Millisecond) // several times for each call
	default:
		l.Slow(t, 6*time.Second)
	}
}

func heal(t testing.TB, l *live.Link, f wrongness) {
	t.Helper()
	if f.name == "down" {
		l.Up(t)
	}
	l.Heal(t)
}

// judge looks at what came of the calls while a backend had f.
func judge(t testing.TB, seen []outcome, backend string, f wrongness) {
	t.Helper()
	within, failed, named := 0, 0, 0
	longestTook := time.Duration(0)
	for _, o := range seen {
		longestTook = max(longestTook, o.took)
		if o.within {
			within++
		}
		switch code := memtypes.CodeOf(o.err); {
		case o.err != nil && backend != "ledger":
			t.Errorf("%s: %v, want no error while the ledger is there", o.op, o.err)
		case o.err != nil && code != memtypes.Unavailable:
			t.Errorf("%s after %v: code %s, %v, want unavailable", o.op, o.took, code, o.err)
		case o.err != nil:
			failed++
		case !o.within:
		case backend == "ledger" && !f.ledger:
			t.Errorf("%s was acknowledged without the ledger", o.op)
		case backend == "ledger" || o.op != "recall":
		case o.degraded[backend] != "":
			named++
		case !f.index:
			t.Errorf("recall: degraded %v, want %s named", o.degraded, backend)
		}
	}
	t.Logf("%d calls, %d of them during the fault, %d failed, %d recalls that name %s, the longest took %v", len(seen), within, failed, named, backend, longestTook)
}

// recovers waits until recalls answer wholly and nothing is owed.
func recovers(t testing.TB, e *engine.Engine) {
	t.Helper()
	answers(t, e)
	settles(t, e)
}

// answers waits until recalls answer wholly.
func answers(t testing.TB, e *engine.Engine) {
	t.Helper()
	eventually(t, func() error {
		a, err := e.Recall(t.Context(), memtypes.Query{Scope: ada(t), Text: "The river.", Quiet: true})
		if err == nil && len(a.Degraded) > 0 {
			err = fmt.Errorf("degraded %v", a.Degraded)
		}
		return err
	})
}

// settles waits until the services have all that the ledger has.
func settles(t testing.TB, e *engine.Engine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		err := placed(ctx, e)
		if err == nil {
			return
		}
		if memtypes.CodeOf(err) != memtypes.Unavailable {
			h, herr := e.Health(context.WithoutCancel(ctx))
			t.Fatalf("%v; %+v, %v", err, h, herr)
		}
		time.Sleep(50 * time.Millisecond) // the ledger's connections may be broken still
	}
}
