package qdrant_test

import (
	"context"
	"flag"
	"strings"
	"testing"

	qc "github.com/qdrant/go-client/qdrant"

	"github.com/vimbank/vimbank/stores/dense"
	"github.com/vimbank/vimbank/stores/dense/densetest"
	"github.com/vimbank/vimbank/stores/dense/qdrant"
)

func TestContract(t *testing.T) {
	for name, o := range map[string]qdrant.Options{
		"shared":     {},
		"scalar":     {Quantization: qdrant.Scalar, Exact: true, OnDisk: true},
		"collection": {Tenancy: qdrant.Apart, Batch: 3},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, addr string) {
				if name != "shared" {
					fewer(t)
				}
				open := emptied(t, addr, o)
				densetest.Run(t, open)
				densetest.RunShared(t, open)
			})
		})
	}
}

func TestGenerations(t *testing.T) {
	for _, tenancy := range []qdrant.Tenancy{qdrant.Shared, qdrant.Apart} {
		t.Run(string(tenancy), func(t *testing.T) {
			everywhere(t, func(t *testing.T, addr string) {
				densetest.RunGenerations(t, func(t testing.TB) dense.Generations {
					return open(t, addr, qdrant.Options{Tenancy: tenancy})
				})
			})
		})
	}
}

// fewer random rounds, for variants of what has had them all: with a collection
// for each tenant, a round takes a server some seconds.
func fewer(t *testing.T) {
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	if err := checks.Set("4"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checks.Set(before) })
}

// emptied gives indexes over one set of collections, emptied each time: to make
// them takes a server longer than most tests.
func emptied(t *testing.T, addr string, o qdrant.Options) func(testing.TB) dense.Index {
	o.Prefix = unique()
	t.Cleanup(func() { tidy(t, addr, o.Prefix) })
	client := raw(t, addr)
	return func(t testing.TB) dense.Index {
		ix, err := open(t, addr, o).Open(t.Context(), "one")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range owned(t, client, o.Prefix) {
			if _, err := client.Delete(t.Context(), &qc.DeletePoints{CollectionName: c, Wait: new(true), Points: qc.NewPointsSelectorFilter(&qc.Filter{})}); err != nil {
				t.Fatal(err)
			}
		}
		return ix
	}
}

// raw is a client that goes round the package.
func raw(t testing.TB, addr string) *qc.Client {
	t.Helper()
	c, err := client(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// owned is the collections of a prefix.
func owned(t testing.TB, c *qc.Client, prefix string) []string {
	t.Helper()
	all, err := c.ListCollections(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range all {
		if strings.HasPrefix(name, prefix+".") {
			out = append(out, name)
		}
	}
	return out
}
