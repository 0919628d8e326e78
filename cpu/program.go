package cpu

import (
	"math"
	"math/bits"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/table"
)

// vecRows is the number of rows a value program handles at once: its vectors of
// 8 KiB stay in the first-level cache.
const vecRows = 1024

// program evaluates [plan.Program]s over vectors of rows of one chunk. Rows whose
// evaluation fails are marked in fail and keep an arbitrary value.
type program struct {
	chunk   *table.Chunk
	row, n  int // the vector's first row in the chunk, and its rows
	fail    [vecRows / 64]uint64
	intPool [][]int64
	fltPool [][]float64
}

// selects writes to dst (n/64 words, rounded up) the rows for which p is TRUE.
func (m *program) selects(p *plan.Program, chunk *table.Chunk, dst []uint64, row, n int) {
	m.chunk, m.row, m.n = chunk, row, n
	m.fail = [vecRows / 64]uint64{}
	if p.Fails != nil {
		m.ownFailures(p.Fails, dst)
	} else if p.L.Float {
		l, r := m.floats(p.L), m.floats(p.R)
		compare(dst, p.Op, l, r)
		m.free(l, r)
	} else {
		l, r := m.ints(p.L), m.ints(p.R)
		compare(dst, p.Op, l, r)
		m.freeInts(l, r)
	}
	if p.Fails == nil {
		for w := range dst {
			dst[w] &^= m.fail[w]
		}
	}
	for _, c := range p.Columns() {
		andValid(dst, chunk.Segments[c], row)
	}
}

// ownFailures writes the rows where v's own operation fails and its operands do not.
func (m *program) ownFailures(v *plan.Val, dst []uint64) {
	var operands [vecRows / 64]uint64
	for _, k := range v.Kids {
		m.discard(k)
		for w := range operands {
			operands[w] |= m.fail[w]
		}
	}
	m.fail = [vecRows / 64]uint64{}
	m.discard(v)
	for w := range dst {
		dst[w] = m.fail[w] &^ operands[w]
	}
}

// discard evaluates v for its failures.
func (m *program) discard(v *plan.Val) {
	if v.Float {
		m.free(m.floats(v))
	} else {
		m.freeInts(m.ints(v))
	}
}

func (m *program) newInts() []int64 {
	if k := len(m.intPool); k > 0 {
		v := m.intPool[k-1]
		m.intPool = m.intPool[:k-1]
		return v[:m.n]
	}
	return make([]int64, vecRows)[:m.n]
}

func (m *program) freeInts(vs ...[]int64) { m.intPool = append(m.intPool, vs...) }

func (m *program) newFloats() []float64 {
	if k := len(m.fltPool); k > 0 {
		v := m.fltPool[k-1]
		m.fltPool = m.fltPool[:k-1]
		return v[:m.n]
	}
	return make([]float64, vecRows)[:m.n]
}

func (m *program) free(vs ...[]float64) { m.fltPool = append(m.fltPool, vs...) }

// mark records that row i of the vector fails where bad is not 0.
func (m *program) mark(i int, bad bool) {
	var b uint64
	if bad {
		b = 1
	}
	m.fail[i>>6] |= b << uint(i&63)
}

// ints evaluates an integer node; the caller frees the vector.
func (m *program) ints(v *plan.Val) []int64 {
	switch v.Op {
	case plan.Col:
		z := m.newInts()
		codes := m.chunk.Segments[v.Column].Codes
		switch {
		case codes.U8 != nil:
			loadInts(z, codes.U8[m.row:], v.Offset)
		case codes.U16 != nil:
			loadInts(z, codes.U16[m.row:], v.Offset)
		case codes.U32 != nil:
			loadInts(z, codes.U32[m.row:], v.Offset)
		default:
			loadInts(z, codes.U64[m.row:], v.Offset)
		}
		return z
	case plan.Lookup:
		z := m.newInts()
		codes := m.chunk.Segments[v.Column].Codes
		for i := range z {
			// A NULL has code 0, which an empty dictionary does not have.
			if c := codes.At(m.row + i); c < uint64(len(v.Table)) {
				z[i] = int64(v.Table[c])
			} else {
				z[i] = 0
			}
		}
		return z
	case plan.Const:
		z := m.newInts()
		for i := range z {
			z[i] = v.I
		}
		return z
	case plan.NegV:
		z := m.ints(v.Kids[0])
		for i, x := range z {
			if v.CanFail {
				m.mark(i, x == math.MinInt64)
			}
			z[i] = -x
		}
		return z
	}
	a := m.ints(v.Kids[0])
	if k := v.Kids[1]; k.Op == plan.Const && !v.CanFail && intOpConst(v.Op, a, k.I) {
		return a
	}
	b := m.ints(v.Kids[1])
	m.intOp(v, a[:len(b)], b)
	m.freeInts(b)
	return a
}

func loadInts[T anyCode](z []int64, codes []T, offset int64) {
	for i, c := range codes[:len(z)] {
		z[i] = int64(c) + offset
	}
}

// intOp computes a op= b.
func (m *program) intOp(v *plan.Val, a, b []int64) {
	switch {
	case v.Op == plan.DivV || v.Op == plan.ModV:
		m.divide(v, a, b)
	case v.CanFail:
		m.intOpChecked(v.Op, a, b)
	case v.Op == plan.AddV:
		for i, y := range b {
			a[i] += y
		}
	case v.Op == plan.SubV:
		for i, y := range b {
			a[i] -= y
		}
	case v.Op == plan.MulV:
		for i, y := range b {
			a[i] *= y
		}
	}
}

// intOpConst computes a op= k for the operations that need no check, the ones of
// the paper's Semilinear; ok is false for the others.
func intOpConst(op plan.ValOp, a []int64, k int64) (ok bool) {
	switch op {
	case plan.AddV:
		for i := range a {
			a[i] += k
		}
	case plan.SubV:
		for i := range a {
			a[i] -= k
		}
	case plan.MulV:
		for i := range a {
			a[i] *= k
		}
	default:
		return false
	}
	return true
}

// intOpChecked is + - * with the rows marked whose result does not fit.
func (m *program) intOpChecked(op plan.ValOp, a, b []int64) {
	switch op {
	case plan.AddV:
		for i, x := range a {
			z := x + b[i]
			m.mark(i, (x^z)&(b[i]^z) < 0)
			a[i] = z
		}
	case plan.SubV:
		for i, x := range a {
			z := x - b[i]
			m.mark(i, (x^b[i])&(x^z) < 0)
			a[i] = z
		}
	case plan.MulV:
		for i, x := range a {
			m.mark(i, mulOverflows(x, b[i]))
			a[i] = x * b[i]
		}
	}
}

// divide is / and %. A divisor of 0 fails whatever CanFail says: one that cannot
// be 0 still is where its own operands failed.
func (m *program) divide(v *plan.Val, a, b []int64) {
	for i, x := range a {
		y := b[i]
		m.mark(i, y == 0 || v.Op == plan.DivV && x == math.MinInt64 && y == -1)
		if y == 0 {
			y = 1
		}
		if v.Op == plan.DivV {
			a[i] = x / y
		} else {
			a[i] = x % y
		}
	}
}

func mulOverflows(x, y int64) bool {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	// The signed high word from the unsigned one.
	signed := int64(hi) - x>>63&y - y>>63&x
	return signed != int64(lo)>>63
}

// floats evaluates a Float node; the caller frees the vector.
func (m *program) floats(v *plan.Val) []float64 {
	switch v.Op {
	case plan.ColF:
		z := m.newFloats()
		codes := m.chunk.Segments[v.Column].Codes
		for i := range z {
			z[i] = decodeFloat(codes.At(m.row+i)+v.Base, v.Single)
		}
		return z
	case plan.Const:
		z := m.newFloats()
		for i := range z {
			z[i] = v.F
		}
		return z
	case plan.ToFloat:
		x := m.ints(v.Kids[0])
		z := m.newFloats()
		for i := range z {
			z[i] = float64(x[i])
		}
		m.freeInts(x)
		return z
	case plan.NegV:
		z := m.floats(v.Kids[0])
		for i := range z {
			z[i] = -z[i]
		}
		return z
	case plan.Round32:
		z := m.floats(v.Kids[0])
		for i, x := range z {
			r, msg := expr.Round32(x)
			if v.CanFail {
				m.mark(i, msg != "")
			}
			z[i] = r
		}
		return z
	}
	op := floatOps[v.Op]
	a, b := m.floats(v.Kids[0]), m.floats(v.Kids[1])
	for i, x := range a {
		z, msg := expr.FloatOp(op, x, b[i])
		if v.CanFail {
			m.mark(i, msg != "")
		}
		a[i] = z
	}
	m.free(b)
	return a
}

var floatOps = map[plan.ValOp]expr.ArithOp{
	plan.AddV: expr.Add, plan.SubV: expr.Sub, plan.MulV: expr.Mul, plan.DivV: expr.Div,
}

// decodeFloat is the double, or REAL, of an ordinal.
func decodeFloat(ordinal uint64, single bool) float64 {
	if single {
		return float64(table.Float32FromOrdinal(uint32(ordinal)))
	}
	return table.Float64FromOrdinal(ordinal)
}

// compare reduces the six operators to < and =, with NaN above every number and
// equal to itself.
func compare[T int64 | float64](dst []uint64, op expr.CmpOp, l, r []T) {
	if op == expr.GT || op == expr.LE {
		l, r = r, l
	}
	equal := op == expr.EQ || op == expr.NE
	for w := range dst {
		x := l[w*64 : min(len(l), w*64+64)]
		y := r[w*64:][:len(x)]
		if equal {
			dst[w] = equalBits(x, y)
		} else {
			dst[w] = lessBits(x, y)
		}
	}
	if op == expr.NE || op == expr.GE || op == expr.LE {
		flip(dst, len(l))
	}
}

func lessBits[T int64 | float64](x, y []T) (m uint64) {
	for j, v := range x {
		var b uint64
		if u := y[j]; v < u || v == v && u != u {
			b = 1
		}
		m |= b << uint(j&63)
	}
	return m
}

func equalBits[T int64 | float64](x, y []T) (m uint64) {
	for j, v := range x {
		var b uint64
		if u := y[j]; v == u || v != v && u != u {
			b = 1
		}
		m |= b << uint(j&63)
	}
	return m
}

func setBit(dst []uint64, i int, set bool) {
	var b uint64
	if set {
		b = 1
	}
	dst[i>>6] |= b << uint(i&63)
}
