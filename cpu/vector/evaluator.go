package vector

import (
	"github.com/stencildb/stencildb/cpu/int128"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/sqlstate"
	"github.com/stencildb/stencildb/table"
)

// Evaluator computes expressions over blocks of rows, for one goroutine: in loops over vectors, what reads one column of
// few codes once a code. DECIMALs may have up to 38 digits.
type Evaluator struct {
	memo  map[memoKey]memoized
	Arena *expr.Arena // nil where vectors stay
}

// Forget drops what is kept of the expressions and segments asked for; the arena stays.
func (v *Evaluator) Forget() { v.memo = nil }

// memoKey is an expression over one column of few codes.
type memoKey struct {
	segment *table.Segment
	e       expr.Expr
}

// memoized is what an expression is for each code of a column, the last for NULL.
type memoized struct {
	expr.Vector
	ok bool // no code raises an error
}

const (
	// keptCodes is up to how many codes of a column an expression over it is kept for.
	keptCodes = 1 << 12
	// fewMemos is for how many expressions and segments.
	fewMemos = 64
)

// OfKeptCodes is the segment of the one column that an expression reads, where it has few
// codes.
func OfKeptCodes(e expr.Expr, c *table.Chunk) (s *table.Segment, ok bool) {
	cols := expr.Columns(e)
	if len(cols) != 1 {
		return nil, false
	}
	s = c.Segments[cols[0]]
	return s, s.Max < keptCodes && s.NegativeZeros == nil // of which a code has two values
}

// Source is the rows of a block.
type Source struct {
	expr.BlockRows
	*Evaluator
}

// Some is the rows at these places of the block.
func (r Source) Some(places []uint32) expr.Source { return Source{r.BlockRows.At(places), r.Evaluator} }

// Once computes an expression over one column of few codes once for each code.
func (r Source) Once(e expr.Expr, compute func(codes expr.Source) (expr.Vector, bool)) (x expr.Vector, ok bool) {
	s, ok := OfKeptCodes(e, r.Chunk)
	if !ok {
		return x, false
	}
	key := memoKey{s, e}
	known, ok := r.memo[key]
	if !ok {
		if uint64(r.Len()) <= s.Max {
			return x, false
		}
		if r.memo == nil || len(r.memo) >= fewMemos {
			r.memo = map[memoKey]memoized{}
		}
		known.Vector, known.ok = compute(expr.CodesOf(s, 0, int(s.Max)+1, true, nil))
		r.memo[key] = known
	}
	if !known.ok {
		return x, false
	}
	at := r.Evaluator.Arena.Ints(r.Len())
	table.GatherInto(at, s.Codes, r.Block, 0)
	if s.Nulls > 0 {
		for i := range at {
			if s.IsNull(r.Block.Row(i)) {
				at[i] = int64(s.Max + 1)
			}
		}
	}
	return known.Gathered(r.Evaluator.Arena, at), true
}

// At evaluates an expression in a row of a chunk by its definition.
func (v *Evaluator) At(e expr.Expr, c *table.Chunk) func(row int) (table.Value, error) {
	of := expr.At(e, expr.Rows(c), true)
	return func(row int) (table.Value, error) {
		x, err := of(row)
		if err == nil {
			err = checkDigits(x, e, max(mostDigits, e.Type().Precision))
		}
		return x, err
	}
}

// Vector computes any expression. Where a row raises an error it has the rows before that one.
func (v *Evaluator) Vector(e expr.Expr, c *table.Chunk, b table.Block) (x expr.Vector, err error) {
	if x, ok := expr.Compute(e, Source{expr.BlockRows{Chunk: c, Block: b, Arena: v.Arena}, v}); ok {
		return x, nil
	}
	return v.byRow(e, c, b)
}

// byRow is Vector row by row.
func (v *Evaluator) byRow(e expr.Expr, c *table.Chunk, b table.Block) (expr.Vector, error) {
	n := b.Len()
	x, at := expr.Room(e.Type(), n), v.At(e, c)
	for i := range n {
		r, err := at(b.Row(i))
		if err == nil {
			err = set(&x, i, r, e)
		}
		if err != nil {
			return x.Cut(i), err
		}
	}
	return x, nil
}

// set makes a value that of row i.
func set(x *expr.Vector, i int, r table.Value, e expr.Expr) error {
	switch {
	case r.Null:
		x.SetNull(i)
		return nil
	case r.Type.Kind == table.Interval:
		if !x.Put(i, r) {
			return expr.Raised(e.Pos(), expr.OutOfRange(r.Type))
		}
		return nil
	case r.Big == nil && x.Highs == nil:
		x.Put(i, r)
		return nil
	}
	if err := checkDigits(r, e, mostDigits); err != nil {
		return err
	}
	if x.Highs == nil {
		x.Highs = make([]int64, len(x.Ints))
		for k, low := range x.Ints[:i] {
			x.Highs[k] = low >> 63
		}
	}
	w := int128.Of(r.Unscaled())
	x.Ints[i], x.Highs[i] = int64(w.Lo), w.Hi
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
	return expr.Coded(sqlstate.NumericOutOfRange, e.Pos(), "%s: more than %d digits", expr.OutOfRange(v.Type), digits)
}

// Compact is the rows that are not NULL, with their groups.
func Compact(x expr.Vector, groups []uint32) (expr.Vector, []uint32) {
	if x.Valid == nil {
		return x, groups
	}
	out, kept := expr.Vector{}, make([]uint32, 0, len(groups))
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
			if x.Spans != nil {
				out.Spans = append(out.Spans, x.Spans[i])
			}
		}
	}
	return out, kept
}
