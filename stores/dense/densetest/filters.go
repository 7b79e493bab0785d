package densetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/vimbank/vimbank/memtypes"
	"github.com/vimbank/vimbank/stores/dense"
)

// many is documents whose facets differ in every way, two days apart.
func many(t testing.TB) []dense.Doc {
	var docs []dense.Doc
	for n := range 48 {
		d := doc(t, n, unit(1, float64(n)/10, float64(n%7)))
		d.Facets = memtypes.Facets{
			Scope:   scope(t, "", fmt.Sprint("user", n%3), fmt.Sprint("agent", n%2), []string{"", "run"}[n%5/4]),
			Kind:    memtypes.Kinds()[n%3],
			Layer:   []memtypes.Layer{memtypes.Raw, memtypes.Thought}[n/2%2],
			Session: []string{"", "s1", "s2"}[n/3%3],
			When:    at(2 * n),
		}
		docs = append(docs, d)
	}
	return docs
}

// filters checks each facet alone and some together against Filter.Admits.
func filters(t *testing.T, ix dense.Index) {
	docs := many(t)
	upsert(t, ix, docs...)
	user := scope(t, "", "user1", "", "")
	agent := scope(t, "", "", "agent0", "")
	for name, f := range map[string]memtypes.Filter{
		"user":               {Scope: user},
		"agent":              {Scope: agent},
		"run":                {Scope: scope(t, "", "", "", "run")},
		"user, agent, run":   {Scope: scope(t, "", "user2", "agent1", "run")},
		"unknown user":       {Scope: scope(t, "", "nobody", "", "")},
		"unknown tenant":     {Scope: scope(t, "else", "user1", "", "")},
		"one kind":           {Scope: agent, Kinds: []memtypes.Kind{memtypes.TaskKind}},
		"two kinds":          {Scope: agent, Kinds: []memtypes.Kind{memtypes.TaskKind, memtypes.Dialogue}},
		"all kinds":          {Scope: agent, Kinds: memtypes.Kinds()},
		"empty kinds":        {Scope: agent, Kinds: []memtypes.Kind{}},
		"raw":                {Scope: agent, Layers: []memtypes.Layer{memtypes.Raw}},
		"thought":            {Scope: agent, Layers: []memtypes.Layer{memtypes.Thought}},
		"both layers":        {Scope: agent, Layers: []memtypes.Layer{memtypes.Thought, memtypes.Raw}},
		"session":            {Scope: agent, Session: "s2"},
		"unknown session":    {Scope: agent, Session: "s3"},
		"from is within":     {Scope: agent, From: at(40)},
		"from just after":    {Scope: agent, From: at(40).Add(time.Second)},
		"to is not within":   {Scope: agent, To: at(40)},
		"to just after":      {Scope: agent, To: at(40).Add(time.Second)},
		"from and to":        {Scope: agent, From: at(20), To: at(61)},
		"to before from":     {Scope: agent, From: at(61), To: at(20)},
		"a part of a second": {Scope: agent, From: at(40).Add(time.Millisecond), To: at(60).Add(time.Millisecond)},
		"another time zone":  {Scope: agent, From: at(40).In(time.FixedZone("", 8*3600)), To: at(44).In(time.FixedZone("", -8*3600))},
		"before all":         {Scope: agent, To: at(0)},
		"after all":          {Scope: agent, From: at(1000)},
		"IDs":                {Scope: agent, IDs: []memtypes.ID{id(4), id(5), id(40), id(40), id(999)}},
		"empty IDs":          {Scope: agent, IDs: []memtypes.ID{}},
		"everything": {Scope: user, Kinds: []memtypes.Kind{memtypes.Dialogue}, Layers: []memtypes.Layer{memtypes.Raw},
			Session: "s1", From: at(10), To: at(90), IDs: []memtypes.ID{id(1), id(4), id(13), id(16), id(40)}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, k := range []int{3, 100} {
				q := dense.Query{Vector: unit(1, 2, 3), K: k, Filter: f}
				agree(t, ix, q, docs)
			}
		})
	}
}

func tenants(t *testing.T, ix dense.Index) {
	var docs []dense.Doc
	for n := range 40 {
		d := doc(t, n, unit(1, float64(n%9)))
		d.Facets.Scope = scope(t, fmt.Sprint("tenant", n%4), "ann", "", "") // the same user everywhere
		docs = append(docs, d)
	}
	upsert(t, ix, docs...)
	for h, err := range ix.Revs(t.Context()) {
		if err != nil {
			t.Fatalf("Revs: %v", err)
		}
		n := slices.IndexFunc(docs, func(d dense.Doc) bool { return d.ID == h.ID })
		if n < 0 || docs[n].Facets.Scope.Tenant() != h.Tenant {
			t.Errorf("Revs lists %+v, want document %d with its tenant", h, n)
		}
	}
	for n := range 5 { // the last has nothing
		q := ask(t, east, 100)
		q.Filter.Scope = scope(t, fmt.Sprint("tenant", n), "ann", "", "")
		agree(t, ix, q, docs)
		q.Filter.IDs = []memtypes.ID{id(0), id(1), id(2), id(3)} // another tenant's ID opens nothing
		agree(t, ix, q, docs)
	}
	for n, tenant := range []string{"tenant0", "tenant1"} {
		if err := ix.Delete(t.Context(), gone(tenant, 5, id(n))); err != nil {
			t.Fatalf("Delete: %v", err)
		}
	}
	q := ask(t, east, 100)
	q.Filter.Scope = scope(t, "tenant2", "ann", "", "")
	agree(t, ix, q, docs)
}
