package engine

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// gather computes select items of selected rows of a table: columns from their codes,
// plain arithmetic in loops over vectors, what reads one column of few codes once a
// code, all else row by row.
type gather struct {
	table   *table.Table
	items   []plan.Item
	columns ingest.Columns
}

// batch computes the items of a block of rows. Where a row raises an error, it gives the
// rows before it and the error: that of the first such row, and in it of the first item.
func (g *gather) batch(m memo, b table.Block) (batch, error) {
	v := &vectors{gather: g, memo: m, chunk: g.table.Chunks[b.Chunk], block: b}
	var out computed
	var failed error
	for i, item := range g.items {
		a, err := v.item(i, item.E)
		if err != nil {
			failed = err
			v.block = v.block.Cut(0, a.Len())
		}
		out = append(out, a)
	}
	if n := v.block.Len(); n == 0 {
		return nil, failed
	} else if failed != nil {
		return out.cut(0, n), failed
	}
	return out, nil
}

// computed is columns of values, of equal length.
type computed []arrow.Array

// Len implements batch.
func (c computed) Len() int { return c[0].Len() }

func (c computed) cut(i, j int) batch {
	out := make(computed, len(c))
	for k, a := range c {
		out[k] = array.NewSlice(a, int64(i), int64(j))
	}
	return out
}

// computed is the rows as columns of a schema.
func (v valueRows) computed(schema *arrow.Schema) (out computed) {
	for i, f := range schema.Fields() {
		b := array.NewBuilder(memory.DefaultAllocator, f.Type)
		for _, row := range v {
			ingest.AppendValue(b, row[i])
		}
		out = append(out, b.NewArray())
		b.Release()
	}
	return out
}

// vectors computes expressions over one block of rows.
type vectors struct {
	*gather
	memo  memo
	chunk *table.Chunk
	block table.Block
}

// item computes select item i. Where a row raises an error the array ends before it.
func (v *vectors) item(i int, e expr.Expr) (arrow.Array, error) {
	if c, ok := e.(*expr.Column); ok {
		return v.columns.Array(v.chunk.Segments[c.Index], v.block), nil
	}
	t := ingest.ArrowType(e.Type())
	if plain(e) {
		if x, ok := v.vector(e); ok {
			return x.array(t), nil
		}
	}
	b := array.NewBuilder(memory.DefaultAllocator, t)
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
type memo map[memoKey]evaluated

type memoKey struct {
	segment *table.Segment
	item    int
	code    uint64 // NULL is the largest
}

type evaluated struct {
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
	if len(v.memo) > 16*fewCodes {
		clear(v.memo)
	}
	key := memoKey{segment: v.chunk.Segments[cols[0]], item: item}
	return func(r int) (table.Value, error) {
		key.code = key.segment.Codes.At(r)
		if key.segment.IsNull(r) {
			key.code = math.MaxUint64
		}
		x, ok := v.memo[key]
		if !ok {
			x.value, x.err = eval(r)
			v.memo[key] = x
		}
		return x.value, x.err
	}
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

// vector is numbers, one a row: integers or doubles.
type vector struct {
	ints   []int64
	floats []float64
	valid  []byte // one bit a row; nil where there are no NULLs
}

// vector computes a plain expression; ok is false where a row raises an error.
func (v *vectors) vector(e expr.Expr) (x vector, ok bool) {
	n := v.block.Len()
	switch e := e.(type) {
	case *expr.Column:
		s := v.chunk.Segments[e.Index]
		x.valid, _ = s.Validity(v.block)
		if s.Type.IsFloat() {
			x.floats = s.Doubles(v.block)
		} else {
			x.ints = table.Gather(s.Codes, v.block, table.IntFromOrdinal(s.Base))
		}
		return x, true
	case *expr.Const:
		if e.V.Type.IsFloat() {
			return vector{floats: fill(n, e.V.F)}, true
		}
		return vector{ints: fill(n, e.V.I)}, true
	case *expr.Cast:
		if x, ok = v.vector(e.X); ok && x.floats == nil {
			x.floats = make([]float64, n)
			for i, k := range x.ints {
				x.floats[i] = float64(k)
			}
			x.ints = nil
		}
		return x, ok
	case *expr.Neg:
		if x, ok = v.vector(e.X); !ok {
			return x, false
		}
		if x.floats != nil {
			return vector{floats: fill(n, math.Copysign(0, -1))}.combine(expr.Sub, x)
		}
		return vector{ints: make([]int64, n)}.combine(expr.Sub, x)
	}
	a := e.(*expr.Arith)
	if x, ok = v.vector(a.L); !ok {
		return x, false
	}
	r, ok := v.vector(a.R)
	if !ok {
		return x, false
	}
	return x.combine(a.Op, r)
}

// combine computes l op= r.
func (l vector) combine(op expr.ArithOp, r vector) (_ vector, ok bool) {
	l.valid = both(l.valid, r.valid)
	null := func(i int) bool { return l.valid != nil && !bitutil.BitIsSet(l.valid, i) }
	for i, x := range l.ints {
		if l.ints[i], ok, _ = expr.IntOp(op, x, r.ints[i]); !ok && !null(i) {
			return l, false
		}
	}
	for i, x := range l.floats {
		var wrong string
		if l.floats[i], wrong = expr.FloatOp(op, x, r.floats[i]); wrong != "" && !null(i) {
			return l, false
		}
	}
	return l, true
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

// array is the numbers in Arrow.
func (x vector) array(t arrow.DataType) arrow.Array {
	values, n := arrow.Int64Traits.CastToBytes(x.ints), len(x.ints)
	if x.floats != nil {
		values, n = arrow.Float64Traits.CastToBytes(x.floats), len(x.floats)
	}
	var valid *memory.Buffer
	nulls := 0
	if x.valid != nil {
		valid = memory.NewBufferBytes(x.valid)
		nulls = n - bitutil.CountSetBits(x.valid, 0, n)
	}
	return array.MakeFromData(array.NewData(t, n, []*memory.Buffer{valid, memory.NewBufferBytes(values)}, nil, nulls, 0))
}
