package compute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// program writes the program of a batch over the pieces of a chunk. Its text depends on the columns, how their codes
// lie and what is taken of them: which lines there are, and of which value each group of them is, is told by arguments.
//
// Arguments: the place of the lines in the result, that of the table, split, and of each column its buckets' shift.
// kind is what each group of lines does: 0 nothing, 1 + a value adds it up, -1 - a value searches for its largest, and one more than
// the last adds up the values that mixed has for each of its lines, in four bits each.
//
// A value is picked by its number from shared memory. As a branch for each value in each group the program had 45 KB,
// more than an H100 has near its multiprocessors: a batch took 13.4 ms however few its lines were.
func (b *Batch) program(w *writer, chunk int, tables textures.Block) *code {
	cols, values, masks := b.colsOf(chunk), b.values(), 2
	if b.any(chunk) {
		masks = 4
	}
	d := b.device
	d.local = batchLocal
	k := &code{name: "batch", files: []string{"units.glsl", "batch.glsl"}, device: d, perUnit: batchPerUnit, regional: w.x.regional,
		shared: true, split: b.split(w.x.compiler), mostUnits: mostLineUnits, uniforms: b.kinds(values)}
	k.defines = w.x.defines(d, fmt.Sprintf("COLUMNS %du", len(cols)), fmt.Sprintf("MASKS %d", masks), fmt.Sprintf("LINES %d", d.Lines), fmt.Sprintf("VALUES %d", max(1, len(values))))
	m := &marks{blocks: slices.Repeat([]textures.Block{tables}, len(w.x.pieces))}
	name := w.block(source{marks: m}, "uint", "readonly")
	k.defines = append(k.defines, "TABLES "+name)
	t := &batchText{writer: w, b: b, cols: cols, values: values, masks: masks}
	t.write()
	k.slots, k.text = w.slots, t.text.String()
	return k
}

// kinds are the arguments that say what is added up.
func (b *Batch) kinds(values []value) []shaders.Uniform {
	kind, mixed := make([]int32, b.groups()), make([]uint32, mixedWords)
	mixes := b.mixes()
	for _, p := range b.order {
		l := b.forms[p.form].lines[p.line]
		if l.value.col < 0 {
			continue
		}
		v := slices.Index(values, l.value)
		group := p.at / linesPerGroup
		switch {
		case l.value.extreme():
			kind[group] = int32(-1 - v)
		case group >= b.groups()-mixes && len(values) > 1:
			kind[group] = int32(1 + len(values))
			i := p.at - linesPerGroup*(b.groups()-b.mixable())
			mixed[i/8] |= uint32(v) << (i % 8 * 4)
		default:
			kind[group] = int32(1 + v)
		}
	}
	words := make([]int32, len(mixed))
	for i, w := range mixed {
		words[i] = int32(w)
	}
	return []shaders.Uniform{{Name: "kind", I: kind}, {Name: "mixed", I: words}}
}

// mixes is how many groups have lines of several values.
func (b *Batch) mixes() int {
	rest := 0
	of := map[value]int{}
	for _, p := range b.order {
		if v := b.forms[p.form].lines[p.line].value; v.col >= 0 && !v.extreme() {
			of[v]++
		}
	}
	for _, n := range of {
		rest += n % linesPerGroup
	}
	return (rest + linesPerGroup - 1) / linesPerGroup
}

// mixedWords is how many words have the values of single lines.
const mixedWords = (mostMixed*linesPerGroup + 7) / 8

// batchText writes the main function.
type batchText struct {
	*writer
	b      *Batch
	cols   []int
	values []value
	masks  int
	text   strings.Builder
}

func (t *batchText) add(format string, args ...any) { fmt.Fprintf(&t.text, format, args...) }

func (t *batchText) write() {
	t.add("layout(local_size_x = LOCAL) in;\nuniform int kind[%d];\nuniform int mixed[%d];\n", t.b.groups(), mixedWords)
	t.add("void main() {\n    claim(uint(args[1]));\n    for (int p = 0; p < args[0]; p++) {\n        PIECE(p);\n        LOAD(uint(arg(OWN + 1)))\n")
	t.add("        uvec2 level[LEVELS];\n        for (int p = 0; p < LEVELS; p++)\n            level[p] = uvec2(0u);\n")
	for g := range t.b.groups() {
		t.add("        uvec4 sum%d = uvec4(0u);\n", g)
	}
	t.add(`        int split = arg(OWN + 2);
        uint rows = 32u >> split, units = UNITS << split, before = BEFORE << split, total = TOTAL << split;
        for (uint unit = firstUnit(units, before, total), end = endUnit(units, before, total); unit < end; unit += STEP) {
            uint quad = (unit >> 6) * 64u * rows + (unit & 63u);
            for (uint i = 0u; i < rows && 4u * quad < ROWS; i++, quad += 64u) {
`)
	t.records()
	t.add("                count(level, low, high);\n")
	for g := range t.b.groups() {
		t.group(g)
	}
	t.add("            }\n        }\n")
	t.report()
	t.add("    }\n}\n")
}

// records writes which lines four records pass.
func (t *batchText) records() {
	const in = "                "
	for i, col := range t.cols {
		seg := t.x.segment(col)
		t.add(in+"uvec4 code%d = unpack(FETCH_%s(%s, quad));\n", i, strings.ToUpper(textures.CodeType(seg)), t.codes(col, 0))
		if seg.Nulls > 0 {
			t.add(in+"uvec4 valid%d = FETCH(%s, (quad >> 11) * 64u + (quad & 63u)) >> (quad >> 6 & 31u) & 1u;\n", i, t.validity(col))
		}
	}
	t.add(in + "uvec4 among = uvec4(lessThan(4u * quad + uvec4(0, 1, 2, 3), uvec4(ROWS)));\n")
	t.add(in + "bool last = 4u * quad + 3u >= ROWS;\n" + in + "if (last) {\n") // codes behind the rows are any
	for i := range t.cols {
		t.add(in+"    code%d *= among;\n", i)
	}
	t.add(in + "}\n")
	words := []string{"low", "high", "lowAny", "highAny"}[:t.masks]
	for _, w := range words {
		t.add(in+"uvec4 %s = uvec4(~0u);\n", w)
	}
	for i, col := range t.cols {
		base := fmt.Sprintf("%du * COLUMN_WORDS", i)
		t.add(in+"uvec4 at%d = intervals(%s, code%d, arg(OWN + %d));\n", i, base, i, 3+i)
		if t.x.segment(col).Nulls > 0 {
			t.add(in+"at%d = mix(uvec4(NULLS), at%d, notEqual(valid%d, uvec4(0u)));\n", i, i, i)
		}
		for k, w := range words {
			t.add(in+"%s &= passes(%s, at%d, %du);\n", w, base, i, k)
		}
	}
	if t.masks > 2 {
		t.add(in + "low &= ~lowAny;\n" + in + "high &= ~highAny;\n")
	}
	if len(t.cols) == 0 {
		t.add(in + "low = high = uvec4(0u);\n")
	}
	t.add(in + "if (last) {\n" + in + "    low *= among;\n" + in + "    high *= among;\n" + in + "}\n")
	for i, v := range t.values {
		code := "uvec4(0u)" // of a chunk where no line reads the column
		if at := slices.Index(t.cols, v.col); at >= 0 {
			code = fmt.Sprintf("code%d", at)
		}
		t.add(in+"VALUE(%d) = %s;\n", i, strings.ReplaceAll([...]string{"C", "C & 65535u", "C >> 16", "C", "~C"}[v.take], "C", code))
	}
}

// group writes what a group of lines does with four records.
func (t *batchText) group(g int) {
	const in = "                "
	mask := [...]string{"low", "high"}[g/8]
	each := func(format string) {
		for i := range linesPerGroup {
			line := linesPerGroup*g + i
			t.add(in+"    "+format+"\n", g, "xyzw"[i], mask, uint32(1)<<(line%32))
		}
	}
	if len(t.values) > 1 && g >= t.b.groups()-t.b.mixable() {
		t.add(in+"if (kind[%d] == %d) {\n", g, 1+len(t.values))
		for i := range linesPerGroup {
			line := linesPerGroup*g + i
			n := line - linesPerGroup*(t.b.groups()-t.b.mixable())
			t.add(in+"    { uvec4 v = VALUE(mixed[%d] >> %d & 15); SUM(sum%d.%c, %s, %du, v) }\n", n/8, n%8*4, g, "xyzw"[i], mask, uint32(1)<<(line%32))
		}
		t.add(in + "} else\n")
	}
	if slices.ContainsFunc(t.values, value.extreme) {
		t.add(in+"if (kind[%d] < 0) {\n"+in+"    uvec4 v = VALUE(-1 - kind[%[1]d]);\n", g)
		each("LARGEST(sum%d.%c, %s, %du, v)")
		t.add(in + "} else\n")
	}
	t.add(in+"if (kind[%d] > 0) {\n"+in+"    uvec4 v = VALUE(kind[%[1]d] - 1);\n", g)
	each("SUM(sum%d.%c, %s, %du, v)")
	t.add(in + "}\n")
}

// report writes what adds the threads' lines up.
func (t *batchText) report() {
	const in = "        "
	lines := linesPerGroup * t.b.groups()
	t.add(in+"beginReport();\n"+in+"uint me = gl_LocalInvocationIndex %% COPIES;\n"+in+"for (uint line = 0u; line < %du; line++)\n"+in+"    REPORT_COUNT(line, counted(level, line))\n", lines)
	for line := range lines {
		g := line / linesPerGroup
		sum := fmt.Sprintf("sum%d.%c", g, "xyzw"[line%linesPerGroup])
		t.add(in+"if (kind[%d] < 0) REPORT_LARGEST(%du, %s) else REPORT_SUM(%[2]du, %[3]s)\n", g, line, sum)
	}
	t.add(in+"barrier();\n"+in+"for (uint line = gl_LocalInvocationIndex; line < %du; line += uint(LOCAL))\n"+in+"    send(uint(arg(OWN)), line, kind[line / 4u] < 0);\n", lines)
}
