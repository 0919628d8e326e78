package compute

import (
	"cmp"
	"fmt"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// planeSum is a semi-linear program evaluated on bit planes from the top. With all
// coefficients positive (those below 0 take the complement of the column instead) and
// K positions, the sum less the bound is known, after the planes of the positions down to
// k, to within the sum of the coefficients, in units of 2^k. So for the records that are
// still undecided, what is left of the bound,
//
//	u = 2u + (bit k of the bound) - (sum of the coefficients whose columns have bit k),
//
// is a small number, held in a few bits side by side: below 0 the sum is greater than the
// bound, and from the sum of the coefficients on it is less. Each plane is read
// once, and most units need no more than the upper half of them, as in a comparison.
type planeSum struct {
	program   *plan.Program
	columns   []int
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

// The limits of a sum of planes: where each term has its plane at each position is
// a uniform array, of which NVIDIA's compiler takes 512 elements, and the digits lie in
// registers.
const (
	maxList   = 400
	maxTerms  = 10
	maxDigits = 9
)

// planeSum makes the sum of a semi-linear program, nil where reading the codes is
// the better way.
func (e *evaluator) planeSum(p *plan.Program) *planeSum {
	cols, coef, rhs, _, ok := p.Linear()
	if !ok || p.Fails != nil {
		return nil
	}
	s := &planeSum{program: p, columns: cols, bound: new(big.Int).Set(rhs)}
	total := new(big.Int)
	for i, col := range cols {
		size := uint64(max(coef[i], -coef[i]))
		if size == 0 || size >= 1<<62 {
			return nil
		}
		seg := e.segment(col)
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

// sumBits is how many bits the sum of the weights of the first n terms takes, whatever the
// bits between the highest and the lowest one of each are.
func (s *planeSum) sumBits(n int) int {
	sum := uint64(0)
	for _, t := range s.terms[:n] {
		sum = min(sum+1<<min(bits.Len64(t.weight), 32)-1, 1<<32)
	}
	return bits.Len64(sum)
}

// scanPlanes queues a pass that adds up a window; see scanValues. Block 0 is the
// result's, for its claims, where the pass does not count itself.
func (e *evaluator) scanPlanes(s *planeSum, w piece, out textures.Block, count bool, word int) error {
	blocks := []textures.Block{out}
	if !count {
		blocks = []textures.Block{{}, out}
		if e.regional {
			blocks[0] = e.compiler.result
		}
	}
	planes := len(blocks)
	for _, t := range s.terms {
		blocks = append(blocks, e.planes(t.col, t.part, w.Window))
	}
	var nullable []textures.Block
	for _, c := range s.columns {
		if e.segment(c).Nulls > 0 {
			nullable = append(nullable, e.validity(c, w.Window))
		}
	}
	blocks, masks, err := e.withMasks(blocks, nullable, s.program, w)
	if err != nil {
		return err
	}
	device := e.device.forSums(e.regional)
	claims, groups := 0, device.groupsOf(textures.Units(w.Rows), sumGroups, 0)
	if e.regional {
		claims, groups = e.compiler.alloc(device.Multiprocessors), e.compiler.groups(&code{device: device, perUnit: sumGroups, regional: true}, w)
	}
	p := &pass.Pass{Op: Semilinear{valuesOp(s.program, count, word)}, Program: s.source(e, device, planes, masks, count),
		Uniforms: append(s.uniforms(), shaders.Uint("place", uint32(claims))),
		Dispatch: &pass.Dispatch{Groups: [2]int{groups}, Blocks: blocks}}
	e.queueTest(p, w, count, word)
	return nil
}

// uniforms are, in one array, for each position the bound's bit there, as a mask, and
// where each term has its plane, -1 for nowhere.
func (s *planeSum) uniforms() []shaders.Uniform {
	var list, planes []int32
	for k := range s.positions {
		list = append(list, -int32(s.bound.Bit(k)))
		for _, t := range s.terms {
			at, bit := int32(-1), k-t.shift
			if bit >= 0 && bit < textures.PartBits && t.stored>>bit&1 != 0 {
				at = int32(textures.UnitsPerRun * bits.OnesCount32(t.stored&(1<<bit-1)))
			}
			list = append(list, at)
		}
	}
	var flips, middle []int32
	for _, t := range s.terms {
		planes = append(planes, int32(bits.OnesCount32(t.stored)))
		flip := int32(0)
		if t.negative {
			flip = -1
		}
		flips = append(flips, flip)
		for j := 1; j < bits.Len64(t.weight)-1; j++ {
			middle = append(middle, -int32(t.weight>>j&1))
		}
	}
	var less, equal, flip uint32 // TRUE is (less & sum below) | (equal & sum equal), flipped
	const yes = ^uint32(0)
	switch s.program.Op {
	case expr.LT, expr.GE:
		less = yes
	case expr.LE, expr.GT:
		less, equal = yes, yes
	default:
		equal = yes
	}
	switch s.program.Op {
	case expr.GE, expr.GT, expr.NE:
		flip = yes
	}
	start := new(big.Int).Rsh(s.bound, uint(s.positions))
	return []shaders.Uniform{{Name: "list", I: list}, {Name: "planes", I: planes}, {Name: "negated", I: flips},
		{Name: "middle", I: append(middle, 0)}, shaders.Int("positions", int32(s.positions)), shaders.Int("start", int32(start.Int64())),
		{Name: "relation", U: []uint32{less, equal, flip}}}
}

// source writes the program. Its text depends on the number of blocks and on how
// many bits the weights have.
func (s *planeSum) source(e *evaluator, d Device, planes, masks int, count bool) shaders.Source {
	var b strings.Builder
	linef := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	linef("layout(local_size_x = LOCAL) in;")
	if !count {
		linef("layout(std430, binding = 1) writeonly buffer Bitmap { uvec4 bitmap[]; };")
	}
	for i := range s.terms {
		linef("layout(std430, binding = %d) readonly buffer Planes%d { uvec4 planes%d[]; };", planes+i, i, i)
	}
	for i := range masks {
		linef("layout(std430, binding = %d) readonly buffer Mask%d { uvec4 mask%d[]; };", planes+len(s.terms)+i, i, i)
	}
	n := len(s.terms)
	linef("uniform int list[%d], planes[%d], negated[%d], middle[%d], positions, start;", maxList, n, n, s.middleBits()+1)
	linef("uniform uint units, rows, word, place;\nuniform uvec3 relation;\n")
	for i := range s.terms {
		linef("uvec4 term%d(uint first, int at) { return at < 0 ? uvec4(0u) : planes%d[first + uint(at)] ^ uint(negated[%d]); }", i, i, i)
	}
	linef("\n// the records of a unit without NULLs\nuvec4 among(uint unit) {\n    uvec4 m = within(unit, rows);")
	for i := range masks {
		linef("    m &= mask%d[unit];", i)
	}
	linef("    return m;\n}\n\nvoid main() {\n    claim(place);\n    uint n = 0u;")
	linef("    for (uint unit = firstUnit(units), end = endUnit(units); unit < end; unit += STEP) {")
	s.compare(linef)
	linef("        uvec4 bits = (less & relation.x) | (equal & relation.y);\n        if (relation.z != 0u)\n            bits ^= among(unit);")
	parts, defines := []string{"units.glsl"}, e.defines(d)
	if count {
		linef("        n += ones(bits);\n    }\n    report(word, uvec4[1](uvec4(n, 0u, 0u, 0u)));\n}")
		parts, defines = append(parts, "report.glsl"), append(defines, "COUNTERS 1")
	} else {
		linef("        bitmap[unit] = bits;\n    }\n}")
	}
	return shaders.ComposeCompute("semilinear over planes", parts, defines, b.String())
}

// middleBits is how many bits the weights have between their highest and lowest ones,
// which are set.
func (s *planeSum) middleBits() int {
	n := 0
	for _, t := range s.terms {
		n += max(0, bits.Len64(t.weight)-2)
	}
	return n
}

// compare writes the loop over the positions: u0, u1... are the digits of u, of which
// the last says that it is below 0 and the one before that it is 2^digits or more.
func (s *planeSum) compare(linef func(string, ...any)) {
	sign, over := s.digits+1, s.digits
	linef("        uvec4 undecided = among(unit), less = uvec4(0u), x, y, carry, before, last;")
	for i := range s.terms {
		linef("        uint first%d = first(unit, planes[%d]);", i, i)
	}
	for j := range sign + 1 {
		linef("        uvec4 u%d = uvec4(uint(-(start >> %d & 1)));", j, j)
	}
	linef("        for (int k = positions - 1; k >= 0 && some(undecided); k--) {\n            int at = k * %d;", len(s.terms)+1)
	for i := range s.terms {
		linef("            uvec4 x%d = term%d(first%d, list[at + %d]);", i, i, i, i+1)
	}
	for j := range s.digits {
		first := "uvec4(0u)"
		if j == 0 && s.terms[0].weight == 1 {
			first = "x0"
		}
		linef("            uvec4 s%d = %s;", j, first)
	}
	s.add(linef)
	linef("            last = uvec4(uint(list[at]));")
	for j := range sign + 1 {
		linef("            before = u%d;", j)
		switch {
		case j == 0:
			linef("            u0 = last ^ s0;\n            carry = ~last & s0;")
		case j < s.digits:
			linef("            u%d = last ^ s%d ^ carry;\n            carry = (~last & (s%d | carry)) | (s%d & carry);", j, j, j, j)
		default:
			linef("            u%d = last ^ carry;\n            carry &= ~last;", j)
		}
		linef("            last = before;")
	}
	linef("            less |= undecided & ~u%d & u%d;\n            undecided &= ~(u%d | u%d);\n        }", sign, over, sign, over)
	var digits []string
	for j := range s.digits {
		digits = append(digits, fmt.Sprintf("u%d", j))
	}
	linef("        uvec4 equal = undecided & ~(%s);\n        less |= undecided & ~equal;", strings.Join(digits, " | "))
}

// add writes the sum s0, s1... of the weights of the terms whose bit is set; a first
// term of weight 1 is in it already.
func (s *planeSum) add(linef func(string, ...any)) {
	middle := 0
	for i, t := range s.terms {
		if i == 0 && t.weight == 1 {
			continue
		}
		high := bits.Len64(t.weight) - 1
		linef("            carry = uvec4(0u);")
		for j := range s.sumBits(i + 1) {
			addend := fmt.Sprintf("x%d", i)
			if j > 0 && j < high {
				addend = fmt.Sprintf("x%d & uint(middle[%d])", i, middle)
				middle++
			}
			linef("            x = s%d;", j)
			if j > high {
				linef("            s%d = x ^ carry;\n            carry &= x;", j)
				continue
			}
			linef("            y = %s;\n            s%d = x ^ y ^ carry;\n            carry = (x & (y | carry)) | (y & carry);", addend, j)
		}
	}
}
