package trace

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/textures"
)

// buffer is a depth-stencil buffer as the pass before left it. What nothing has
// been written to yet is undefined, and nil.
type buffer struct {
	column  int // whose limb the depths are; -1 for none
	limb    int
	offset  uint64    // added to the codes before limbs are taken
	texture []Panel   // of the attribute that was copied
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
		b = &buffer{column: -1}
		if p.Target.Chunk != nil { // the depths are the codes, from the beginning
			b.column = p.Target.Col
			if b.depth, err = t.depths(l.grid, target); err != nil {
				return nil, err
			}
		}
	}
	var passed []bool
	n := uint64(p.Target.Shape.Rows)
	if !copies(p) {
		if passed, err = t.passing(p, target); err != nil {
			return nil, err
		}
		n = 0
		for _, is := range passed {
			if is {
				n++
			}
		}
	}
	l.Passed = &n
	return func() error {
		now, err := t.after(l, b, target)
		if err != nil {
			return err
		}
		t.targets[p.Target] = now
		return t.drawn(l, b, now, passed)
	}, nil
}

// copies reports whether a pass is a CopyToDepth, which all records pass.
func copies(p *pass.Pass) bool {
	_, ok := p.Op.(pass.CopyToDepth)
	return ok
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
	now := &buffer{column: b.column, limb: b.limb, offset: b.offset, texture: b.texture}
	writes := p.Depth.Test && p.Depth.Write
	if writes {
		now.copied(p)
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

// copied notes what a pass copies to depth, if that is known.
func (b *buffer) copied(p *pass.Pass) {
	b.column, b.limb, b.offset, b.texture = -1, 0, 0, nil
	if c, ok := p.Op.(pass.CopyToDepth); ok && c.Col >= 0 {
		b.column, b.limb, b.offset = c.Col, c.Limb, c.Offset
	}
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
	if now.column >= 0 && l.pass.Depth.Write {
		now.texture = l.Panels
	} else if now.column >= 0 && (l.tests() || l.pass.Bounds != nil) {
		for _, p := range now.texture {
			p.Title = strings.Replace(p.Title, "texture read", "copied", 1)
			l.Panels = append(l.Panels, p)
		}
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

// depthPanels makes the pictures of the depths before and after, each on the scale of
// what it holds.
func (t *tracer) depthPanels(l *look, b, now *buffer) error {
	for i, d := range []*buffer{b, now} {
		title := [2]string{"depth before", "depth after"}[i]
		if d.depth == nil {
			if now.depth != nil {
				l.Panels = append(l.Panels, undefined(title))
			}
			continue
		}
		lo, hi, marks := t.scale(l, d)
		image, err := t.images.add(d.depth)
		if err != nil {
			return err
		}
		p := Panel{Title: title, Kind: "depth", Image: image, Lo: lo, Hi: hi, Stops: marks, Unit: l.depthUnit(),
			Ends: [2]string{t.depthName(l, d, lo), t.depthName(l, d, hi)}, Same: i == 1 && slices.Equal(b.depth, now.depth)}
		if d.column >= 0 && t.segment(l, d.column).Nulls > 0 {
			p.Column = t.columnName(d.column)
		}
		p.Quads = t.quads(l, d)
		l.Panels = append(l.Panels, p)
	}
	return nil
}

// quads returns what the pass compares a depth buffer with.
func (t *tracer) quads(l *look, d *buffer) (list []Quad) {
	add := func(what string, depth float64) {
		list = append(list, Quad{depth, what + " " + t.depthName(l, d, depth)})
	}
	if l.tests() {
		add("quad at depth", float64(l.pass.Quad))
	}
	if b := l.pass.Bounds; b != nil {
		add("from depth", b.Lo)
		add("to depth", b.Hi)
	}
	return list
}

// scale returns the ends of the scale of a depth buffer, and its stops. Those of a limb
// are the least and the largest that the chunk's codes may have, so that one buffer keeps
// its colours; those of others the smallest and the largest depth.
func (t *tracer) scale(l *look, b *buffer) (lo, hi float64, marks []uint64) {
	if b.column < 0 {
		return float64(slices.Min(b.depth)), float64(slices.Max(b.depth)), nil
	}
	seg := t.segment(l, b.column)
	of := func(code uint64) uint64 { return textures.Limb(b.offset+code, b.limb) }
	least, most := uint64(0), uint64(1)<<textures.LimbBits-1
	if l.pass.Target.Chunk != nil {
		of = func(code uint64) uint64 { return textures.DepthOfCode(seg, code) }
		least, most = of(0), of(seg.Max)
	} else if above := (b.limb + 1) * textures.LimbBits; b.offset>>above == (b.offset+seg.Max)>>above { // the limbs above are the same in all
		least, most = of(0), of(seg.Max)
	}
	var values []uint64
	for _, row := range l.grid.cells {
		if !seg.IsNull(row) {
			values = append(values, of(seg.Codes.At(row)))
		}
	}
	unit := float64(l.depthUnit())
	return float64(least) / unit, float64(most) / unit, stops(values, least, most)
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
	text := map[uint32]string{textures.DepthMax: "(2^24\u00a0-\u00a01)", 1 << textures.LimbBits: "2^24"}[l.depthUnit()]
	return fmt.Sprintf("%.8g\u00a0/\u00a0%s", math.Round(100*depth*float64(l.depthUnit()))/100, text)
}

// depthName writes a depth with what it stands for.
func (t *tracer) depthName(l *look, b *buffer, depth float64) string {
	resident := l.pass.Target.Chunk != nil
	n := uint64(math.Round(depth * float64(l.depthUnit())))
	text := l.depthFraction(depth)
	if b.column < 0 {
		return text
	}
	seg := t.segment(l, b.column)
	if resident {
		zero := textures.DepthOfCode(seg, 0)
		if n < zero {
			return text + " (NULL)"
		}
		n -= zero
	} else if n == textures.NullLimb {
		return text + map[bool]string{true: " (NULL)", false: " (above every value)"}[seg.Nulls > 0]
	}
	if b.limb > 0 || n < b.offset || b.offset+seg.Max > 1<<textures.LimbBits-1 || n-b.offset > seg.Max || seg.NonNull() == 0 {
		return text
	}
	return text + fmt.Sprintf(" (%s\u00a0=\u00a0%v)", t.columnName(b.column), seg.Decode(n-b.offset))
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
		if !bitmap && l.selects() {
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
