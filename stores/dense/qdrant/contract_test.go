package qdrant_test

import (
	"testing"

	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/densetest"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
)

func TestContract(t *testing.T) {
	for name, o := range map[string]qdrant.Options{
		"shared":     {},
		"exact":      {Exact: true},
		"scalar":     {Quantization: qdrant.Scalar, Exact: true},
		"collection": {Tenancy: qdrant.Apart},
		"batches":    {Batch: 3},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, addr string) {
				densetest.Run(t, func(t testing.TB) dense.Index { return generation(t, addr, o) })
			})
		})
	}
}
