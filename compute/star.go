package compute

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/plan"
)

// byShare are the places of the query's dimensions, those first that leave the fewest records.
func byShare(star []*plan.Dimension) []int {
	order := make([]int, len(star))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(star[a].Share, star[b].Share) })
	return order
}

// bitsFirst is up to which share of its places a lookup with digits looks at the bits first: they
// take less of the caches.
const bitsFirst = 0.25

// starTests takes away the records that have no partner in a joined table, table by table: of the
// columns after the first only those of records that are left are read.
func (t *groupText) starTests() {
	for _, i := range byShare(t.x.q.Star) {
		l := t.x.q.Star[i]
		code := t.codes(l.Col)
		if code == zeros {
			code = "uvec4(0u)"
		}
		if valid := t.valid([]int{l.Col}); valid != "" {
			fmt.Fprintf(&t.body, "    taken &= %s;\n", valid)
		}
		delta := t.arg(int(uint32(t.x.segment(l.Col).Base - l.Base)))
		value := fmt.Sprintf("digit%d", i)
		test := fmt.Sprintf("taken[j] = bitAt(%s, %s[j] + uint(arg(%d)));", "%s", code, delta)
		if l.Digits != nil && l.Share > bitsFirst {
			words, function := digitsOf(l)
			fmt.Fprintf(&t.body, "    uvec4 %s = uvec4(0u);\n    for (int j = 0; j < 4; j++)\n        if (taken[j] != 0u) {\n            %[1]s[j] = %s(%s, %s[j] + uint(arg(%d)));\n            taken[j] = uint(%[1]s[j] != 0u);\n        }\n",
				value, function, t.lookup(words), code, delta)
			t.read[value] = true
		} else {
			fmt.Fprintf(&t.body, "    for (int j = 0; j < 4; j++)\n        if (taken[j] != 0u)\n            "+test+"\n", t.lookup(l.Bits))
		}
		t.body.WriteString("    if (!some(taken))\n        return;\n")
		if l.Digits != nil && !t.read[value] {
			words, function := digitsOf(l)
			t.late = append(t.late, fmt.Sprintf("    uvec4 %s = uvec4(0u);\n    for (int j = 0; j < 4; j++)\n        if (taken[j] != 0u)\n            %[1]s[j] = %s(%s, %s[j] + uint(arg(%d)));\n",
				value, function, t.lookup(words), code, delta))
		}
	}
	for _, text := range t.late {
		t.body.WriteString(text)
	}
}

// starKeys adds the digits of joined tables to the slots.
func (t *groupText) starKeys() {
	for i, l := range t.x.q.Star {
		if l.Digits == nil {
			continue
		}
		fmt.Fprintf(&t.body, "    slot += (digit%d - 1u) * uint(arg(%d));\n", i, t.arg(t.size))
		t.size *= l.Size
	}
}

// digitsOf packs digits into words, as narrow as they are, and says what reads them.
func digitsOf(l *plan.Dimension) (words []uint32, function string) {
	width := 32
	switch {
	case l.Size < 1<<8:
		width = 8
	case l.Size < 1<<16:
		width = 16
	}
	words = make([]uint32, (len(l.Digits)*width+31)/32)
	for i, d := range l.Digits {
		words[i*width/32] |= d << (i * width % 32)
	}
	return words, fmt.Sprintf("digit%dAt", width)
}

// lookup is the name of a buffer texture of words.
func (t *groupText) lookup(words []uint32) string {
	t.lookups = append(t.lookups, words)
	return fmt.Sprintf("lookup%d", len(t.lookups)-1)
}

// lookupText declares the buffer textures and the functions that read them.
func (t *groupText) lookupText() (text string) {
	if len(t.lookups) == 0 {
		return ""
	}
	for i := range t.lookups {
		text += fmt.Sprintf("layout(binding = %d) uniform usamplerBuffer lookup%d;\n", i, i)
	}
	return text + `#define WORD(words, at) texelFetch(words, int((at) >> 2))[(at) & 3u]
#define bitAt(words, at) (WORD(words, (at) >> 5) >> ((at) & 31u) & 1u)
#define digit8At(words, at) (WORD(words, (at) >> 2) >> 8u * ((at) & 3u) & 255u)
#define digit16At(words, at) (WORD(words, (at) >> 1) >> 16u * ((at) & 1u) & 65535u)
#define digit32At(words, at) WORD(words, at)
`
}
