package compute

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// partnerWork is how a dimension is looked up.
type partnerWork struct {
	*physical.Dimension
	late bool    // its digit says whether there is a partner
	cost float64 // of a record, in bytes read
}

// mostLate is from which share of the places on a dimension's digits alone are looked at: the bits would
// take few records away.
const mostLate = 0.5

// lookupBytes is what a lookup costs a record, in bytes read of a column.
const lookupBytes = 4

// partners are the query's dimensions in the order of their look-ups. Those that remove the most records for
// their cost come first.
func (x *ChunkWork) partners() (list []*partnerWork) {
	for _, l := range x.Q.Star {
		p := &partnerWork{Dimension: l, late: hasDigits(l) && l.Share > mostLate, cost: lookupBytes + float64(textures.CodeBytes(x.Segment(l.Col)))}
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b *partnerWork) int {
		if a.late != b.late {
			return map[bool]int{false: -1, true: 1}[a.late]
		}
		return cmp.Compare(a.cost/max(1e-9, 1-a.Share), b.cost/max(1e-9, 1-b.Share))
	})
	return list
}

// hasDigits reports that something tells the partners of a dimension apart.
func hasDigits(l *physical.Dimension) bool {
	if b, ok := l.Built.(*built); ok {
		return b.digits != nil
	}
	return l.Digits != nil
}

// digitBytes is how many bytes a digit of a dimension takes.
func digitBytes(l *physical.Dimension) int {
	if b, ok := l.Built.(*built); ok {
		return b.bytes
	}
	return textures.CodeBytes(l.Digits.Segments[0])
}

// arraysFit is a [plan.Declined] where an array of a dimension is larger than a storage block of the device.
func (x *ChunkWork) arraysFit() error {
	for _, l := range x.Q.Star {
		for _, c := range []*table.Chunk{l.Bits, l.Digits} {
			if c == nil {
				continue
			}
			if n := int64(c.Rows) * int64(textures.CodeBytes(c.Segments[0])); n > x.Device.MaxBlock && x.Device.MaxBlock > 0 {
				return &plan.Declined{Why: fmt.Sprintf("what is looked up of %s takes %d bytes, a storage block of the device has at most %d", l.Name, n, x.Device.MaxBlock)}
			}
		}
	}
	return nil
}

// starTests removes the records that have no partner in a joined table, table by table. Of the columns after
// the first only those of records that are left are read.
func (t *groupText) starTests() {
	for i, p := range t.X.partners() {
		delta := t.Arg(int(uint32(t.X.Segment(p.Col).Base - p.Base)))
		if !p.late {
			t.partnerBits(p, i, delta)
		}
		if !hasDigits(p.Dimension) {
			continue
		}
		code := t.codes(p.Col)
		if code == zeros {
			code = "uvec4(0u)"
		}
		if p.late {
			if valid := t.valid([]int{p.Col}, nil); valid != "" {
				fmt.Fprintf(&t.body, "    taken &= %s;\n", valid)
			}
		}
		digit, from := t.digit(p.Dimension), t.digitsOf(p.Dimension)
		read := fmt.Sprintf("DIGIT%d(%s, ", 8*digitBytes(p.Dimension), from)
		fmt.Fprintf(&t.body, "    uvec4 at_%[1]s = mix(uvec4(0u), %[2]s + uint(arg(%[3]d)), notEqual(taken, uvec4(0u)));\n    uvec4 %[1]s = uvec4(%[4]sat_%[1]s.x), %[4]sat_%[1]s.y), %[4]sat_%[1]s.z), %[4]sat_%[1]s.w));\n",
			digit, code, delta, read)
		if p.late {
			fmt.Fprintf(&t.body, "    taken &= uvec4(notEqual(%s, uvec4(0u)));\n    if (!some(taken))\n        return;\n", digit)
		}
	}
}

// bitsOf is the block of the bitmap of a dimension.
func (t *groupText) bitsOf(l *physical.Dimension) string {
	if b, ok := l.Built.(*built); ok {
		return t.Block(Source{scratch: b.bits}, "uint", "readonly")
	}
	return t.Block(Source{array: l.Bits, content: textures.Codes}, "uint", "readonly")
}

// digitsOf is the block of the digits of a dimension.
func (t *groupText) digitsOf(l *physical.Dimension) string {
	if b, ok := l.Built.(*built); ok {
		return t.Block(Source{scratch: b.digits}, "uint", "readonly")
	}
	return t.Block(Source{array: l.Digits, content: textures.Codes}, "uint", "readonly")
}

// isAnti reports a dimension of which the keys count that no row has.
func isAnti(l *physical.Dimension) bool {
	b, ok := l.Built.(*built)
	return ok && b.anti
}

// digit is the name of a dimension's digits of four records.
func (t *groupText) digit(d *physical.Dimension) string {
	return fmt.Sprintf("digit%d", slices.Index(t.X.Q.Star, d))
}

// partnerBits tests the bits of a dimension for QUADS quads at a time, so that many reads are on their
// way together.
func (t *groupText) partnerBits(p *partnerWork, i int, delta int) {
	b := &t.partnerText
	seg := t.X.Segment(p.Col)
	if seg.Nulls > 0 {
		valid := t.Block(Source{col: p.Col, content: textures.Validity}, "uvec4", "readonly")
		fmt.Fprintf(b, "    left &= quadsOf(FETCH(%s, unit), i);\n", valid)
	}
	b.WriteString("    if (left == 0u)\n        return 0u;\n")
	kind := textures.CodeType(seg)
	code := "uvec4(0u)"
	if seg.Max > 0 {
		fmt.Fprintf(b, "    %[1]s code%[2]d[QUADS];\n    for (uint k = 0u; k < uint(QUADS); k++)\n        code%[2]d[k] = FETCH_%[3]s(%[4]s, quadOf(unit, (left >> 4u * k & 15u) != 0u ? i + k * STRIDE : i));\n",
			kind, i, strings.ToUpper(kind), t.Writer.Codes(p.Col, 0))
		code = fmt.Sprintf("unpack(code%d[k])", i)
	}
	fmt.Fprintf(b, `    uint found%[1]d = 0u;
    for (uint k = 0u; k < uint(QUADS); k++) {
        uvec4 at = mix(uvec4(0u), %[2]s + uint(arg(%[3]d)), bvec4(uvec4(left >> 4u * k) >> uvec4(0, 1, 2, 3) & 1u));
        for (int j = 0; j < 4; j++)
            found%[1]d |= (BIT(%[4]s, at[j])%[5]s) << (4u * k + uint(j));
    }
    left &= found%[1]d;
`, i, code, delta, t.bitsOf(p.Dimension), map[bool]string{true: " ^ 1u"}[isAnti(p.Dimension)])
}

// starKeys adds the digits of joined tables to the slots.
func (t *groupText) starKeys() {
	for _, l := range t.X.Q.Star {
		var digit slotDigit
		if hasDigits(l) {
			digit = slotDigit{factor: t.Size, size: l.Size}
			if b, ok := l.Built.(*built); ok && b.ranks != nil {
				digit.of = b
				at, ranks := t.Arg(b.first), t.Block(Source{scratch: b.ranks}, "uvec2", "readonly")
				fmt.Fprintf(&t.body, "    for (int j = 0; j < 4; j++) {\n        uint c = max(%[1]s[j], 1u) - 1u;\n        uvec2 rank = FETCH_UVEC2(%[2]s, uint(arg(%[3]d)) + (c >> 5));\n        %[1]s[j] = rank.y + uint(bitCount(rank.x & ((1u << (c & 31u)) - 1u))) + 1u;\n    }\n",
					t.digit(l), ranks, at)
			}
			fmt.Fprintf(&t.body, "    slot += (%s - 1u) * uint(arg(%d));\n", t.digit(l), t.Arg(t.Size))
			t.Size *= l.Size
		}
		t.numbers = append(t.numbers, digit)
	}
}

// starText is the part of the program that looks up partners.
func (t *groupText) starText() string {
	if len(t.X.Q.Star) == 0 {
		return ""
	}
	text := `#define BIT(words, at) (FETCH_UINT(words, (at) >> 5) >> ((at) & 31u) & 1u)
#define DIGIT8(digits, at) (FETCH_UINT(digits, (at) >> 2) >> 8u * ((at) & 3u) & 255u)
#define DIGIT16(digits, at) (FETCH_UINT(digits, (at) >> 1) >> 16u * ((at) & 1u) & 65535u)
#define DIGIT32(digits, at) FETCH_UINT(digits, at)
`
	if t.partnerText.Len() > 0 {
		text += `#define PARTNERS
uint quadsOf(uvec4 m, uint i) {
    uint all = 0u;
    for (uint k = 0u; k < uint(QUADS); k++) {
        uvec4 b = (m >> (i + k * STRIDE) & 1u) << uvec4(0, 1, 2, 3);
        all |= (b.x | b.y | b.z | b.w) << 4u * k;
    }
    return all;
}
uint partners(uint unit, uint i, uint left) {
` + t.partnerText.String() + "    return left;\n}\n"
	}
	return text
}
