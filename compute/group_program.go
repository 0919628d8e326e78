package compute

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/plan/glsl"
	"github.com/stencildb/stencildb/plan/lower"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/textures"
)

// groupText writes what groups.comp needs of a grouping.
type groupText struct {
	*Writer
	*Grouping
	body        strings.Builder // reads the values of four records
	read        map[string]bool
	partnerText strings.Builder // takes away records without partners
	functions   []*glsl.Func    // of keys that are computed
	units       int             // of their lookup tables
}

// write lays out slots and states.
func (t *groupText) write() error {
	t.Arg(0, 0, 0, 0)
	if err := t.keys(); err != nil {
		return err
	}
	t.args[1] = int32(t.Size)
	return t.states()
}

// window leaves of the records those whose slots the sweep takes in.
func (t *groupText) window() {
	fmt.Fprintf(&t.body, "    taken *= uvec4(lessThan(slot - uint(arg(OWN + %d)), uvec4(uint(arg(OWN + %d)))));\n", windowArgs, windowArgs+1)
}

// states lays out states alone.
func (t *groupText) states() error {
	x := t.X
	t.value(Raised, 32, 0, "~row")
	t.value(added, 1, t.rowBits(), "uvec4(1u)")
	parts, err := x.Q.GroupAggregates(x.Index)
	if err != nil {
		return err
	}
	for _, p := range parts {
		part, err := t.part(p)
		if err != nil {
			return err
		}
		t.parts = append(t.parts, part)
	}
	return nil
}

// keys makes slots of the codes of the keys.
func (t *groupText) keys() error {
	if err := t.lookups(); err != nil {
		return err
	}
	if err := t.ownKeys(); err != nil {
		return err
	}
	t.starKeys()
	return nil
}

// lookups takes away the records that have no partners, and begins the slots.
func (t *groupText) lookups() error {
	t.Size = 1
	if err := t.X.arraysFit(); err != nil {
		return err
	}
	t.starTests()
	t.body.WriteString("    uvec4 slot = uvec4(0u);\n")
	return nil
}

// ownKeys adds the codes of the keys to the slots.
func (t *groupText) ownKeys() error {
	keys, err := t.X.Q.GroupKeys(t.X.Index)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.Computed != nil {
			t.computedKey(k)
		} else {
			t.key(k)
		}
	}
	return nil
}

// computedKey adds the codes of a key that is computed to the slots.
func (t *groupText) computedKey(k physical.GroupKey) {
	f := glsl.Value(k.Computed, len(t.functions), t.units)
	t.functions = append(t.functions, f)
	t.units += len(f.Lookups)
	var args []string
	for _, a := range f.Args {
		code := t.codes(a.Column)
		if code == zeros {
			code = "0u"
		} else { // those behind the rows are any
			code += "[j] * taken[j]"
		}
		if a.Wide {
			code = "uvec2(" + code + ", 0u)"
		}
		args = append(args, code)
	}
	name := fmt.Sprintf("made%d", len(t.functions))
	fmt.Fprintf(&t.body, "    uvec4 %[1]s = uvec4(0u);\n    for (int j = 0; j < 4; j++)\n        %[1]s[j] = %[2]s(%[3]s).x;\n", name, f.Name, strings.Join(args, ", "))
	if valid := t.valid(k.Computed.Cols, nil); valid != "" {
		name = fmt.Sprintf("mix(uvec4(uint(arg(%d))), %s, bvec4(%s))", t.Arg(k.Size-1), name, valid)
	}
	fmt.Fprintf(&t.body, "    slot += %s * uint(arg(%d));\n", name, t.Arg(t.Size))
	t.Made = append(t.Made, k.Name)
	t.Size *= k.Size
}

// key adds a column to the slots.
func (t *groupText) key(k physical.GroupKey) {
	code := t.codes(k.Col)
	if valid := t.valid([]int{k.Col}, nil); valid != "" {
		if code == zeros {
			code = "uvec4(0u)"
		}
		code = fmt.Sprintf("mix(uvec4(uint(arg(%d))), %s, bvec4(%s))", t.Arg(k.Size-1), code, valid)
	}
	if code != zeros {
		fmt.Fprintf(&t.body, "    slot += %s * uint(arg(%d));\n", code, t.Arg(t.Size))
	}
	t.Cols = append(t.Cols, k.Col)
	t.Size *= k.Size
}

// zeros stands for codes that are all 0.
const zeros = ""

// codes reads a column's codes, once.
func (t *groupText) codes(col int) string {
	seg := t.X.Segment(col)
	if seg.Max == 0 {
		return zeros
	}
	name := fmt.Sprintf("code%d", col)
	t.once(name, func() string {
		return fmt.Sprintf("unpack(FETCH_%s(%s, quad))", strings.ToUpper(textures.CodeType(seg)), t.Writer.Codes(col, 0))
	})
	return name
}

// rowBits is the width of the number of a window's records.
func (t *groupText) rowBits() int { return bits.Len(uint(t.X.Rows)) }

// valid is 1 for the records in which none of some columns is NULL and that a FILTER leaves; "" where that is all.
func (t *groupText) valid(cols []int, filter *Marks) string {
	name, planes := "valid", []string(nil)
	if filter != nil {
		at := t.marks(filter)
		name, planes = name+"_in_"+t.Slots[t.Writer.at[Source{Marks: filter}]].name, append(planes, at)
	}
	for _, col := range cols {
		if t.X.Segment(col).Nulls > 0 {
			name += fmt.Sprint("_", col)
			planes = append(planes, "FETCH("+t.Validity(col)+", unit)")
		}
	}
	if planes == nil {
		return ""
	}
	t.once(name, func() string { return "(" + strings.Join(planes, " & ") + ") >> i & 1u" })
	return name
}

// once writes a vector of four values.
func (t *groupText) once(name string, value func() string) {
	if !t.read[name] {
		t.read[name] = true
		fmt.Fprintf(&t.body, "    uvec4 %s = %s;\n", name, value())
	}
}

// part lays out the values of an aggregate.
func (t *groupText) part(p physical.GroupAggregate) (out groupPart, err error) {
	out = groupPart{GroupAggregate: p, n: Records}
	for _, col := range p.Sum.Cols {
		out.none = out.none || t.X.Segment(col).NonNull() == 0
	}
	filter, none, err := t.filter(p.Filter)
	if out.none = out.none || none; out.none || err != nil {
		return out, err
	}
	valid := t.valid(p.Sum.Cols, filter)
	if valid != "" {
		out.n = t.Values[t.value(added, 1, t.rowBits(), valid)].At
	}
	for _, term := range p.Sum.Terms {
		i, err := t.term(term, valid)
		if err != nil {
			return out, err
		}
		out.terms = append(out.terms, i)
	}
	if p.ExtremeColumn < 0 {
		return out, nil
	}
	seg := t.X.Segment(p.ExtremeColumn)
	if textures.Parts(seg) > 1 {
		return out, t.wideCodes(p.ExtremeColumn)
	}
	code := t.codes(p.ExtremeColumn)
	if code == zeros {
		out.end = ofZeros
		return out, nil
	}
	if !p.Largest {
		code = "~" + code
	}
	if valid != "" {
		code = fmt.Sprintf("(%s * %s)", code, valid)
	}
	out.end = t.value(Raised, 32, 0, code)
	return out, nil
}

// filter is the bitmap of a FILTER; none where all records pass, or no record does.
func (t *groupText) filter(p *predicate.Pred) (m *Marks, none bool, err error) {
	switch {
	case p == nil || p.Op == predicate.True:
		return nil, false, nil
	case p.Op == predicate.False:
		return nil, true, nil
	}
	if m = t.filters[p]; m != nil {
		return m, false, nil
	}
	n, err := t.X.Node(p)
	if err == nil && (n.Op == predicate.True || n.Op == predicate.False) {
		return nil, n.Op == predicate.False, nil
	}
	if err == nil {
		n, err = t.X.Mark(n)
	}
	if err != nil {
		return nil, false, err
	}
	t.filters[p] = n.Leaf.Marks
	return n.Leaf.Marks, false, nil
}

func (t *groupText) wideCodes(col int) error {
	return &plan.Declined{Why: fmt.Sprintf("groups take codes of 32 bits, %s has more", t.X.attribute(col).Name)}
}

// term is the value of the sum of codes, or of products of codes, over records that are valid.
func (t *groupText) term(term lower.CodeTerm, valid string) (int, error) {
	if len(term.Cols) == 0 {
		return ofRecords, nil
	}
	var factors []factor
	name, width := valid, 0
	for _, col := range term.Cols {
		seg := t.X.Segment(col)
		if textures.Parts(seg) > 1 {
			return 0, t.wideCodes(col)
		}
		code := t.codes(col)
		if code == zeros {
			return ofZeros, nil
		}
		factors, name, width = append(factors, factor{code, seg.Bits}), code+"_"+name, width+seg.Bits
	}
	sum := width + t.rowBits()
	if sum > 96 {
		return 0, &plan.Declined{Why: "sums of groups take up to 96 bits"}
	}
	if total := sum + term.Coef.BitLen() + bits.Len(uint(len(t.X.Q.Groups.Aggs))) + mostTermBits; term.Coef.BitLen() > 63 || total > 127 {
		return 0, &plan.Declined{Why: "sums of groups take up to 126 bits"}
	}
	if valid != "" { // in the narrowest factor
		slices.SortStableFunc(factors, func(a, b factor) int { return cmp.Compare(a.bits, b.bits) })
		factors[0].text += " * " + valid
	}
	declare, words := product(name, factors)
	if declare != "" && !t.read[name] {
		t.read[name] = true
		fmt.Fprintf(&t.body, "    %s\n", declare)
	}
	return t.value(added, width, t.rowBits(), words...), nil
}

// mostTermBits is the width of the number of terms that a sum may have.
const mostTermBits = 8

// text is the part of the program that depends on the query.
func (t *groupText) text() string {
	var b strings.Builder
	var values []string // of a record, of those that a thread keeps
	for i, v := range t.Values {
		for j := range v.kept {
			if j < len(v.words) {
				values = append(values, fmt.Sprintf("v%d_%d[j]", i, j))
				fmt.Fprintf(&t.body, "    uvec4 v%d_%d = %s;\n", i, j, v.words[j])
			} else {
				values = append(values, "0u")
			}
		}
	}
	for _, f := range t.functions {
		b.WriteString(f.Text)
	}
	b.WriteString(t.stateText())
	b.WriteString(t.starText())
	fmt.Fprintf(&b, `void take(uint slot, State s);
void fours(uint unit, uint i, uvec4 taken) {
    uint quad = quadOf(unit, i);
    uvec4 row = quad * 4u + uvec4(0u, 1u, 2u, 3u);
%s    for (int j = 0; j < 4; j++)
        if (taken[j] != 0u)
            take(slot[j], State(%s));
}
`, t.Writer.body.String()+t.body.String(), strings.Join(values, ", "))
	return b.String()
}

// stateText is a state: its words, how it takes another in, and how it is sent to memory.
func (g *Grouping) stateText() string {
	var b strings.Builder
	var fields, none, joins, rest, sends, states, own []string
	for _, v := range g.Values {
		var mine, other, sent []string // words of the states a, b and s
		for j := range v.Size {
			word := fmt.Sprintf("w%d", v.At+j)
			if j >= v.kept {
				sent = append(sent, "0u")
				continue
			}
			rest = append(rest, fmt.Sprintf("own[(at) + %d * LOCAL] = s.%s;", len(fields), word))
			own = append(own, fmt.Sprintf("own[(at) + %d * LOCAL]", len(fields)))
			fields, none = append(fields, word), append(none, "0u")
			mine, other, sent = append(mine, "a."+word), append(other, "b."+word), append(sent, "s."+word)
			states = append(states, fmt.Sprintf("slots[%du * SLOTS + (slot)]", v.At+j))
		}
		switch {
		case v.How == Raised:
			joins = append(joins, fmt.Sprintf("    %[1]s = max(%[1]s, %s);\n", mine[0], other[0]))
			sends = append(sends, fmt.Sprintf("RAISE(slot, %du, %s)", v.At, sent[0]))
		default:
			joins = append(joins, fmt.Sprintf("    %s(%s, %s);\n", [...]string{"addOne", "addTwo", "addThree"}[v.kept-1], strings.Join(mine, ", "), strings.Join(other, ", ")))
			sends = append(sends, fmt.Sprintf("%s(slot, %du, %s)", [...]string{"ADD", "ADD_TWO", "ADD_THREE"}[v.Size-1], v.At, strings.Join(sent, ", ")))
		}
	}
	fmt.Fprintf(&b, "struct State { uint %s; };\n#define NONE State(%s)\n#define STATE_OF(slot) State(%s)\n#define SEND(slot, s) { %s }\n",
		strings.Join(fields, ", "), strings.Join(none, ", "), strings.Join(states, ", "), strings.Join(sends, " "))
	fmt.Fprintf(&b, "#define OWN_STATE(at) State(%s)\n#define KEEP(at, s) { %s }\n", strings.Join(own, ", "), strings.Join(rest[1:], " "))
	fmt.Fprintf(&b, `void addOne(inout uint a, uint b) { a += b; }
void addTwo(inout uint low, inout uint high, uint l, uint h) {
    uint carry;
    low = uaddCarry(low, l, carry);
    high += h + carry;
}
void addThree(inout uint low, inout uint high, inout uint top, uint l, uint h, uint t) {
    uint first, second, third;
    low = uaddCarry(low, l, first);
    high = uaddCarry(high, h, second);
    high = uaddCarry(high, first, third);
    top += t + second + third;
}
void join(inout State a, State b) {
%s}
`, strings.Join(joins, ""))
	return b.String()
}
