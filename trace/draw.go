package trace

import (
	"fmt"
	"math"
	"slices"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// buffer is a depth-stencil buffer as the pass before left it. What nothing has
// been written to yet is undefined, and nil.
type buffer struct {
	chunk   int
	column  int       // whose limb the depths are; -1 for none
	depth   []float32 // at the cells
	stencil []uint8   // of all records
}

// draw looks at a draw into a depth-stencil buffer.
func (t *tracer) draw(l *look) (after func() error, err error) {
	p := l.pass
	target, err := t.store.Target(p.Target)
	if err != nil {
		return nil, err
	}
	b := t.targets[p.Target]
	if b == nil {
		b = &buffer{chunk: l.Chunk, column: -1}
		if p.Target.Chunk != nil { // the depths are the codes, from the beginning
			b.column = p.Target.Col
			if b.depth, err = t.depths(l.grid, target); err != nil {
				return nil, err
			}
		}
	}
	var passed []bool
	if p.Count || p.Stencil.Test && p.Stencil.WriteMask != 0 {
		if passed, err = t.passing(p, target); err != nil {
			return nil, err
		}
	}
	return func() error {
		now, err := t.after(l, b, target)
		if err != nil {
			return err
		}
		t.targets[p.Target], l.column = now, now.column
		return t.drawn(l, b, now, passed)
	}, nil
}

// depths reads the depths of the cells back.
func (t *tracer) depths(g *grid, target *textures.Target) ([]float32, error) {
	width := target.Ref.Shape.Width
	out := make([]float32, len(g.cells))
	have, line := -1, []float32(nil)
	for i, row := range g.cells {
		if y := row / width; y != have {
			var err error
			if line, err = t.store.ReadDepthLine(target, y); err != nil {
				return nil, err
			}
			have = y
		}
		out[i] = line[row%width]
	}
	return out, nil
}

// passing draws a pass once more, so that the stencil values of the records that pass
// are inverted, and puts the buffer back.
func (t *tracer) passing(p *pass.Pass, target *textures.Target) ([]bool, error) {
	ref := p.Target
	ref.Slot, ref.Chunk, ref.Col = -1, nil, 0
	spare, err := t.store.Target(ref)
	if err != nil {
		return nil, fmt.Errorf("trace: a spare depth-stencil buffer, to see which records pass: %w", err)
	}
	if err := t.store.CopyTarget(spare, target); err != nil {
		return nil, err
	}
	before := target.Stencil()
	if c := p.Clear; c != nil {
		for i, s := range before {
			before[i] = s&^c.Mask | c.Value&c.Mask
		}
	}
	probe := *p
	probe.Count, probe.Color, probe.Depth.Write = false, nil, false
	probe.Stencil = pass.Stencil{Test: true, Pass: pass.Invert, WriteMask: 0xff}
	if s := p.Stencil; s.Test {
		probe.Stencil.Func, probe.Stencil.Ref, probe.Stencil.Mask = s.Func, s.Ref, s.Mask
	}
	if _, err := t.bare.Run(&probe); err != nil {
		return nil, err
	}
	passed := make([]bool, len(before))
	for i, s := range target.Stencil() {
		passed[i] = s != before[i]
	}
	return passed, t.store.CopyTarget(target, spare)
}

// after reads a buffer as the pass has left it.
func (t *tracer) after(l *look, b *buffer, target *textures.Target) (*buffer, error) {
	p := l.pass
	now := &buffer{chunk: l.Chunk, column: b.column}
	writes := p.Depth.Test && p.Depth.Write
	if writes {
		now.column = -1
		if len(p.Textures) > 0 && p.Textures[0].Chunk != nil {
			now.column = p.Textures[0].Cols[0]
		}
	}
	if b.depth != nil || writes {
		var err error
		if now.depth, err = t.depths(l.grid, target); err != nil {
			return nil, err
		}
	}
	if b.stencil != nil || p.Clear != nil || p.Stencil.Test && p.Stencil.WriteMask != 0 {
		now.stencil = target.Stencil()
	}
	return now, nil
}

// drawn makes the pictures of a draw, in the order in which data flows.
func (t *tracer) drawn(l *look, b, now *buffer, passed []bool) error {
	for _, r := range l.pass.Textures {
		list, err := t.texture(l, r)
		if err != nil {
			return err
		}
		l.Panels = append(l.Panels, list...)
	}
	if err := t.depthPanels(l, b, now); err != nil {
		return err
	}
	for i, s := range [][]uint8{b.stencil, now.stencil} {
		title := [2]string{"stencil before", "stencil after"}[i]
		if s == nil {
			if now.stencil != nil {
				l.Panels = append(l.Panels, undefined(title))
			}
			continue
		}
		p, err := t.stencil(l.grid, title, s)
		if err != nil {
			return err
		}
		p.Same = i == 1 && slices.Equal(b.stencil, now.stencil)
		l.Panels = append(l.Panels, p)
	}
	if passed != nil {
		p, err := t.share(l, "records that pass", func(row int) bool { return passed[row] })
		if err != nil {
			return err
		}
		l.Panels = append(l.Panels, p)
	}
	if l.pass.Color != nil {
		t.temps[l.pass.Color] = l
		list, err := t.temp(l, l.pass.Color, "drawn")
		if err != nil {
			return err
		}
		l.Panels = append(l.Panels, list...)
	}
	return nil
}

// depthPanels makes the pictures of the depths before and after, on one scale where
// they are of one column.
func (t *tracer) depthPanels(l *look, b, now *buffer) error {
	both := slices.Concat(b.depth, now.depth)
	for i, d := range []*buffer{b, now} {
		title := [2]string{"depth before", "depth after"}[i]
		if d.depth == nil {
			if now.depth != nil {
				l.Panels = append(l.Panels, undefined(title))
			}
			continue
		}
		scale := both
		if b.column != now.column {
			scale = d.depth
		}
		lo, hi := l.ends(scale)
		image, err := t.images.add(d.depth)
		if err != nil {
			return err
		}
		p := Panel{Title: title, Kind: "depth", Image: image, Lo: lo, Hi: hi, Unit: l.depthUnit(),
			Ends: [2]string{t.depthName(l, d, lo), t.depthName(l, d, hi)}, Same: i == 1 && slices.Equal(b.depth, now.depth)}
		if l.tests() {
			p.Quad, p.QuadText = float64(l.pass.Quad), "quad at depth "+t.depthName(l, d, float64(l.pass.Quad))
		}
		l.Panels = append(l.Panels, p)
	}
	return nil
}

// ends returns the smallest and the largest depth, the quad's among them where it is
// compared. A NULL, at depth 1, is none.
func (l *look) ends(depths []float32) (lo, hi float64) {
	lo, hi = 1, 0
	if l.tests() {
		lo, hi = float64(l.pass.Quad), float64(l.pass.Quad)
	}
	for _, d := range depths {
		if d < 1 {
			lo, hi = min(lo, float64(d)), max(hi, float64(d))
		}
	}
	return min(lo, hi), hi
}

// tests reports whether the quad's depth is compared.
func (l *look) tests() bool {
	d := l.pass.Depth
	return d.Test && !d.Write && d.Func != pass.Always && d.Func != pass.Never
}

// depthUnit is the number that depths are integers divided by: of a resident depth
// buffer, which is uploaded as integers, and of one that a program has written.
func (l *look) depthUnit() uint32 {
	if l.pass.Target.Chunk != nil {
		return textures.DepthMax
	}
	return 1 << textures.LimbBits
}

// depthFraction writes a depth as an integer divided by the unit.
func (l *look) depthFraction(depth float64) string {
	text := map[uint32]string{textures.DepthMax: "(2^24 - 1)", 1 << textures.LimbBits: "2^24"}[l.depthUnit()]
	return fmt.Sprintf("%.8g / %s", math.Round(100*depth*float64(l.depthUnit()))/100, text)
}

// depthName writes a depth with what it stands for.
func (t *tracer) depthName(l *look, b *buffer, depth float64) string {
	resident := l.pass.Target.Chunk != nil
	n := uint64(math.Round(depth * float64(l.depthUnit())))
	text := l.depthFraction(depth)
	if b.column < 0 {
		return text
	}
	seg := t.plan.Table.Chunks[l.Chunk].Segments[b.column]
	if resident {
		zero := textures.DepthOfCode(seg, 0)
		if n < zero {
			return text + " (NULL)"
		}
		n -= zero
	}
	if textures.Limbs(seg.Bits) > 1 || n > seg.Max {
		return text
	}
	return text + fmt.Sprintf(" (%s\u00a0=\u00a0%v)", t.columnName(b.column), seg.Decode(n))
}

// paint looks at a draw into a texture alone.
func (t *tracer) paint(l *look) (after func() error, err error) {
	return func() error {
		bitmap := false
		for _, r := range l.pass.Textures {
			list, err := t.texture(l, r)
			if err != nil {
				return err
			}
			l.Panels = append(l.Panels, list...)
			if r.Temp != nil && r.Temp.Words == 4 {
				l.from = r.Temp
			}
			bitmap = bitmap || r.Temp != nil
		}
		if !bitmap && !l.begins(unfinished) {
			if err := t.hostSelection(l); err != nil {
				return err
			}
		}
		t.temps[l.pass.Color] = l
		list, err := t.temp(l, l.pass.Color, "drawn")
		l.Panels = append(l.Panels, list...)
		return err
	}, nil
}
