package sharedscan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/compute"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// program writes the program of a batch over the pieces of a chunk. Its text depends on the columns, how their codes
// are stored and what is computed of them. Arguments say which lines there are, and which value each group of them has.
//
// Arguments: the place of the lines in the result, that of the table, split, and of each column its buckets' shift. kind says what
// each of the groups of lines does. It adds a value up, or, where kind is -1 - a value, searches for its largest. The first groups add
// up a value of each line's own, of which mixed has the number in four bits.
//
// A value is picked by its number from shared memory, and records are read four at a time. A program that does not fit the
// instruction cache takes three times as long. One with a branch for each group takes half as long again
// (docs/results/batching.md).
func (b *Scan) program(w *compute.Writer, chunk int, tables textures.Block) *compute.Code {
	cols, values := b.colsOf(chunk), b.values()
	words, begins := b.tableWords(chunk, cols)
	d := b.device
	d.Local = b.local(chunk)
	k := &compute.Code{Name: "batch", Files: []string{"units.glsl", "batch.glsl"}, Device: d, PerUnit: groupsPerUnit, Regional: w.X.Regional,
		Shared: true, Split: b.split(w.X.Compiler), MostUnits: mostLineUnits, Uniforms: b.kinds(values)}
	k.Defines = w.X.Defines(d, fmt.Sprintf("COLUMNS %du", len(cols)), fmt.Sprintf("TABLE_WORDS %du", words), fmt.Sprintf("PASSES %d", b.masks(chunk)/b.words()),
		fmt.Sprintf("LINES %d", d.Lines), fmt.Sprintf("VALUES %d", max(1, len(values))))
	m := &compute.Marks{Blocks: slices.Repeat([]textures.Block{tables}, len(w.X.Pieces))}
	name := w.Block(compute.Source{Marks: m}, "uint", "readonly")
	k.Defines = append(k.Defines, "TABLES "+name)
	t := &scanText{Writer: w, b: b, cols: cols, begins: begins, values: values, passes: b.masks(chunk) / b.words()}
	t.write()
	k.Slots, k.Text = w.Slots, t.text.String()
	return k
}

// groupsAtOnce is how many groups of lines are added up without a branch between them, whether all have lines or not.
const groupsAtOnce = 4

// kinds are the arguments that say what is added up.
func (b *Scan) kinds(values []value) []shaders.Uniform {
	kind, mixed := make([]int32, b.groups()), make([]int32, max(1, b.mixable(len(values))))
	groups := 0 // that have values
	for _, p := range b.order {
		l := b.forms[p.form].lines[p.line]
		if l.value.col < 0 {
			continue
		}
		v, group := int32(slices.Index(values, l.value)), p.at/linesPerGroup
		groups = max(groups, group+1)
		if kind[group] = v; l.value.extreme() {
			kind[group] = -1 - v
		} else if group < len(mixed) {
			mixed[group] |= v << (p.at % linesPerGroup * 4)
		}
	}
	return []shaders.Uniform{{Name: "kind", I: kind}, {Name: "mixed", I: mixed}, shaders.Int("groups", int32(groups))}
}

// scanText writes the main function.
type scanText struct {
	*compute.Writer
	b      *Scan
	cols   []int
	begins []int // where in the table
	values []value
	passes int // tables of what intervals pass
	text   strings.Builder
}

func (t *scanText) add(format string, args ...any) { fmt.Fprintf(&t.text, format, args...) }

func (t *scanText) write() {
	t.add("layout(local_size_x = LOCAL) in;\nuniform int kind[%d];\nuniform int mixed[%d];\nuniform int groups;\n", t.b.groups(), max(1, t.b.mixable(len(t.values))))
	t.add("void main() {\n    claim(uint(args[1]));\n    for (int p = 0; p < args[0]; p++) {\n        PIECE(p);\n        LOAD(uint(arg(OWN + 1)))\n")
	t.add("        LINE_BITS level[LEVELS];\n        for (int p = 0; p < LEVELS; p++)\n            level[p] = LINE_BITS(0u);\n")
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
		if g%groupsAtOnce == 0 {
			t.add("                if (groups > %d) {\n", g)
		}
		if t.group(g); g%groupsAtOnce == groupsAtOnce-1 || g == t.b.groups()-1 {
			t.add("                }\n")
		}
	}
	t.add("            }\n        }\n")
	t.report()
	t.add("    }\n}\n")
}

// records writes which lines four records pass.
func (t *scanText) records() {
	const in = "                "
	for i, col := range t.cols {
		seg := t.X.Segment(col)
		t.add(in+"uvec4 code%d = unpack(FETCH_%s(%s, quad));\n", i, strings.ToUpper(textures.CodeType(seg)), t.Codes(col, 0))
		if seg.Nulls > 0 {
			t.add(in+"uvec4 valid%d = FETCH(%s, (quad >> 11) * 64u + (quad & 63u)) >> (quad >> 6 & 31u) & 1u;\n", i, t.Validity(col))
		}
	}
	t.add(in + "bool last = 4u * quad + 3u >= ROWS;\n" + in + "if (last) {\n") // codes behind the rows are any
	for i := range t.cols {
		t.add(in+"    code%d *= AMONG;\n", i)
	}
	t.add(in + "}\n")
	t.add(in + "uvec4 low = uvec4(~0u), high = low, lowAny = low, highAny = low;\n")
	for i, col := range t.cols {
		of, seg := "intervals", t.X.Segment(col)
		if bucketShift(t.X.Chunk, col) > narrowShift {
			of = "wideIntervals"
		}
		t.add(in+"uvec4 at%d = %s(%du, code%d, arg(OWN + %d));\n", i, of, t.begins[i], i, 3+i)
		if seg.Nulls > 0 {
			t.add(in+"at%d = mix(uvec4(NULLS), at%d, notEqual(valid%d, uvec4(0u)));\n", i, i, i)
		}
		if t.add(in+"PASS(low, high, %du, at%d)\n", t.passes*i, i); t.passes > 1 {
			t.add(in+"PASS(lowAny, highAny, %du, at%d)\n", t.passes*i+1, i)
		}
	}
	if t.passes > 1 {
		t.add(in + "low &= ~lowAny;\n" + in + "high &= ~highAny;\n")
	}
	if len(t.cols) == 0 {
		t.add(in + "low = high = uvec4(0u);\n")
	}
	t.add(in + "if (last) {\n" + in + "    low *= AMONG;\n" + in + "    high *= AMONG;\n" + in + "}\n")
	for i, v := range t.values {
		code := "uvec4(0u)" // of a chunk where no line reads the column
		if at := slices.Index(t.cols, v.col); at >= 0 {
			code = fmt.Sprintf("code%d", at)
		}
		t.add(in+"VALUE(%d) = %s;\n", i, strings.ReplaceAll([...]string{"C", "C & 65535u", "C >> 16", "C", "~C"}[v.take], "C", code))
	}
}

// group writes what a group of lines does with four records.
func (t *scanText) group(g int) {
	of := fmt.Sprintf("sum%d, %s, %du", g, [...]string{"low", "high"}[g/8], uint32(1)<<(linesPerGroup*g%32))
	t.add("                    ")
	if slices.ContainsFunc(t.values, value.extreme) {
		t.add("if (kind[%d] < 0) EACH_OF_FOUR(LARGEST, %s, -1 - kind[%[1]d]) else ", g, of)
	}
	if g < t.b.mixable(len(t.values)) {
		t.add("MIXED_SUMS(%s, mixed[%d])\n", of, g)
	} else {
		t.add("EACH_OF_FOUR(SUM, %s, kind[%d])\n", of, g)
	}
}

// report writes what adds the threads' lines up.
func (t *scanText) report() {
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
