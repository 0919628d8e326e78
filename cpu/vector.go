package cpu

import (
	"math"
	"math/big"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Vector is the values of an expression in some rows, one a row; only one of the first three
// is not nil.
type Vector struct {
	Floats []float64 // REAL and DOUBLE PRECISION
	Texts  []string  // VARCHAR
	Ints   []int64   // all other types, as in [table.Value]; of intervals also the months, 30 days each
	Highs  []int64   // the upper halves of DECIMALs of 128 bits, whose lower halves are Ints; nil where 64 bits do
	Valid  []byte    // one bit a row, set for a value; nil where no row is NULL
	// Spans are those of intervals, as [table.Segment] has them; of equal ones any. Nil where no interval has one.
	Spans map[int64]table.Span
}

// Len is the number of rows.
func (x *Vector) Len() int { return max(len(x.Floats), len(x.Texts), len(x.Ints)) }

// IsNull reports that row i is NULL.
func (x *Vector) IsNull(i int) bool { return x.Valid != nil && x.Valid[i/8]>>(i%8)&1 == 0 }

// Evaluator computes expressions over blocks of rows, for one goroutine: plain arithmetic in
// loops over vectors, what reads one column of few codes once a code, all else row by row.
// DECIMALs may have up to 38 digits.
type Evaluator struct{ memo map[memoKey][]evaluated }

// memoKey is an expression over one column of few codes.
type memoKey struct {
	segment *table.Segment
	e       expr.Expr
}

type evaluated struct {
	value table.Value
	err   error
	known bool
}

const (
	// keptCodes is up to how many codes of a column an expression over it is kept for.
	keptCodes = 1 << 12
	// fewMemos is for how many expressions and segments.
	fewMemos = 64
)

// At evaluates an expression in a row of a chunk by its definition; one over a column of few
// codes once a code.
func (v *Evaluator) At(e expr.Expr, c *table.Chunk) func(row int) (table.Value, error) {
	of := expr.Compile(e, expr.Rows(c), true)
	eval := func(row int) (table.Value, error) {
		x, err := of(row)
		if err == nil {
			err = checkDigits(x, e, max(mostDigits, e.Type().Precision))
		}
		return x, err
	}
	segment, ok := ofKeptCodes(e, c)
	if !ok {
		return eval
	}
	key := memoKey{segment, e}
	known := v.memo[key]
	if known == nil {
		if v.memo == nil || len(v.memo) >= fewMemos {
			v.memo = map[memoKey][]evaluated{}
		}
		known = make([]evaluated, segment.Max+2) // the last for NULL
		v.memo[key] = known
	}
	return func(row int) (table.Value, error) {
		code := segment.Codes.At(row)
		if segment.IsNull(row) {
			code = segment.Max + 1
		}
		x := &known[code]
		if !x.known {
			x.value, x.err = eval(row)
			x.known = true
		}
		return x.value, x.err
	}
}

// ofKeptCodes is the segment of the one column that an expression reads, where it has few
// codes.
func ofKeptCodes(e expr.Expr, c *table.Chunk) (s *table.Segment, ok bool) {
	cols := expr.Columns(e)
	if len(cols) != 1 {
		return nil, false
	}
	s = c.Segments[cols[0]]
	return s, s.Max < keptCodes
}

// Numbers computes the numbers and truth values of an expression in loops over vectors; ok is
// false where it has a part for which there is none, where a row raises an error, and where one
// has a DECIMAL of more than 64 bits.
func (v *Evaluator) Numbers(e expr.Expr, c *table.Chunk, b table.Block) (x Vector, ok bool) {
	return (&numbers{v, c, b}).vector(e)
}

// numbers computes expressions over the rows of a block.
type numbers struct {
	*Evaluator
	chunk *table.Chunk
	block table.Block
}

// column is the values of a column.
func (v *numbers) column(i int) (x Vector) { return v.columnIn(new([]int64), i) }

// columnIn is the values of a column, integers in room that it may make larger.
func (v *numbers) columnIn(room *[]int64, i int) (x Vector) {
	s := v.chunk.Segments[i]
	x.Valid, _ = s.Validity(v.block)
	switch {
	case s.Type.Kind == table.Varchar:
		x.Texts = make([]string, v.block.Len())
		for k := range x.Texts {
			if !x.IsNull(k) {
				x.Texts[k] = s.Dict[s.Codes.At(v.block.Row(k))]
			}
		}
	case s.Type.IsFloat():
		x.Floats = s.Doubles(v.block)
	default:
		n, base := v.block.Len(), table.IntFromOrdinal(s.Base)
		if s.Type.Kind == table.Boolean {
			base = int64(s.Base)
		}
		x.Ints = slices.Grow((*room)[:0], n)[:n]
		table.GatherInto(x.Ints, s.Codes, v.block, base)
		x.Spans = s.Spans
		*room = x.Ints
	}
	return x
}

// vector computes an expression: what it is made of where there is a loop for it, else once a
// code of the one column that it reads.
func (v *numbers) vector(e expr.Expr) (x Vector, ok bool) {
	switch e := e.(type) {
	case *expr.Column:
		return v.column(e.Index), true
	case *expr.Const:
		return constant(e.V, v.block.Len())
	case *expr.Cast:
		if x, ok := v.cast(e); ok {
			return x, true
		}
	case *expr.Neg:
		return v.negated(e)
	case *expr.Arith:
		if computes(e) {
			return v.arith(e)
		}
	case *expr.Call:
		if (e.Fn == expr.Case || e.Fn == expr.Coalesce) && e.T.Kind != table.Interval {
			return v.choice(e)
		}
	default:
		if x, ok := v.truth(e); ok {
			return x, true
		}
	}
	return v.byCode(e)
}

// byCode computes what reads one column of few codes.
func (v *numbers) byCode(e expr.Expr) (x Vector, ok bool) {
	if _, ok := ofKeptCodes(e, v.chunk); !ok {
		return x, false
	}
	x, err := v.byRow(e, v.chunk, v.block)
	return x, err == nil && x.Highs == nil
}

// constant is a value in n rows.
func constant(c table.Value, n int) (x Vector, ok bool) {
	switch {
	case c.Null:
		return nulls(c.Type, n), true
	case c.Big != nil || c.Type.Kind == table.Interval:
		return x, false
	case c.Type.IsFloat():
		return Vector{Floats: fill(n, c.F)}, true
	case c.Type.Kind == table.Varchar:
		return Vector{Texts: fill(n, c.S)}, true
	}
	return Vector{Ints: fill(n, c.I)}, true
}

// empty is room for n values of a type.
func empty(t table.Type, n int) (x Vector) {
	switch {
	case t.IsFloat():
		x.Floats = make([]float64, n)
	case t.Kind == table.Varchar:
		x.Texts = make([]string, n)
	default:
		x.Ints = make([]int64, n)
	}
	return x
}

// nulls is n times NULL.
func nulls(t table.Type, n int) Vector {
	x := empty(t, n)
	x.Valid = make([]byte, (n+7)/8)
	return x
}

// cast is a conversion that no value fails.
func (v *numbers) cast(e *expr.Cast) (x Vector, ok bool) {
	from, to := e.X.Type(), e.To
	whole := from.Precision - from.Scale // digits before the point
	if from.IsInteger() {
		whole = 19
	}
	switch {
	case from.IsInteger() && (to.IsInteger() && table.Wider(from, to) == to || to == table.Type{Kind: table.Decimal, Precision: 18}):
		return v.vector(e.X)
	case from.IsExact() && to.Kind == table.Decimal && to.Scale >= from.Scale && to.Precision-to.Scale >= whole:
		if x, ok = v.vector(e.X); !ok {
			return x, false
		}
		return x.scaled(to.Scale - from.Scale)
	case to.Kind != table.Double || !from.IsNumeric() || from.Scale > 22:
		return x, false
	}
	if x, ok = v.vector(e.X); !ok || x.Floats != nil {
		return x, ok
	}
	x.Floats = make([]float64, len(x.Ints))
	unit, _ := new(big.Float).SetInt(table.Pow10(from.Scale)).Float64() // 10^22 is a double
	for i, k := range x.Ints {
		if from.Scale > 0 && (k > 1<<53 || k < -1<<53) {
			return x, false
		}
		x.Floats[i] = float64(k) / unit
	}
	x.Ints = nil
	return x, true
}

func (v *numbers) negated(e *expr.Neg) (x Vector, ok bool) {
	x, ok = v.vector(e.X)
	switch {
	case !ok || e.Type().Kind == table.Real || e.Type().Kind == table.Interval:
		return x, false
	case x.Floats != nil:
		return Vector{Floats: fill(len(x.Floats), math.Copysign(0, -1))}.combine(expr.Sub, x)
	}
	x, ok = Vector{Ints: make([]int64, len(x.Ints))}.combine(expr.Sub, x)
	return x, ok && x.within(e.Type())
}

// computes reports arithmetic of integers, of DECIMALs or of doubles.
func computes(e *expr.Arith) bool {
	l, r := e.L.Type(), e.R.Type()
	switch e.T.Kind {
	case table.SmallInt, table.Integer, table.BigInt:
		return l.IsInteger() && r.IsInteger()
	case table.Decimal:
		return e.Op <= expr.Mul && e.T.Scale <= 18 && l.Kind == e.T.Kind && r.Kind == e.T.Kind
	}
	return e.T.Kind == table.Double && l.Kind == e.T.Kind && r.Kind == e.T.Kind
}

func (v *numbers) arith(e *expr.Arith) (x Vector, ok bool) {
	if x, ok = v.vector(e.L); !ok {
		return x, false
	}
	y, ok := v.vector(e.R)
	if ok && e.T.Kind == table.Decimal && e.Op != expr.Mul {
		x, y, ok = aligned(x, y, e.T.Scale-e.L.Type().Scale, e.T.Scale-e.R.Type().Scale)
	}
	if !ok {
		return x, false
	}
	if k := e.T.Kind; k == table.SmallInt || k == table.Integer {
		x, ok = x.combineNarrow(e.Op, y)
		return x, ok && x.within(e.T)
	}
	return x.combine(e.Op, y)
}

// combineNarrow computes x op= y of integers of at most 32 bits, of which 64 bits hold all results.
func (x Vector) combineNarrow(op expr.ArithOp, y Vector) (_ Vector, ok bool) {
	ys := y.Ints[:len(x.Ints)]
	switch op {
	case expr.Add:
		for i, v := range ys {
			x.Ints[i] += v
		}
	case expr.Sub:
		for i, v := range ys {
			x.Ints[i] -= v
		}
	case expr.Mul:
		for i, v := range ys {
			x.Ints[i] *= v
		}
	default:
		return x.combine(op, y)
	}
	x.Valid = both(x.Valid, y.Valid)
	return x, true
}

// within reports that an integer type holds all values.
func (x *Vector) within(t table.Type) bool {
	lo, hi := t.Limits()
	if lo == math.MinInt64 {
		return true
	}
	least, most := int64(0), int64(0)
	for _, i := range x.Ints {
		least, most = min(least, i), max(most, i)
	}
	if lo <= least && most <= hi {
		return true
	}
	for i, v := range x.Ints {
		if (v < lo || v > hi) && !x.IsNull(i) {
			return false
		}
	}
	return true
}

// aligned is DECIMALs with so many digits more behind the point.
func aligned(x, y Vector, xs, ys int) (_, _ Vector, ok bool) {
	if x, ok = x.scaled(xs); ok {
		y, ok = y.scaled(ys)
	}
	return x, y, ok
}

// scaled is DECIMALs with so many digits more behind the point.
func (x Vector) scaled(digits int) (_ Vector, ok bool) {
	if digits <= 0 || digits > 18 {
		return x, digits == 0
	}
	return x.combine(expr.Mul, Vector{Ints: fill(len(x.Ints), table.Pow10(digits).Int64())})
}

// combine computes x op= y.
func (x Vector) combine(op expr.ArithOp, y Vector) (_ Vector, ok bool) {
	x.Valid = both(x.Valid, y.Valid)
	for i, l := range x.Ints {
		if x.Ints[i], ok, _ = expr.IntOp(op, l, y.Ints[i]); !ok && !x.IsNull(i) {
			return x, false
		}
	}
	for i, l := range x.Floats {
		var wrong string
		if x.Floats[i], wrong = expr.FloatOp(op, l, y.Floats[i]); wrong != "" && !x.IsNull(i) {
			return x, false
		}
	}
	return x, true
}

// both is the rows that are valid in two vectors.
func both(a, b []byte) []byte {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	out := make([]byte, min(len(a), len(b)))
	for i := range out {
		out[i] = a[i] & b[i]
	}
	return out
}

func fill[T int64 | float64 | string](n int, x T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = x
	}
	return out
}

// Vector computes any expression. Where a row raises an error it has the rows before that one.
func (v *Evaluator) Vector(e expr.Expr, c *table.Chunk, b table.Block) (x Vector, err error) {
	if x, ok := v.Numbers(e, c, b); ok {
		return x, nil
	}
	return v.byRow(e, c, b)
}

// byRow is Vector row by row.
func (v *Evaluator) byRow(e expr.Expr, c *table.Chunk, b table.Block) (Vector, error) {
	n := b.Len()
	x, at := empty(e.Type(), n), v.At(e, c)
	for i := range n {
		r, err := at(b.Row(i))
		if err == nil {
			err = x.set(i, n, r, e)
		}
		if err != nil {
			return x.cut(i), err
		}
	}
	return x, nil
}

// null makes row i of n NULL.
func (x *Vector) null(i, n int) {
	if x.Valid == nil {
		x.Valid = make([]byte, (n+7)/8)
		for k := range x.Valid {
			x.Valid[k] = 0xff
		}
	}
	x.Valid[i/8] &^= 1 << (i % 8)
}

// set makes a value that of row i of n.
func (x *Vector) set(i, n int, r table.Value, e expr.Expr) error {
	switch {
	case r.Null:
		x.null(i, n)
		return nil
	case x.Floats != nil:
		x.Floats[i] = r.F
		return nil
	case x.Texts != nil:
		x.Texts[i] = r.S
		return nil
	}
	if r.Span != (table.Span{}) { // as intervals compare
		us := r.Unscaled()
		if x.Ints[i] = us.Int64(); !us.IsInt64() {
			return expr.Errorf(e.Pos(), "%s", expr.OutOfRange(r.Type))
		}
		if x.Spans == nil {
			x.Spans = map[int64]table.Span{}
		}
		x.Spans[x.Ints[i]] = r.Span
		return nil
	}
	if r.Big == nil && x.Highs == nil {
		x.Ints[i] = r.I
		return nil
	}
	if err := checkDigits(r, e, mostDigits); err != nil {
		return err
	}
	if x.Highs == nil {
		x.Highs = make([]int64, n)
		for k, low := range x.Ints[:i] {
			x.Highs[k] = low >> 63
		}
	}
	w := wideOf(r.Unscaled())
	x.Ints[i], x.Highs[i] = int64(w.lo), w.hi
	return nil
}

// mostDigits is how many digits a DECIMAL has that is not a constant.
const mostDigits = 38

// Eval evaluates an expression of a select list by its definition, as [Evaluator.At] does in a row.
func Eval(e expr.Expr, env *expr.Env) (table.Value, error) {
	v, err := expr.Eval(e, env)
	if err == nil {
		err = checkDigits(v, e, max(mostDigits, e.Type().Precision))
	}
	return v, err
}

// checkDigits is an error for a DECIMAL of e that has more digits than these.
func checkDigits(v table.Value, e expr.Expr, digits int) error {
	if v.Big == nil || v.Big.CmpAbs(table.Pow10(digits)) < 0 {
		return nil
	}
	return expr.Errorf(e.Pos(), "%s: more than %d digits", expr.OutOfRange(v.Type), digits)
}

// cut is the first n rows.
func (x Vector) cut(n int) Vector {
	x.Floats, x.Texts, x.Ints = x.Floats[:min(n, len(x.Floats))], x.Texts[:min(n, len(x.Texts))], x.Ints[:min(n, len(x.Ints))]
	return x
}

// compact is the rows that are not NULL, with their groups.
func (x Vector) compact(groups []uint32) (Vector, []uint32) {
	if x.Valid == nil {
		return x, groups
	}
	out, kept := Vector{Spans: x.Spans}, make([]uint32, 0, len(groups))
	for i, g := range groups {
		if x.IsNull(i) {
			continue
		}
		kept = append(kept, g)
		switch {
		case x.Floats != nil:
			out.Floats = append(out.Floats, x.Floats[i])
		case x.Texts != nil:
			out.Texts = append(out.Texts, x.Texts[i])
		default:
			out.Ints = append(out.Ints, x.Ints[i])
			if x.Highs != nil {
				out.Highs = append(out.Highs, x.Highs[i])
			}
		}
	}
	return out, kept
}
