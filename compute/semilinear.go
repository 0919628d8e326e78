package compute

import (
	"cmp"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/textures"
)

// planeSum is a semi-linear leaf evaluated on bit planes from the top. All coefficients are positive: those
// below 0 take the complement of the column instead. After the planes of the positions down to k, of K in
// all, the difference of the sum and the bound is nearly known. Its error is at most the sum of the
// coefficients, in units of 2^k. So for the records that are still undecided, what is left of the bound,
//
//	u = 2u + (bit k of the bound) - (sum of the coefficients whose columns have bit k),
//
// is a small number, held in a few bits side by side. Below 0 the sum is greater than the bound, and from the
// sum of the coefficients on it is less. Each plane is read once, and most units need no more than the upper
// half of them, as in a comparison.
type planeSum struct {
	of        *predicate.Computed
	terms     []planeTerm // lightest first
	bound     *big.Int    // compared with the sum
	positions int
	digits    int // that hold the sum of the weights
}

// planeTerm is a block of planes and what its codes are multiplied with: an odd
// weight times 2^shift.
type planeTerm struct {
	col, part int
	stored    uint32
	weight    uint64
	shift     int
	negative  bool
}

// The limits of a sum of planes. Arguments (maxArgs) say where each term has its plane at each position, and
// the digits are in registers.
const (
	maxList   = 320
	maxTerms  = 10
	maxDigits = 9
)

// planeSum makes the sum of a semi-linear leaf, nil where reading the codes is
// the better way.
func (x *ChunkWork) planeSum(p *predicate.Computed) *planeSum {
	cols, coef, rhs, _, ok := p.Linear()
	if !ok || p.Fails != nil {
		return nil
	}
	s := &planeSum{of: p, bound: new(big.Int).Set(rhs)}
	total := new(big.Int)
	for i, col := range cols {
		size := uint64(max(coef[i], -coef[i]))
		if size == 0 || size >= 1<<62 {
			return nil
		}
		seg := x.Segment(col)
		for part := range textures.Parts(seg) {
			t := planeTerm{col: col, part: part, stored: storedOf(seg).part(part), negative: coef[i] < 0}
			if t.stored == 0 {
				continue
			}
			zeros := bits.TrailingZeros64(size)
			t.weight, t.shift = size>>zeros, zeros+textures.PartBits*part
			s.terms = append(s.terms, t)
			s.positions = max(s.positions, t.shift+bits.Len32(t.stored))
			largest := new(big.Int).SetUint64(uint64(t.stored))
			largest.Lsh(largest.Mul(largest, new(big.Int).SetUint64(t.weight)), uint(t.shift))
			total.Add(total, largest)
			if t.negative {
				s.bound.Add(s.bound, largest)
			}
		}
	}
	s.digits = s.sumBits(len(s.terms))
	if len(s.terms) == 0 || len(s.terms) > maxTerms || s.digits > maxDigits || s.positions*(len(s.terms)+1) > maxList ||
		s.bound.Sign() < 0 || s.bound.Cmp(total) > 0 {
		return nil
	}
	slices.SortStableFunc(s.terms, func(a, b planeTerm) int { return cmp.Compare(a.weight, b.weight) })
	return s
}

// sumBits is how many bits the sum of the weights of the first n terms can take, for any weights with the
// same highest bits.
func (s *planeSum) sumBits(n int) int {
	sum := uint64(0)
	for _, t := range s.terms[:n] {
		sum = min(sum+1<<min(bits.Len64(t.weight), 32)-1, 1<<32)
	}
	return bits.Len64(sum)
}

// sum writes the test of a leaf's sum: u0, u1... are the digits of u, of which the last says
// that it is below 0 and the one before that it is 2^digits or more. What varies are
// arguments: for each position the bound's bit there, as a mask, and where each term has its
// plane, -1 for nowhere.
func (w *Writer) sum(l *leaf) {
	s := l.sum
	linef := func(format string, args ...any) { fmt.Fprintf(&w.body, "    "+format+"\n", args...) }
	list := firstArg + len(w.args)
	for k := range s.positions {
		w.Arg(-int(s.bound.Bit(k)))
		for _, t := range s.terms {
			at, bit := -1, k-t.shift
			if bit >= 0 && bit < textures.PartBits && t.stored>>bit&1 != 0 {
				at = textures.UnitsPerRun * bits.OnesCount32(t.stored&(1<<bit-1))
			}
			w.Arg(at)
		}
	}
	sign, over := s.digits+1, s.digits
	w.among(l.valid)
	linef("uvec4 undecided = among, less = uvec4(0u), x, y, carry, before, last;")
	for i, t := range s.terms {
		linef("uint first%d = first(unit, arg(%d));", i, w.Arg(bits.OnesCount32(t.stored)))
	}
	start := w.Arg(int(new(big.Int).Rsh(s.bound, uint(s.positions)).Int64()))
	for j := range sign + 1 {
		linef("uvec4 u%d = uvec4(uint(-(arg(%d) >> %d & 1)));", j, start, j)
	}
	linef("for (int k = arg(%d) - 1; k >= 0 && some(undecided); k--) {\n        int at = %d + k * %d, plane;", w.Arg(s.positions), list, len(s.terms)+1)
	for i, t := range s.terms {
		linef("    plane = arg(at + %d);\n        uvec4 x%d = plane < 0 ? uvec4(0u) : FETCH(%s, first%d + uint(plane)) ^ %s;", i+1, i, w.planes(t.col, t.part), i, w.mask(t.negative))
	}
	for j := range s.digits {
		first := "uvec4(0u)"
		if j == 0 && s.terms[0].weight == 1 {
			first = "x0"
		}
		linef("    uvec4 s%d = %s;", j, first)
	}
	s.add(w, linef)
	linef("    last = uvec4(uint(arg(at)));")
	for j := range sign + 1 {
		linef("    before = u%d;", j)
		switch {
		case j == 0:
			linef("    u0 = last ^ s0;\n        carry = ~last & s0;")
		case j < s.digits:
			linef("    u%d = last ^ s%d ^ carry;\n        carry = (~last & (s%d | carry)) | (s%d & carry);", j, j, j, j)
		default:
			linef("    u%d = last ^ carry;\n        carry &= ~last;", j)
		}
		linef("    last = before;")
	}
	linef("    less |= undecided & ~u%d & u%d;\n        undecided &= ~(u%d | u%d);\n    }", sign, over, sign, over)
	var digits []string
	for j := range s.digits {
		digits = append(digits, fmt.Sprintf("u%d", j))
	}
	linef("uvec4 equal = undecided & ~(%s);\n    less |= undecided & ~equal;", strings.Join(digits, " | "))
	op := s.of.Op
	linef("return ((less & %s) | (equal & %s)) ^ (among & %s);\n}", w.mask(op != expr.EQ && op != expr.NE), w.mask(op != expr.LT && op != expr.GE), w.mask(op == expr.GE || op == expr.GT || op == expr.NE))
}

// add writes the sum s0, s1... of the weights of the terms whose bit is set; a first
// term of weight 1 is in it already. Bits of a weight between its highest and lowest ones,
// which are set, are arguments.
func (s *planeSum) add(w *Writer, linef func(string, ...any)) {
	for i, t := range s.terms {
		if i == 0 && t.weight == 1 {
			continue
		}
		high := bits.Len64(t.weight) - 1
		linef("    carry = uvec4(0u);")
		for j := range s.sumBits(i + 1) {
			addend := fmt.Sprintf("x%d", i)
			if j > 0 && j < high {
				addend += " & " + w.mask(t.weight>>j&1 != 0)
			}
			linef("    x = s%d;", j)
			if j > high {
				linef("    s%d = x ^ carry;\n        carry &= x;", j)
				continue
			}
			linef("    y = %s;\n        s%d = x ^ y ^ carry;\n        carry = (x & (y | carry)) | (y & carry);", addend, j)
		}
	}
}
