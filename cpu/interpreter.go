package cpu

import (
	"math"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/cpu/internal/kernels"
	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/table"
)

// vecRows is the number of rows that an interpreter handles at once: its vectors of
// 8 KiB stay in the first-level cache.
const vecRows = 1024

// interpreter evaluates [predicate.Computed] leaves over vectors of rows of one chunk. Rows whose
// evaluation fails are marked in fail and keep an arbitrary value.
type interpreter struct {
	columns []segment // those that the leaf reads, by field index
	row, n  int       // the vector's first row in the chunk, and its rows
	fail    [vecRows / 64]uint64
	ints    pool[int64]
	floats  pool[float64]
	consts  map[*predicate.Val][]int64
}

// pool keeps vectors of one size.
type pool[T any] [][]T

func (p *pool[T]) get(size, n int) []T {
	if k := len(*p); k > 0 {
		v := (*p)[k-1]
		*p = (*p)[:k-1]
		return v[:n]
	}
	return make([]T, size)[:n]
}

func (p *pool[T]) put(vs ...[]T) { *p = append(*p, vs...) }

func computedLeaf(p *predicate.Computed, c *table.Chunk, set kernels.Set) leaf {
	reads := p.Columns()
	columns := make([]segment, len(c.Segments))
	for _, i := range reads {
		columns[i] = newSegment(c.Segments[i], set)
	}
	return within(func(s *scratch, dst, among []uint64, row, n int) {
		forVectors(dst, among, n, vecRows, func(dst, _ []uint64, at, k int) {
			m := &s.interpreter
			m.columns, m.row, m.n, m.fail = columns, row+at, k, [vecRows / 64]uint64{}
			m.selects(p, dst)
		})
		for _, i := range reads {
			andValid(dst, columns[i].Segment, row)
		}
	})
}

// selects writes to dst (n/64 words, rounded up) the rows, NULLs not looked at, for which
// p is TRUE.
func (m *interpreter) selects(p *predicate.Computed, dst []uint64) {
	switch {
	case p.Fails != nil:
		m.ownFailures(p.Fails, dst)
		return
	case p.L.Float:
		l, r := m.double(p.L), m.double(p.R)
		compare(dst, p.Op, l, r)
		m.floats.put(l, r)
	default:
		l, r := m.integer(p.L), m.integer(p.R)
		compare(dst, p.Op, l, r)
		m.ints.put(l, r)
	}
	for w := range dst {
		dst[w] &^= m.fail[w]
	}
}

// ownFailures writes the rows where v's own operation fails and its operands do not.
func (m *interpreter) ownFailures(v *predicate.Val, dst []uint64) {
	for _, k := range v.Kids {
		m.discard(k)
	}
	operands := m.fail
	m.fail = [vecRows / 64]uint64{}
	m.discard(v)
	for w := range dst {
		dst[w] = m.fail[w] &^ operands[w]
	}
}

// discard evaluates v for its failures.
func (m *interpreter) discard(v *predicate.Val) {
	if v.Float {
		m.floats.put(m.double(v))
	} else {
		m.ints.put(m.integer(v))
	}
}

// mark records that row i of the vector fails where bad is not 0.
func (m *interpreter) mark(i int, bad bool) {
	var b uint64
	if bad {
		b = 1
	}
	m.fail[i>>6] |= b << uint(i&63)
}

// constant is a vector of v, which stays with the interpreter.
func (m *interpreter) constant(v *predicate.Val) []int64 {
	z, ok := m.consts[v]
	if !ok {
		if m.consts == nil {
			m.consts = map[*predicate.Val][]int64{}
		}
		z = slices.Repeat([]int64{v.I}, vecRows)
		m.consts[v] = z
	}
	return z[:m.n]
}

// integer evaluates an integer node; the caller puts the vector back.
func (m *interpreter) integer(v *predicate.Val) []int64 {
	switch v.Op {
	case predicate.Col:
		z := m.ints.get(vecRows, m.n)
		m.columns[v.Column].Load(z, m.row, v.Offset)
		return z
	case predicate.Lookup:
		z := m.ints.get(vecRows, m.n)
		m.columns[v.Column].Load(z, m.row, 0)
		for i, c := range z {
			// A NULL has code 0, which an empty dictionary does not have.
			if c < int64(len(v.Table)) {
				z[i] = int64(v.Table[c])
			}
		}
		return z
	case predicate.Const:
		z := m.ints.get(vecRows, m.n)
		copy(z, m.constant(v))
		return z
	case predicate.NegV:
		z := m.integer(v.Kids[0])
		for i, x := range z {
			if v.CanFail {
				m.mark(i, x == math.MinInt64)
			}
			z[i] = -x
		}
		return z
	}
	a := m.integer(v.Kids[0])
	if k := v.Kids[1]; k.Op == predicate.Const {
		m.intOp(v, a, m.constant(k))
		return a
	}
	b := m.integer(v.Kids[1])
	m.intOp(v, a[:len(b)], b)
	m.ints.put(b)
	return a
}

// intOp computes a op= b.
func (m *interpreter) intOp(v *predicate.Val, a, b []int64) {
	switch {
	case v.Op == predicate.DivV || v.Op == predicate.ModV:
		m.divide(v, a, b)
	case v.CanFail:
		m.intOpChecked(v.Op, a, b)
	case v.Op == predicate.AddV:
		for i, y := range b {
			a[i] += y
		}
	case v.Op == predicate.SubV:
		for i, y := range b {
			a[i] -= y
		}
	case v.Op == predicate.MulV:
		for i, y := range b {
			a[i] *= y
		}
	}
}

// intOpChecked is + - * with the rows marked whose result does not fit.
func (m *interpreter) intOpChecked(op predicate.ValOp, a, b []int64) {
	switch op {
	case predicate.AddV:
		for i, x := range a {
			z := x + b[i]
			m.mark(i, (x^z)&(b[i]^z) < 0)
			a[i] = z
		}
	case predicate.SubV:
		for i, x := range a {
			z := x - b[i]
			m.mark(i, (x^b[i])&(x^z) < 0)
			a[i] = z
		}
	case predicate.MulV:
		for i, x := range a {
			m.mark(i, mulOverflows(x, b[i]))
			a[i] = x * b[i]
		}
	}
}

// divide is / and %. A divisor of 0 fails whatever CanFail says: one that cannot
// be 0 still is where its own operands failed.
func (m *interpreter) divide(v *predicate.Val, a, b []int64) {
	if d := v.Kids[1]; d.Op == predicate.Const && d.I >= 2 && d.I <= math.MaxUint32 && have32Bits(a) {
		divideBy(d.I, v.Op == predicate.ModV, a)
		return
	}
	for i, x := range a {
		y := b[i]
		m.mark(i, y == 0 || v.Op == predicate.DivV && x == math.MinInt64 && y == -1)
		if y == 0 {
			y = 1
		}
		if v.Op == predicate.DivV {
			a[i] = x / y
		} else {
			a[i] = x % y
		}
	}
}

// have32Bits reports that integers have at most 32 bits and a sign.
func have32Bits(a []int64) bool {
	var all uint64
	for _, x := range a {
		sign := x >> 63
		all |= uint64((x ^ sign) - sign)
	}
	return all <= math.MaxUint32
}

// divideBy is a / d or a % d of such integers, d from 2 on, by the reciprocal of d: 2^64/d rounded up. Its error times a number of 32 bits
// is less than 2^64, so that the quotient is exact (T. Granlund, P. L. Montgomery, "Division by invariant integers using multiplication",
// 1994).
func divideBy(d int64, remainder bool, a []int64) {
	reciprocal := ^uint64(0)/uint64(d) + 1
	for i, x := range a {
		sign := x >> 63
		x = (x ^ sign) - sign
		q, _ := bits.Mul64(uint64(x), reciprocal)
		y := int64(q)
		if remainder {
			y = x - y*d
		}
		a[i] = (y ^ sign) - sign
	}
}

func mulOverflows(x, y int64) bool {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	// The signed high word from the unsigned one.
	signed := int64(hi) - x>>63&y - y>>63&x
	return signed != int64(lo)>>63
}

// double evaluates a Float node; the caller puts the vector back.
func (m *interpreter) double(v *predicate.Val) []float64 {
	switch v.Op {
	case predicate.ColF:
		codes, z := m.ints.get(vecRows, m.n), m.floats.get(vecRows, m.n)
		m.columns[v.Column].Load(codes, m.row, 0)
		if v.Single {
			for i, c := range codes {
				z[i] = float64(table.Float32FromOrdinal(uint32(uint64(c) + v.Base)))
			}
		} else {
			for i, c := range codes {
				z[i] = table.Float64FromOrdinal(uint64(c) + v.Base)
			}
		}
		m.ints.put(codes)
		return z
	case predicate.Const:
		z := m.floats.get(vecRows, m.n)
		for i := range z {
			z[i] = v.F
		}
		return z
	case predicate.ToFloat:
		x := m.integer(v.Kids[0])
		z := m.floats.get(vecRows, m.n)
		for i := range z {
			z[i] = float64(x[i])
		}
		m.ints.put(x)
		return z
	case predicate.NegV:
		z := m.double(v.Kids[0])
		for i := range z {
			z[i] = -z[i]
		}
		return z
	case predicate.Round32:
		z := m.double(v.Kids[0])
		for i, x := range z {
			r, wrong := expr.Round32(x)
			if v.CanFail {
				m.mark(i, wrong != nil)
			}
			z[i] = r
		}
		return z
	}
	a, b := m.double(v.Kids[0]), m.double(v.Kids[1])
	if v.CanFail {
		m.markFailures(v.Op, a, b)
	}
	switch b = b[:len(a)]; v.Op {
	case predicate.AddV:
		for i, y := range b {
			a[i] += y
		}
	case predicate.SubV:
		for i, y := range b {
			a[i] -= y
		}
	case predicate.MulV:
		for i, y := range b {
			a[i] *= y
		}
	case predicate.DivV:
		for i, y := range b {
			a[i] /= y
		}
	}
	m.floats.put(b)
	return a
}

// markFailures marks the rows for which a op b fails. Only a result that is 0, infinite or NaN may have done so.
func (m *interpreter) markFailures(op predicate.ValOp, a, b []float64) {
	b = b[:len(a)]
	check := func(i int) {
		_, wrong := expr.FloatOp(floatOps[op], a[i], b[i])
		m.mark(i, wrong != nil)
	}
	switch op {
	case predicate.AddV:
		for i, y := range b {
			if z := a[i] + y; z-z != 0 {
				check(i)
			}
		}
	case predicate.SubV:
		for i, y := range b {
			if z := a[i] - y; z-z != 0 {
				check(i)
			}
		}
	case predicate.MulV:
		for i, y := range b {
			if z := a[i] * y; z == 0 || z-z != 0 {
				check(i)
			}
		}
	case predicate.DivV:
		for i, y := range b {
			if z := a[i] / y; z == 0 || z-z != 0 {
				check(i)
			}
		}
	}
}

var floatOps = map[predicate.ValOp]expr.ArithOp{
	predicate.AddV: expr.Add, predicate.SubV: expr.Sub, predicate.MulV: expr.Mul, predicate.DivV: expr.Div,
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
