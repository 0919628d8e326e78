package compute

import (
	"github.com/stencildb/stencildb/pass"
	"github.com/stencildb/stencildb/plan"
	"github.com/stencildb/stencildb/shaders"
	"github.com/stencildb/stencildb/table"
	"github.com/stencildb/stencildb/textures"
)

// evaluator queues the passes of one chunk of a query.
//
// A compiled query is a list of passes, which runs as often as the query does. So nothing
// of a pass may depend on what an earlier one computes, and nothing is read back while
// passes are queued.
type evaluator struct {
	part   pass.Part // what the passes serve
	device Device
	fields []table.Field
	index  int // of the chunk in its table
	chunk  *table.Chunk
	pieces []piece
	// fused evaluates trees in one program where they fit, not bitmap by bitmap.
	fused bool
	// regional gives each multiprocessor a region of the units (units.glsl).
	regional bool
	compiler *compiler
	// valued keeps the leaves that valueLeaf has evaluated.
	valued map[plan.Leaf]*node
	free   []*marks // bitmaps that nothing needs any more
}

// bitmap is working memory for one bit a record of a window.
func bitmap(rows int) textures.Block {
	return textures.ScratchBlock(&textures.Scratch{Words: 4 * textures.Units(rows)})
}

// segment returns a column of the chunk.
func (e *evaluator) segment(col int) *table.Segment { return e.chunk.Segments[col] }

// planes names the stored planes of a part of a column.
func (e *evaluator) planes(col, part int, w textures.Window) textures.Block {
	return textures.Block{Chunk: e.chunk, Col: col, Content: textures.Planes, Part: part, Window: w}
}

// validity names the validity plane of a column that has NULLs.
func (e *evaluator) validity(col int, w textures.Window) textures.Block {
	return textures.Block{Chunk: e.chunk, Col: col, Content: textures.Validity, Window: w}
}

// codes names the lower part of a column's codes.
func (e *evaluator) codes(col int, w textures.Window) textures.Block {
	return textures.Block{Chunk: e.chunk, Col: col, Content: textures.Codes, Window: w}
}

// dispatch queues a pass over the units of a window.
func (e *evaluator) dispatch(op pass.Op, w piece, program shaders.Source, groups int, blocks []textures.Block, uniforms []shaders.Uniform) {
	e.compiler.stage(e, &kernel{piece: w, op: op, pass: &pass.Pass{Op: op, Program: program, Uniforms: uniforms,
		Dispatch: &pass.Dispatch{Groups: [2]int{groups}, Blocks: blocks, Images: e.device.Software}}})
}
