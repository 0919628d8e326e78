package plan

import (
	"cmp"
	"slices"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/table"
)

// Holds reports whether record row of chunk c satisfies p. It is the
// specification of what every backend does with a predicate, one record at a time.
func (p *Pred) Holds(c *table.Chunk, row int) bool {
	switch p.Op {
	case False:
		return false
	case True:
		return true
	case And, Or: // the first kid to decide it
		return slices.ContainsFunc(p.Kids, func(k *Pred) bool { return k.Holds(c, row) == (p.Op == Or) }) == (p.Op == Or)
	}
	return LeafHolds(p.Leaf, c, row)
}

// LeafHolds reports whether record row of chunk c satisfies a leaf.
func LeafHolds(leaf Leaf, c *table.Chunk, row int) bool {
	if n, ok := leaf.(*NullTest); ok {
		return c.Segments[n.Col].IsNull(row) != n.Not
	}
	for _, col := range leaf.Columns() {
		if c.Segments[col].IsNull(row) {
			return false
		}
	}
	at := func(col int) uint64 { return c.Segments[col].Codes.At(row) }
	switch x := leaf.(type) {
	case *Compare:
		return x.Op.Holds(cmp.Compare(at(x.Col), x.Code))
	case *Range:
		return x.Lo <= at(x.Col) && at(x.Col) <= x.Hi
	case *Members:
		return x.Has(at(x.Col))
	case *Program:
		return x.holds(at)
	}
	return false
}

// holds evaluates the program for one record, none of whose columns it reads is
// NULL.
//
// With Fails set: every operand of Fails computes without failing, and Fails'
// own operation fails. Otherwise: no operation fails, and L Op R. Doubles compare
// with NaN equal to itself and above all else, -0 equal to 0.
func (p *Program) holds(code func(col int) uint64) bool {
	if p.Fails != nil {
		for _, k := range p.Fails.Kids {
			if _, ok := k.Eval(code); !ok {
				return false
			}
		}
		_, ok := p.Fails.Eval(code)
		return !ok
	}
	l, okL := p.L.Eval(code)
	r, okR := p.R.Eval(code)
	if !okL || !okR {
		return false
	}
	if p.L.Float {
		return p.Op.Holds(table.CompareFloat(l.F, r.F))
	}
	return p.Op.Holds(cmp.Compare(l.I, r.I))
}

// Number is the result of a [Val]: I, or F for a Float one.
type Number struct {
	I int64
	F float64
}

// Decode is the double, or REAL, of a code; v is a ColF.
func (v *Val) Decode(code uint64) float64 {
	if v.Single {
		return float64(table.Float32FromOrdinal(uint32(code + v.Base)))
	}
	return table.Float64FromOrdinal(code + v.Base)
}

// Eval computes v from the codes of one record, none of them NULL's. ok is false
// when an operation in it fails: an integer result that does not fit 64 bits, a
// division by 0 (of a double other than NaN), a double or float operation that
// overflows or underflows as package expr defines it.
func (v *Val) Eval(code func(col int) uint64) (n Number, ok bool) {
	switch v.Op {
	case Const:
		return Number{v.I, v.F}, v.Float || v.Lo.IsInt64()
	case Col:
		return Number{I: int64(code(v.Column)) + v.Offset}, true
	case ColF:
		return Number{F: v.Decode(code(v.Column))}, true
	case Lookup:
		return Number{I: int64(v.Table[code(v.Column)])}, true
	}
	a, ok := v.Kids[0].Eval(code)
	if !ok {
		return n, false
	}
	switch v.Op {
	case NegV:
		return Number{I: -a.I, F: -a.F}, v.Float || a.I == 0 || a.I != -a.I
	case ToFloat:
		return Number{F: float64(a.I)}, true
	case Round32:
		f, msg := expr.Round32(a.F)
		return Number{F: f}, msg == ""
	}
	b, ok := v.Kids[1].Eval(code)
	if !ok {
		return n, false
	}
	op := [...]expr.ArithOp{expr.Add, expr.Sub, expr.Mul, expr.Div, expr.Mod}[v.Op-AddV]
	if v.Float {
		f, msg := expr.FloatOp(op, a.F, b.F)
		return Number{F: f}, msg == ""
	}
	i, ok, _ := expr.IntOp(op, a.I, b.I)
	return Number{I: i}, ok
}
