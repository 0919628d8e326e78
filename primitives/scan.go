package primitives

import (
	"fmt"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// walk is a verb that scans a vector tile by tile: what Scan, Reduce and Filter have
// in common (shaders/glsl/prim_team.glsl).
type walk struct {
	name     string
	verb     string   // the file that has load and store
	defines  []string // of it
	op       Operator
	segments bool // elements are pairs (head, value)
	n        int
	uniforms []shaders.Uniform
	// blocks are the verb's bindings 0, 1 and 2; total is where the sum of all goes.
	blocks [3]textures.Block
	total  textures.Block
}

// Reduce sets out[0] = in[0] op in[1] op ... (GDB section 3.1.1, reduce), the identity
// when in is empty.
func Reduce(r pass.Runner, d Device, op Operator, in, out Vector) error {
	if err := atLeast("reduce", "the output", out, 1); err != nil {
		return err
	}
	if err := d.fits("reduce", in, out); err != nil {
		return err
	}
	w := walk{name: fmt.Sprintf("Reduce(%s)", op.Name), verb: "prim_scan.comp", op: op, n: in.N,
		blocks: [3]textures.Block{in.Block}, total: out.Block}
	sums, err := d.reduce(r, &w)
	d.Memory.give(sums)
	return err
}

// ScanShape says which scan is asked for.
type ScanShape struct {
	// Inclusive scans end with the element itself: out[i] = in[0] op ... op in[i].
	// Exclusive ones end before it, and out[0] is the identity.
	Inclusive bool
	// Heads, when set, has as many words as the input; a segment starts at each that
	// is not 0, and the scan starts afresh there.
	Heads Vector
}

// Scan is the prefix scan (GDB section 3.1.1): out[i] = in[0] op ... op in[i-1], or as
// the shape says. out has at least in.N words and may be in.
func Scan(r pass.Runner, d Device, op Operator, shape ScanShape, in, out Vector) error {
	if err := atLeast("scan", "the output", out, in.N); err != nil {
		return err
	}
	if err := d.fits("scan", in, out); err != nil {
		return err
	}
	w := walk{name: "Scan(" + op.Name, verb: "prim_scan.comp", op: op, n: in.N,
		blocks: [3]textures.Block{in.Block, out.Block}}
	total := d.Memory.take(1)
	defer d.Memory.give(total)
	w.total = total.Block
	if shape.Inclusive {
		w.name += ", inclusive"
		w.defines = append(w.defines, "INCLUSIVE")
	}
	if !shape.Heads.None() {
		if err := atLeast("scan", "the heads", shape.Heads, in.N); err != nil {
			return err
		}
		w.name += ", segmented"
		w.segments = true
		w.blocks[2] = shape.Heads.Block
	}
	w.name += ")"
	return d.walk(r, &w)
}

// Filter writes the elements that satisfy keep, in order, to out, and their number to
// kept[0] (GDB section 3.1.1, filter). keep is a condition of x and i; what is written
// is emit, an expression of x and i as well, with the constants of keep: "x" for the
// elements, "i" for their row ids. out has room for all that are kept.
func Filter(r pass.Runner, d Device, keep Func, emit string, in, out, kept Vector) error {
	if err := atLeast("filter", "the count", kept, 1); err != nil {
		return err
	}
	if err := d.fits("filter", in, out, kept); err != nil {
		return err
	}
	return d.walk(r, &walk{name: fmt.Sprintf("Filter(%s)", keep.Expr), verb: "prim_filter.comp", op: Add, n: in.N,
		defines:  []string{declare(keep.Constants), "KEEP " + keep.Expr, "EMIT " + emit},
		uniforms: uniformsOf(keep.Constants),
		blocks:   [3]textures.Block{in.Block, out.Block}, total: kept.Block})
}

// walk runs the passes of w.
func (d Device) walk(r pass.Runner, w *walk) error {
	if d.LookBack {
		tiles := d.Scan.count(w.n)
		states, err := d.Memory.zeros(r, d, 2+2*tiles)
		defer d.Memory.give(states)
		if err != nil {
			return err
		}
		return w.step(d, w.name, "LOOKBACK", w.verb, tiles, 1, states).run(r)
	}
	sums, err := d.reduce(r, w)
	defer d.Memory.give(sums)
	if err != nil {
		return err
	}
	strips, per := d.strips(w.n, d.Scan)
	return w.step(d, w.name+": each strip", "DOWN", w.verb, strips, per, sums).run(r)
}

// reduce leaves the sum of what precedes each strip in a vector, and that of all in
// w.total.
func (d Device) reduce(r pass.Runner, w *walk) (Vector, error) {
	strips, per := d.strips(w.n, d.Scan)
	words := strips
	if w.segments {
		words *= 2
	}
	sums := d.Memory.take(words)
	if err := w.step(d, w.name+": reduce the strips", "REDUCE", w.verb, strips, per, sums).run(r); err != nil {
		return sums, err
	}
	spine := walk{op: w.op, segments: w.segments, n: strips, total: w.total}
	tiles := d.spine().count(strips)
	return sums, spine.step(d, w.name+": scan the sums", "DOWN", "prim_spine.comp", 1, tiles, sums).run(r)
}

// spine is the tile of the pass over the strips' sums: one to a row of a thread,
// not four.
func (d Device) spine() Tile { return Tile{d.Scan.Threads, d.Scan.Items / 4} }

// step returns a pass of a walk: teams, each with a strip of per tiles.
func (w *walk) step(d Device, name, phase, verb string, teams, per int, sums Vector) step {
	t := d.Scan
	tiles := t.count(w.n)
	defines := []string{phase, fmt.Sprintf("TEAM %d", t.Threads), fmt.Sprintf("LOCAL %d", solo),
		fmt.Sprintf("ROWS %d", t.Items/4), "COMBINE " + w.op.Expr, "IDENTITY " + w.op.Identity}
	if w.op.Commutative && !w.segments {
		defines = append(defines, "COMMUTATIVE")
	}
	if w.segments {
		defines = append(defines, "SEGMENTED")
	}
	if d.Subgroups {
		defines = append(defines, "SUBGROUPS")
	}
	if verb == "prim_spine.comp" {
		defines = append(defines, "SPINE")
		tiles = per
	}
	return step{
		name:     name,
		counts:   fmt.Sprintf("%d values in %d tiles", w.n, tiles),
		program:  shaders.JoinCompute([]string{"prim_team.glsl", verb}, append(defines, w.defines...)...),
		uniforms: append([]shaders.Uniform{count("n", w.n), count("tiles", tiles), count("strips", teams), count("per", per)}, w.uniforms...),
		groups:   d.groups(teams, t),
		blocks:   []textures.Block{w.blocks[0], w.blocks[1], w.blocks[2], sums.Block, w.total},
	}
}
