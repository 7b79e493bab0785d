package elastic_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/vimbank/vimbank/stores/sparse"
	"github.com/vimbank/vimbank/stores/sparse/sparsetest"
)

// TestContract: a generation is an index as every other.
func TestContract(t *testing.T) {
	s := store(t, options(t))
	var n atomic.Int64
	sparsetest.Run(t, func(tb testing.TB) sparse.Index { return generation(tb, s, fmt.Sprint("g", n.Add(1))) })
}
