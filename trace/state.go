package trace

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stencildb/stencildb/internal/numbers"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/textures"
)

// state lists the pipeline state of a pass: what matters, and how it is set.
func (t *tracer) state(l *look) [][2]string {
	p := l.pass
	var s [][2]string
	add := func(what, format string, args ...any) { s = append(s, [2]string{what, fmt.Sprintf(format, args...)}) }
	program := "none: the fixed pipeline"
	if p.Program.Text != "" {
		program = p.Program.Name
	}
	if p.Dispatch != nil {
		add("compute program", "%s", program)
	} else {
		add("fragment program", "%s", program)
	}
	for i, r := range p.Textures {
		add(fmt.Sprintf("texture unit %d", i), "%s", t.refName(r))
	}
	if p.Dispatch != nil {
		return append(s, t.dispatchState(p.Dispatch)...)
	}
	if p.Color != nil {
		add("colour buffer", "%s", tempName(p.Color))
	}
	if sh := p.Target.Shape; sh.Rows > 0 {
		add("depth-stencil buffer", "%v, %d x %d, of which %s drawn", p.Target.Format, sh.Width, sh.Height, numbers.Count(sh.Rows, "record is", "records are"))
		if p.Target.Chunk != nil {
			add("depths", "the codes of %s, resident", t.columnName(p.Target.Col))
		}
		s = append(s, drawState(l)...)
	}
	return s
}

// drawState lists the tests of a draw.
func drawState(l *look) [][2]string {
	p := l.pass
	var s [][2]string
	add := func(what, format string, args ...any) { s = append(s, [2]string{what, fmt.Sprintf(format, args...)}) }
	if c := p.Clear; c != nil {
		add("clear", "stencil bits 0x%02x of every record to those of %d", c.Mask, c.Value)
	}
	switch d := p.Depth; {
	case !d.Test:
		add("depth test", "off")
	case d.Func == pass.Always || d.Func == pass.Never:
		add("depth test", "%v", d.Func)
	default:
		add("depth test", "%v: a record passes where quad depth %s stored depth", d.Func, symbols[d.Func])
		add("quad depth", "%.9g = %s", p.Quad, l.depthFraction(float64(p.Quad)))
	}
	if p.Depth.Test && p.Depth.Write {
		add("depth write", "on: passing records take the depth of the fragment")
	}
	if b := p.Bounds; b != nil {
		add("depth bounds", "a record passes where %.9g <= stored depth <= %.9g (%s to %s)", b.Lo, b.Hi, l.depthFraction(b.Lo), l.depthFraction(b.Hi))
	}
	if n := p.Stencil; !n.Test {
		add("stencil test", "off")
	} else {
		text := n.Func.String()
		if n.Func != pass.Always && n.Func != pass.Never {
			text = fmt.Sprintf("%v: a record passes where (%d & 0x%02x) %s (stored & 0x%02x)", n.Func, n.Ref, n.Mask, symbols[n.Func], n.Mask)
		}
		add("stencil test", "%s", text)
		add("stencil operations", "stencil test fails: %v; depth test fails: %v; both pass: %v (reference %d)", n.Fail, n.DepthFail, n.Pass, n.Ref)
		add("stencil write mask", "0x%02x", n.WriteMask)
	}
	add("occlusion query", "%s", map[bool]string{true: "counts the samples that pass", false: "none"}[p.Count])
	return s
}

var symbols = map[pass.Func]string{pass.Less: "<", pass.LEqual: "<=", pass.Equal: "=", pass.NotEqual: "<>", pass.GEqual: ">=", pass.Greater: ">"}

func (t *tracer) dispatchState(d *pass.Dispatch) [][2]string {
	s := [][2]string{{"work groups", fmt.Sprintf("%d x %d", d.Groups[0], max(1, d.Groups[1]))}}
	for i, b := range d.Blocks {
		if b.None() {
			continue
		}
		text := ""
		if b.Scratch != nil {
			text = "working memory, " + words(b.Scratch.Words)
		} else {
			text = fmt.Sprintf("%v of %s, rows %s to %s of the chunk, counted from 0", b.Content, t.columnName(b.Col), numbers.Grouped(b.Window.From), numbers.Grouped(b.Window.From+b.Window.Rows-1))
		}
		s = append(s, [2]string{fmt.Sprintf("storage block %d", i), text})
	}
	waits := "for the dispatches before it"
	if d.Beside {
		waits = "for none: it runs beside the dispatch before it"
	}
	return append(s, [2]string{"waits", waits})
}

func words(n int) string { return numbers.Count(n, "word", "words") }

// refName says what a texture holds.
func (t *tracer) refName(r textures.Ref) string {
	switch {
	case r.Words != nil:
		return "a buffer of " + words(len(r.Words.Data))
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
	return fmt.Sprintf("%s, %d x %d, of this statement", map[int]string{0: "R32F", 1: "R32UI", 4: "RGBA32UI"}[t.Words], t.Width, t.Height)
}

// uniforms lists names and values.
func uniforms(list []shaders.Uniform) [][2]string {
	const most = 64
	out := [][2]string{}
	for _, u := range list {
		var v []string
		for _, x := range u.F {
			v = append(v, strconv.FormatFloat(float64(x), 'g', -1, 32))
		}
		for _, x := range u.I {
			v = append(v, fmt.Sprint(x))
		}
		for _, x := range u.U {
			v = append(v, fmt.Sprint(x))
		}
		n := len(v)
		if n > most {
			v = append(v[:most], fmt.Sprintf("... (%d values)", n))
		}
		out = append(out, [2]string{u.Name, strings.Join(v, ", ")})
	}
	return out
}
