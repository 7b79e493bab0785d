package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/internal/faults"
	"github.com/vimbank/vimbank/memtypes"
)

// story is random work of two replicas, over services that fail at random.
type story struct {
	*cluster
	t       *testing.T
	rand    *rand.Rand
	engines []*engine.Engine
	alive   []memtypes.ID
	dead    map[memtypes.ID]string // by their text, which nothing finds any more
	texts   map[memtypes.ID]string
	turns   int
}

// Whatever fails on the way: in the end the services hold what indexes hold
// that were made from the ledger in one piece, context for context.
func TestSharedRandomFaults(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			s := &story{cluster: c, t: t, rand: rand.New(rand.NewPCG(seed, 7)), dead: map[memtypes.ID]string{}, texts: map[memtypes.ID]string{},
				engines: []*engine.Engine{c.replica(t, how{}), c.replica(t, how{})}}
			for range 150 {
				s.step()
			}
			for _, sw := range []*faults.Switches{&c.dense.Switches, &c.sparse.Switches} {
				sw.Down(false)
				sw.Deaf(false)
				sw.Slow(0)
			}
			c.settled(t, s.engines[0])
			s.compare()
			s.afresh()
		})
	}
}

// step does one thing.
func (s *story) step() {
	e := s.engines[s.rand.IntN(len(s.engines))]
	switch n := s.rand.IntN(20); {
	case n < 9 || len(s.alive) < 3:
		s.say(e)
	case n < 11:
		s.update(e)
	case n < 13:
		s.forget(e.Forget)
	case n < 14:
		s.forget(e.Erase)
	case n < 16:
		s.ask(e)
	default:
		s.fault()
	}
}

func (s *story) word() string { return fmt.Sprintf("w%03d", s.rand.IntN(1000)) }

func (s *story) say(e *engine.Engine) {
	s.turns++
	text := fmt.Sprintf("Turn %d says %s and %s.", s.turns, s.word(), s.word())
	d := said(s.t, text, s.rand.IntN(50)) // anywhere among those said before
	d.Talk.Session = fmt.Sprintf("s%d", s.rand.IntN(3))
	id := remember(s.t, e, d)[0].ID
	s.alive, s.texts[id] = append(s.alive, id), text
}

func (s *story) update(e *engine.Engine) {
	id := s.alive[s.rand.IntN(len(s.alive))]
	text := fmt.Sprintf("Instead of that %s was said.", s.word())
	if _, err := e.Update(s.t.Context(), user(s.t, "ada"), id, engine.Change{Text: &text}); err != nil {
		s.t.Fatalf("Update: %v", err)
	}
	s.texts[id] = text
}

func (s *story) forget(how func(context.Context, memtypes.Scope, string, ...memtypes.ID) error) {
	i := s.rand.IntN(len(s.alive))
	id := s.alive[i]
	if err := how(s.t.Context(), user(s.t, "ada"), "", id); err != nil {
		s.t.Fatalf("Forget: %v", err)
	}
	s.alive = slices.Delete(s.alive, i, i+1)
	s.dead[id] = s.texts[id]
}

func (s *story) ask(e *engine.Engine) {
	id := s.alive[s.rand.IntN(len(s.alive))]
	a, err := e.Recall(s.t.Context(), memtypes.Query{Scope: user(s.t, "ada"), Text: s.texts[id], Quiet: true, K: 50})
	if memtypes.CodeOf(err) == memtypes.Unavailable && err != nil {
		return
	}
	if err != nil {
		s.t.Fatal(err)
	}
	if len(a.Degraded) == 0 && !found(a, id) {
		s.t.Errorf("%q is not found", s.texts[id])
	}
	for _, h := range a.Hits {
		if _, gone := s.dead[h.Memory.ID]; gone {
			s.t.Errorf("%q is found, but forgotten", h.Memory.Text)
		}
	}
}

func (s *story) fault() {
	sw := &s.dense.Switches
	if s.rand.IntN(2) == 0 {
		sw = &s.sparse.Switches
	}
	on := s.rand.IntN(2) == 0
	switch s.rand.IntN(6) {
	case 0:
		sw.Down(on)
	case 1:
		sw.Deaf(on)
	case 2:
		sw.Slow(time.Duration(s.rand.IntN(20)) * time.Millisecond)
	case 3:
		sw.Lose(s.rand.IntN(3))
	case 4:
		sw.Record()
	case 5:
		if err := sw.Replay(); err != nil {
			s.t.Fatal(err)
		}
	}
}

// compare asks the cluster and an embedded bank over the same ledger.
func (s *story) compare() {
	s.t.Helper()
	fresh := s.replica(s.t, how{}) // the others remember for a while which words occur
	untailed(s.t, fresh)
	embedded := open(s.t, s.dir, &bank.Options{Engine: engine.Options{}})
	for _, text := range append([]string{"What was said?", "turn"}, s.everything()...) {
		q := memtypes.Query{Scope: user(s.t, "ada"), Text: text, Now: noon, Quiet: true, K: 20}
		want, err := embedded.Recall(s.t.Context(), q)
		if err != nil {
			s.t.Fatal(err)
		}
		got, err := fresh.Recall(s.t.Context(), q)
		if err != nil {
			s.t.Fatal(err)
		}
		show := func(score float64, text string) string { return fmt.Sprintf("%.6f %s", score, text) }
		if d := gocmp.Diff(ranking(want, show), ranking(got, show)); d != "" {
			s.t.Errorf("%q (-embedded +shared):\n%s", text, d)
			return
		}
	}
}

// afresh makes all docs anew and compares them with those that the pump left.
func (s *story) afresh() {
	s.t.Helper()
	words, vectors := s.sparse.Docs(), s.dense.Docs()
	if err := s.engines[0].Rebuild(s.t.Context(), nil); err != nil {
		s.t.Fatal(err)
	}
	same := gocmp.Options{gocmp.Comparer(func(a, b memtypes.Scope) bool { return a == b }),
		gocmp.FilterPath(func(p gocmp.Path) bool { return p.Last().String() == ".Cause" }, gocmp.Ignore())}
	if d := gocmp.Diff(s.sparse.Docs(), words, same); d != "" {
		s.t.Errorf("words (-made anew +pumped):\n%s", d)
	}
	if d := gocmp.Diff(s.dense.Docs(), vectors, same); d != "" {
		s.t.Errorf("vectors (-made anew +pumped):\n%s", d)
	}
}

func (s *story) everything() (out []string) {
	for _, id := range s.alive {
		out = append(out, s.texts[id])
	}
	for _, text := range s.dead {
		out = append(out, text)
	}
	return out
}
