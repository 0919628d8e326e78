package primitives

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Map sets out[i] = fn(i) for every i < out.N (GDB section 3.1.1, map). fn is an
// expression of i and of x, y and z. These are the elements i of up to three vectors, each at
// least as long as out. out may be one of them.
func Map(r pass.Runner, d Shapes, fn Func, out Vector, in ...Vector) error {
	if len(in) > 3 {
		return fmt.Errorf("primitives: map: %d vectors, it takes up to 3", len(in))
	}
	blocks := []textures.Block{out.Block}
	for _, v := range in {
		if err := atLeast("map", "an input", v, out.N); err != nil {
			return err
		}
		blocks = append(blocks, v.Block)
	}
	if err := d.fits("map", append(in[:len(in):len(in)], out)...); err != nil {
		return err
	}
	defines, groups := d.loop(out.N)
	return step{
		name:   fmt.Sprintf("Map(%s)", fn.Expr),
		counts: fmt.Sprintf("%d values", out.N),
		program: shaders.Load("prim_map.comp", append(defines, fmt.Sprintf("INPUTS %d", len(in)),
			declare(fn.Constants), "FUNCTION "+fn.Expr)...),
		uniforms: append(uniformsOf(fn.Constants), count("n", out.N)),
		groups:   groups,
		blocks:   blocks,
	}.run(r)
}

// Gather sets out[i] = in[at[i]] for every i < at.N (GDB section 3.1.1, gather), and
// 0 where at[i] is in.N or more. out has at least at.N words.
func Gather(r pass.Runner, d Shapes, in, at, out Vector) error {
	if err := atLeast("gather", "the output", out, at.N); err != nil {
		return err
	}
	if err := d.fits("gather", in, at, out); err != nil {
		return err
	}
	return d.indexed(r, "Gather", in.N, in, at, out)
}

// Scatter sets out[at[i]] = in[i] for every i < at.N (GDB section 3.1.1, scatter);
// where at[i] is out.N or more, nothing. in has at least at.N words. Of several
// elements with one location any may win; what has no location is left as it is.
func Scatter(r pass.Runner, d Shapes, in, at, out Vector) error {
	if err := atLeast("scatter", "the input", in, at.N); err != nil {
		return err
	}
	if err := d.fits("scatter", in, at, out); err != nil {
		return err
	}
	return d.indexed(r, "Scatter", out.N, in, at, out, "SCATTER")
}

// Permute sets out[at[i]] = in[i] for every i < at.N, where at has each of 0, 1, ... at.N-1 once, of one vector or of
// two at a time. It is [Scatter] of a permutation. Beyond a quarter of d.Reach a split by the upper bits of the locations comes first. So
// what is written at a time lies close together.
func Permute(r pass.Runner, d Shapes, at Vector, in, out []Vector) error {
	n := at.N
	if len(in) != len(out) || len(in) < 1 || len(in) > 2 {
		return fmt.Errorf("primitives: permute: %d vectors to %d, it takes one or two", len(in), len(out))
	}
	for i := range in {
		if err := atLeast("permute", "the input", in[i], n); err != nil {
			return err
		}
	}
	if err := d.fits("permute", slices.Concat(in, out, []Vector{at})...); err != nil {
		return err
	}
	if d.Reach > 0 && n > d.Reach/4 {
		shift := max(0, bits.Len(uint(n-1))-8)
		near, moved := New(n), []Vector{New(n)}
		p := Parts{Of: Func{"x >> c0", []uint32{uint32(shift)}}, N: (n-1)>>shift + 1,
			Keys: at, KeysOut: near, Values: in[0], ValuesOut: moved[0], Offsets: New((n-1)>>shift + 2)}
		if len(in) > 1 {
			moved = append(moved, New(n))
			p.beside, p.besideOut = in[1], moved[1]
		}
		if err := Split(r, d, p); err != nil {
			return err
		}
		at, in, d.Reach = near, moved, 0
	}
	for i := range in { // both in one pass would take longer: they are as far apart as address translation reaches
		if err := d.indexed(r, "Scatter", out[i].N, in[i], at, out[i], "SCATTER"); err != nil {
			return err
		}
	}
	return nil
}

// moving is how many threads a work group of Gather and Scatter has.
const moving = 256

// indexed accesses a vector of limit words region by region (GDB section 3.1.1, the
// multipass optimization of scatter and gather).
func (d Shapes) indexed(r pass.Runner, name string, limit int, in, at, out Vector, defines ...string) error {
	loop, groups := d.loop(at.N)
	if t := (Tile{moving, 4}); d.Scan.Threads > 1 {
		loop, groups = []string{fmt.Sprintf("LOCAL %d", t.Threads)}, d.groups(t.count(at.N), t)
	}
	s := step{
		counts:  fmt.Sprintf("%d values", at.N),
		program: shaders.Load("prim_gather.comp", append(defines, loop...)...),
		groups:  groups,
		blocks:  []textures.Block{in.Block, at.Block, out.Block},
	}
	regions := 1
	if d.Reach > 0 && limit > 0 {
		regions = (limit + d.Reach - 1) / d.Reach
	}
	size := (limit + regions - 1) / regions
	for lo := 0; lo < max(1, limit); lo += max(1, size) {
		s.name = fmt.Sprintf("%s(%d of %d)", name, at.N, limit)
		if regions > 1 {
			s.name += fmt.Sprintf(": locations from %d", lo)
		}
		s.uniforms = []shaders.Uniform{count("n", at.N), count("limit", limit), count("lo", lo), count("size", min(size, limit-lo))}
		if err := s.run(r); err != nil {
			return err
		}
	}
	return nil
}
