package qdranttest

import (
	"slices"

	qc "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// matching is the points of a collection that a filter, which may be nil, admits.
func (c *collection) matching(f *qc.Filter) ([]*point, error) {
	var out []*point
	for _, p := range c.points {
		ok, err := matches(f, p)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, p)
		}
	}
	return out, nil
}

// matches: all of must, one of should where there are any, none of must_not.
func matches(f *qc.Filter, p *point) (bool, error) {
	if f.GetMinShould() != nil {
		return false, status.Error(codes.Unimplemented, "qdranttest does not know min_should")
	}
	for _, c := range f.GetMust() {
		if ok, err := holds(c, p); !ok || err != nil {
			return false, err
		}
	}
	for _, c := range f.GetMustNot() {
		if ok, err := holds(c, p); ok || err != nil {
			return false, err
		}
	}
	for _, c := range f.GetShould() {
		if ok, err := holds(c, p); ok || err != nil {
			return ok, err
		}
	}
	return len(f.GetShould()) == 0, nil
}

func holds(c *qc.Condition, p *point) (bool, error) {
	switch x := c.GetConditionOneOf().(type) {
	case *qc.Condition_Filter:
		return matches(x.Filter, p)
	case *qc.Condition_HasId:
		return slices.ContainsFunc(x.HasId.GetHasId(), func(id *qc.PointId) bool { return id.GetUuid() == p.id }), nil
	case *qc.Condition_HasVector:
		return p.vectors[x.HasVector.GetHasVector()] != nil, nil
	case *qc.Condition_Field:
		return fieldHolds(x.Field, p.payload[x.Field.GetKey()])
	}
	return false, status.Errorf(codes.Unimplemented, "qdranttest does not know the condition %T", c.GetConditionOneOf())
}

// fieldHolds: a field that is not there holds for nothing.
func fieldHolds(f *qc.FieldCondition, v *qc.Value) (bool, error) {
	switch {
	case f.GetMatch() != nil:
		return equals(f.GetMatch(), v)
	case f.GetRange() != nil:
		n, ok := v.GetKind().(*qc.Value_IntegerValue)
		if !ok {
			return false, nil
		}
		x, r := float64(n.IntegerValue), f.GetRange()
		return (r.Gte == nil || x >= *r.Gte) && (r.Gt == nil || x > *r.Gt) &&
			(r.Lte == nil || x <= *r.Lte) && (r.Lt == nil || x < *r.Lt), nil
	}
	return false, status.Error(codes.Unimplemented, "qdranttest knows only match and range of a field")
}

func equals(m *qc.Match, v *qc.Value) (bool, error) {
	switch x := m.GetMatchValue().(type) {
	case *qc.Match_Keyword:
		s, ok := v.GetKind().(*qc.Value_StringValue)
		return ok && s.StringValue == x.Keyword, nil
	case *qc.Match_Keywords:
		s, ok := v.GetKind().(*qc.Value_StringValue)
		return ok && slices.Contains(x.Keywords.GetStrings(), s.StringValue), nil
	case *qc.Match_Boolean:
		b, ok := v.GetKind().(*qc.Value_BoolValue)
		return ok && b.BoolValue == x.Boolean, nil
	}
	return false, status.Errorf(codes.Unimplemented, "qdranttest does not know the match %T", m.GetMatchValue())
}
