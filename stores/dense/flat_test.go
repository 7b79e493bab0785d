package dense_test

import (
	"testing"

	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/densetest"
)

func TestContract(t *testing.T) {
	densetest.Run(t, func(t testing.TB) dense.Index {
		f, err := dense.Open(densetest.Dim, nil)
		if err != nil {
			t.Fatal(err)
		}
		return f
	})
}
