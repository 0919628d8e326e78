package primitives

import (
	"fmt"
	"slices"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// walk goes over a vector tile by tile: what Scan and Reduce have in common
// (shaders/glsl/prim_scan.comp).
type walk struct {
	name           string
	op             Operator
	shape          ScanShape
	n              int
	in, out, total textures.Block    // total is where the sum of all goes
	wide           [2]textures.Block // of [ScanWide]: the upper words of in, if there are, and of out
	runs           *runs             // of [Runs]
}

// runs are what a scan numbers.
type runs struct {
	without int
	beside  textures.Block
	starts  textures.Block
}

// Reduce sets out[0] = in[0] op in[1] op ... (GDB section 3.1.1, reduce), the identity
// when in is empty.
func Reduce(r pass.Runner, d Shapes, op Operator, in, out Vector) error {
	if err := atLeast("reduce", "the output", out, 1); err != nil {
		return err
	}
	if err := d.fits("reduce", in, out); err != nil {
		return err
	}
	w := walk{name: fmt.Sprintf("Reduce(%s)", op.Name), op: op, n: in.N, in: in.Block, total: out.Block}
	_, err := d.reduce(r, &w)
	return err
}

// ScanShape says which scan is asked for.
type ScanShape struct {
	// Inclusive scans end with the element itself: out[i] = in[0] op ... op in[i].
	// Exclusive ones end before it, and out[0] is the identity.
	Inclusive bool
	// Segments, when set, has as many words as the input. A segment starts at each word that differs from the
	// word before it, and the scan starts afresh there.
	Segments Vector
}

// Scan is the prefix scan (GDB section 3.1.1): out[i] = in[0] op ... op in[i-1], or as
// the shape says. out has at least in.N words and may be in.
func Scan(r pass.Runner, d Shapes, op Operator, shape ScanShape, in, out Vector) error {
	if err := atLeast("scan", "the output", out, in.N); err != nil {
		return err
	}
	if err := d.fits("scan", in, out); err != nil {
		return err
	}
	w := walk{name: "Scan(" + op.Name, op: op, shape: shape, n: in.N, in: in.Block, out: out.Block, total: New(1).Block}
	if shape.Inclusive {
		w.name += ", inclusive"
	}
	if !shape.Segments.None() {
		if err := atLeast("scan", "the segments", shape.Segments, in.N); err != nil {
			return err
		}
		w.name += ", segmented"
	}
	w.name += ")"
	return d.walk(r, &w)
}

// ScanWide is the inclusive prefix scan by addition of 64 bits, modulo 2^64: low and high have the lower and the
// upper words of in[0] + ... + in[i], whose upper words are those of inHigh, or 0 where there is none. The outputs
// have at least in.N words and may be the inputs. It does not look back, whose states have 32 bits.
func ScanWide(r pass.Runner, d Shapes, in, inHigh, low, high Vector) error {
	given := []Vector{in, low, high}
	if !inHigh.None() {
		given = append(given, inHigh)
	}
	for _, v := range given {
		if err := atLeast("scan", "a vector", v, in.N); err != nil {
			return err
		}
	}
	if err := d.fits("scan", given...); err != nil {
		return err
	}
	d.LookBack = false
	return d.walk(r, &walk{name: "Scan(add, 64 bits, inclusive)", op: Add, shape: ScanShape{Inclusive: true}, n: in.N, in: in.Block, out: low.Block, total: New(1).Block,
		wide: [2]textures.Block{inHigh.Block, high.Block}})
}

// Runs numbers the runs of elements that are alike, from 1. Alike are elements whose words in x, but for the lowest bits without, are the
// same, and those in beside, which may be none. number[i] is that of the run that i is in. starts[k] where the run of number k+1
// begins, and x.N behind the last one: it has room for x.N+1.
func Runs(r pass.Runner, d Shapes, x Vector, without int, beside, number, starts Vector) error {
	given := []Vector{number}
	if !beside.None() {
		given = append(given, beside)
	}
	for _, v := range given {
		if err := atLeast("runs", "a vector", v, x.N); err != nil {
			return err
		}
	}
	if err := atLeast("runs", "the starts", starts, x.N+1); err != nil {
		return err
	}
	if err := d.fits("runs", append(given, x, starts)...); err != nil {
		return err
	}
	return d.walk(r, &walk{name: "Number the runs", op: Add, shape: ScanShape{Inclusive: true}, n: x.N, in: x.Block, out: number.Block, total: New(1).Block,
		runs: &runs{without, beside.Block, starts.Block}})
}

// walk runs the passes of w.
func (d Shapes) walk(r pass.Runner, w *walk) error {
	if d.LookBack {
		tiles := d.Scan.count(w.n)
		return w.step(d, w.name, "LOOKBACK", tiles, 1, Zeros(2+2*tiles)).run(r)
	}
	sums, err := d.reduce(r, w)
	if err != nil {
		return err
	}
	strips, per := d.strips(w.n, d.Scan)
	return w.step(d, w.name+": each strip", "DOWN", strips, per, sums).run(r)
}

// reduce leaves the sum of what precedes each strip in a vector, and that of all in
// w.total.
func (d Shapes) reduce(r pass.Runner, w *walk) (Vector, error) {
	strips, per := d.strips(w.n, d.Scan)
	words := strips
	if !w.shape.Segments.None() || !w.wide[1].None() {
		words *= 2
	}
	sums := New(words)
	if err := w.step(d, w.name+": reduce the strips", "REDUCE", strips, per, sums).run(r); err != nil {
		return sums, err
	}
	spine := walk{op: w.op, shape: w.shape, n: strips, total: w.total, wide: w.wide}
	return sums, spine.step(d, w.name+": scan the sums", "SPINE", 1, 0, sums).run(r)
}

// step returns a pass of a walk: teams, each with a strip of per tiles.
func (w *walk) step(d Shapes, name, phase string, teams, per int, sums Vector) step {
	t := d.Scan
	tiles := t.count(w.n)
	defines := []string{phase, fmt.Sprintf("TEAM %d", t.Threads), fmt.Sprintf("LOCAL %d", solo),
		fmt.Sprintf("ROWS %d", t.Items/4), "COMBINE " + w.op.Expr, "IDENTITY " + w.op.Identity}
	segmented := !w.shape.Segments.None()
	defines = slices.Concat(defines, when(segmented, "SEGMENTED"), when(w.op.Commutative && !segmented, "COMMUTATIVE"),
		when(w.shape.Inclusive, "INCLUSIVE"), when(d.Subgroups, "SUBGROUPS"))
	if !w.wide[1].None() {
		defines = append(defines, map[bool]string{true: "WIDE 1", false: "WIDE 2"}[w.wide[0].None()])
	}
	blocks := []textures.Block{w.in, w.out, w.shape.Segments.Block, sums.Block, w.total, w.wide[0], w.wide[1]}
	uniforms := []shaders.Uniform{count("n", w.n)}
	if w.runs != nil {
		defines = append(defines, "RUNS")
		if blocks[2] = w.runs.starts; !w.runs.beside.None() {
			defines, blocks[5] = append(defines, "BESIDE"), w.runs.beside
		}
		uniforms = append(uniforms, count("without", w.runs.without))
	}
	if phase == "SPINE" { // a tile has one sum to a row of a thread, not four
		tiles = Tile{t.Threads, t.Items / 4}.count(w.n)
		per = tiles
	}
	return step{
		name:     name,
		counts:   fmt.Sprintf("%d values in %d tiles", w.n, tiles),
		program:  shaders.Join([]string{"prim_team.glsl", "prim_scan.comp"}, defines...),
		uniforms: append(uniforms, count("tiles", tiles), count("strips", teams), count("per", per)),
		groups:   d.groups(teams, t),
		blocks:   blocks,
	}
}
