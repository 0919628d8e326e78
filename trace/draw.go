package trace

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// buffer is a depth-stencil buffer as the pass before left it. What nothing has
// been written to yet is undefined, and nil.
type buffer struct {
	column  int // whose limb the depths are; -1 for none
	limb    int
	texture []Panel   // of the attribute that was copied
	depth   []float32 // at the cells
	stencil []uint8   // of all records
}

// draw looks at a draw into a depth-stencil buffer.
func (t *tracer) draw(l *look) (after func()) {
	p := l.pass
	target, err := t.store.Target(p.Target)
	if t.fail(err) {
		return nil
	}
	b := t.targets[p.Target]
	if b == nil {
		b = &buffer{column: -1}
		if p.Target.Chunk != nil { // the depths are the codes, from the beginning
			b.column, b.depth = p.Target.Col, at(l.grid, target.Depth())
		}
	}
	n := uint64(p.Target.Shape.Rows)
	var passed []bool
	if _, all := p.Op.(pass.CopyToDepth); !all {
		passed = t.passing(p)
		n = 0
		for _, is := range passed {
			if is {
				n++
			}
		}
	}
	l.Passed, l.Drops = &n, p.Drops()
	return func() {
		now := t.after(l, b, target)
		t.targets[p.Target] = now
		t.drawn(l, b, now, passed)
	}
}

// passing draws a pass once more, into a mask and nothing else, and returns which records
// pass. A clear before it does the same twice.
func (t *tracer) passing(p *pass.Pass) []bool {
	sh := p.Target.Shape
	mask := t.masks[sh]
	if mask == nil {
		mask = &textures.Temp{Width: sh.Width, Height: sh.Height}
		t.masks[sh] = mask
	}
	probe := Marking(p, mask)
	probe.Count, probe.Depth.Write, probe.Stencil.WriteMask = false, false, 0
	none := &pass.Pass{Op: pass.RenderQuad{}, Target: p.Target, Color: mask, Program: leaving("0.0", shaders.Source{})}
	for _, q := range []*pass.Pass{none, probe} {
		_, err := t.bare.Run(q)
		t.fail(err)
	}
	passed, lines := make([]bool, sh.Rows), t.lines(textures.Ref{Temp: mask})
	for row := range passed {
		passed[row] = lines(row / sh.Width)[row%sh.Width] != 0
	}
	return passed
}

// Marking returns a draw that leaves a 1 in a mask for every record that passes. The
// draw's own colour buffer, if it has one, is not drawn to. A record that it would take leaves a 1, too.
func Marking(p *pass.Pass, mask *textures.Temp) *pass.Pass {
	q := *p
	if q.Color == nil {
		q.Program = leaving("1.0", p.Program)
	}
	q.Color, q.Count = mask, true
	return &q
}

// leaving wraps a fragment program so that it leaves a value where it does not discard. No
// program becomes the one that hardware needs for exact depth tests (package pass).
func leaving(value string, s shaders.Source) shaders.Source {
	if s.Text == "" {
		s = shaders.Load("guard.frag")
	}
	head, rest, _ := strings.Cut(s.Text, "\n")
	s.Text = head + "\n#define main passes\n" + rest +
		"\n#undef main\nlayout(location = 0) out float set;\nvoid main() { passes(); set = " + value + "; }\n"
	return s
}

// after reads a buffer as the pass has left it.
func (t *tracer) after(l *look, b *buffer, target *textures.Target) *buffer {
	p := l.pass
	now := &buffer{column: b.column, limb: b.limb, texture: b.texture}
	writes := p.Depth.Test && p.Depth.Write
	if writes {
		now.column, now.limb, now.texture = -1, 0, nil
		if c, ok := p.Op.(pass.CopyToDepth); ok && c.Col >= 0 {
			now.column, now.limb = c.Col, c.Limb
		}
	}
	if b.depth != nil || writes {
		now.depth = at(l.grid, target.Depth())
	}
	if b.stencil != nil || p.Clear != nil || p.Stencil.Test && p.Stencil.WriteMask != 0 {
		now.stencil = target.Stencil()
	}
	return now
}

// drawn makes the pictures of a draw, in the order in which data flows.
func (t *tracer) drawn(l *look, b, now *buffer, passed []bool) {
	for _, r := range l.pass.Textures {
		l.show(t.texture(l, r)...)
	}
	if now.column >= 0 && l.pass.Depth.Write {
		now.texture = l.Panels
	} else if now.column >= 0 && l.pass.Compared() != nil {
		for _, p := range now.texture {
			p.Title, p.Copied = strings.Replace(p.Title, "texture read", "copied", 1), true
			l.show(p)
		}
	}
	when := [2]string{"before", "after"}
	for i, d := range []*buffer{b, now} {
		if d.depth == nil && now.depth == nil {
			continue
		}
		p := undefined("depth " + when[i])
		if d.depth != nil {
			p = t.depth(l, d, p.Title)
			p.Same = i == 1 && slices.Equal(b.depth, now.depth)
		}
		p.When, p.Of = when[i], "depth"
		l.show(p)
	}
	for i, d := range []*buffer{b, now} {
		if d.stencil == nil && now.stencil == nil {
			continue
		}
		p := undefined("stencil " + when[i])
		if d.stencil != nil {
			p = t.stencil(l.grid, p.Title, d.stencil)
			p.Same = i == 1 && slices.Equal(b.stencil, now.stencil)
		}
		p.When, p.Of = when[i], "stencil"
		l.show(p)
	}
	if now.stencil != nil && l.pass.Stencil.Test && l.pass.Stencil.WriteMask != 0 {
		t.holds(l, func(row int) bool { return now.stencil[row] != 0 })
		t.holds(l, func(row int) bool { return now.stencil[row]&0x80 != 0 })
	}
	if passed != nil {
		if !l.Drops {
			t.holds(l, func(row int) bool { return passed[row] })
		}
		l.Fates = t.images.add(narrow(firsts(l.grid, passed)))
		p := t.share(l, "records that pass", func(row int) bool { return passed[row] })
		if l.pass.Drops() {
			p.Title, p.Fate = "records dropped", "dropped"
		}
		l.show(p)
	}
	if l.pass.Color != nil {
		t.temps[l.pass.Color] = l
		l.show(t.temp(l, l.pass.Color, "drawn"))
	}
}

// depth is the picture of the depths of a buffer, on the scale of what it holds.
func (t *tracer) depth(l *look, d *buffer, title string) Panel {
	lo, hi, marks := t.scale(l, d)
	p := Panel{Title: title, Kind: "depth", Image: t.images.add(d.depth), Lo: lo, Hi: hi, Stops: marks, Unit: l.depthUnit(),
		Ends: [2]string{t.depthName(l, d, lo), t.depthName(l, d, hi)}, Quads: t.quads(l, d)}
	if d.column >= 0 && t.segment(l, d.column).Nulls > 0 {
		p.Column = t.columnName(d.column)
	}
	return p
}

// quads returns what the pass compares a depth buffer with.
func (t *tracer) quads(l *look, d *buffer) (list []Quad) {
	what := []string{"from depth ", "to depth "}
	if l.pass.Bounds == nil {
		what = []string{"quad at depth "}
	}
	for i, depth := range l.pass.Compared() {
		list = append(list, Quad{depth, what[i] + t.depthName(l, d, depth)})
	}
	return list
}

// scale returns the ends of the scale of a depth buffer, and its stops. The ends of a limb are the least and
// the largest that the chunk's codes may have, so that one buffer keeps its colours. Those of others are the
// smallest and the largest depth.
func (t *tracer) scale(l *look, b *buffer) (lo, hi float64, marks []uint64) {
	if b.column < 0 {
		return float64(slices.Min(b.depth)), float64(slices.Max(b.depth)), nil
	}
	seg := t.segment(l, b.column)
	of := func(code uint64) uint64 { return textures.Limb(code, b.limb) }
	least, most := uint64(0), uint64(1)<<textures.LimbBits-1
	if l.pass.Target.Chunk != nil {
		of = func(code uint64) uint64 { return textures.DepthOfCode(seg, code) }
		least, most = of(0), of(seg.Max)
	} else if seg.Max>>((b.limb+1)*textures.LimbBits) == 0 { // the limbs above are the same in all
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

// depthUnit is the number that depths are integers divided by. It differs for a resident depth buffer, which
// is uploaded as integers, and one that a program has written.
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
	if limbs, low := textures.Limbs(seg.Bits), textures.LimbBits*b.limb; limbs > 1 {
		text += fmt.Sprintf(" (limb\u00a0%d of %s", b.limb, t.columnName(b.column))
		if code := n << low; b.limb == limbs-1 && code>>low == n && code <= seg.Max {
			text += fmt.Sprintf(", of values from %v", seg.Decode(code))
		}
		return text + ")"
	}
	if n > seg.Max || seg.NonNull() == 0 {
		return text
	}
	return text + fmt.Sprintf(" (%s\u00a0=\u00a0%v)", t.columnName(b.column), seg.Decode(n))
}

// paint looks at a draw into a texture alone.
func (t *tracer) paint(l *look) (after func()) {
	switch l.pass.Op.(type) {
	case pass.Pairs, pass.CompareExchange, pass.SortedRows:
		return t.sorts(l, "pairs", "keys in three words, and a row")
	case pass.Keys, pass.Blending:
		return t.sorts(l, "keys", "four keys, one of each quarter of the records")
	}
	return func() {
		bitmap := false
		for _, r := range l.pass.Textures {
			l.show(t.texture(l, r)...)
			if r.Temp != nil && r.Temp.Words == 4 {
				l.from = r.Temp
			}
			bitmap = bitmap || r.Temp != nil
		}
		if !bitmap {
			t.hostSelection(l)
		}
		t.temps[l.pass.Color] = l
		l.show(t.temp(l, l.pass.Color, "drawn"))
	}
}

// sorts shows a pass of a sorting network, whose texels are no records of the grid. They have what goes from texel to
// texel, words of it.
func (t *tracer) sorts(l *look, what, words string) (after func()) {
	texels := func(when string, temp *textures.Temp) Panel {
		p := t.words(what+" "+when, words, temp, true)
		p.When, p.Of = when, what
		return p
	}
	begins := false
	switch l.pass.Op.(type) {
	case pass.Pairs, pass.Keys:
		begins = true
	}
	var before []Panel
	if !begins {
		before = append(before, texels("before", l.pass.Textures[0].Temp))
	}
	return func() {
		if begins {
			for _, r := range l.pass.Textures {
				l.show(t.texture(l, r)...)
			}
		}
		if _, last := l.pass.Op.(pass.SortedRows); !last {
			l.show(texels("after", l.pass.Color))
		}
		l.show(before...)
	}
}
