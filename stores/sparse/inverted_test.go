package sparse_test

import (
	"testing"

	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/sparsetest"
)

func opener(o *sparse.Options) func(testing.TB) sparse.Index {
	return func(tb testing.TB) sparse.Index {
		ix, err := sparse.Open(o)
		if err != nil {
			tb.Fatalf("Open: %v", err)
		}
		return ix
	}
}

func TestContract(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options *sparse.Options
	}{
		{"pruned", nil},
		{"exhaustive", &sparse.Options{Exhaustive: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sparsetest.Run(t, opener(tt.options))
			sparsetest.RunExact(t, opener(tt.options))
			sparsetest.RunStandIn(t, opener(tt.options))
		})
	}
}
