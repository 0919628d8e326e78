package main

import (
	"fmt"
	"strings"

	"github.com/stencildb/stencildb/demos/draw"
	"github.com/stencildb/stencildb/demos/lesson"
	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// The layout. The picture is meant to be shown at half its size.
const (
	panel    = 256 // side of a picture, in pixels
	columns  = 6   // the attributes or the legend, and five passes
	passes   = 9
	textSize = 27
)

// figure is what the picture shows: two attributes, the passes, the answer.
type figure struct {
	shape      textures.Shape
	fields     [2]string
	attributes [2][]float32
	steps      []lesson.Step
	selected   uint64
}

// sheet lays the figure out: a column a pass, the depth buffer above the stencil buffer.
func (f *figure) sheet() *draw.Sheet {
	s := &draw.Sheet{Title: "EvalCNF: a boolean combination lives in the stencil buffer", Text: textSize, Columns: columns, Width: panel,
		About: []string{query,
			fmt.Sprintf("One texel is one of %s flights. They are sorted by delay into lines, each line by distance: delay grows downwards, distance to the right.",
				numbers.Grouped(f.shape.Rows)),
			"Above is the depth buffer after each pass, green where the depth test passes; below the stencil buffer."},
		Heads: []string{"Clause 1: " + clause1, "Clause 2: " + clause2}}
	s.Panels = append(s.Panels, draw.Panel{Title: "Attributes", Note: f.fields[0] + " above, " + f.fields[1] + " below; dark is small, by rank",
		Draw: draw.Stack{f.records(draw.Ramp(f.attributes[0])), f.records(draw.Ramp(f.attributes[1]))}})
	sum, counts := uint64(0), []string{}
	for i, st := range f.steps {
		if len(s.Panels) == columns {
			s.Panels = append(s.Panels, draw.Panel{Title: "Stencil", Draw: draw.Stack{}, Legend: []draw.Entry{
				{Index: draw.Stencil, Text: "0: failed a clause"},
				{Index: draw.Stencil + 1, Text: "1: before clause 1;"}, {Index: draw.White, Text: "    passed clause 2"},
				{Index: draw.Stencil + 2, Text: "2: passed clause 1"}}})
		}
		p := draw.Panel{Title: fmt.Sprintf("%d %s", i+1, st.Pass.Routine())}
		pictures, notes := draw.Stack{f.records(tested(st))}, []string{argument(st.Pass.Op)}
		if st.Stencil == nil {
			notes = append(notes, "stencil is not in use yet")
		} else {
			pictures = append(pictures, f.records(draw.Values(st.Stencil)))
		}
		if st.Pass.Stencil.Test {
			notes = append(notes, rule(st.Pass))
		}
		if st.Pass.Count {
			sum += st.Count
			counts = append(counts, numbers.Grouped(st.Count))
			notes = append(notes, "counts "+numbers.Grouped(st.Count))
			if sum != st.Count {
				notes = append(notes, "so far "+numbers.Grouped(sum))
			}
		}
		p.Draw, p.Note = pictures, strings.Join(notes, "; ")
		s.Panels = append(s.Panels, p)
	}
	kept := f.steps[len(f.steps)-1].Stencil
	s.Panels = append(s.Panels, draw.Panel{Title: "Selected: " + numbers.Grouped(f.selected),
		Draw: f.records(draw.Chosen(len(kept), func(i int) bool { return kept[i] != 0 })),
		Note: fmt.Sprintf("of %s flights = %s; their stencil value is not 0", numbers.Grouped(f.shape.Rows), strings.Join(counts, " + "))})
	return s
}

func (f *figure) records(texels []uint8) draw.Records {
	return draw.Records{Shape: f.shape, Colors: texels}
}

// argument is what the routine of a pass does.
func argument(op pass.Op) string {
	switch op := op.(type) {
	case pass.CopyToDepth:
		return op.Attribute.String()
	case pass.Compare:
		return op.Predicate()
	case pass.EvalCNF:
		return op.Does()
	}
	return op.Counts()
}

// rule says what a pass does to stencil values: "passes: 1 → 2".
func rule(p *pass.Pass) string {
	st := p.Stencil
	to := map[pass.StencilOp]uint8{pass.Incr: st.Ref + 1, pass.Decr: st.Ref - 1, pass.Zero: 0}[st.Pass]
	s := fmt.Sprintf("%d → %d", st.Ref, to)
	if p.Depth.Test {
		s = "passes: " + s
	}
	if p.Clear != nil {
		s = fmt.Sprintf("clear to %d; %s", p.Clear.Value, s)
	}
	return s
}

// tested shows depth, tinted where the pass's depth test passes.
func tested(s lesson.Step) []uint8 {
	shades := draw.Ramp(s.Depth)
	if s.Pass.Depth.Write || !s.Pass.Depth.Test {
		return shades
	}
	return draw.Tint(shades, func(i int) bool { return lesson.Passes(s.Pass, s.Depth[i]) })
}
