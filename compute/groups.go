package compute

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/textures"
)

// grouping is what is asked of the groups of a chunk. A group's slot is a number whose digits are
// the codes of the columns that the keys read; NULL is a digit behind the codes.
type grouping struct {
	cols  []int       // that the keys read
	found *marks      // where groups were found by a sort: the number of each record's, from 1 on
	size  int         // slots
	words []groupWord // of a slot's state
	at    map[string]int
	parts []groupPart // one an aggregate
	place []int       // by piece: where its slots lie in the result
}

// groupWord is a word of a state: a value of each record goes to it.
type groupWord struct {
	how   wordKind
	value string // GLSL, of four records
}

type wordKind uint8

const (
	raised wordKind = iota // the largest
	added                  // the sum
	wide                   // the low word of a sum of 64 bits
	high                   // the high word of it
)

// groupPart is where the words of an aggregate are.
type groupPart struct {
	plan.GroupPart
	none  bool // no record has a value
	n     int
	terms []int // of the terms of the sum; -1 for the records themselves, -2 for codes that are all 0
	ends  [2]int
}

const (
	ofRecords = -1
	ofZeros   = -2
)

// The first words of a state.
const (
	firstRow = 0 // of the bits of its number the complement
	records  = 1
)

// group queues the aggregation of the selected records by the query's keys.
func (x *chunk) group() error {
	if x.tree.op == plan.False || x.Rows == 0 {
		return nil
	}
	return x.aggregate(&grouping{at: map[string]int{}})
}

// aggregate queues the aggregation of the selected records by the slots of g.
func (x *chunk) aggregate(g *grouping) error {
	w := newWriter(x)
	t := &groupText{writer: w, grouping: g, read: map[string]bool{}}
	if err := t.write(); err != nil {
		return err
	}
	tree := x.tree
	if tree.op != plan.True {
		var err error
		if tree, err = x.mark(tree); err != nil {
			return err
		}
	}
	selection := "uvec4(0xffffffffu)"
	if tree.op != plan.True {
		selection = w.marks(tree.leaf.marks)
	}
	d := x.device.forGroups()
	defines := []string{fmt.Sprintf("WORDS %du", len(g.words)), "SELECTION " + selection}
	room := (g.size + 63) / 64 * 64
	shares := 4*room*len(g.words) <= d.Shared-16*d.localSize() // codes.glsl has a vector a thread
	if shares {
		defines = append(defines, fmt.Sprintf("SLOTS %du", room))
	}
	c := &code{name: "groups.comp", files: []string{"units.glsl", "codes.glsl"}, after: []string{"groups.comp"}, device: d,
		slots: w.slots, perUnit: groupGroups, steps: 32 * 5}
	if len(x.q.Star) > 0 {
		c.perUnit, c.regional = starGroups, x.regional
		defines = append(defines, fmt.Sprintf("QUADS %d", d.quads()))
	}
	c.defines = d.defines(defines...)
	if c.regional {
		c.defines = x.defines(d, defines...)
	}
	c.text = t.text()
	c.each = c.text
	if n := len(c.slots) + 1; n > d.maxBlocks() {
		return &plan.Declined{Why: fmt.Sprintf("the groups read %d storage blocks, the device has %d in a compute program", n, d.maxBlocks())}
	}
	op := Group{Slots: g.size, Shared: shares, Words: len(g.words)}
	for _, p := range x.partners() {
		op.Star = append(op.Star, p.Dimension)
	}
	for _, col := range g.cols {
		op.Keys = append(op.Keys, x.attribute(col))
	}
	for _, a := range x.q.Groups.Aggs {
		op.Aggs = append(op.Aggs, a.String())
	}
	list := w.kernels(c, op)
	for _, k := range list {
		g.place = append(g.place, x.alloc(g.size*len(g.words)))
		op.At = g.place[len(g.place)-1]
		k.op, k.own[0] = op, int32(op.At)
	}
	if bytes := 4 * int64(x.compiler.words); bytes > x.device.MaxBlock && x.device.MaxBlock > 0 || x.compiler.words > mostGroupWords {
		return &plan.Declined{Why: fmt.Sprintf("the groups take %d MB, more than one storage block is to have", bytes>>20)}
	}
	x.grouping = g
	x.stage(list...)
	return nil
}

// mostGroupWords is how many words the groups of all chunks may take: they are all read back.
const mostGroupWords = 1 << 25

// Work groups a multiprocessor, for groups and for those of stars: these take more registers.
const (
	groupGroups = 4
	starGroups  = 2
)

// quads is how many times four records a thread looks up partners for together: on hardware as many as are
// its part of 64 units.
func (d Device) quads() int {
	if d.Software {
		return 1
	}
	return 32 * textures.UnitsPerGroup / d.localSize()
}

// forGroups is the device with the work groups of programs that aggregate by group.
func (d Device) forGroups() Device {
	if !d.Software {
		d.local = scanLocal
	}
	return d
}

// word is that of a value, which several aggregates may share.
func (g *grouping) word(how wordKind, value string) int {
	name := fmt.Sprint(how, value)
	i, ok := g.at[name]
	if !ok {
		i = len(g.words)
		g.at[name] = i
		g.words = append(g.words, groupWord{how, value})
		if how == wide {
			g.words = append(g.words, groupWord{high, ""})
		}
	}
	return i
}

// groupText writes what groups.comp needs of a grouping.
type groupText struct {
	*writer
	*grouping
	body        strings.Builder // reads the values of four records
	read        map[string]bool
	partnerText strings.Builder // takes away records without partners
}

// write lays out slots and states.
func (t *groupText) write() error {
	x := t.x
	t.arg(0, 0)
	if t.found != nil {
		fmt.Fprintf(&t.body, "    uvec4 slot = FETCH_UVEC4(%s, quad) - 1u;\n", t.block(source{marks: t.found}, "uvec4", "readonly"))
	} else if err := t.keys(); err != nil {
		return err
	}
	t.args[1] = int32(t.size)
	t.word(raised, "~row")
	t.word(added, "uvec4(1u)")
	parts, err := x.q.GroupParts(x.index)
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
	t.size = 1
	if err := t.x.arraysFit(); err != nil {
		return err
	}
	t.starTests()
	t.body.WriteString("    uvec4 slot = uvec4(0u);\n")
	keys, err := t.x.q.GroupKeys(t.x.index)
	if err != nil {
		return err
	}
	for _, k := range keys {
		t.key(k)
	}
	t.starKeys()
	return nil
}

// key adds a column to the slots.
func (t *groupText) key(k plan.GroupKey) {
	code := t.codes(k.Col)
	if valid := t.valid([]int{k.Col}); valid != "" {
		if code == zeros {
			code = "uvec4(0u)"
		}
		code = fmt.Sprintf("mix(uvec4(uint(arg(%d))), %s, bvec4(%s))", t.arg(k.Size-1), code, valid)
	}
	if code != zeros {
		fmt.Fprintf(&t.body, "    slot += %s * uint(arg(%d));\n", code, t.arg(t.size))
	}
	t.cols = append(t.cols, k.Col)
	t.size *= k.Size
}

// zeros stands for codes that are all 0.
const zeros = ""

// codes reads a column's codes, once.
func (t *groupText) codes(col int) string {
	seg := t.x.segment(col)
	if seg.Max == 0 {
		return zeros
	}
	name := fmt.Sprintf("code%d", col)
	t.once(name, func() string {
		return fmt.Sprintf("unpack(FETCH_%s(%s, quad))", strings.ToUpper(textures.CodeType(seg)), t.writer.codes(col, 0))
	})
	return name
}

// valid is 1 for the records in which none of some columns is NULL; "" where that is none.
func (t *groupText) valid(cols []int) string {
	name, planes := "valid", []string(nil)
	for _, col := range cols {
		if t.x.segment(col).Nulls > 0 {
			name += fmt.Sprint("_", col)
			planes = append(planes, "FETCH("+t.validity(col)+", unit)")
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

// part lays out the words of an aggregate.
func (t *groupText) part(p plan.GroupPart) (out groupPart, err error) {
	out = groupPart{GroupPart: p, n: records}
	for _, col := range p.Sum.Cols {
		if t.x.segment(col).NonNull() == 0 {
			out.none = true
			return out, nil
		}
	}
	valid := t.valid(p.Sum.Cols)
	if valid != "" {
		out.n = t.word(added, valid)
	}
	for _, term := range p.Sum.Terms {
		i, err := t.term(term, valid)
		if err != nil {
			return out, err
		}
		out.terms = append(out.terms, i)
	}
	if p.Ends >= 0 {
		if seg := t.x.segment(p.Ends); textures.Parts(seg) > 1 {
			return out, t.wideCodes(p.Ends)
		}
		code, least := t.codes(p.Ends), "0xffffffffu"
		if code == zeros {
			out.ends = [2]int{ofZeros, ofZeros}
			return out, nil
		}
		least = "~" + code
		if valid != "" {
			least = fmt.Sprintf("(%s * %s)", least, valid)
		}
		out.ends = [2]int{t.word(raised, least), t.word(raised, code)}
	}
	return out, nil
}

func (t *groupText) wideCodes(col int) error {
	return &plan.Declined{Why: fmt.Sprintf("groups take codes of 32 bits, %s has more", t.x.attribute(col).Name)}
}

// term is the word of the sum of codes, or of products of codes, over records that are valid.
func (t *groupText) term(term plan.CodeTerm, valid string) (int, error) {
	if len(term.Cols) == 0 {
		return ofRecords, nil
	}
	var factors []string
	width := 0
	for _, col := range term.Cols {
		seg := t.x.segment(col)
		if textures.Parts(seg) > 1 {
			return 0, t.wideCodes(col)
		}
		code := t.codes(col)
		if code == zeros {
			return ofZeros, nil
		}
		factors, width = append(factors, code), width+seg.Bits
	}
	sum := width + bits.Len(uint(t.x.Rows))
	if sum > 64 {
		return 0, &plan.Declined{Why: "sums of groups take up to 64 bits"}
	}
	if total := sum + term.Coef.BitLen() + bits.Len(uint(len(t.x.q.Groups.Aggs))) + mostTermBits; term.Coef.BitLen() > 63 || total > 127 {
		return 0, &plan.Declined{Why: "sums of groups take up to 126 bits"}
	}
	value := strings.Join(factors, " * ")
	if valid != "" {
		value += " * " + valid
	}
	switch {
	case sum <= 32:
		return t.word(added, value), nil
	case width <= 32:
		return t.word(wide, value), nil
	}
	name := "product_" + strings.Join(factors, "_") + valid
	if !t.read[name] {
		t.read[name] = true
		fmt.Fprintf(&t.body, "    uvec4 low_%[1]s, high_%[1]s;\n    umulExtended(%[2]s, %[3]s, high_%[1]s, low_%[1]s);\n", name,
			strings.TrimPrefix(value, factors[0]+" * "), factors[0])
	}
	i := t.word(wide, "low_"+name)
	t.words[i+1].value = "high_" + name
	return i, nil
}

// mostTermBits is the width of the number of terms that a sum may have.
const mostTermBits = 8

// text is the part of the program that depends on the query.
func (t *groupText) text() string {
	var b strings.Builder
	var fields, none, joins, sends, states, values []string
	for i, w := range t.words {
		a := fmt.Sprintf("w%d", i)
		fields, none = append(fields, a), append(none, "0u")
		states = append(states, fmt.Sprintf("slots[%du * SLOTS + (slot)]", i))
		value := fmt.Sprintf("v%d[j]", i)
		if w.value == "" {
			value = "0u"
		} else {
			fmt.Fprintf(&t.body, "    uvec4 v%d = %s;\n", i, w.value)
		}
		values = append(values, value)
		switch w.how {
		case raised:
			joins = append(joins, fmt.Sprintf("    a.%[1]s = max(a.%[1]s, b.%[1]s);\n", a))
			sends = append(sends, fmt.Sprintf("RAISE(slot, %du, s.%s)", i, a))
		case added:
			joins = append(joins, fmt.Sprintf("    a.%[1]s += b.%[1]s;\n", a))
			sends = append(sends, fmt.Sprintf("ADD(slot, %du, s.%s)", i, a))
		case wide:
			joins = append(joins, fmt.Sprintf("    addWide(a.w%[1]d, a.w%[2]d, b.w%[1]d, b.w%[2]d);\n", i, i+1))
			sends = append(sends, fmt.Sprintf("ADD_WIDE(slot, %du, s.w%d, s.w%d)", i, i, i+1))
		}
	}
	fmt.Fprintf(&b, "struct State { uint %s; };\n#define NONE State(%s)\n#define STATE_OF(slot) State(%s)\n#define SEND(slot, s) { %s }\n",
		strings.Join(fields, ", "), strings.Join(none, ", "), strings.Join(states, ", "), strings.Join(sends, " "))
	fmt.Fprintf(&b, "void addWide(inout uint low, inout uint high, uint l, uint h);\nvoid join(inout State a, State b) {\n%s}\n", strings.Join(joins, ""))
	b.WriteString(t.starText())
	fmt.Fprintf(&b, `void take(uint slot, State s);
void fours(uint unit, uint i, uvec4 taken) {
    uint quad = quadOf(unit, i);
    uvec4 row = quad * 4u + uvec4(0u, 1u, 2u, 3u);
%s    for (int j = 0; j < 4; j++)
        if (taken[j] != 0u)
            take(slot[j], State(%s));
}
`, t.writer.body.String()+t.body.String(), strings.Join(values, ", "))
	return b.String()
}

// Groups aggregates the selected records of each chunk by the query's keys.
func Groups(run pass.Runner, d Device, q *plan.Query) ([]plan.GroupStates, error) {
	if d.sortsGroups(q) {
		return sortedGroups(run, d, q)
	}
	s, err := Select(run, d, q)
	if err != nil {
		return nil, err
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	return s.(*execution).groups(), nil
}

// groups are those of the windows.
func (x *execution) groups() (list []plan.GroupStates) {
	for _, c := range x.chunks {
		if c.grouping == nil {
			continue
		}
		for i, p := range c.pieces {
			g := c.grouping
			words := x.words[g.place[i]:][:g.size*len(g.words)]
			list = append(list, g.states(x.q.Place(c.index), p.From, words))
		}
	}
	return list
}

// states reads the groups of a window from their slots.
func (g *grouping) states(chunk, from int, words []uint32) plan.GroupStates {
	out := plan.GroupStates{Chunk: chunk}
	each := len(g.words)
	var order []uint64 // first rows and slots
	for slot := range len(words) / each {
		if w := words[slot*each:]; w[records] > 0 {
			order = append(order, uint64(^w[firstRow])<<32|uint64(slot))
		}
	}
	slices.Sort(order)
	slots := make([][]uint32, len(order))
	for i, o := range order {
		slots[i] = words[int(uint32(o))*each:][:each]
	}
	out.Rows, out.N = make([]uint32, 0, len(slots)), make([]uint64, 0, len(slots))
	for _, w := range slots {
		out.Rows = append(out.Rows, uint32(from)+^w[firstRow])
		out.N = append(out.N, uint64(w[records]))
	}
	for _, p := range g.parts {
		out.Aggs = append(out.Aggs, g.state(p, slots))
	}
	return out
}

// state reads what an aggregate needs of the groups.
func (g *grouping) state(p groupPart, slots [][]uint32) (s plan.GroupState) {
	n := len(slots)
	s.N = make([]uint64, n)
	if p.Ends >= 0 {
		s.Least, s.Greatest = make([]uint32, n), make([]uint32, n)
	}
	s.High, s.Low = make([]int64, n), make([]int64, n)
	if p.none {
		return s
	}
	for i, w := range slots {
		s.N[i] = uint64(w[p.n])
		if p.Ends >= 0 && p.ends[0] >= 0 {
			s.Least[i], s.Greatest[i] = ^w[p.ends[0]], w[p.ends[1]]
		}
	}
	for k, term := range p.Sum.Terms {
		at := p.terms[k]
		if at == ofZeros {
			continue
		}
		for i, w := range slots {
			codes := s.N[i]
			if at >= 0 {
				if codes = uint64(w[at]); g.words[at].how == wide {
					codes |= uint64(w[at+1]) << 32
				}
			}
			addProduct(&s.High[i], &s.Low[i], codes, term.Coef.Int64())
		}
	}
	return s
}

// addProduct adds codes * factor to an integer of 128 bits.
func addProduct(high, low *int64, codes uint64, factor int64) {
	size := uint64(factor)
	if factor < 0 {
		size = -size
	}
	h, l := bits.Mul64(codes, size)
	var c uint64
	if factor < 0 {
		l, c = bits.Sub64(uint64(*low), l, 0)
		h, _ = bits.Sub64(uint64(*high), h, c)
	} else {
		l, c = bits.Add64(uint64(*low), l, 0)
		h, _ = bits.Add64(uint64(*high), h, c)
	}
	*high, *low = int64(h), int64(l)
}

// Group aggregates the selected records by the codes of columns.
type Group struct {
	Keys   []pass.Attribute
	Aggs   []string
	Slots  int
	Shared bool // work groups have a copy of the slots
	At     int  // the word of the result where the slots begin
	Words  int  // of a slot; the second is the number of its records
	Star   []*plan.Dimension
}

// String implements pass.Op.
func (g Group) String() string {
	var keys []string
	for _, k := range g.Keys {
		keys = append(keys, k.Name)
	}
	text := strings.Join(g.Aggs, ", ")
	var tables []string
	for _, d := range g.Star {
		tables = append(tables, d.Name)
		if d.Digits != nil {
			keys = append(keys, fmt.Sprintf("%d keys of %s", d.Size, d.Name))
		}
	}
	if len(keys) > 0 {
		text = strings.TrimSpace(text + " BY " + strings.Join(keys, ", "))
	}
	if len(tables) > 0 {
		text += " JOIN " + strings.Join(tables, ", ")
	}
	return "Group(" + text + ")"
}

// Found is how many slots have records, given the words of the result.
func (g Group) Found(words []uint32) (n int) {
	for slot := range g.Slots {
		if words[g.At+slot*g.Words+records] > 0 {
			n++
		}
	}
	return n
}

// Counts implements pass.Op.
func (g Group) Counts() string {
	in := "in global memory"
	if g.Shared {
		in = "in shared memory first"
	}
	text := fmt.Sprintf("for each of %d slots its first record, how many they are, and what the aggregates need, %s", g.Slots, in)
	for i, d := range g.Star {
		text += [...]string{"; of the records that have partners: ", ", then "}[min(i, 1)] + d.On
	}
	return text
}
