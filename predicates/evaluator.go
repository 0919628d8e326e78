package predicates

import (
	"fmt"
	"math"

	"github.com/stencildb/stencildb/expr"
	"github.com/stencildb/stencildb/glctx"
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan/predicate"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// Limits is what the evaluation needs to know of the device.
type Limits struct {
	DepthBounds     bool  // EXT_depth_bounds_test: Range in one pass
	MaxTextureBytes int64 // the largest texture that works
	Samplers        int   // textures that a fragment program may read
	Uniforms        int   // vectors of four that it may have as uniforms
	Software        bool  // the CPU renders
}

// LimitsOf says what the evaluation needs to know of a device. Software rasterisers
// take textures of less than 2 GiB.
func LimitsOf(caps *glctx.Caps) Limits {
	d := Limits{DepthBounds: caps.DepthBounds, MaxTextureBytes: math.MaxInt64, Samplers: int(caps.Limits["MAX_TEXTURE_IMAGE_UNITS"]),
		Uniforms: int(caps.Limits["MAX_FRAGMENT_UNIFORM_COMPONENTS"]) / 4, Software: caps.Software}
	if caps.Software {
		d.MaxTextureBytes = 2<<30 - 1
	}
	return d
}

// Evaluator evaluates predicates over one chunk into one target.
type Evaluator struct {
	pass.Drawer
	device Limits
	fields []table.Field
	chunk  *table.Chunk
	target textures.TargetRef
	slots  *Slots
	depth  depthContent
}

// depthContent is what the target's depth buffer holds.
type depthContent struct {
	what textures.Ref
	limb int
	null uint64 // the limb value at which NULLs lie; NullLimb by itself
}

// Slots knows which evaluator's data each slot of a query's targets holds, when
// chunks have to share depth-stencil buffers.
type Slots struct {
	owner map[textures.TargetRef]*Evaluator
}

// NewSlots returns a fresh assignment, for one query.
func NewSlots() *Slots { return &Slots{owner: map[textures.TargetRef]*Evaluator{}} }

// New returns an evaluator of a chunk.
func New(run pass.Runner, device Limits, t *table.Table, chunk int, format textures.Format, slot int, slots *Slots) *Evaluator {
	c := t.Chunks[chunk]
	return &Evaluator{Drawer: pass.Drawer{Runner: run, Chunk: chunk, Rows: c.Rows}, device: device, fields: t.Attributes(), chunk: c, slots: slots,
		target: textures.TargetRef{Shape: textures.ShapeOf(c.Rows), Format: format, Slot: slot}}
}

// Claim takes the target for this evaluator. It returns false when another
// evaluator has used the slot since: then stencil and depth are lost.
func (e *Evaluator) Claim() bool {
	if e.slots.owner[e.target] == e {
		return true
	}
	e.slots.owner[e.target] = e
	e.depth = depthContent{}
	return false
}

// Segment returns the chunk's segment of a column.
func (e *Evaluator) Segment(col int) *table.Segment { return e.chunk.Segments[col] }

// Target returns the depth-stencil buffer.
func (e *Evaluator) Target() textures.TargetRef { return e.target }

// Format returns the depth format in which every limb of the columns compares
// exactly: D24S8, the faster one on hardware, up to 22 bits.
func Format(t *table.Table, cols []int) textures.Format {
	for _, ch := range t.Chunks {
		for _, c := range cols {
			if c < len(ch.Segments) && ch.Segments[c].Bits > textures.D24S8.ExactBits() {
				return textures.D32FS8
			}
		}
	}
	return textures.D24S8
}

// quad returns the window depth of limb value v: exact in float32.
func quad(v uint64) float32 { return float32(v) / (1 << textures.LimbBits) }

// Draw hands a pass over the chunk's records to the runner.
func (e *Evaluator) Draw(p *pass.Pass) pass.Count {
	p.Target = e.target
	return e.Drawer.Draw(p)
}

// Attribute names a limb of a column.
func (e *Evaluator) Attribute(col, limb int) pass.Attribute {
	return pass.Attribute{Name: expr.Ident(e.fields[col].Name), Col: col, Limb: limb, Limbs: textures.Limbs(e.Segment(col).Bits)}
}

// Texture returns the texture that holds a limb, and its channel.
func (e *Evaluator) Texture(col, limb int) (textures.Ref, string) {
	switch limb {
	case 0:
		return textures.Attribute(e.chunk, col), "r"
	case 1:
		return textures.Attribute(e.chunk, col), "g"
	}
	return textures.AttributeHigh(e.chunk, col), "r"
}

// CopyToDepth copies one limb of an attribute to the depth buffer (paper, routine
// 4.1): depth = limb / 2^24. NULLs go to limb value null; textures.NullLimb, beyond
// every code, costs nothing. Stencil test off, depth function ALWAYS. Nothing is
// done when the depth buffer already holds it.
func (e *Evaluator) CopyToDepth(col, limb int, null uint64) {
	if e.Segment(col).Nulls == 0 {
		null = textures.NullLimb
	}
	ref, channel := e.Texture(col, limb)
	e.copyToDepth(e.Attribute(col, limb), ref, channel, null)
}

// copyToDepth copies a channel of a texture.
func (e *Evaluator) copyToDepth(a pass.Attribute, ref textures.Ref, channel string, null uint64) {
	want := depthContent{what: ref, limb: a.Limb, null: null}
	if e.depth == want {
		return
	}
	p := &pass.Pass{Op: pass.CopyToDepth{Attribute: a}, Textures: []textures.Ref{ref}, Depth: pass.Depth{Test: true, Func: pass.Always, Write: true}}
	defines := []string{"CHANNEL " + channel}
	if null != textures.NullLimb {
		defines = append(defines, "NULL_DEPTH")
		p.Uniforms = []shaders.Uniform{shaders.Float("nullDepth", quad(null))}
	}
	p.Program = shaders.Load("copy.frag", defines...)
	e.Draw(p)
	e.depth = want
}

// how says what a predicate does with the records that satisfy it.
type how struct {
	stencil pass.Stencil
	clear   *pass.Clear
	outcome pass.Outcome
}

// pass is a pass that does that.
func (h how) pass(op pass.Op) *pass.Pass {
	return &pass.Pass{Op: op, Clear: h.clear, Stencil: h.stencil, Count: h.outcome.Counts()}
}

// compare draws the quad of limb op k over the depth buffer, which holds the limb.
func (e *Evaluator) compare(p *pass.Pass, op expr.CmpOp, k uint64) pass.Count {
	p.Quad, p.Depth = quad(k), pass.Mirrored(op)
	return e.Draw(p)
}

// nullPlace returns the limb value at which a NULL satisfies no `limb op k`.
func nullPlace(op expr.CmpOp, k uint64) uint64 {
	switch op {
	case expr.GT, expr.GE: // k >= 1 for GE
		return 0
	case expr.NE:
		return k
	}
	return textures.NullLimb
}

// Compare evaluates limb op k (paper, routine 4.1): CopyToDepth, then a quad at
// depth k with the mirrored depth function. For op >=, k must be at least 1.
func (e *Evaluator) Compare(op pass.Compare, h how) pass.Count {
	null := nullPlace(op.Cmp, op.Code)
	if op.Code == textures.NullLimb { // IS [NOT] NULL: NULLs stay where they are
		null = textures.NullLimb
	}
	e.CopyToDepth(op.Col, op.Limb, null)
	op.Outcome = h.outcome
	return e.compare(h.pass(op), op.Cmp, op.Code)
}

// Range evaluates lo <= attribute <= hi in one pass (paper, routine 4.4). The depth
// bounds test looks at the stored depth, so the quad's own depth does not matter.
func (e *Evaluator) Range(op pass.Range, h how) pass.Count {
	e.CopyToDepth(op.Col, op.Limb, textures.NullLimb)
	op.Outcome = h.outcome
	p := h.pass(op)
	p.Quad, p.Depth = quad(op.Lo), pass.Depth{Test: true, Func: pass.Always}
	p.Bounds = &pass.Bounds{Lo: float64(op.Lo) / (1 << 24), Hi: float64(op.Hi) / (1 << 24)}
	return e.Draw(p)
}

// leaf evaluates any simple predicate.
func (e *Evaluator) leaf(l predicate.Leaf, h how) pass.Count {
	switch l := predicate.MatchAsMembers(l).(type) {
	case *limbTest:
		return e.Compare(l.Compare, h)
	case *limbRange:
		return e.Range(l.Range, h)
	case *maskTest:
		return e.mask(l, h)
	case *predicate.Members:
		// The paper has no list predicate; few spans are comparisons and ranges.
		return e.generated(l, h.pass(pass.Members{Col: l.Col, Text: l.Text, Outcome: h.outcome}))
	case *predicate.Computed:
		return e.Semilinear(l, h)
	}
	return e.Fail(fmt.Errorf("predicates: no routine for %T", l))
}
