package bank_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/vimbank/vimbank/bank"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
	"github.com/vimbank/vimbank/stores/sparse/elastic"
)

// What was removed leaves a tombstone in the services for an hour, against late
// writes, and then nothing.
func TestTombstonesAreSwept(t *testing.T) {
	o, now := cluster(t), time.Now()
	o.Engine.Clock = func() time.Time { return now }
	e, err := bank.Open(t.Context(), "", o)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, e)
	ids := fill(t, e, 20)
	if err := e.Forget(t.Context(), ada(t), "test", ids[:7]...); err != nil {
		t.Fatal(err)
	}
	if err := placed(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	h, err := e.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	graves := func() [2]int { // those that are left, which the looking takes away
		q, s := *o.Services.Qdrant, *o.Services.Elastic
		q.Dim, q.Fingerprint, s.Fingerprint = bank.Made(o)
		vectors, err := qdrant.Open(t.Context(), &q)
		if err != nil {
			t.Fatal(err)
		}
		defer vectors.Close()
		words, err := elastic.Open(t.Context(), &s)
		if err != nil {
			t.Fatal(err)
		}
		defer words.Close()
		var n [2]int
		for i, open := range []func() (any, error){
			func() (any, error) { return vectors.Open(t.Context(), h.Indexes[1].Generation) },
			func() (any, error) { return words.Open(t.Context(), h.Indexes[0].Generation) },
		} {
			ix, err := open()
			if err != nil {
				t.Fatal(err)
			}
			if n[i], err = ix.(interface {
				Sweep(context.Context, uint64) (int, error)
			}).Sweep(t.Context(), math.MaxInt64); err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	for range 3 { // within the hour nothing is swept
		if err := e.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(10 * time.Minute)
	}
	now = now.Add(2 * time.Hour)
	if err := e.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := graves(); n != [2]int{} {
		t.Errorf("after two hours %v tombstones were left in Qdrant and Elasticsearch, want none", n)
	}
	if err := e.Forget(t.Context(), ada(t), "test", ids[10]); err != nil {
		t.Fatal(err)
	}
	if err := placed(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	now = now.Add(30 * time.Minute)
	if err := e.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := graves(); n != [2]int{1, 1} {
		t.Errorf("within the hour %v tombstones were left, want one in each", n)
	}
	sound(t, e)
}
