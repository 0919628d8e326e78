package partial

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Finish computes every aggregate of a query from its selection, one value an
// aggregate, of the aggregate's Type. The first check that selects a record is an
// error, then the first aggregate that has none of its values or no room for them.
func Finish(s Partial, q *physical.Query) ([]table.Value, error) {
	if err := s.Check(); err != nil {
		if failed := (*physical.CheckError)(nil); errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, err
	}
	f := &finisher{Partial: s, q: q, sums: map[int]*Sum{}}
	out := make([]table.Value, len(q.Aggs))
	var err error
	var searches []func() error // last, for they go round all chunks for every digit
	for i, a := range q.Aggs {
		if !physical.IsOrderStatistic(a) {
			if out[i], err = f.aggregate(i, a); err != nil {
				return nil, err
			}
			continue
		}
		n, err := f.CountNotNull(a.Col)
		if err != nil {
			return nil, err
		}
		k, largest, ok, err := physical.Rank(a, n)
		if err != nil {
			return nil, err
		}
		if out[i] = table.Null(a.Type()); ok {
			searches = append(searches, func() (err error) {
				out[i], err = s.Kth(a.Col, k, largest)
				return err
			})
		}
	}
	for _, search := range searches {
		if err := search(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// finisher keeps the sums that several aggregates share.
type finisher struct {
	Partial
	q    *physical.Query
	sums map[int]*Sum // by column
}

// aggregate is every aggregate that is no k-th value.
func (f *finisher) aggregate(i int, a expr.Aggregate) (table.Value, error) {
	switch a.Kind {
	case expr.Sum, expr.Avg:
		s, err := f.sum(i, a)
		if err != nil {
			return table.Value{}, err
		}
		return FinishSum(a, s)
	case expr.Count:
		if a.X != nil {
			s, err := f.sum(i, a)
			if err != nil {
				return table.Value{}, err
			}
			return table.Int(int64(s.N)), nil
		}
		n, err := f.CountNotNull(a.Col)
		return table.Int(int64(n)), err
	}
	n, err := f.Count()
	if a.Kind == expr.CountAll {
		return table.Int(int64(n)), err
	}
	return SelectivityOf(n, uint64(f.q.Table.Rows())), err
}

// sum is that of what the aggregate with number i is of.
func (f *finisher) sum(i int, a expr.Aggregate) (*Sum, error) {
	if a.X != nil {
		x, ok := f.Partial.(ExpressionSums)
		if !ok {
			return nil, f.q.RequireColumns()
		}
		s, err := x.SumOf(i)
		return &s, err
	}
	if s := f.sums[a.Col]; s != nil {
		return s, nil
	}
	s, err := f.Sum(a.Col)
	f.sums[a.Col] = &s
	return &s, err
}

// SelectivityOf is the selectivity of n selected records of all: NULL of none.
func SelectivityOf(n, all uint64) table.Value {
	if all == 0 {
		return table.Null(table.Type{Kind: table.Double})
	}
	return table.Float(float64(n) / float64(all))
}

var tooLarge = table.Pow10(38) // for a DECIMAL

// FinishSum makes SUM and AVG from the sum; of no values it is NULL. SUM of SMALLINT and INTEGER is a BIGINT, of
// BIGINT and DECIMAL a DECIMAL(38, s), and an error where it is too large. The others are rounded once, to the
// nearest REAL or DOUBLE.
func FinishSum(a expr.Aggregate, s *Sum) (v table.Value, err error) {
	v.Type = a.Type()
	switch {
	case s.N == 0:
		return table.Null(v.Type), nil
	case a.Arg.IsFloat() && a.Kind == expr.Avg:
		v.F, err = s.Float.Mean(s.N)
	case a.Arg.Kind == table.Real:
		var f float32
		f, err = s.Float.Float32()
		v.F = float64(f)
	case a.Arg.IsFloat():
		v.F, err = s.Float.Float64()
	case a.Kind == expr.Avg:
		v.F = average(&s.Int, s.N, a.Arg.Scale)
	case v.Type.Kind == table.BigInt && !s.Int.IsInt64():
		of := expr.Ident(a.Name)
		if a.X != nil {
			of = "(" + a.X.String() + ")"
		}
		return table.Null(v.Type), expr.Coded(sqlstate.NumericOutOfRange, a.P, "bigint out of range: the sum of %s::bigint is a numeric", of)
	case v.Type.Kind == table.BigInt:
		v.I = s.Int.Int64()
	case s.Int.CmpAbs(tooLarge) >= 0:
		return table.Null(v.Type), expr.Coded(sqlstate.NumericOutOfRange, a.P, "%s has more than 38 digits", a)
	default:
		return table.Dec(v.Type, new(big.Int).Set(&s.Int)), nil
	}
	if err != nil {
		return table.Value{}, fmt.Errorf("%v: %w", a, err)
	}
	return v, nil
}

// average is sum / (n * 10^scale), rounded once: a division of floating-point numbers where both are exact in them, as most are.
func average(sum *big.Int, n uint64, scale int) float64 {
	const exact, digits = 1 << 53, 15
	if scale <= digits && sum.IsInt64() {
		power := uint64(1)
		for range scale {
			power *= 10
		}
		high, low := bits.Mul64(n, power)
		if i := sum.Int64(); high == 0 && low <= exact && -exact <= i && i <= exact {
			return float64(i) / float64(low)
		}
	}
	d := new(big.Int).SetUint64(n)
	f, _ := new(big.Rat).SetFrac(sum, d.Mul(d, table.Pow10(scale))).Float64()
	return f
}
