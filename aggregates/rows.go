package aggregates

import (
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/physical"
	"github.com/stencildb/stencildb/predicates"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// Rows finds which records of a chunk a query selects. The WHERE leaves its selection in
// the stencil buffer. One pass draws it as an attribute of one bit. Another packs
// that to a bit a record, to be read back. (The paper leaves selections where they are and
// counts them.) Checks are left to [Select].
func Rows(run pass.Runner, device predicates.Limits, q *physical.Query, chunk int) ([]physical.SelectedRows, error) {
	if err := Supported(q); err != nil {
		return nil, err
	}
	p := NewSelection(run, device, q.Part([]int{chunk}), true).List[0]
	s := p.selection()
	m := physical.SelectedRows{N: q.Table.Chunks[chunk].Rows}
	switch {
	case s.None():
		return nil, nil
	case s.All():
		m.All = true
		return []physical.SelectedRows{m}, nil
	}
	mask := p.Render(s, pass.Attribute{Name: "the selection", Col: -1})
	if err := p.Err(); err != nil {
		return nil, err
	}
	out := textures.RowBits(m.N)
	_, err := run.Run(&pass.Pass{Op: pass.SelectRows{}, Chunk: chunk, Window: textures.Window{Rows: m.N}, Color: out,
		Program: shaders.Load("rowbits.frag"), Textures: []textures.Ref{{Temp: mask}},
		Uniforms: []shaders.Uniform{shaders.Uint("rows", uint32(m.N)), shaders.Uint("line", uint32(out.Width))}})
	if err != nil {
		return nil, err
	}
	m.Bits = make([]uint32, out.Width*out.Height)
	return []physical.SelectedRows{m}, run.ReadTexels(out, m.Bits)
}
