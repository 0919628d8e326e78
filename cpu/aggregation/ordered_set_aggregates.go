package aggregation

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
)

// IsOrdered reports an aggregate that [Ordered] computes: an order statistic, mode() or string_agg().
func IsOrdered(a expr.Aggregate) bool {
	k := KindOf(a)
	return k == Listing || k == Gathering
}

// Ordered is an aggregate of the values of a group that come in order: of string_agg() in its own, of others from the smallest on. It keeps as few
// of them as it needs.
type Ordered struct {
	a     expr.Aggregate
	n     int                 // values that have come
	last  table.Value         // of these
	wants map[int]table.Value // of an order statistic, by rank from 0 on
	err   error               // of the ranks

	most, run int // of mode(): how many values its value has, and the last one
	mode      table.Value

	text strings.Builder
}

// NewOrdered begins an aggregate of n values, different ones under DISTINCT; string_agg() does without their number.
func NewOrdered(a expr.Aggregate, n int) *Ordered {
	o := &Ordered{a: a, wants: map[int]table.Value{}}
	if k := a.Kind; k != expr.Mode && k != expr.StringAgg {
		_, o.err = orderStatistic(a, n, func(i int) table.Value {
			o.wants[i] = table.Null(a.Arg)
			return o.wants[i]
		})
	}
	return o
}

// Add takes in the next value, which is not NULL, with what separates it from the one before.
func (o *Ordered) Add(v table.Value, separator string) error {
	if v.F == 0 {
		v.F = 0 // -0 is the same value
	}
	same := o.n > 0 && table.Compare(v, o.last) == 0
	if o.a.Distinct && same {
		return nil
	}
	switch o.a.Kind {
	case expr.StringAgg:
		if o.n > 0 {
			o.text.WriteString(separator)
		}
		if o.text.WriteString(v.S); o.text.Len() > expr.MaxText {
			return longText(o.a)
		}
	case expr.Mode:
		if o.run++; !same {
			o.run = 1
		}
		if o.run > o.most || o.a.Desc && o.run == o.most {
			o.most, o.mode = o.run, v
		}
	default:
		if _, ok := o.wants[o.n]; ok {
			o.wants[o.n] = v
		}
	}
	o.n++
	o.last = v
	return nil
}

// Value is the aggregate's.
func (o *Ordered) Value() (table.Value, error) {
	switch {
	case o.err != nil || o.n == 0:
		return table.Null(o.a.Type()), o.err
	case o.a.Kind == expr.StringAgg:
		return table.Str(o.text.String()), nil
	case o.a.Kind == expr.Mode:
		return o.mode, nil
	}
	return orderStatistic(o.a, o.n, func(i int) table.Value { return o.wants[i] })
}

// orderStatistic is an order statistic of n values, of which at gives that of a rank, from 0 on.
func orderStatistic(a expr.Aggregate, n int, at func(i int) table.Value) (table.Value, error) {
	if a.Kind == expr.PercentileCont {
		if n == 0 || a.Null {
			return table.Null(a.Type()), nil
		}
		return table.Float(between(a, n, at)), nil
	}
	k, largest, ok, err := physical.Rank(a, uint64(n))
	switch {
	case err != nil || !ok:
		return table.Null(a.Type()), err
	case largest:
		k = uint64(n) - k + 1
	}
	return at(int(k - 1)), nil
}

// between is percentile_cont(f) of numbers, computed in doubles as PostgreSQL does.
func between(a expr.Aggregate, n int, value func(i int) table.Value) float64 {
	at := func(i int) float64 {
		if a.Desc {
			i = n - 1 - i
		}
		return doubleOf(value(i))
	}
	place := a.F * float64(n-1)
	first := int(place)
	lo := at(first)
	if place == float64(first) {
		return lo
	}
	return lo + (place-float64(first))*(at(first+1)-lo)
}

func longText(a expr.Aggregate) error {
	return fmt.Errorf("%s: the text of a group is longer than %d bytes", a, expr.MaxText)
}
