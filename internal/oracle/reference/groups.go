package reference

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/partial"
	"github.com/stencildb/stencildb/table"
)

// Groups computes a statement with an aggregation by the definitions. Rows before an error are
// returned with it.
func Groups(tab *table.Table, tree plan.Node) (out [][]table.Value, err error) {
	items, having, n := AggregateOf(tree)
	rows, errs, failed := definedGroups(tab, n)
	for i, row := range rows {
		env := &expr.Env{Agg: func(i int) table.Value { return row[i] }}
		if having != nil && (errs[i] == nil || len(n.Keys) > 0) { // of all rows an aggregate comes before HAVING
			if keep, err := expr.Eval(having, env); err != nil || keep.Null || keep.I == 0 {
				if err != nil {
					return out, err
				}
				continue
			}
		}
		if errs[i] != nil { // of groups that HAVING leaves out it is none
			return out, errs[i]
		}
		var values []table.Value
		for _, i := range items {
			v, err := expr.Eval(i.E, env)
			if err != nil {
				return out, err
			}
			values = append(values, v)
		}
		out = append(out, values)
	}
	return out, failed
}

// AggregateOf takes a statement with an aggregation apart.
func AggregateOf(tree plan.Node) (items []plan.Item, having expr.Expr, n *plan.Aggregate) {
	p := tree.(*plan.Project)
	in := p.Input
	if f, ok := in.(*plan.Filter); ok {
		having, in = f.Where, f.Input
	}
	if f, ok := in.(*plan.Fragment); ok {
		in = f.Tree
	}
	return p.Items, having, in.(*plan.Aggregate)
}

// Selecting is the condition of the rows of an aggregation, nil for all.
func Selecting(n *plan.Aggregate) expr.Expr {
	switch in := n.Input.(type) {
	case *plan.Filter:
		return in.Where
	case *plan.Fragment:
		return in.Where
	}
	return nil
}

// definedGroups computes an aggregation over a table; errs are the first errors of the groups' aggregates.
func definedGroups(tab *table.Table, n *plan.Aggregate) (out [][]table.Value, errs []error, err error) {
	selected, err := selectedRows(tab, Selecting(n))
	if err != nil {
		return nil, nil, err
	}
	type group struct {
		keys []table.Value
		args [][][2]table.Value // of each aggregate
		rows [][]*expr.Env      // that they are of
	}
	of := map[string]*group{}
	var list []*group
	take := func(keys []table.Value) *group {
		text := ""
		for _, k := range keys {
			if k.F == 0 {
				k.F = 0
			}
			text += fmt.Sprintf("%v %q;", k.Null, k)
		}
		g := of[text]
		if g == nil {
			g = &group{keys: keys, args: make([][][2]table.Value, len(n.Aggs)), rows: make([][]*expr.Env, len(n.Aggs))}
			of[text], list = g, append(list, g)
		}
		return g
	}
	if len(n.Keys) == 0 {
		take(nil)
	}
	for _, env := range selected {
		env = wide(env)
		var keys []table.Value
		for _, k := range n.Keys {
			v, err := narrow(expr.Eval(k, env))
			if err != nil {
				return nil, nil, err
			}
			keys = append(keys, v)
		}
		g := take(keys)
		for i, a := range n.Aggs {
			args, ok, err := arguments(a, env)
			if err != nil {
				return nil, nil, err
			}
			if ok {
				g.args[i], g.rows[i] = append(g.args[i], args), append(g.rows[i], env)
			}
		}
	}
	for _, g := range list {
		row, failed := g.keys, error(nil)
		for i, a := range n.Aggs {
			var v table.Value
			var err error
			if a.Kind == expr.StringAgg {
				v, err = definedTexts(a, g.rows[i])
			} else {
				v, err = definedValue(a, g.args[i], tab.Rows())
			}
			if failed == nil {
				failed = err
			}
			row = append(row, v)
		}
		out, errs = append(out, row), append(errs, failed)
	}
	return out, errs, nil
}

// narrow is a value of at most 38 digits.
func narrow(v table.Value, err error) (table.Value, error) {
	if err == nil && v.Big != nil && v.Big.CmpAbs(table.Pow10(38)) >= 0 {
		err = fmt.Errorf("more than 38 digits")
	}
	return v, err
}

// arguments are those of an aggregate in a row; ok is false where the row does not count.
func arguments(a expr.Aggregate, env *expr.Env) (args [2]table.Value, ok bool, err error) {
	if a.Filter != nil {
		if holds, err := expr.Eval(a.Filter, env); err != nil || holds.Null || holds.I == 0 {
			return args, false, err
		}
	}
	for i, e := range []expr.Expr{a.Argument(), a.Y} {
		if e != nil {
			if args[i], err = narrow(expr.Eval(e, env)); err != nil {
				return args, false, err
			}
		}
	}
	return args, !args[0].Null && !args[1].Null, nil
}

// definedTexts is the value of string_agg of rows whose text is not NULL.
func definedTexts(a expr.Aggregate, rows []*expr.Env) (table.Value, error) {
	if len(rows) == 0 {
		return table.Null(a.Type()), nil
	}
	if err := inOrder(rows, a.Order); err != nil {
		return table.Value{}, err
	}
	text, last := "", ""
	for i, env := range rows {
		x, _ := expr.Eval(a.Argument(), env) // which was no error before
		separator, err := expr.Eval(a.Separator, env)
		switch {
		case err != nil:
			return separator, err
		case i > 0 && a.Distinct && x.S == last:
			continue
		case i > 0:
			text += separator.S
		}
		text, last = text+x.S, x.S
	}
	return table.Str(text), nil
}

// definedValue is the value of an aggregate of arguments that are not NULL.
func definedValue(a expr.Aggregate, args [][2]table.Value, rows int) (table.Value, error) {
	var values []table.Value
	for _, x := range args {
		values = append(values, x[0])
	}
	if a.Distinct {
		slices.SortFunc(values, table.Compare)
		values = slices.CompactFunc(values, func(x, y table.Value) bool { return table.Compare(x, y) == 0 })
	}
	n := len(values)
	null := table.Null(a.Type())
	switch a.Kind {
	case expr.CountAll, expr.Count, expr.RegrCount:
		return table.Int(int64(n)), nil
	case expr.Selectivity:
		if rows == 0 {
			return null, nil
		}
		return table.Float(float64(n) / float64(rows)), nil
	case expr.KthLargest, expr.KthSmallest:
		if int(a.K) > n {
			return null, fmt.Errorf("no such element")
		}
	}
	if n == 0 {
		return null, nil
	}
	switch a.Kind {
	case expr.Sum, expr.Avg:
		return definedSum(a, values)
	case expr.BitAnd, expr.BitOr, expr.BitXor:
		out := values[0]
		for _, v := range values[1:] {
			out.I = map[expr.AggKind]int64{expr.BitAnd: out.I & v.I, expr.BitOr: out.I | v.I, expr.BitXor: out.I ^ v.I}[a.Kind]
		}
		return out, nil
	case expr.VarPop, expr.VarSamp, expr.StddevPop, expr.StddevSamp, expr.Corr, expr.CovarPop, expr.CovarSamp,
		expr.RegrAvgX, expr.RegrAvgY, expr.RegrSXX, expr.RegrSYY, expr.RegrSXY, expr.RegrSlope, expr.RegrIntercept, expr.RegrR2:
		if a.Y == nil {
			args = nil
			for _, v := range values {
				args = append(args, [2]table.Value{v, v})
			}
		}
		return definedMoment(a, args)
	}
	slices.SortFunc(values, table.Compare)
	if a.Desc {
		slices.Reverse(values)
	}
	switch a.Kind {
	case expr.Min, expr.AnyValue, expr.BoolAnd:
		return values[0], nil
	case expr.Max, expr.BoolOr:
		return values[n-1], nil
	case expr.KthSmallest:
		return values[a.K-1], nil
	case expr.KthLargest:
		return values[n-int(a.K)], nil
	case expr.Percentile:
		return values[max(0, min(n, int(math.Ceil(a.F*float64(n))))-1)], nil
	case expr.PercentileCont:
		place := a.F * float64(n-1)
		lo, part := math.Modf(place)
		low := nearest(values[int(lo)])
		if part == 0 {
			return table.Float(low), nil
		}
		return table.Float(low + part*(nearest(values[int(lo)+1])-low)), nil
	}
	best, most := 0, 0
	for i := range values {
		same := 0
		for _, v := range values {
			if table.Compare(v, values[i]) == 0 {
				same++
			}
		}
		if same > most {
			best, most = i, same
		}
	}
	return values[best], nil
}

// exactly is a number, nil where it is infinite or NaN.
func exactly(v table.Value) *big.Rat {
	if v.Type.IsFloat() {
		return new(big.Rat).SetFloat64(v.F)
	}
	return new(big.Rat).SetFrac(v.Unscaled(), table.Pow10(v.Type.Scale))
}

func nearest(v table.Value) float64 {
	if v.Type.IsFloat() {
		return v.F
	}
	f, _ := exactly(v).Float64()
	return f
}

// definedSum is SUM or AVG of one value or more.
func definedSum(a expr.Aggregate, values []table.Value) (table.Value, error) {
	sum, special := new(big.Rat), 0.0
	for _, v := range values {
		if r := exactly(v); r != nil {
			sum.Add(sum, r)
		} else {
			special += v.F
		}
	}
	out := table.Value{Type: a.Type()}
	switch {
	case special != 0:
		out.F = special
		return out, nil
	case a.Kind == expr.Sum && a.Arg.IsExact():
		i := sum.Mul(sum, new(big.Rat).SetInt(table.Pow10(a.Arg.Scale))).Num()
		return narrow(table.Dec(a.Type(), i), nil)
	case a.Kind == expr.Avg:
		sum.Quo(sum, big.NewRat(int64(len(values)), 1))
	}
	if out.F, _ = sum.Float64(); out.Type.Kind == table.Real {
		f, _ := sum.Float32()
		out.F = float64(f)
	}
	if math.IsInf(out.F, 0) {
		return out, partial.ErrOverflow
	}
	return out, nil
}

// definedMoment is a variance, a deviation, a covariance or a correlation: by the mean of all, then
// the distances from it.
func definedMoment(a expr.Aggregate, args [][2]table.Value) (table.Value, error) {
	n := int64(len(args))
	null := table.Null(a.Type())
	by := big.NewRat(n, 1)
	if a.Kind == expr.VarSamp || a.Kind == expr.StddevSamp || a.Kind == expr.CovarSamp {
		if n == 1 {
			return null, nil
		}
		by.SetInt64(n - 1)
	}
	var xs, ys []*big.Rat
	var of [2][]table.Value
	meanX, meanY := new(big.Rat), new(big.Rat)
	for _, v := range args {
		x, y := exactly(v[0]), exactly(v[1])
		xs, ys, of[0], of[1] = append(xs, x), append(ys, y), append(of[0], v[0]), append(of[1], v[1])
		if x != nil {
			meanX.Add(meanX, new(big.Rat).Quo(x, big.NewRat(n, 1)))
		}
		if y != nil {
			meanY.Add(meanY, new(big.Rat).Quo(y, big.NewRat(n, 1)))
		}
	}
	if a.Kind == expr.RegrAvgX || a.Kind == expr.RegrAvgY {
		values := of[0]
		if a.Kind == expr.RegrAvgX {
			values = of[1]
		}
		return definedSum(expr.Aggregate{Kind: expr.Avg, Arg: a.Arg}, values)
	}
	sum := func(l, r []*big.Rat, meanL, meanR *big.Rat) *big.Rat { // nil is NaN
		out := new(big.Rat)
		for i := range l {
			if l[i] == nil || r[i] == nil {
				return nil
			}
			d := new(big.Rat).Sub(l[i], meanL)
			out.Add(out, d.Mul(d, new(big.Rat).Sub(r[i], meanR)))
		}
		return out
	}
	root := func(x *big.Rat) *big.Float {
		f := new(big.Float).SetPrec(500).SetRat(x)
		return f.Sqrt(f)
	}
	out, f := sum(xs, ys, meanX, meanY), 0.0
	xx, yy := sum(xs, xs, meanX, meanX), sum(ys, ys, meanY, meanY)
	flat := func(x *big.Rat) bool { return x != nil && x.Sign() == 0 }
	needed := out
	switch a.Kind {
	case expr.RegrSXX:
		needed = yy
	case expr.RegrSYY:
		needed = xx
	case expr.Corr:
		if flat(xx) || flat(yy) {
			return null, nil
		}
	case expr.RegrR2, expr.RegrSlope, expr.RegrIntercept:
		if flat(yy) {
			return null, nil
		}
		if a.Kind == expr.RegrR2 && flat(xx) {
			return table.Float(1), nil
		}
	}
	if needed == nil {
		return table.Float(math.NaN()), nil
	}
	switch a.Kind {
	case expr.RegrSXX, expr.RegrSYY, expr.RegrSXY:
		f, _ = needed.Float64()
	case expr.RegrSlope, expr.RegrIntercept, expr.RegrR2:
		slope := new(big.Rat).Quo(out, yy)
		switch {
		case a.Kind == expr.RegrSlope:
			f, _ = slope.Float64()
		case a.Kind == expr.RegrIntercept:
			f, _ = meanX.Sub(meanX, meanY.Mul(meanY, slope)).Float64()
		default:
			f, _ = slope.Mul(slope, out.Quo(out, xx)).Float64()
		}
	case expr.Corr:
		c := new(big.Float).SetPrec(500).SetRat(out)
		f, _ = c.Quo(c, root(xx.Mul(xx, yy))).Float64()
	case expr.StddevPop, expr.StddevSamp:
		f, _ = root(out.Quo(out, by)).Float64()
	default:
		f, _ = out.Quo(out, by).Float64()
	}
	if math.IsInf(f, 0) {
		return null, partial.ErrOverflow
	}
	return table.Float(f), nil
}
