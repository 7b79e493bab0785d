package dense_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/vimbank/vimbank/internal/kernel"
	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/densetest"
)

// TestContract runs on every kernel that the machine has.
func TestContract(t *testing.T) {
	for _, k := range kernel.All() {
		t.Run(k.String(), func(t *testing.T) {
			densetest.Run(t, func(t testing.TB) dense.Index {
				f, err := dense.Open(densetest.Dim, nil)
				if err != nil {
					t.Fatal(err)
				}
				f.UseKernel(k)
				return f
			})
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, dim := range []int{0, -1, 1<<16 + 1} {
		if _, err := dense.Open(dim, nil); memtypes.CodeOf(err) != memtypes.Invalid {
			t.Errorf("Open(%d): error = %v, want Invalid", dim, err)
		}
	}
}

func ExampleFlat() {
	ix, err := dense.Open(2, nil)
	if err != nil {
		panic(err)
	}
	defer ix.Close()
	ann, err := memtypes.NewScope("", "ann", "", "")
	if err != nil {
		panic(err)
	}
	facets := memtypes.Facets{Scope: ann, Kind: memtypes.Dialogue, Layer: memtypes.Raw}
	err = ix.Upsert(context.Background(), []dense.Doc{
		{ID: "east", Rev: 1, Facets: facets, Text: memtypes.Vector{1, 0}},
		{ID: "north-east", Rev: 2, Facets: facets, Text: memtypes.Vector{.8, .6}},
	})
	if err != nil {
		panic(err)
	}
	hits, err := ix.Search(context.Background(), dense.Query{Vector: memtypes.Vector{.6, .8}, K: 5, Filter: memtypes.Filter{Scope: ann}})
	if err != nil {
		panic(err)
	}
	for _, h := range hits {
		fmt.Printf("%s %.2f\n", h.ID, h.Score)
	}
	// Output:
	// north-east 0.96
	// east 0.60
}
