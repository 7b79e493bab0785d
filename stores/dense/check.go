package dense

import (
	"fmt"
	"math"

	"github.com/vimbank/vimbank/memtypes"
)

// unitSlack is how far a vector's length may be from 1.
const unitSlack = 1e-3

// CheckDocs says whether docs may go into an index of dim dimensions: each with
// an ID, a scope, and vectors of that dimension, of length 1, finite. Backends
// call it before they store anything.
func CheckDocs(op string, docs []Doc, dim int) error {
	for i := range docs {
		d := &docs[i]
		err := func() *memtypes.Error {
			if d.ID == "" {
				return memtypes.BadField(op, "id", "", "an ID")
			}
			if d.Facets.Scope.IsZero() {
				return memtypes.BadField(op, "scope", memtypes.Remark("none of user, agent, run"), "at least one of them")
			}
			if d.Text == nil {
				return nil
			}
			if err := checkVector(op, "text", d.Text, dim); err != nil || d.Context == nil {
				return err
			}
			return checkVector(op, "context", d.Context, dim)
		}()
		if err != nil {
			err.ID = d.ID
			return err
		}
	}
	return nil
}

// CheckQuery says whether q can be asked of an index of dim dimensions.
func CheckQuery(op string, q *Query, dim int) error {
	if err := checkVector(op, "vector", q.Vector, dim); err != nil {
		return err
	}
	switch {
	case q.Space != "" && q.Space != Text && q.Space != Context:
		return memtypes.BadField(op, "space", string(q.Space), "text, context or nothing")
	case q.K < 1:
		return memtypes.BadField(op, "k", q.K, "at least 1")
	case q.Filter.Scope.IsZero():
		return memtypes.BadField(op, "filter.scope", memtypes.Remark("none of user, agent, run"), "at least one of them")
	}
	return nil
}

func checkVector(op, field string, v memtypes.Vector, dim int) *memtypes.Error {
	if len(v) != dim {
		return memtypes.BadField(op, field, memtypes.Remark(fmt.Sprintf("%d dimensions", len(v))), fmt.Sprintf("%d dimensions", dim))
	}
	for i, x := range v {
		if x != x || math.IsInf(float64(x), 0) {
			return memtypes.BadField(op, field, memtypes.Remark(fmt.Sprintf("%v at %d", x, i)), "finite numbers")
		}
	}
	if n := norm(v); math.Abs(n-1) > unitSlack {
		return memtypes.BadField(op, field, memtypes.Remark(fmt.Sprintf("a vector of length %.6g", n)), "length 1 (within 0.001)")
	}
	return nil
}

// norm is the Euclidean length of v. Each square is exact in float64.
func norm(v memtypes.Vector) float64 {
	var s float64
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	return math.Sqrt(s)
}
