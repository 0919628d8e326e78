package fused

import (
	"math/bits"

	"github.com/stencildb/stencildb/aggregates"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Rows finds which records of a chunk a query selects, from the fragment program of its
// condition, which draws a bit a record. Checks are left to [Select].
func Rows(run pass.Runner, device predicates.Limits, q *physical.Query, chunk int) ([]physical.SelectedRows, error) {
	if err := aggregates.Supported(q); err != nil {
		return nil, err
	}
	m := physical.SelectedRows{N: q.Table.Chunks[chunk].Rows}
	pred := q.Chunks[chunk].Pred
	switch pred.Op {
	case predicate.False:
		return nil, nil
	case predicate.True:
		m.All = true
		return []physical.SelectedRows{m}, nil
	}
	w := newProgram(q.Table.Chunks[chunk], nil, pred)
	if err := w.fits(device, 32); err != nil {
		return nil, err
	}
	out := textures.RowBits(m.N)
	lines := textures.LineShape(m.N)
	_, err := run.Run(&pass.Pass{Op: pass.SelectRows{Where: pred.String()}, Chunk: chunk, Window: textures.Window{Rows: m.N}, Color: out,
		Program: w.rowBits(), Textures: w.refs, Uniforms: append([]shaders.Uniform{shaders.Uint("width", uint32(lines.Width/4)),
			shaders.Uint("shift", uint32(bits.Len(uint(lines.Width/4))-1)), shaders.Uint("line", uint32(out.Width)), shaders.Uint("rows", uint32(m.N))}, w.uniforms...)})
	if err != nil {
		return nil, err
	}
	m.Bits = make([]uint32, out.Width*out.Height)
	return []physical.SelectedRows{m}, run.ReadTexels(out, m.Bits)
}

// rowBits returns the program that draws the selection as [textures.RowBits].
func (w *program) rowBits() shaders.Source {
	return w.compose("rows", `
uniform uint width; // texels of four records in a line, 2^shift
uniform uint shift;
uniform uint line;  // fragments in a line
uniform uint rows;
layout(location = 0) out uint bits;

void main() {
    uint first = 8u * (uint(gl_FragCoord.y) * line + uint(gl_FragCoord.x));
    bits = 0u;
    for (uint i = 0u; i < 8u && 4u * (first + i) < rows; i++) {
        uint texel = first + i;
        ivec2 at = ivec2(texel & (width - 1u), texel >> shift);
`+w.fetch("        ")+`        for (int k = 0; k < 4; k++)
            bits |= uint(`+w.holds()+`) << (4u * i + uint(k));
    }
    if (rows < 4u * first + 32u) // bits behind the rows are 0
        bits &= (1u << (max(rows, 4u * first) - 4u * first)) - 1u;
}
`)
}
