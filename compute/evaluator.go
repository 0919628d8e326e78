package compute

import (
	"fmt"

	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// window is a run of a chunk's rows whose blocks the device can bind.
type window = textures.Window

// evaluator queues the passes of one chunk of a query.
//
// run keeps passes and runs nothing: a compiled query is a list of passes, which
// runs as often as the query does. So nothing of a pass may depend on what an
// earlier one computes, and nothing is read back while passes are queued.
//
// Two methods make passes from the codes instead of the bit planes:
//
//	func (e *evaluator) valueLeaf(leaf plan.Leaf, w window, out textures.Block) error
//
// queues the pass that writes, to the scratch block out, a bitmap of the records of
// window w (in the order of planes, one uvec4 a unit, textures.Units(w.Rows) units)
// for which leaf, a *plan.Program or *plan.Members, is TRUE. NULLs and padding are 0.
//
//	func (e *evaluator) floatSum(col int, sel []textures.Block) (floatPartial, error)
//
// queues the passes that add up a REAL or DOUBLE column. sel[i] is the bitmap of the
// records selected in e.windows[i], padding 0; the zero Block selects every record.
// NULLs among them add nothing (floatSum reads the validity plane).
type evaluator struct {
	run     pass.Runner
	part    pass.Part // what the passes serve
	device  Device
	fields  []table.Field
	index   int // of the chunk in its table
	chunk   *table.Chunk
	windows []window
	// fused evaluates trees in one program where they fit, not bitmap by bitmap.
	fused bool
	// regional gives each multiprocessor a region of the units (units.glsl).
	regional bool
	compiler *compiler // has the result; nil where the passes are not a query's
	// valued keeps the leaves that valueLeaf has evaluated.
	valued map[plan.Leaf]*node
	free   []*marks // bitmaps that nothing needs any more
}

// bitmap is working memory for one bit a record of a window.
func bitmap(w window) textures.Block {
	return textures.ScratchBlock(&textures.Scratch{Words: 4 * textures.Units(w.Rows)})
}

// segment returns a column of the chunk.
func (e *evaluator) segment(col int) *table.Segment { return e.chunk.Segments[col] }

// planes names the stored planes of a part of a column.
func (e *evaluator) planes(col, part int, w window) textures.Block {
	return textures.Block{Chunk: e.chunk, Col: col, Content: textures.Planes, Part: part, Window: w}
}

// validity names the validity plane of a column that has NULLs.
func (e *evaluator) validity(col int, w window) textures.Block {
	return textures.Block{Chunk: e.chunk, Col: col, Content: textures.Validity, Window: w}
}

// dispatch queues a pass over the units of a window.
func (e *evaluator) dispatch(op pass.Op, w window, program shaders.Source, groups int, blocks []textures.Block, uniforms []shaders.Uniform) error {
	return e.queue(w, &pass.Pass{Op: op, Program: program, Uniforms: uniforms,
		Dispatch: &pass.Dispatch{Groups: [2]int{groups}, Blocks: blocks, Images: e.device.Software},
	})
}

// queue queues a pass over a window.
func (e *evaluator) queue(w window, p *pass.Pass) error {
	p.Part, p.Chunk, p.Window = e.part, e.index, w
	if _, err := e.run.Run(p); err != nil {
		return fmt.Errorf("compute: %w", err)
	}
	return nil
}
