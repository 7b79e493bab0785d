package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/engine"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/ledger"
)

// A bank is a folder. What Remember returns from is on the disk, and found.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "bank")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	e, err := bank.Open(ctx, dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(ctx)

	ann, err := memtypes.NewScope("", "ann", "", "") // tenant, user, agent, run
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := e.Remember(ctx, []memtypes.Draft{
		{Scope: ann, Kind: memtypes.Dialogue, Text: "I am allergic to hazelnuts.", Talk: memtypes.Talk{Session: "monday", Speaker: "Ann"}},
		{Scope: ann, Kind: memtypes.Knowledge, Title: "Oven", Text: "E7 means that the door latch is dirty."},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range receipt.Results {
		fmt.Println(r.Status)
	}
	answer, err := e.Recall(ctx, memtypes.Query{Scope: ann, Text: "Which nuts must Ann not eat?", K: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range answer.Hits {
		fmt.Println(hit.Memory.Text)
	}
	// Output:
	// stored
	// stored
	// I am allergic to hazelnuts.
}

// example is an engine over a bank of its own, with a clock that stands at noon.
func example() (e *engine.Engine, ann memtypes.Scope, done func()) {
	dir, err := os.MkdirTemp("", "bank")
	if err != nil {
		log.Fatal(err)
	}
	e, err = bank.Open(context.Background(), dir, &bank.Options{Engine: engine.Options{Clock: func() time.Time { return noon }}})
	if err != nil {
		log.Fatal(err)
	}
	if ann, err = memtypes.NewScope("", "ann", "", ""); err != nil {
		log.Fatal(err)
	}
	return e, ann, func() {
		if err := e.Close(context.Background()); err != nil {
			log.Fatal(err)
		}
		os.RemoveAll(dir)
	}
}

// keep remembers one fact and returns its ID.
func keep(e *engine.Engine, scope memtypes.Scope, text string) memtypes.ID {
	receipt, err := e.Remember(context.Background(), []memtypes.Draft{{Scope: scope, Kind: memtypes.Knowledge, Text: text}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	return receipt.Results[0].ID
}

// The points of a hit's reasons sum to its score.
func ExampleEngine_Recall() {
	e, ann, done := example()
	defer done()
	keep(e, ann, "The spare key lies under the blue flowerpot.")
	answer, err := e.Recall(context.Background(), memtypes.Query{Scope: ann, Text: "where is the spare key", Kinds: []memtypes.Kind{memtypes.Knowledge}})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range answer.Hits[0].Reasons {
		fmt.Printf("%s %.2f x %.2f\n", r.Name, r.Value, r.Weight)
	}
	// Output:
	// text 1.00 x 0.53
	// dense 0.00 x 0.32
	// close 1.00 x 0.16
}

// One memory, all of them, and what a memory has been.
func ExampleEngine_List() {
	ctx := context.Background()
	e, ann, done := example()
	defer done()
	id := keep(e, ann, "The meeting is on Monday.")
	keep(e, ann, "The bakery opens at six.")

	text := "The meeting is on Tuesday."
	if _, err := e.Update(ctx, ann, id, engine.Change{Text: &text}); err != nil {
		log.Fatal(err)
	}
	one, err := e.Get(ctx, ann, id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(one.Text)
	page, err := e.List(ctx, ledger.ListQuery{Filter: memtypes.Filter{Scope: ann}, Limit: 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(page.Memories), "memories")
	revisions, err := e.History(ctx, ann, id)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range revisions {
		fmt.Println(r.Memory.Text)
	}
	// Output:
	// The meeting is on Tuesday.
	// 2 memories
	// The meeting is on Monday.
	// The meeting is on Tuesday.
}

// What is forgotten is not found, and can be brought back within the grace.
func ExampleEngine_Forget() {
	ctx := context.Background()
	e, ann, done := example()
	defer done()
	id := keep(e, ann, "The password hint is the name of the cat.")
	found := func() int {
		answer, err := e.Recall(ctx, memtypes.Query{Scope: ann, Text: "password hint"})
		if err != nil {
			log.Fatal(err)
		}
		return len(answer.Hits)
	}
	if err := e.Forget(ctx, ann, "asked for by Ann", id); err != nil {
		log.Fatal(err)
	}
	fmt.Println("forgotten:", found())
	if err := e.Restore(ctx, ann, id); err != nil {
		log.Fatal(err)
	}
	fmt.Println("restored:", found())
	// Output:
	// forgotten: 0
	// restored: 1
}

// Decay is a preview until Apply is set; a pinned memory is never due.
func ExampleEngine_Decay() {
	ctx := context.Background()
	e, ann, done := example()
	defer done()
	keep(e, ann, "The bus was late again.")
	if err := e.Pin(ctx, ann, keep(e, ann, "Ann's blood group is A."), true); err != nil {
		log.Fatal(err)
	}
	later := noon.Add(365 * 24 * time.Hour)
	preview, err := e.Decay(ctx, engine.DecayRequest{Now: later})
	if err != nil {
		log.Fatal(err)
	}
	for _, due := range preview.Plans[0].Retire {
		fmt.Println("due:", due.Reason)
	}
	// Half of a bank is more than a run takes unasked: Confirm says go on.
	run, err := e.Decay(ctx, engine.DecayRequest{Now: later, Apply: true, Confirm: true})
	if err != nil {
		log.Fatal(err)
	}
	back, err := e.Undo(ctx, run.RunID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Retired, "retired,", back, "restored")
	// Output:
	// due: retention 3.0e-159 below 6.7e-79 for knowledge; stored 365 days ago, never recalled (good for 180 days)
	// 1 retired, 1 restored
}

// The indexes are projections of the ledger: they can be compared with it, and
// made anew from it.
func ExampleEngine_Rebuild() {
	ctx := context.Background()
	e, ann, done := example()
	defer done()
	keep(e, ann, "The bakery opens at six.")
	if err := e.Rebuild(ctx, nil); err != nil {
		log.Fatal(err)
	}
	drifts, err := e.Reconcile(ctx, false)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range drifts {
		fmt.Println(d.Index, d.Held, d.OK())
	}
	// Output:
	// sparse 1 true
	// dense 1 true
}
