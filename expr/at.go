package expr

import (
	"github.com/stencildb/stencildb/table"
)

// Reader tells how the values of a column are read. It has the segment that has them, and for place i its
// code there, or that it is NULL.
type Reader func(column int) (s *table.Segment, code func(i int) (code uint64, null bool))

// Rows reads the rows of a chunk.
func Rows(c *table.Chunk) Reader {
	return func(column int) (*table.Segment, func(i int) (uint64, bool)) {
		s := c.Segments[column]
		switch {
		case s.Codes.U8 != nil:
			return s, codesOf(s, s.Codes.U8)
		case s.Codes.U16 != nil:
			return s, codesOf(s, s.Codes.U16)
		case s.Codes.U32 != nil:
			return s, codesOf(s, s.Codes.U32)
		}
		return s, codesOf(s, s.Codes.U64)
	}
}

func codesOf[T uint8 | uint16 | uint32 | uint64](s *table.Segment, codes []T) func(i int) (uint64, bool) {
	if s.Valid == nil {
		return func(i int) (uint64, bool) { return uint64(codes[i]), false }
	}
	return func(i int) (uint64, bool) { return uint64(codes[i]), s.IsNull(i) }
}

// Codes reads the codes of a segment in their order, of an expression that reads its column alone.
func Codes(s *table.Segment) Reader {
	return func(int) (*table.Segment, func(i int) (uint64, bool)) {
		return s, func(i int) (uint64, bool) { return uint64(i), false }
	}
}

// Nulls reads a NULL of a segment's column.
func Nulls(s *table.Segment) Reader {
	return func(int) (*table.Segment, func(i int) (uint64, bool)) {
		return s, func(int) (uint64, bool) { return 0, true }
	}
}

// At evaluates an expression at places of what is read, by its definition. wide is as in [Env].
func At(e Expr, read Reader, wide bool) func(i int) (table.Value, error) {
	at, columns := 0, map[int]func(v *table.Value){}
	for _, k := range Columns(e) {
		s, code := read(k)
		columns[k] = func(v *table.Value) {
			if c, null := code(at); null {
				*v = table.Null(s.Type)
			} else {
				*v = s.Decode(c)
			}
		}
	}
	env := &Env{Column: func(k int) (v table.Value) {
		columns[k](&v)
		return v
	}}
	if wide {
		env.Agg = func(int) table.Value { return table.Value{Null: true} }
	}
	return func(i int) (table.Value, error) {
		at = i
		return Eval(e, env)
	}
}
