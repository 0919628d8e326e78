package pass

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Func is a comparison function of the depth or stencil test: incoming value
// (quad depth, stencil reference) Func stored value.
type Func uint8

// The comparison functions.
const (
	Always Func = iota
	Never
	Less
	LEqual
	Equal
	NotEqual
	GEqual
	Greater
)

func (f Func) String() string {
	return [...]string{"ALWAYS", "NEVER", "LESS", "LEQUAL", "EQUAL", "NOTEQUAL", "GEQUAL", "GREATER"}[f]
}

// holds has, by function, a bit for each order of an incoming and a stored value: less, equal, greater.
var holds = [...]uint8{Always: 0b111, Never: 0, Less: 0b001, LEqual: 0b011, Equal: 0b010, NotEqual: 0b101, GEqual: 0b110, Greater: 0b100}

// Holds reports whether the comparison of an incoming value with a stored one does.
func Holds[T cmp.Ordered](f Func, incoming, stored T) bool {
	return holds[f]>>(cmp.Compare(incoming, stored)+1)&1 != 0
}

// mirrored is the depth function for attribute op d: the hardware compares the
// quad's depth with the stored one (paper, routine 4.1).
var mirrored = [...]Func{expr.LT: Greater, expr.LE: GEqual, expr.EQ: Equal,
	expr.NE: NotEqual, expr.GE: LEqual, expr.GT: Less}

// Mirrored is the depth test of a quad that the records pass whose depth is op the
// quad's.
func Mirrored(op expr.CmpOp) Depth { return Depth{Test: true, Func: mirrored[op]} }

// StencilOp is what happens to a stencil value.
type StencilOp uint8

// The stencil operations of the paper (section 3.4).
const (
	Keep StencilOp = iota
	Zero
	Replace
	Incr
	Decr
	Invert
)

func (o StencilOp) String() string {
	return [...]string{"KEEP", "ZERO", "REPLACE", "INCR", "DECR", "INVERT"}[o]
}

// Depth is the depth test of a pass. The zero value is off: no test, no write.
type Depth struct {
	Test  bool
	Func  Func
	Write bool // needs Test
}

// Bounds is a depth bounds test: stored depth in [Lo, Hi].
type Bounds struct{ Lo, Hi float64 }

// Stencil is the stencil test of a pass: (Ref & Mask) Func (stored & Mask). The
// zero value is off. Fail applies where the stencil test fails, DepthFail where
// it passes and the depth test fails, Pass where both pass. Records that the
// fragment program discards keep their value.
type Stencil struct {
	Test                  bool
	Func                  Func
	Ref, Mask             uint8
	Fail, DepthFail, Pass StencilOp
	WriteMask             uint8 // bits that the operations may change
}

// Clear sets the bits Mask of every stencil value of the target to those of Value
// before the draw.
type Clear struct{ Value, Mask uint8 }

// Blend is what becomes of a texel of a colour buffer of floats and of what a fragment program draws there.
type Blend uint8

// The blend equations: what is drawn, the smaller, the larger, component by component.
const (
	Over Blend = iota
	Min
	Max
)

func (b Blend) String() string { return [...]string{"OVER", "MIN", "MAX"}[b] }

// Dispatch is what a compute pass needs besides its program and uniforms.
type Dispatch struct {
	// Groups is the number of work groups, in x and y; 0 in y is 1.
	Groups [2]int
	// Blocks are the storage blocks: binding i is Blocks[i], if it is one.
	Blocks []textures.Block
	// Addressed are blocks that the program reads by their addresses, which are the words of its
	// uniform "address", two a block; needs NV_shader_buffer_load.
	Addressed []textures.Block
	// Beside says that the dispatch need not wait for those before it. It reads nothing that the dispatches
	// since the last one without Beside wrote.
	Beside bool
	// Images binds every block but the first as an image too, a buffer of uvec4, block i to unit i. llvmpipe
	// reads these much faster than storage blocks.
	Images bool
}

// Pass is one draw over the rows of a chunk, or one compute dispatch.
type Pass struct {
	// Op says what the pass is.
	Op Op
	// Part is what it serves in the plan.
	Part Part
	// Chunk is the chunk that it goes over, by its place in the table, and Window which
	// of its rows.
	Chunk  int
	Window textures.Window
	// Target is the depth-stencil buffer; its shape's rows are what is drawn.
	Target textures.TargetRef
	// Color, when set, takes the fragment program's colour: beside Target, or by
	// itself, over Color's own rectangle, when Target has no rows.
	Color *textures.Temp
	// Blend is how the colour comes to what Color has.
	Blend Blend
	// Quads, when set, is how many quads are drawn in place of one. The Program's own vertex shader places
	// them, with six vertices each, by gl_InstanceID.
	Quads int
	// Clear, when set, clears stencil bits first.
	Clear *Clear
	// Program is the fragment program; the zero Source is the plain RenderQuad.
	Program  shaders.Source
	Textures []textures.Ref // unit i reads Textures[i]; Words refs are buffers
	Uniforms []shaders.Uniform
	// Dispatch, when set, makes the pass a dispatch of Program; the fields below mean
	// nothing then.
	Dispatch *Dispatch
	// Quad is the window depth of the quad, 0..1.
	Quad    float32
	Depth   Depth
	Bounds  *Bounds // needs EXT_depth_bounds_test
	Stencil Stencil
	// Count asks for the number of samples that pass all tests.
	Count bool
}

func (p *Pass) String() string { return p.Op.String() }

// Routine is [Routine] of what the pass is.
func (p *Pass) Routine() string { return Routine(p.Op) }

// Routine names what passes are grouped by: the Op's type, unless that has several.
func Routine(o Op) string {
	if r, ok := o.(interface{ Routine() string }); ok {
		return r.Routine()
	}
	return reflect.TypeOf(o).Name()
}

// Drops reports whether the records that pass a draw are those that it takes from the
// selection, as EvalCNF's after a clause.
func (p *Pass) Drops() bool {
	return !p.Count && p.Stencil.Test && p.Stencil.WriteMask != 0 && p.Stencil.Pass == Zero
}

// Compared returns the depths that the stored ones are compared with: both bounds, or
// the quad's. It is nil where the pass writes depths or has no such test.
func (p *Pass) Compared() []float64 {
	d := p.Depth
	switch {
	case d.Write:
		return nil
	case p.Bounds != nil:
		return []float64{p.Bounds.Lo, p.Bounds.Hi}
	case d.Test && d.Func != Always && d.Func != Never:
		return []float64{float64(p.Quad)}
	}
	return nil
}

// State describes the pipeline state that matters, a piece of it each.
func (p *Pass) State() []string {
	var s []string
	if d := p.Dispatch; d != nil {
		s = append(s, fmt.Sprintf("dispatch %dx%d groups", d.Groups[0], max(1, d.Groups[1])))
	}
	if p.Clear != nil {
		s = append(s, fmt.Sprintf("clear stencil to %d mask 0x%02x", p.Clear.Value, p.Clear.Mask))
	}
	if p.Program.Text != "" {
		s = append(s, "program "+p.Program.Name)
	}
	if p.Quads > 0 {
		s = append(s, fmt.Sprintf("%d quads", p.Quads))
	}
	if p.Blend != Over {
		s = append(s, fmt.Sprintf("blend %v", p.Blend))
	}
	if p.Depth.Test {
		d := fmt.Sprintf("depth %v quad %.8g", p.Depth.Func, p.Quad)
		if p.Depth.Write {
			d = fmt.Sprintf("depth %v write", p.Depth.Func)
		}
		s = append(s, d)
	}
	if p.Bounds != nil {
		s = append(s, fmt.Sprintf("depth bounds [%.8g, %.8g]", p.Bounds.Lo, p.Bounds.Hi))
	}
	if st := p.Stencil; st.Test {
		s = append(s, fmt.Sprintf("stencil %v %d mask 0x%02x op %v,%v,%v", st.Func, st.Ref, st.Mask, st.Fail, st.DepthFail, st.Pass))
	}
	if p.Count {
		s = append(s, "count")
	}
	return s
}

// Count is a number of samples on its way.
type Count interface {
	// Wait blocks until the number is known.
	Wait() (uint64, error)
}

// Known is a Count that needs no waiting.
type Known uint64

// Wait implements Count.
func (k Known) Wait() (uint64, error) { return uint64(k), nil }

// Later is a Count that a function waits for.
type Later func() (uint64, error)

// Wait implements Count.
func (l Later) Wait() (uint64, error) { return l() }

// Failed returns a Count that is not to be had, because of an error before.
func Failed(err error) Count { return Later(func() (uint64, error) { return 0, err }) }

// Sum is a Count of what several count in all.
type Sum []Count

// Wait implements Count.
func (s Sum) Wait() (total uint64, err error) {
	for _, c := range s {
		n, err := c.Wait()
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// Runner runs passes in order.
type Runner interface {
	// Run runs one pass. The Count is nil unless the pass asks for it. An error
	// names the pass; nothing is known about the target's contents after one.
	Run(p *Pass) (Count, error)
	// Read copies the first words of a storage block back, which earlier passes have written; it
	// waits for them.
	Read(b textures.Block, words []uint32) error
	// ReadParts hands the first n words to take instead, part by part, each with the number of its first
	// word. Several goroutines call take at a time. take keeps no words.
	ReadParts(b textures.Block, n int, take func(at int, words []uint32)) error
	// ReadTexels copies the texels of a temporary texture back,
	// line by line, which earlier passes have drawn; it waits for them.
	ReadTexels(t *textures.Temp, words []uint32) error
	// Slots returns how many targets like t can be resident at the same time, 1..n.
	Slots(t textures.TargetRef, n int) int
	// Apart runs f alone; its passes are over some of the query's rows, which t has. When f returns, others
	// may use what these rows have besides columns.
	Apart(t *table.Table, f func() error) error
}
