package stats

import (
	"hash/fnv"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// minHits is from how many rows of a sample on their share is believed.
const minHits = 8

// selectivity is the part of a node's rows for which a condition on its columns is TRUE.
func (e *Estimates) selectivity(n plan.Node, where expr.Expr) float64 {
	if c, ok := where.(*expr.Const); ok {
		if c.V.Null || c.V.I == 0 {
			return 0
		}
		return 1
	}
	if a, ok := groupsOf(n); ok {
		part := 1.
		for _, c := range plan.Conjuncts(where) {
			part *= e.havingSelectivity(a, c)
		}
		return part
	}
	byTable := map[*plan.Scan][]expr.Expr{} // what reads one table, tried together; the rest one by one
	var scans []*plan.Scan
	part := 1.
	for _, c := range plan.Conjuncts(where) {
		s := e.onlyScan(n, c)
		if s == nil {
			part *= e.joinSelectivity(n, c)
			continue
		}
		if byTable[s] == nil {
			scans = append(scans, s)
		}
		byTable[s] = append(byTable[s], expr.Moved(c, func(c int) int { return e.origin(n, c).col }))
	}
	for _, s := range scans {
		part *= e.scanSelectivity(s, byTable[s])
	}
	return part
}

// groupsOf is the aggregation whose groups a node gives.
func groupsOf(n plan.Node) (*plan.Aggregate, bool) {
	if f, ok := n.(*plan.Filter); ok {
		return groupsOf(f.Input)
	}
	a, ok := n.(*plan.Aggregate)
	return a, ok
}

// scanSelectivity is the part of a table's rows for which conditions are TRUE. Where few rows of the sample satisfy them all, they are taken to
// be independent of each other.
func (e *Estimates) scanSelectivity(s *plan.Scan, list []expr.Expr) float64 {
	t := e.Table(s)
	sampled, hits, ok := sampleHits(t, plan.Conjunction(list))
	if !ok {
		part := 1.
		for _, c := range list {
			part *= e.guess(s, c)
		}
		return part
	}
	if sampled == 0 {
		return 0
	}
	m := float64(sampled)
	if hits >= minHits || sampled == t.Rows() {
		return float64(hits) / m
	}
	part := 1.
	for _, c := range list {
		_, alone, _ := sampleHits(t, c)
		if alone >= minHits {
			part *= float64(alone) / m
		} else {
			part *= min(e.guess(s, c), (float64(alone)+1)/m)
		}
	}
	if hits > 2 {
		part = max(part, float64(hits)/m/2)
	}
	return min(part, minHits/m)
}

// guess is the selectivity of a condition by its form.
func (e *Estimates) guess(s *plan.Scan, c expr.Expr) float64 {
	switch c := c.(type) {
	case *expr.Compare:
		column, ok := c.L.(*expr.Column)
		if !ok {
			column, ok = c.R.(*expr.Column)
		}
		if !ok {
			break
		}
		switch part := 1 / max(1, e.distinctOfColumn(s, column.Index, false)); c.Op {
		case expr.EQ:
			return part
		case expr.NE:
			return 1 - part
		}
	case *expr.In:
		if column, ok := c.X.(*expr.Column); ok {
			return min(1, float64(len(c.List))/max(1, e.distinctOfColumn(s, column.Index, false)))
		}
	case *expr.Not:
		return 1 - e.guess(s, c.X)
	}
	return defaultSelectivity
}

// joinSelectivity is the selectivity of a condition on columns of several tables, or of what is computed.
func (e *Estimates) joinSelectivity(n plan.Node, c expr.Expr) float64 {
	if l, r, _, ok := plan.Equality(c); ok {
		return 1 / max(1, e.domain(n, l), e.domain(n, r))
	}
	if needsExecution(c) {
		return defaultSelectivity
	}
	var read columnMissing
	test := compile(c, func(column int) func(int, *table.Value) {
		return e.randomRows(n, e.origin(n, column), &read)
	}, &read)
	if test == nil {
		return defaultSelectivity
	}
	hits := 0
	const tries = 1 << 10
	for i := range tries {
		if v, err := test(i); err == nil && !v.Null && v.I != 0 {
			hits++
		}
	}
	return (float64(hits) + 0.5) / (tries + 1)
}

// columnMissing says that a column was asked for that has no values.
type columnMissing bool

// compile is a condition ready to be tried; nil where columns that it reads have not been read.
func compile(c expr.Expr, read expr.Reader, missing *columnMissing) (test func(i int) (table.Value, error)) {
	defer func() {
		if *missing {
			recover() // what the reader has left out
			test = nil
		}
	}()
	return expr.At(c, read, false)
}

// randomRows reads a column in rows that pass the filter of its table. Its random rows are independent of those of the other tables.
func (e *Estimates) randomRows(n plan.Node, o origin, missing *columnMissing) func(int, *table.Value) {
	var t *table.Table
	if o.scan != nil {
		t = e.Table(o.scan)
	}
	if t == nil || len(t.Chunks) == 0 || t.Chunks[0].Segments[o.col] == nil {
		*missing = true
		return nil
	}
	var places []int
	passing := func(int) bool { return true }
	plan.Walk(n, func(n plan.Node, _ int) {
		if f, ok := n.(*plan.Filter); ok && f.Input == plan.Node(o.scan) && t.Has(expr.Columns(f.Where)) && !needsExecution(f.Where) {
			test := expr.At(f.Where, expr.Rows(t.Chunks[0]), false)
			passing = func(i int) bool {
				v, err := test(i)
				return err == nil && !v.Null && v.I != 0
			}
		}
	})
	for _, p := range t.Sample() {
		if p.Chunk == 0 && passing(p.Row) {
			places = append(places, p.Row)
		}
	}
	if len(places) == 0 {
		*missing = true
		return nil
	}
	of := fnv.New64a() // another walk for each table
	_, _ = of.Write([]byte(o.scan.String()))
	draw := rand.New(rand.NewPCG(of.Sum64(), 0))
	var drawn []int
	read := expr.Rows(t.Chunks[0])(o.col)
	return func(i int, to *table.Value) {
		for i >= len(drawn) {
			drawn = append(drawn, places[draw.IntN(len(places))])
		}
		read(drawn[i], to)
	}
}

// sampleHits counts the rows of a table's sample, and those of them for which a condition on its columns is TRUE.
func sampleHits(t *table.Table, where expr.Expr) (sampled, hits int, ok bool) {
	ok = evaluateOnSample(t, where, func(v table.Value, err error) {
		sampled++
		if err == nil && !v.Null && v.I != 0 {
			hits++
		}
	})
	return sampled, hits, ok
}

// evaluateOnSample computes an expression for the rows of a table's sample. It is not ok where columns have not been read, or the
// expression has parts that only the whole statement can compute.
func evaluateOnSample(t *table.Table, x expr.Expr, do func(table.Value, error)) (ok bool) {
	if t == nil || !t.Has(expr.Columns(x)) || needsExecution(x) {
		return false
	}
	for list := t.Sample(); len(list) > 0; {
		b := table.Block{Chunk: list[0].Chunk, Rows: []uint32{}}
		for len(list) > 0 && list[0].Chunk == b.Chunk {
			b.Rows, list = append(b.Rows, uint32(list[0].Row)), list[1:]
		}
		c := b.In(t)
		if values, ok := expr.Compute(x, expr.BlockRows{Chunk: c, Block: b}); ok {
			for i := range b.Rows {
				do(values.Value(i, x.Type()), nil)
			}
			continue
		}
		at := expr.At(x, expr.Rows(c), false)
		for _, row := range b.Rows {
			do(at(int(row)))
		}
	}
	return true
}

// needsExecution reports an expression with parts that have no value before the statement runs.
func needsExecution(x expr.Expr) bool {
	found := plan.IsCorrelated(x)
	expr.Walk(x, func(x expr.Expr) {
		switch x.(type) {
		case *expr.AggRef, *expr.Window, *expr.SubColumn:
			found = true
		}
	})
	return found
}

// sampledDistinct is how many values an expression over one table has, by the sample.
func (e *Estimates) sampledDistinct(n plan.Node, x expr.Expr) (float64, bool) {
	s := e.onlyScan(n, x)
	if s == nil {
		return 0, false
	}
	t := e.Table(s)
	seen, sampled := map[string]bool{}, 0
	if !evaluateOnSample(t, expr.Moved(x, func(c int) int { return e.origin(n, c).col }), func(v table.Value, err error) {
		if sampled++; err == nil && !v.Null {
			seen[v.String()] = true
		}
	}) {
		return 0, false
	}
	d := float64(len(seen))
	if rows := float64(t.Rows()); d > float64(sampled)/2 { // there are more
		d *= rows / max(1, float64(sampled))
	}
	return d, true
}

// havingSelectivity is the part of groups for which a condition is TRUE. The sum over a group of k random rows has the mean k·E(x) and the
// variance k·E(x²) (a compound Poisson distribution). It is taken to be normal.
func (e *Estimates) havingSelectivity(a *plan.Aggregate, c expr.Expr) float64 {
	cmp, ok := c.(*expr.Compare)
	if !ok {
		return defaultSelectivity
	}
	l, r, op := cmp.L, cmp.R, cmp.Op
	if _, ok := l.(*expr.Const); ok {
		l, r, op = r, l, op.Swap()
	}
	for cast, ok := l.(*expr.Cast); ok; cast, ok = l.(*expr.Cast) {
		l = cast.X
	}
	ref, ok := l.(*expr.AggRef)
	bound, constant := constantNumber(r)
	if !ok || !constant || ref.Index < len(a.Keys) || ref.Index-len(a.Keys) >= len(a.Aggs) {
		return defaultSelectivity
	}
	g := a.Aggs[ref.Index-len(a.Keys)]
	k := e.Rows(a.Input) / max(1, e.Rows(a))
	mean, square := 1., 1.
	if g.Kind != expr.CountAll && g.Kind != expr.Count {
		if mean, square, ok = e.moments(a.Input, g); !ok {
			return defaultSelectivity
		}
	}
	centre, variance := k*mean, k*square
	switch g.Kind {
	case expr.Avg:
		centre, variance = mean, max(0, square-mean*mean)/k
	case expr.Sum, expr.Count, expr.CountAll:
	default:
		return defaultSelectivity
	}
	below := 0.5
	if sd := math.Sqrt(variance); sd > 0 {
		below = 0.5 * math.Erfc((centre-bound)/sd/math.Sqrt2)
	} else if bound < centre {
		below = 0
	} else if bound > centre {
		below = 1
	}
	switch op {
	case expr.LT, expr.LE:
		return below
	case expr.GT, expr.GE:
		return 1 - below
	case expr.NE:
		return 1
	}
	return min(1, 1/max(1, math.Sqrt(2*math.Pi*variance)))
}

// moments are the means of an aggregate's operand and of its square, by the sample of its table.
func (e *Estimates) moments(n plan.Node, g expr.Aggregate) (mean, square float64, ok bool) {
	x := g.Argument()
	s := e.onlyScan(n, x)
	if s == nil {
		return 0, 0, false
	}
	count := 0.
	ok = evaluateOnSample(e.Table(s), expr.Moved(x, func(c int) int { return e.origin(n, c).col }), func(v table.Value, err error) {
		if f, ok := numeric(v); ok && err == nil {
			mean, square, count = mean+f, square+f*f, count+1
		}
	})
	return mean / max(1, count), square / max(1, count), ok && count > 0
}

// constantNumber is the value of a constant; not ok for anything else.
func constantNumber(x expr.Expr) (float64, bool) {
	for cast, ok := x.(*expr.Cast); ok; cast, ok = x.(*expr.Cast) {
		x = cast.X
	}
	if c, ok := x.(*expr.Const); ok {
		return numeric(c.V)
	}
	return 0, false
}

// numeric is a number, a date or a time; not ok for other values.
func numeric(v table.Value) (float64, bool) {
	switch {
	case v.Null || v.Type.Kind == table.Varchar || v.Type.Kind == table.Interval:
		return 0, false
	case v.Type.IsFloat():
		return v.F, true
	case v.Big != nil:
		f, _ := new(big.Float).SetInt(v.Big).Float64()
		return f / math.Pow10(v.Type.Scale), true
	}
	return float64(v.I) / math.Pow10(v.Type.Scale), true
}
