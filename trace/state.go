package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/internal/xslices"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// facts are what is set, and how.
type facts [][2]string

func (f *facts) add(what, format string, args ...any) {
	*f = append(*f, [2]string{what, fmt.Sprintf(format, args...)})
}

// state lists the pipeline state of a pass: what matters, and how it is set.
func (t *tracer) state(l *look) (s facts) {
	p := l.pass
	program, kind := "none: the fixed pipeline", "fragment program"
	if p.Program.Text != "" {
		program = p.Program.Name
	}
	if p.Dispatch != nil {
		kind = "compute program"
	}
	s.add(kind, "%s", program)
	for i, r := range p.Textures {
		s.add(fmt.Sprintf("texture unit %d", i), "%s", t.refName(r))
	}
	if p.Color != nil {
		s.add("colour buffer", "%s", tempName(p.Color))
		if p.Quads > 0 {
			s.add("quads", "%s, over half of the texels", numbers.Grouped(p.Quads))
		}
		if p.Blend != pass.Over {
			s.add("blending", "%v of what is drawn and what is there, component by component", p.Blend)
		}
	}
	if p.Dispatch != nil {
		t.dispatchState(&s, p.Dispatch)
	}
	if sh := p.Target.Shape; sh.Rows > 0 {
		s.add("depth-stencil buffer", "%v, %d x %d, of which %s drawn", p.Target.Format, sh.Width, sh.Height, numbers.Count(sh.Rows, "record is", "records are"))
		if p.Target.Chunk != nil {
			s.add("depths", "the codes of %s, resident", t.columnName(p.Target.Col))
		}
		drawState(&s, l)
	}
	return s
}

func drawState(s *facts, l *look) {
	p := l.pass
	if c := p.Clear; c != nil {
		s.add("clear", "stencil bits 0x%02x of every record to those of %d", c.Mask, c.Value)
	}
	switch d := p.Depth; {
	case !d.Test:
		s.add("depth test", "off")
	case d.Func == pass.Always || d.Func == pass.Never:
		s.add("depth test", "%v", d.Func)
	default:
		s.add("depth test", "%v: a record passes where quad depth %s stored depth", d.Func, symbols[d.Func])
		s.add("quad depth", "%.9g = %s", p.Quad, l.depthFraction(float64(p.Quad)))
	}
	if p.Depth.Test && p.Depth.Write {
		s.add("depth write", "on: passing records take the depth of the fragment")
	}
	if b := p.Bounds; b != nil {
		s.add("depth bounds", "a record passes where %.9g <= stored depth <= %.9g (%s to %s)", b.Lo, b.Hi, l.depthFraction(b.Lo), l.depthFraction(b.Hi))
	}
	if n := p.Stencil; !n.Test {
		s.add("stencil test", "off")
	} else {
		text := n.Func.String()
		if n.Func != pass.Always && n.Func != pass.Never {
			text = fmt.Sprintf("%v: a record passes where (%d & 0x%02x) %s (stored & 0x%02x)", n.Func, n.Ref, n.Mask, symbols[n.Func], n.Mask)
		}
		s.add("stencil test", "%s", text)
		s.add("stencil operations", "stencil test fails: %v; depth test fails: %v; both pass: %v (reference %d)", n.Fail, n.DepthFail, n.Pass, n.Ref)
		s.add("stencil write mask", "0x%02x", n.WriteMask)
	}
	s.add("occlusion query", "%s", map[bool]string{true: "counts the samples that pass", false: "none"}[p.Count])
}

var symbols = map[pass.Func]string{pass.Less: "<", pass.LEqual: "<=", pass.Equal: "=", pass.NotEqual: "<>", pass.GEqual: ">=", pass.Greater: ">"}

func (t *tracer) dispatchState(s *facts, d *pass.Dispatch) {
	s.add("work groups", "%d x %d", d.Groups[0], max(1, d.Groups[1]))
	for i, b := range slices.Concat(d.Blocks, d.Addressed) {
		what := fmt.Sprintf("storage block %d", i)
		if n := i - len(d.Blocks); n >= 0 {
			what = fmt.Sprintf("block read by its address %d", n)
		}
		switch {
		case b.Scratch != nil:
			s.add(what, "working memory, %s", words(b.Scratch.Words))
		case b.None():
		case !slices.Contains(t.plan.Table.Chunks, b.Chunk):
			s.add(what, "%s numbers", numbers.Grouped(b.Window.Rows))
		default:
			s.add(what, "%v of %s, rows %s to %s of the chunk, counted from 0", b.Content, t.columnName(b.Col),
				numbers.Grouped(b.Window.From), numbers.Grouped(b.Window.From+b.Window.Rows-1))
		}
	}
	s.add("waits", "%s", map[bool]string{false: "for the dispatches before it", true: "for none: it runs beside the dispatch before it"}[d.Beside])
}

func words(n int) string { return numbers.Count(n, "word", "words") }

func (t *tracer) refName(r textures.Ref) string {
	switch {
	case r.Words != nil:
		return "a buffer of " + words(len(r.Words.Init))
	case r.Temp != nil:
		return tempName(r.Temp)
	}
	var cols []string
	for _, c := range r.Cols {
		if c >= 0 {
			cols = append(cols, t.columnName(c))
		}
	}
	_, _, words := r.Texels()
	format := map[int]string{1: "R32F", 2: "RG32F", 4: "RGBA32F"}[words]
	switch r.Form {
	case textures.ValidBits:
		format = "R32UI, a bit a record"
	case textures.LowWords:
		format = "four records a texel"
	case textures.HighWords:
		format = "high words, four records a texel"
	}
	if r.High {
		format += ", the third limb"
	}
	return strings.Join(cols, ", ") + " (" + format + ")"
}

func tempName(t *textures.Temp) string {
	format := map[int]string{0: "R32F", 1: "R32UI", 4: "RGBA32UI"}[t.Words]
	if t.Floats {
		format = "RGBA32F"
	}
	return fmt.Sprintf("%s, %d x %d, of this statement", format, t.Width, t.Height)
}

func uniforms(list []shaders.Uniform) facts {
	const most = 64
	out := facts{}
	for _, u := range list {
		v := xslices.Map(u.F, func(x float32) string { return strconv.FormatFloat(float64(x), 'g', -1, 32) })
		for _, x := range u.I {
			v = append(v, fmt.Sprint(x))
		}
		for _, x := range u.U {
			v = append(v, fmt.Sprint(x))
		}
		if n := len(v); n > most {
			v = append(v[:most], fmt.Sprintf("... (%d values)", n))
		}
		out.add(u.Name, "%s", strings.Join(v, ", "))
	}
	return out
}
