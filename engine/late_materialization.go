package engine

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/stencildb/stencildb/cpu/vector"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/ingest/arrays"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// gather computes select items of selected rows of a table: columns from their codes,
// all else as a [vector.Evaluator] does.
type gather struct {
	table   *table.Table
	items   []plan.Item
	columns arrays.Columns
	plain   bool // texts come without a dictionary
}

// batch computes the items of a block of rows. If a row raises an error, it gives the rows before it and the
// error. The error is that of the first such row, and in it that of the first item.
func (g *gather) batch(eval *vector.Evaluator, b table.Block) (batch, error) {
	v := &vectors{gather: g, eval: eval, chunk: b.In(g.table), block: b}
	var out computed
	var failed error
	for _, item := range g.items {
		a, err := v.item(item.E)
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
			arrays.AppendValue(b, row[i])
		}
		out = append(out, b.NewArray())
		b.Release()
	}
	return out
}

// vectors computes expressions over one block of rows.
type vectors struct {
	*gather
	eval  *vector.Evaluator
	chunk *table.Chunk
	block table.Block
}

// item computes a select item. Where a row raises an error the array ends before it.
func (v *vectors) item(e expr.Expr) (arrow.Array, error) {
	if c, ok := e.(*expr.Column); ok {
		if s := v.chunk.Segments[c.Index]; !v.plain || s.Type.Kind != table.Varchar {
			return v.columns.Array(s, v.block), nil
		} else {
			return texts(s, v.block), nil
		}
	}
	t := e.Type()
	if t.Kind != table.Array && (t.Kind != table.Decimal || t.Precision <= 38) {
		x, err := v.eval.Vector(e, v.chunk, v.block)
		return arrayOf(x, t), err
	}
	b := array.NewBuilder(memory.DefaultAllocator, arrays.TypeOf(t))
	defer b.Release()
	of := v.eval.At(e, v.chunk)
	for k := range v.block.Len() {
		x, err := of(v.block.Row(k))
		if err != nil {
			return b.NewArray(), err
		}
		arrays.AppendValue(b, x)
	}
	return b.NewArray(), nil
}

// arrayOf is a vector in Arrow.
func arrayOf(x expr.Vector, t table.Type) arrow.Array {
	to, n := arrays.TypeOf(t), x.Len()
	var values []byte
	switch t.Kind {
	case table.SmallInt:
		values = arrow.Int16Traits.CastToBytes(narrowed[int16](x.Ints))
	case table.Integer:
		values = arrow.Int32Traits.CastToBytes(narrowed[int32](x.Ints))
	case table.BigInt, table.Timestamp:
		values = arrow.Int64Traits.CastToBytes(x.Ints)
	case table.Double:
		values = arrow.Float64Traits.CastToBytes(x.Floats)
	}
	if values != nil {
		var valid *memory.Buffer
		nulls := 0
		if x.Valid != nil {
			valid = memory.NewBufferBytes(x.Valid)
			nulls = n - bitutil.CountSetBits(x.Valid, 0, n)
		}
		return array.MakeFromData(array.NewData(to, n, []*memory.Buffer{valid, memory.NewBufferBytes(values)}, nil, nulls, 0))
	}
	b := array.NewBuilder(memory.DefaultAllocator, to)
	defer b.Release()
	b.Reserve(n)
	if texts, ok := b.(*array.StringBuilder); ok {
		bytes := 0
		for _, s := range x.Texts {
			bytes += len(s)
		}
		texts.ReserveData(bytes)
		for i, s := range x.Texts {
			if x.IsNull(i) {
				texts.AppendNull()
			} else {
				texts.Append(s)
			}
		}
		return b.NewArray()
	}
	for i := range n {
		arrays.AppendValue(b, x.Value(i, t))
	}
	return b.NewArray()
}

// narrowed are integers that a narrower type holds.
func narrowed[T int16 | int32](list []int64) []T {
	out := make([]T, len(list))
	for i, v := range list {
		out[i] = T(v)
	}
	return out
}
