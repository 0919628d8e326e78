package engine

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/table"
)

// vectors computes expressions over one block of rows.
type vectors struct {
	*gather
	memo  *memo
	chunk *table.Chunk
	block table.Block
}

// item computes select item i. Where a row raises an error the array ends before it.
func (v *vectors) item(i int, e expr.Expr) (arrow.Array, error) {
	if c, ok := e.(*expr.Column); ok {
		return v.columns.Array(v.chunk.Segments[c.Index], v.block), nil
	}
	if plain(e) {
		x, n, err := v.vector(e, v.block.Len())
		return x.array(ingest.ArrowType(e.Type()), n), err
	}
	b := array.NewBuilder(memory.DefaultAllocator, ingest.ArrowType(e.Type()))
	defer b.Release()
	b.Reserve(v.block.Len())
	of := v.each(i, e)
	for k := range v.block.Len() {
		x, err := of(v.block.Row(k))
		if err != nil {
			return b.NewArray(), err
		}
		ingest.AppendValue(b, x)
	}
	return b.NewArray(), nil
}

// memo is what one worker keeps of expressions over one column of few codes.
type memo struct {
	chunk *table.Chunk
	items map[int]map[uint64]outcome // by item and code
}

type outcome struct {
	value table.Value
	err   error
}

// fewCodes is up to how many codes of a column an expression over it is kept for.
const fewCodes = 1 << 12

// each evaluates an expression in a row of the chunk by its definition; one over a column
// of few codes once a code.
func (v *vectors) each(item int, e expr.Expr) func(row int) (table.Value, error) {
	row := 0
	env := &expr.Env{Column: func(i int) table.Value { return v.chunk.Segments[i].Value(row) }}
	eval := func(r int) (table.Value, error) {
		row = r
		return expr.Eval(e, env)
	}
	cols := expr.Columns(e)
	if len(cols) != 1 || v.chunk.Segments[cols[0]].Max >= fewCodes {
		return eval
	}
	if v.memo.chunk != v.chunk {
		*v.memo = memo{v.chunk, map[int]map[uint64]outcome{}}
	}
	if v.memo.items[item] == nil {
		v.memo.items[item] = map[uint64]outcome{}
	}
	s, kept := v.chunk.Segments[cols[0]], v.memo.items[item]
	return func(r int) (table.Value, error) {
		code := s.Codes.At(r)
		if s.IsNull(r) {
			code = math.MaxUint64
		}
		o, ok := kept[code]
		if !ok {
			o.value, o.err = eval(r)
			kept[code] = o
		}
		return o.value, o.err
	}
}

// vector is numbers, one a row: integers or doubles.
type vector struct {
	ints   []int64
	floats []float64
	valid  []byte // one bit a row; nil where there are no NULLs
}

// plain reports arithmetic of integers, or of doubles, over columns and constants.
func plain(e expr.Expr) bool {
	t := e.Type()
	if !t.IsInteger() && t.Kind != table.Double {
		return false
	}
	switch e := e.(type) {
	case *expr.Column:
		return true
	case *expr.Const:
		return !e.V.Null
	case *expr.Neg:
		return plain(e.X)
	case *expr.Cast:
		c, ok := e.X.(*expr.Column)
		return t.Kind == table.Double && (plain(e.X) || ok && c.T.Kind == table.Real)
	case *expr.Arith:
		return plain(e.L) && plain(e.R) && e.L.Type().IsInteger() == t.IsInteger() && e.R.Type().IsInteger() == t.IsInteger()
	}
	return false
}

// vector computes a plain expression for the first n rows; where one raises an error, for
// the rows before it, and returns how many these are.
func (v *vectors) vector(e expr.Expr, n int) (vector, int, error) {
	switch e := e.(type) {
	case *expr.Column:
		s := v.chunk.Segments[e.Index]
		valid, _ := s.Validity(v.block)
		if s.Type.IsFloat() {
			return vector{floats: s.Doubles(v.block), valid: valid}, n, nil
		}
		return vector{ints: table.Gather(s.Codes, v.block, table.IntFromOrdinal(s.Base)), valid: valid}, n, nil
	case *expr.Const:
		if e.V.Type.IsFloat() {
			return vector{floats: fill(n, e.V.F)}, n, nil
		}
		return vector{ints: fill(n, e.V.I)}, n, nil
	case *expr.Neg:
		x, n, err := v.vector(e.X, n)
		if x.floats != nil {
			for i, f := range x.floats {
				x.floats[i] = -f
			}
			return x, n, err
		}
		zero := vector{ints: fill(n, int64(0))}
		return zero.integers(expr.Sub, x, n, e, err)
	case *expr.Cast:
		x, n, err := v.vector(e.X, n)
		if x.floats == nil {
			x.floats = make([]float64, len(x.ints))
			for i, k := range x.ints {
				x.floats[i] = float64(k)
			}
			x.ints = nil
		}
		return x, n, err
	}
	a := e.(*expr.Arith)
	l, n, failed := v.vector(a.L, n)
	r, n, err := v.vector(a.R, n)
	if err != nil {
		failed = err // of an earlier row
	}
	if a.T.IsInteger() {
		return l.integers(a.Op, r, n, a, failed)
	}
	return l.doubles(a.Op, r, n, a, failed)
}

// integers computes l op= r, for n rows; failed is the error of the row after them.
func (l vector) integers(op expr.ArithOp, r vector, n int, e expr.Expr, failed error) (vector, int, error) {
	l.valid = both(l.valid, r.valid)
	for i, x := range l.ints[:n] {
		y, ok, zero := expr.IntOp(op, x, r.ints[i])
		if !ok && (l.valid == nil || bitutil.BitIsSet(l.valid, i)) {
			if zero {
				return l, i, expr.Errorf(e.Pos(), expr.MsgDivisionByZero)
			}
			return l, i, expr.Errorf(e.Pos(), "%s", expr.OutOfRange(e.Type()))
		}
		l.ints[i] = y
	}
	return l, n, failed
}

// doubles is integers of doubles.
func (l vector) doubles(op expr.ArithOp, r vector, n int, e expr.Expr, failed error) (vector, int, error) {
	l.valid = both(l.valid, r.valid)
	for i, x := range l.floats[:n] {
		y, msg := expr.FloatOp(op, x, r.floats[i])
		if msg != "" && (l.valid == nil || bitutil.BitIsSet(l.valid, i)) {
			return l, i, expr.Errorf(e.Pos(), "%s", msg)
		}
		l.floats[i] = y
	}
	return l, n, failed
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

func fill[T int64 | float64](n int, x T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = x
	}
	return out
}

// array is the first n rows.
func (x vector) array(t arrow.DataType, n int) arrow.Array {
	var values []byte
	if x.floats != nil {
		values = arrow.Float64Traits.CastToBytes(x.floats[:n])
	} else {
		values = arrow.Int64Traits.CastToBytes(x.ints[:n])
	}
	var valid *memory.Buffer
	nulls := 0
	if x.valid != nil {
		valid = memory.NewBufferBytes(x.valid)
		nulls = n - bitutil.CountSetBits(x.valid, 0, n)
	}
	return array.MakeFromData(array.NewData(t, n, []*memory.Buffer{valid, memory.NewBufferBytes(values)}, nil, nulls, 0))
}
