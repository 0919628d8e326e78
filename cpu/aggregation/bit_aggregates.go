package aggregation

import (
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// bitSums are integers joined bit by bit.
type bitSums struct {
	counts
	of []joined
}

// joined is the bits that a value lacks, that one has, and that an odd number of them have.
type joined struct{ lacking, some, odd int64 }

func (j *joined) add(o joined) {
	j.lacking |= o.lacking
	j.some |= o.some
	j.odd ^= o.odd
}

func (s *bitSums) Resize(groups int) {
	s.counts.Resize(groups)
	s.of = resized(s.of, groups)
}

func (s *bitSums) Add(groups []uint32, x, y *expr.Vector) {
	s.counts.Add(groups, x, y)
	for i, v := range x.Ints {
		s.of[groups[i]].add(joined{^v, v, v})
	}
}

func (s *bitSums) Merge(o State, to []uint32) {
	other := o.(*bitSums)
	s.counts.Merge(&other.counts, to)
	for i, v := range other.of {
		s.of[to[i]].add(v)
	}
}

func (s *bitSums) Value(a expr.Aggregate, group uint32, _ *table.Table) (table.Value, error) {
	if s.n[group] == 0 {
		return table.Null(a.Type()), nil
	}
	of := s.of[group]
	v := table.Value{Type: a.Type(), I: ^of.lacking}
	switch a.Kind {
	case expr.BitOr:
		v.I = of.some
	case expr.BitXor:
		v.I = of.odd
	}
	return v, nil
}
